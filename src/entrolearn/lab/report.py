"""The report: pages that a reviewer reads, from the tables, records and scores of every study.

Static html with its style inside; works from a file:// address. Everything else is linked relatively.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pandas as pd

from entrolearn.lab.atomic import replacing
from entrolearn.lab.benchmarks import Peak, peak_memory
from entrolearn.lab.cells import figure_formats, figure_spec, study_cells
from entrolearn.lab.figures import alternative_text, read_figure, reasons
from entrolearn.lab.frames import read_frame
from entrolearn.lab.kinds import CRITERIA, KINDS, one_line
from entrolearn.lab.metrics import METRICS
from entrolearn.lab.records import read_json
from entrolearn.lab.registry import ONE_OF, expand_values
from entrolearn.lab.rendering import layout, legend, templates, title
from entrolearn.lab.tables import as_asked, counts, read_table, table_spec
from entrolearn.lab.verdicts import VERDICTS


@dataclass(frozen=True)
class StudyResults:
    """What a study has left behind, as the report needs it.

    Attributes
    ----------
    key : str
        The study's key, e.g. ``"eem"``.
    study : dict
        The study, as `entrolearn.lab.config.load_study` returns it.
    folder : Path
        Where its results are, e.g. ``results/eem``.
    tables : dict of str to DataFrame
        The tables, as `entrolearn.lab.tables.read_table` reads them, by their key in the study.
    records : list of dict
        The cells' records.
    scores : DataFrame
        The rows of all cells' scores; empty if there are none.
    labels : dict of str to str
        Data set keys to the catalog's labels.
    figures : dict of str to DataFrame
        What the figures that have been drawn show, as `entrolearn.lab.figures.read_figure` reads it.
    peak : Peak or None
        The job that took most memory.
    """

    key: str
    study: dict
    folder: Path
    tables: dict[str, pd.DataFrame]
    records: list[dict]
    scores: pd.DataFrame
    labels: dict[str, str] = field(default_factory=dict)
    figures: dict[str, pd.DataFrame] = field(default_factory=dict)
    peak: Peak | None = None


def read_results(
    key: str, study: dict, folder: str | Path, labels: Mapping[str, str] | None = None
) -> StudyResults:
    """Read a study's tables, records and scores from its results folder.

    Only cells that the study still has are read. A record or scores file that is absent is left out, since
    the tables say so; an absent table is an error. A cell that the study has gained since its table was made
    is shown as failed for that reason.

    Raises
    ------
    FileNotFoundError
        If a table of the study has not been made.
    """
    folder = Path(folder)
    tables = {}
    for name in study["tables"]:
        path = folder / "tables" / f"{name}.csv"
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: run `snakemake {key}` first")
        tables[name] = as_asked(read_table(path), table_spec(key, study, name))
    records = [read_json(path) for path in _present(folder, study, "records", "json")]
    scores = [read_frame(path) for path in _present(folder, study, "scores", "parquet")]
    scores = [rows for rows in scores if len(rows)]
    return StudyResults(
        key,
        study,
        folder,
        tables,
        records,
        pd.concat(scores, ignore_index=True) if scores else pd.DataFrame(),
        dict(labels or {}),
        {
            name: read_figure(path)
            for name in study.get("figures", {})
            if (path := folder / "figures" / f"{name}.csv").exists()
        },
        peak_memory(study, folder),
    )


def build_report(studies: Iterable[StudyResults], folder: str | Path, *, commit: str = "") -> Path:
    """Write ``index.html`` and a page per study.

    Parameters
    ----------
    studies : iterable of StudyResults
        In the order in which the index lists them.
    folder : path
        Where the pages go, e.g. ``results/report``.
    commit : str
        The version of the code that the results were made with, shown as it is; "" shows none.

    Returns
    -------
    Path
        The index page.
    """
    folder = Path(folder)
    environment = templates("html")
    pages = [_page(results, folder) for results in studies]
    for page in pages:
        _write(folder / f"{page['key']}.html", environment.get_template("paper.html.j2").render(**page))
    peaks = [page["peak"] for page in pages]
    facts = made(chain.from_iterable(page["records"] for page in pages), commit, peaks)
    index = folder / "index.html"
    _write(
        index, environment.get_template("index.html.j2").render(papers=pages, facts=facts, key=legend({}, {}))
    )
    return index


# --- what a page says ----------------------------------------------------------------------------------


def _page(results: StudyResults, folder: Path) -> dict:
    study, key = results.study, results.key
    home = _relative(results.folder, folder)
    specs = {name: table_spec(key, study, name, results.labels) for name in results.tables}
    tables = [
        {**layout(table, specs[name]), "bar": _bar(counts(table))} for name, table in results.tables.items()
    ]
    return {
        "key": key,
        "title": one_line(study["title"]),
        "reference": one_line(study["reference"]),
        "url": study["url"],
        "protocol": protocol(study),
        "tables": tables,
        "tables_folder": f"{home}/tables/",
        "figures": [_figure(results, name) for name in study.get("figures", {})],
        "figures_folder": f"{home}/figures/",
        "legend": legend({}, {}),
        "failures": failures(results),
        "chosen": chosen_parameters(results),
        "errata": [
            {name: one_line(text, limit=2000) for name, text in erratum.items()}
            for erratum in study["errata"]
        ],
        "files": _files(results, home),
        "model_names": [_model_name(model) for model in _trained(study).values()],
        "facts": made(results.records, peaks=[results.peak]),
        "records": results.records,
        "peak": results.peak and results.peak._replace(job=f"{key} {results.peak.job}"),
    }


def _figure(results: StudyResults, name: str) -> dict:
    """What the page says of a figure; ``alt`` is empty where it has not been drawn yet."""
    entry = results.study["figures"][name]
    said = {
        "name": name,
        "title": title(name),
        "caption": one_line(entry["caption"]),
        "notes": [one_line(note) for note in entry["notes"]],
        "formats": figure_formats(results.study, name),
        "alt": "",
        "reasons": [],
    }
    if name not in results.figures:
        return said
    table = results.figures[name]
    spec = figure_spec(results.key, results.study, name, seed=0)  # the text does not depend on the seed
    return said | {"alt": alternative_text(spec, table), "reasons": reasons(table)}


def protocol(study: Mapping) -> list[str]:
    """Say a study's protocol in words, one sentence each."""
    scheme = study["protocol"]
    metrics = [METRICS[name].label for name in study["metrics"]]
    criteria = [CRITERIA.get(name, name) for name in study["criteria"]]
    return [
        *(_trials(scheme, study) if "trials" in scheme else _folds(scheme)),
        *_scaling(study),
        f"Score: {metrics[0]}" + (f"; also {', '.join(metrics[1:])}." if metrics[1:] else "."),
        f"Parameters are chosen by {criteria[0]}" + "".join(f"; also by {one}" for one in criteria[1:]) + ".",
        "The oracle column uses test data and is a diagnostic only.",
    ]


