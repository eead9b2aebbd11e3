"""What the run of one cell says in the tracking store: its name, parameters, metrics, tags and note.

All of it is read from the cell's files before the store is opened; nothing here knows MLflow's client.
"""

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from entrolearn.lab.cells import protocol_of, scaling_of
from entrolearn.lab.frames import read_frame
from entrolearn.lab.kinds import KINDS, Found, Printed
from entrolearn.lab.metrics import METRICS
from entrolearn.lab.records import read_json
from entrolearn.lab.registry import ONE_OF, expand_values, grid_points, made_of
from entrolearn.lab.stored import trusted_types
from entrolearn.lab.verdicts import VERDICTS

__all__ = ["Cell", "RunContent", "cell_content", "paper_note"]

PERCENT = 100.0  # most score columns are fractions, of which papers print percent
MODEL_FACTS = ("fit_seconds", "predict_seconds", "n_stored_numbers", "n_support", "n_iter")
LONGEST_ERROR = 1000


@dataclass(frozen=True)
class Cell:
    """One data set × one model of one paper, and the files that say what became of it."""

    paper: str
    dataset: str
    model: str
    record: Path
    scores: Path
    candidates: Path
    facts: Path
    fitted: Path

    @classmethod
    def at(cls, paper: str, dataset: str, model: str, results: str | os.PathLike = "results") -> "Cell":
        """The cell whose files are where the workflow puts them, under `results`."""
        folder = Path(results, paper)
        return cls(
            paper,
            dataset,
            model,
            record=folder / "records" / dataset / f"{model}.json",
            scores=folder / "scores" / dataset / f"{model}.parquet",
            candidates=folder / "candidates" / dataset / f"{model}.parquet",
            facts=folder / "models" / dataset / f"{model}.json",
            fitted=folder / "models" / dataset / f"{model}.skops",
        )

    @property
    def key(self) -> str:
        return f"{self.paper}/{self.dataset}/{self.model}"


@dataclass(frozen=True)
class _Files:
    """What the files of one cell hold; a stage without a result leaves an empty file, or none."""

    record: dict
    facts: dict
    scores: pd.DataFrame
    candidates: pd.DataFrame
    metrics: list[str]  # the study's that fit the data set's task
    trusted_types: list[str] | None  # None: there is no fitted model

    @classmethod
    def of(cls, cell: Cell, study: Mapping) -> "_Files":
        fitted = cell.fitted if _filled(cell.fitted) else None
        record = read_json(cell.record)
        scores = read_frame(cell.scores) if _filled(cell.scores) else _NO_SCORES
        return cls(
            record=record,
            facts=read_json(cell.facts) if _filled(cell.facts) else {},
            scores=scores,
            candidates=read_frame(cell.candidates) if _filled(cell.candidates) else pd.DataFrame(),
            metrics=[name for name in study["metrics"] if name in scores and _is_had(scores, name)],
            trusted_types=fitted and trusted_types(fitted, made_of(study["models"][cell.model])),
        )

    def by_criterion(self) -> Iterator[tuple[str, pd.DataFrame]]:
        yield from self.scores.groupby("criterion", sort=False)


def _is_had(scores: pd.DataFrame, metric: str) -> bool:
    """Whether a learner has a metric at all: not each is made of support vectors."""
    return METRICS[metric].chooses or scores[metric].notna().any()


_NO_SCORES = pd.DataFrame({"criterion": []})


def _filled(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


@dataclass(frozen=True)
class _Comparison:
    """A criterion's mean of one metric, as tables show it, beside the number that one prints (NaN: none)."""

    criterion: str
    metric: str
    ours: float
    ours_std: float
    table: str
    printed: float
    printed_std: float
    entry: Mapping  # the table's, which says how a number of ours is judged

    @property
    def difference(self) -> float:
        return self.ours - self.printed

    @property
    def verdict(self) -> str:
        if math.isnan(self.ours):
            return "failed"
        at = ("", "", self.metric)
        found, printed = {at: Found(self.ours)}, {at: Printed(self.printed, self.printed_std)}
        return KINDS["scores"].judge(at, {"tolerance": {}, **self.entry}, found, printed).verdict


@dataclass(frozen=True)
class RunContent:
    """Everything that the run of one cell says, before it is written."""

    cell: Cell
    label: str
    files: _Files
    params: dict[str, str]
    metrics: dict[tuple[str, int], float]  # (name, step) -> value
    tags: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.label} · {self.cell.dataset}"

    @property
    def status(self) -> str:
        return "FINISHED" if self.files.record["success"] else "FAILED"

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all that the run says and the tables behind it, except what differs between reruns."""
        files = self.files
        said = {
            "name": self.name,
            "status": self.status,
            "params": self.params,
            "metrics": [[*at, value] for at, value in self.metrics.items() if not at[0].endswith("seconds")],
            "tags": self.tags,
            "versions": files.record["versions"],
            "facts": {name: value for name, value in files.facts.items() if not name.endswith("seconds")},
            "tables": [_table_digest(files.scores), _table_digest(files.candidates)],
            "model": files.trusted_types,
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _table_digest(table: pd.DataFrame) -> str:
    """SHA-256 over a table's names and values: the bytes of its file depend on who wrote it."""
    table = table[[name for name in table.columns if not name.endswith("seconds")]]
    digest = hashlib.sha256(json.dumps(list(table.columns)).encode())
    if len(table):
        digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(table, index=False)))
    return digest.hexdigest()


