"""What the run of one cell says in the tracking store: its name, parameters, metrics and tags.

All of it is read from the cell's files before the store is opened; nothing here knows MLflow's client.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from entrolab.fit.learners import ONE_OF, expand_values, grid_points
from entrolab.fit.metrics import METRICS
from entrolab.io.run_files import Cell, CellFiles
from entrolab.study.lookup import protocol_of, scaling_of
from entrolab.tracking.comparisons import Comparison, comparisons_of, headline
from entrolab.tracking.notes import cell_note, version_note

__all__ = ["RunContent", "dataset_contents"]

MODEL_FACTS = ("fit_seconds", "predict_seconds", "n_stored_numbers", "n_support", "n_iter")
LONGEST_ERROR = 1000


@dataclass(frozen=True)
class RunContent:
    """Everything that the run of one cell says, before it is written."""

    cell: Cell
    label: str
    files: CellFiles
    comparisons: list[Comparison]
    params: dict[str, str]
    metrics: dict[tuple[str, int], float]  # (name, step) -> value
    tags: dict[str, str]
    version_note: str = ""  # of the registered model, if it is the best of its data set

    @property
    def name(self) -> str:
        return f"{self.label} · {self.cell.dataset}"

    @property
    def note(self) -> str:
        return self.tags["mlflow.note.content"]

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


def dataset_contents(
    study: Mapping, cells: Sequence[Cell], tables: Mapping[str, pd.DataFrame]
) -> list[RunContent]:
    """What the runs of one data set's cells say; of those that one table compares, the best says so."""
    contents = [_cell_content(study, cell, tables) for cell in cells]
    best, compared = _best(contents, tables)
    if best is None:
        return contents
    note = version_note(study, best.cell, best.label, best.files, compared)
    marked = replace(best, tags=best.tags | {"best": compared.table}, version_note=note)
    return [marked if content is best else content for content in contents]


def _cell_content(study: Mapping, cell: Cell, tables: Mapping[str, pd.DataFrame]) -> RunContent:
    files = CellFiles.of(cell, study)
    model = study["models"][cell.model]
    label = " ".join(filter(None, [model["label"], model["sublabel"]]))
    comparisons = comparisons_of(study, cell, tables) if files.record["success"] else []
    metrics, not_finite = _finite_and_not(_metrics(study, files, comparisons))
    tags = {f"nonfinite.{name}": values for name, values in not_finite.items()}
    # Of several metrics the first counts, as for the printed number.
    tags |= {f"verdict.{one.criterion}": one.verdict for one in reversed(comparisons) if one.is_printed}
    shown = headline(comparisons)
    if not files.record["success"]:
        tags |= {"failure": files.record["kind"], "failure.reason": files.record["error"][:LONGEST_ERROR]}
        tags["verdict"] = "no data" if files.record["kind"] == "no data" else "failed"
    elif shown is not None:
        tags |= {"verdict": shown.verdict, "metric": shown.metric, "criterion": shown.criterion}
        tags |= {"table": shown.table}
    if files.record["success"] and files.facts.get("error"):
        tags["refit.error"] = files.facts["error"][:LONGEST_ERROR]
    tags["mlflow.note.content"] = cell_note(study, cell, label, files, comparisons)
    params = _params(study, cell, files)
    return RunContent(cell, label, files, comparisons, params, metrics, tags)


def _best(
    contents: Sequence[RunContent], tables: Mapping[str, pd.DataFrame]
) -> tuple[RunContent | None, Comparison | None]:
    """The best cell with a model in the first table of a data set's scores, and its first score there."""
    for table in tables:
        first = [
            (content, next((one for one in content.comparisons if one.table == table), None))
            for content in contents
            if content.files.trusted_types is not None
        ]
        scored = [(content, one) for content, one in first if one and math.isfinite(one.ours)]
        if scored and not scored[0][1].restricted:
            return max(scored, key=lambda cell: cell[1].gain)
    return None, None


def _params(study: Mapping, cell: Cell, files: CellFiles) -> dict[str, str]:
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
        **{f"chosen.{criterion}": params for criterion, (params, _) in files.most_chosen().items()},
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


def _metrics(
    study: Mapping, files: CellFiles, comparisons: Sequence[Comparison]
) -> dict[tuple[str, int], float]:
    """Every metric of the run, finite or not: (name, step) -> value, in the order that the UI shows them.

    The scores of the folds have names of their own: of a name with several steps, tables of runs show the
    last, which would pass for the result.
    """
    metrics: dict[tuple[str, int], float] = {}
    shown = headline(comparisons)
    if shown is not None:
        # The same names in every study, and as many digits as one reads.
        metrics["ours", 0] = _legible(shown.ours)
        if shown.is_printed:
            metrics |= {("published", 0): shown.printed, ("difference", 0): _legible(shown.difference)}
    # What is chosen from all of the grid comes first, and of several tables the first.
    for one in sorted(comparisons, key=lambda one: one.restricted):
        metrics.setdefault((f"{one.criterion}/{one.metric}_mean", 0), one.ours)
        metrics.setdefault((f"{one.criterion}/{one.metric}_std", 0), one.ours_std)
        if one.is_printed:
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


def _shown(rows: pd.DataFrame, metric: str) -> pd.Series:
    """A score in every fold, in percent where it is a fraction; NaN where the fold failed."""
    unit = 100.0 if METRICS[metric].percent else 1.0
    return unit * rows[metric].astype(float).where(rows["success"].astype(bool))


def _legible(value: float) -> float:
    """A number as a table of runs has room for it, which shows every digit that it is given.

    Examples
    --------
    >>> _legible(86.09592), _legible(-0.0380152), _legible(21507.0)
    (86.1, -0.038, 21507.0)
    """
    return round(value, 2) if abs(value) >= 1 else float(f"{value:.3g}")


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