INNER = {
    "leave-two-folds-out": "Inner cross-validation for a left-out fold: each of the other folds is left out "
    "in its turn as well, so that the fit without a pair of folds serves both of them.",
}


def _folds(scheme: Mapping) -> list[str]:
    often = "once" if scheme["repeats"] == 1 else f"{scheme['repeats']} times"
    return [
        f"Stratified {scheme['folds']}-fold cross-validation, {often}.",
        INNER.get(scheme["inner"], f"Inner validation: {scheme['inner']}."),
    ]


def _trials(scheme: Mapping, study: Mapping) -> list[str]:
    rows = [scheme["train"], scheme["test"]]
    taken = "training and test rows, in numbers of each data set's own,"
    if all(isinstance(number, int) for number in rows):
        taken = "{:,} training and {:,} test rows".format(*rows)
    drawn = {
        True: f"{scheme['trials']} random trials: in each all rows are shuffled, {taken} are taken, and any "
        "others are left aside",
        False: "one trial in the order of the files, that learns from the first rows and tests with the last",
    }
    said = _by_dataset(scheme.get("shuffle", True), drawn.__getitem__, study, between="; ")
    return [
        f"{said[0].upper()}{said[1:]}.",
        f"Inner validation: the training rows are cut into {scheme['inner']['folds']} parts; "
        f"{_left_out(scheme['inner'])} for validation.",
    ]