def cell_content(study: Mapping, cell: Cell, printed: pd.DataFrame | None) -> RunContent:
    files = _Files.of(cell, study)
    model = study["models"][cell.model]
    label = " ".join(filter(None, [model["label"], model["sublabel"]]))
    comparisons = _comparisons(study, cell, files, printed)
    metrics, not_finite = _finite_and_not(_metrics(study, files, comparisons))
    tags = {f"nonfinite.{name}": values for name, values in not_finite.items()}
    # Of several metrics the first counts, as for the printed number.
    tags |= {f"verdict.{one.criterion}": one.verdict for one in reversed(comparisons) if one.table}
    if not files.record["success"]:
        tags |= {"failure": files.record["kind"], "failure.reason": files.record["error"][:LONGEST_ERROR]}
    elif files.facts.get("error"):
        tags["refit.error"] = files.facts["error"][:LONGEST_ERROR]
    tags["mlflow.note.content"] = _cell_note(study, cell, label, files, comparisons)
    return RunContent(cell, label, files, _params(study, cell, files), metrics, tags)


def _params(study: Mapping, cell: Cell, files: _Files) -> dict[str, str]:
    record = files.record
    params = {
        "dataset": cell.dataset,
        "model": cell.model,
        "estimator": record["estimator"],
        "seed": record["seed"],
        "grid.points": len(grid_points(record)),
    }
    steps = study["models"][cell.model]["steps"]
    groups = {
        "fixed": {
            name: _in_short(value) if isinstance(value, list) else value
            for name, value in _with_alternatives(record, "params").items()
        },
        "step": {str(number): step["estimator"] for number, step in enumerate(steps, start=1)},
        ONE_OF: {name: learner["estimator"] for name, learner in record.get(ONE_OF, {}).items()},
        "grid": {
            name: _in_short(expand_values(values))
            for name, values in _with_alternatives(record, "grid").items()
        },
        "protocol": protocol_of(study, cell.dataset, cell.model),
        "scaling": scaling_of(study, cell.dataset),
        "data": record["data"],
        **{f"chosen.{criterion}": params for criterion, (params, _) in _most_chosen(files).items()},
    }
    params |= {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}


def _with_alternatives(record: Mapping, part: str) -> dict:
    """A model's parameters or grid, and those of the learners that it chooses from, under their names."""
    alternatives = record.get(ONE_OF, {}).items()
    return record[part] | {
        f"{name}.{key}": value for name, learner in alternatives for key, value in learner[part].items()
    }


def _in_short(values: Sequence) -> str:
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return ", ".join(shown) if len(shown) <= 6 else f"{shown[0]}, {shown[1]} … {shown[-1]}"


def _most_chosen(files: _Files) -> dict[str, tuple[dict, str]]:
    """For each criterion the parameters that it chose most often, and in how many of the folds."""
    result = {}
    for criterion, rows in files.by_criterion():
        chosen = Counter(rows["params"][rows["success"].astype(bool)])
        if chosen:
            params, times = chosen.most_common(1)[0]
            result[criterion] = (json.loads(params), f"{times} of {len(rows)}")
    return result


def _comparisons(
    study: Mapping, cell: Cell, files: _Files, printed: pd.DataFrame | None
) -> list[_Comparison]:
    """Every criterion by every metric, beside the first table of the study that prints it."""
    result = []
    for criterion, rows in files.by_criterion():
        for metric in files.metrics:
            values = _shown(rows, metric)
            # The mean of the folds that happened to succeed would compare with nothing: it is NaN instead.
            with np.errstate(invalid="ignore"):
                ours, ours_std = values.mean(skipna=False), values.std(ddof=1, skipna=False)
            there = _printed(study, cell, criterion, metric, printed)
            result.append(_Comparison(criterion, metric, float(ours), float(ours_std), *there))
    return result


def _shown(rows: pd.DataFrame, metric: str) -> pd.Series:
    """A score in every fold, in percent where it is a fraction; NaN where the fold failed."""
    unit = PERCENT if METRICS[metric].percent else 1.0
    return unit * rows[metric].astype(float).where(rows["success"].astype(bool))


def _printed(
    study: Mapping, cell: Cell, criterion: str, metric: str, printed: pd.DataFrame | None
) -> tuple[str, float, float, Mapping]:
    """Where a cell's score is printed, its value and its ±, and what the study says of that table."""
    names = [
        name
        for name, table in study["tables"].items()
        if table.get("criterion") == criterion and metric in np.atleast_1d(table.get("metric", ""))
    ]
    if printed is not None:
        mine = printed[
            (printed[["dataset", "model", "metric"]] == [cell.dataset, cell.model, metric]).all(axis=1)
        ]
        for row in mine.set_index("table").reindex(names).dropna(subset="value").itertuples():
            return row.Index, float(row.value), float(row.std), study["tables"][row.Index]
    return "", math.nan, math.nan, {}


