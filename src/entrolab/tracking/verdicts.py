"""What the tables and checks of a study add to its runs: published values, verdicts, findings."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from entrolab.io.commands import command_for
from entrolab.results.frames import read_table
from entrolab.study.study import Study
from entrolab.tables.making import Agreement, agreement_of, counts, first_readings
from entrolab.tables.verdicts import VERDICTS
from entrolab.tracking.contents import plain

Comparison = tuple[dict[str, float], dict[str, str]]  # metrics and tags


def comparisons_of(
    study: Study, tables: Mapping[str, pd.DataFrame], findings: pd.DataFrame
) -> dict[tuple[str, str], Comparison]:
    """The metrics and tags that score tables and checks of a study add to its runs, by (data set, model).

    ``published``, ``difference`` and the tags ``verdict`` and ``table`` are those of the first table of the
    model's first criterion; names of other criteria begin or end with the criterion. Tables that select from
    the whole grid come first. Each finding is a tag ``check.<code>`` of its run, or of all runs of its
    data set.
    """
    found: dict[tuple[str, str], Comparison] = {}
    names = [name for name in study.score_tables() if name in tables]
    for name in sorted(names, key=lambda name: bool(study.tables[name].among)):
        criterion, table = study.tables[name].criterion, tables[name]
        judged = table[table["published"].notna() & ~table["verdict"].isin(["", "published only"])]
        for row in judged.itertuples():
            is_first = criterion in study.models[row.model].criteria[:1]
            prefix, suffix = ("", "") if is_first else (f"{criterion}/", f".{criterion}")
            metrics, tags = found.setdefault((row.dataset, row.model), ({}, {}))
            if f"verdict{suffix}" not in tags:
                tags |= {f"verdict{suffix}": row.verdict, f"table{suffix}": name}
                numbers = {"published": row.published, "difference": row.difference}
                metrics |= {f"{prefix}{key}": value for key, value in numbers.items() if value == value}
    for finding in findings.itertuples():
        for run in study.runs():
            if run[0] == finding.dataset and finding.model in ("", run[1]):
                found.setdefault(run, ({}, {}))[1][f"check.{finding.code}"] = finding.found
    return found


def counts_of_tables(
    study: Study, files: Sequence[Path]
) -> tuple[dict[str, pd.DataFrame], dict[str, dict[str, int]], Agreement]:
    """The tables with verdicts, the number of results by verdict in each, and how many values agree."""
    compared = {
        path.stem: read_table(path)
        for path in files
        if path.suffix == ".csv" and "verdict" in pd.read_csv(path, nrows=0)
    }
    numbers = {name: counts(table) for name, table in compared.items()}
    return compared, numbers, agreement_of(counts(*first_readings(study, compared), published=True))


def metrics_of_study(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """The number of results with each verdict, in all tables and in each one."""
    return pd.DataFrame(counts).sum(axis=1).to_dict() | {
        f"{table}/{name}": count for table, found in counts.items() for name, count in found.items()
    }


def params_of_study(study: Study) -> dict[str, Any]:
    """The parameters of the run of a study: its protocol, preprocessing, criteria, data sets and models."""
    protocol = study.protocol.model_dump(exclude_none=True)
    scaling = study.scaling.model_dump(exclude_none=True) if study.scaling else {}
    return {
        "seed": study.seed,
        "criteria": ", ".join(study.criteria),
        "metrics": ", ".join(study.metrics),
        "n_datasets": len(study.tasks),
        "n_models": len(study.models),
        "n_runs": len(study.runs()),
        "file_sha256": hashlib.sha256(Path(study.file).read_bytes()).hexdigest(),
        **{f"protocol.{name}": value for name, value in protocol.items()},
        **{f"scaling.{name}": value for name, value in scaling.items()},
    }


def note_of_study(
    study: Study, counts: Mapping[str, Mapping[str, int]], agreed: Agreement, place: str
) -> str:
    """The description of a study in Markdown: its command, reference, and verdicts by table.

    `place` is the address of the artifacts of the study's run, for links to its tables.
    """
    parts = [f"**{plain(study.title)}** · `{command_for(study.file, '.', {})}`"]
    parts += [part for part in (plain(study.reference), f"<{study.url}>" if study.url else "") if part]
    if counts and study.published:
        heads = ["table", *VERDICTS]
        rows = [heads, ["---"] * len(heads)]
        rows += [
            [f"[{name}]({place}/tables/{name}.html)", *map(str, found.values())]
            for name, found in counts.items()
        ]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        parts += [f"Published values: {agreed}.", table]
    return "\n\n".join([*parts, f"Report: `results/report/{study.name}.html`, in the folder of this store."])