def _left_out(inner: Mapping) -> str:
    if not isinstance(inner["used"], int):
        return "some of them, a number of each data set's own, are left out in their turn"
    if inner["used"] == 1:
        return "one of them is left out"
    which = "each" if inner["used"] == inner["folds"] else f"each of the first {inner['used']}"
    return f"{which} is left out in its turn"


def _scaling(study: Mapping) -> list[str]:
    scaling = study["scaling"]
    if scaling["method"] == "none":
        return ["Features are taken as they are."]
    interval = "[{}, {}]".format(*scaling.get("range", (0, 1)))
    methods = {
        "minmax": f"scaled linearly to {interval}",
        "joint_minmax": f"scaled to {interval} by the ends of all features",
        "maxabs": "divided by its largest absolute value",
        "standard": "brought to zero mean and unit variance",
        "none": "left as it is",
    }
    rows = {"all": "all rows", "train": "the training rows alone"}[scaling["fit_on"]]
    how = _by_dataset(scaling["method"], methods.__getitem__, study)
    said = [f"Each feature is {how}, as measured on {rows}."]
    if "dtype" in scaling:
        precision = {"float64": "double precision", "float32": "single precision"}
        said.append(f"Features are kept in {_by_dataset(scaling['dtype'], precision.__getitem__, study)}.")
    if "targets" in scaling:
        bounds = _by_dataset(scaling["targets"], lambda ends: "[{}, {}]".format(*ends), study)
        said.append(f"Targets of regression are scaled linearly to {bounds}.")
    return said


def _by_dataset(value, in_words: Callable[[object], str], study: Mapping, between: str = " or ") -> str:
    """A value in words; where it differs between data sets, with those of which it is another."""
    if not isinstance(value, Mapping):
        return in_words(value)
    values = dict(study["of_dataset"][value["of_dataset"]])
    said = [in_words(values.pop("default"))] if "default" in values else []
    others: dict[str, list[str]] = {}
    for dataset, of_dataset in values.items():
        others.setdefault(in_words(of_dataset), []).append(dataset)
    return between.join(
        [*said, *(f"{words} (of {', '.join(datasets)})" for words, datasets in others.items())]
    )


def failures(results: StudyResults) -> list[dict]:
    """List the cells without a number, those with one data set and reason together.

    Returns
    -------
    list of dict
        Keys dataset, of (models; the table where it has none), verdict and reason.
    """
    found: dict[tuple, dict] = {}
    for name, table in results.tables.items():
        entry = results.study["tables"][name]
        models = KINDS[entry["kind"]].models(entry, results.study)  # not each is one of the study's
        for row in table[table["verdict"].isin(["failed", "no data"])].itertuples(index=False):
            of_reason = found.setdefault((row.dataset, row.verdict, row.reason), {})
            of_reason[row.model or name] = _model_name(models[row.model]) if row.model else title(name)
    return [
        {
            "dataset": results.labels.get(dataset, dataset),
            "of": list(of_reason.values()),
            "verdict": kind,
            "reason": reason,
        }
        for (dataset, kind, reason), of_reason in found.items()
    ]


def chosen_parameters(results: StudyResults) -> list[dict]:
    """Count how often the study's first criterion took each value of each grid, over all data sets and folds.

    Returns
    -------
    list of dict
        Keys model, parameter and values: a list of {"value", "times", "share"} in the grid's order.
    """
    if not len(results.scores):
        return []
    criterion = results.study["criteria"][0]
    taken = results.scores[
        (results.scores["criterion"] == criterion) & results.scores["success"].astype(bool)
    ]
    summary = []
    for key, model in results.study["models"].items():
        rows = [json.loads(text) for text in taken.loc[taken["model"] == key, "params"]]
        for learner, parameter, grid in _grids(model):
            mine = [row for row in rows if learner in ("", row.get(ONE_OF))]
            times = Counter(_value(row[parameter]) for row in mine if parameter in row)
            if not times:
                continue
            total = sum(times.values())
            summary.append(
                {
                    "model": _model_name(model),
                    "parameter": f"{learner}: {parameter}" if learner else parameter,
                    "values": [
                        {"value": text, "times": times[text], "share": round(100 * times[text] / total)}
                        for text in dict.fromkeys([*map(_value, _values(grid, results.study)), *times])
                    ],
                }
            )
    return summary