def _metrics(
    study: Mapping, files: _Files, comparisons: Sequence[_Comparison]
) -> dict[tuple[str, int], float]:
    """Every metric of the run, finite or not: (name, step) -> value, in the order that the UI shows them.

    The scores of the folds have names of their own: of a name with several steps, tables of runs show the
    last, which would pass for the result.
    """
    metrics: dict[tuple[str, int], float] = {}
    for one in comparisons:
        metrics[f"{one.criterion}/{one.metric}_mean", 0] = one.ours
        metrics[f"{one.criterion}/{one.metric}_std", 0] = one.ours_std
        if one.table:  # the study's metrics come in order, so the first one's number stays
            metrics.setdefault((f"{one.criterion}/published", 0), one.printed)
            metrics.setdefault((f"{one.criterion}/difference", 0), one.difference)
    record, facts = files.record, files.facts
    metrics |= {(name, 0): record[name] for name in ("n_candidates", "n_failed")}
    metrics |= {(name, 0): facts[name] for name in MODEL_FACTS if name in facts}
    metrics["train_seconds", 0] = record["seconds"]
    for criterion, rows in files.by_criterion():
        folds = study["protocol"].get("folds", 1)  # a trial has one
        steps = (rows["repeat"] * folds + rows["fold"]).astype(int)
        for metric in files.metrics:
            by_fold = zip(steps, _shown(rows, metric), strict=True)
            metrics |= {(f"{criterion}_folds/{metric}", step): value for step, value in by_fold}
    return metrics


def _finite_and_not(
    metrics: Mapping[tuple[str, int], float],
) -> tuple[dict[tuple[str, int], float], dict[str, str]]:
    """The metrics that a store can hold, and in words those that it cannot.

    MLflow keeps infinity as the largest double and NaN as a number like others, and shows both as results.
    """
    finite, not_finite = {}, {}
    for (name, step), value in metrics.items():
        if math.isfinite(value):
            finite[name, step] = float(value)
        else:
            not_finite.setdefault(name, []).append(f"{value} at step {step}")
    return finite, {name: ", ".join(values)[:LONGEST_ERROR] for name, values in not_finite.items()}


def _cell_note(
    study: Mapping, cell: Cell, label: str, files: _Files, comparisons: Sequence[_Comparison]
) -> str:
    """What the run is and how to get it again, in markdown; nothing in it differs between reruns."""
    record = files.record
    lines = [f"**{label}** (`{record['estimator']}`) on **{cell.dataset}** · {study['title']}", ""]
    if not record["success"]:
        lines += [f"**{record['kind']}**: {record['error'][:LONGEST_ERROR]}", ""]
    shown = [one for one in comparisons if one.metric == files.metrics[0] or one.table]
    draws = "trials" if "trials" in study["protocol"] else "folds"
    if shown:
        lines += [
            "| criterion | metric | ours | printed | difference | verdict | table |",
            "|---" * 7 + "|",
        ]
        lines += [_comparison_row(one) for one in shown]
        lines += ["", "Chosen most often (`oracle` looks at the test rows: a diagnostic, no result):", ""]
        for criterion, (params, times) in _most_chosen(files).items():
            values = ", ".join(f"{name} = {value}" for name, value in params.items())
            lines.append(f"- {criterion}: {values or 'the only point'} ({times} {draws})")
    lines += [
        f"- {note}: {count} of {record['n_candidates']} fits" for note, count in record["notes"].items()
    ]
    if record["success"] and files.facts.get("error"):
        lines.append(f"- no model is stored: {files.facts['error'][:LONGEST_ERROR]}")
    command = f"snakemake {cell.scores.as_posix()} --forcerun {cell.record.as_posix()}"
    return "\n".join([*lines, "", "Regenerate it with", "", f"    {command}"])


def _comparison_row(one: _Comparison) -> str:
    digits, unit = (2, " (%)") if METRICS[one.metric].percent else (4, "")
    ours = f"{one.ours:.{digits}f} ± {one.ours_std:.{digits}f}"
    theirs = " | "
    if one.table:
        spread = "" if math.isnan(one.printed_std) else f" ± {one.printed_std:.{digits}f}"
        theirs = f"{one.printed:.{digits}f}{spread} | {one.difference:+.{digits}f}"
    return f"| {one.criterion} | {one.metric}{unit} | {ours} | {theirs} | {one.verdict} | {one.table} |"


def paper_note(study: Mapping, paper: str, verdicts: Mapping[str, Mapping[str, int]]) -> str:
    lines = [f"**{study['title']}**", "", study["reference"], "", study["url"], ""]
    if verdicts:
        lines += ["| table | " + " | ".join(VERDICTS) + " |", "|---" * (len(VERDICTS) + 1) + "|"]
        lines += [
            f"| {table} | " + " | ".join(str(found[name]) for name in VERDICTS) + " |"
            for table, found in verdicts.items()
        ]
    return "\n".join([*lines, "", "Regenerate it with", "", f"    snakemake {paper}"])