def _grids(model: Mapping) -> Iterator[tuple[str, str, object]]:
    """Every parameter of a model's grids with its values, and the one of its learners that it is of."""
    one_of = model.get(ONE_OF, {})
    if one_of:
        yield "", ONE_OF, list(one_of)
    yield from (("", parameter, grid) for parameter, grid in model["grid"].items())
    for name, learner in one_of.items():
        yield from ((name, parameter, grid) for parameter, grid in learner["grid"].items())


def made(
    records: Iterable[Mapping], commit: str = "", peaks: Iterable[Peak | None] = ()
) -> list[tuple[str, str]]:
    """Say when and where records were made: (what, text) pairs, each different value listed once."""
    records = list(records)
    facts = [("commit", commit)] if commit else []
    if not records:
        return [*facts, ("cells", "none yet")]
    failed = sum(not record["success"] for record in records)
    facts.append(("cells", f"{len(records)}, of which {failed} without a result"))
    started = sorted(record["started"] for record in records if record.get("started"))
    if started:
        days = dict.fromkeys((_moment(started[0]), _moment(started[-1])))
        facts.append(("begun", " to ".join(days)))
    facts.append(("training", _duration(sum(record.get("seconds") or 0 for record in records))))
    if peak := max(filter(None, peaks), default=None):
        facts.append(("peak memory", f"{_memory(peak.mib)} ({peak.job})"))
    for name in ("versions", "machine"):
        seen = dict.fromkeys(_described(record[name]) for record in records if record.get(name))
        facts.extend((name, text) for text in seen)
    return facts


# --- small parts ---------------------------------------------------------------------------------------


def _present(folder: Path, study: Mapping, stage: str, suffix: str) -> list[Path]:
    paths = (folder / stage / dataset / f"{model}.{suffix}" for dataset, model in study_cells(study))
    return [path for path in paths if path.exists()]


_STAGES = {"records": "json", "candidates": "parquet", "scores": "parquet"}


def _files(results: StudyResults, home: str) -> list[dict]:
    """Per data set and model, links to those of the cell's files that exist."""

    def links(cell: str) -> list[tuple[str, str]]:
        paths = {stage: f"{stage}/{cell}.{suffix}" for stage, suffix in _STAGES.items()}
        return [
            (stage, f"{home}/{path}") for stage, path in paths.items() if (results.folder / path).exists()
        ]

    return [
        {
            "label": results.labels.get(dataset, dataset),
            "cells": [links(f"{dataset}/{model}") for model in _trained(results.study)],
        }
        for dataset in dict.fromkeys(dataset for dataset, _ in study_cells(results.study))
    ]


def _trained(study: Mapping) -> dict[str, Mapping]:
    """The models of a study that are more than a column of printed numbers."""
    return {name: model for name, model in study["models"].items() if not model.get("printed_only")}


def _bar(found: Mapping[str, int]) -> dict:
    """A bar of verdicts: its segments, and how many cells it stands for."""
    segments = [
        {"verdict": name, "slug": name.replace(" ", "-"), "mark": VERDICTS[name].mark, "count": number}
        for name, number in found.items()
        if number
    ]
    return {"segments": segments, "total": sum(found.values())}


def _model_name(model: Mapping) -> str:
    return one_line(f"{model.get('label', '')} {model.get('sublabel', '')}")


def _values(grid, study: Mapping) -> list:
    """The values of one parameter of a grid, of all data sets where they differ."""
    if isinstance(grid, Mapping) and "of_dataset" in grid:
        return list(chain.from_iterable(study["of_dataset"][grid["of_dataset"]].values()))
    return expand_values(grid)


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _described(facts: object) -> str:
    if isinstance(facts, Mapping):
        return ", ".join(f"{name} {one_line(value)}" for name, value in facts.items())
    return one_line(facts)


def _moment(iso: str) -> str:
    return iso[:16].replace("T", " ")


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _memory(mib: float) -> str:
    return f"{mib:.0f} MiB" if mib < 1024 else f"{mib / 1024:.1f} GiB"


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
