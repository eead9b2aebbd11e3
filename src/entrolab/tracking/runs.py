"""The name, parameters, metrics and tags of a run in the tracking store, read from the run's files.

All files are read before the store is opened; this module does not use MLflow's client.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from entrolab.fit.learners import ONE_OF, expand_values, grid_points
from entrolab.fit.metrics import METRICS
from entrolab.io.run_files import RunContents, StudyRun
from entrolab.study.study import Study
from entrolab.text import full_label, in_short
from entrolab.tracking.comparisons import comparisons_of, headline, is_published
from entrolab.tracking.notes import run_note, version_note

MODEL_FACTS = ("fit_seconds", "predict_seconds", "n_stored_numbers", "n_support", "n_iter")
LONGEST_ERROR = 1000
WITHOUT_MODEL = "model.error"  # tag of a run with scores and without a model: the reason


@dataclass(frozen=True)
class RunContent:
    """The content of one run in the store."""

    run: StudyRun
    label: str
    files: RunContents
    comparisons: list[Any]
    params: dict[str, str]
    metrics: dict[tuple[str, int], float]  # (name, step) -> value
    tags: dict[str, str]
    version_note: str = ""  # description of the registered version, if there is a model

    @property
    def name(self) -> str:
        return f"{self.label} · {self.run.dataset}"

    @property
    def score(self) -> float:
        """The mean score by the study's first metric of its first criterion's selection.

        NaN if a fold has no score.
        """
        files = self.files
        if not files.metrics or not len(files.scores):
            return math.nan
        _, rows = next(files.by_criterion())
        unit = 100.0 if METRICS[files.metrics[0]].percent else 1.0
        return unit * float(rows[files.metrics[0]].where(rows["success"].astype(bool)).mean(skipna=False))

    @property
    def status(self) -> str:
        return "FINISHED" if self.files.record["success"] else "FAILED"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content and of its tables, without the values that differ between reruns."""
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
    """SHA-256 of a table's column names and values; a file's bytes depend on the writer's version."""
    table = table[[name for name in table.columns if not name.endswith("seconds")]]
    digest = hashlib.sha256(json.dumps(list(table.columns)).encode())
    if len(table):
        digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(table, index=False)))
    return digest.hexdigest()


def dataset_contents(
    study: Study, runs: Sequence[StudyRun], tables: Mapping[str, pd.DataFrame]
) -> list[RunContent]:
    """The contents of the runs of one data set; the run with the best score has the tag ``best``."""
    contents = [_content(study, run, tables) for run in runs]
    scored = {
        index: content.score
        for index, content in enumerate(contents)
        if content.files.record["success"] and math.isfinite(content.score)
    }
    if scored:
        metric = contents[0].files.metrics[0]
        sign = 1 if METRICS[metric].greater_is_better else -1
        best = max(scored, key=lambda index: sign * scored[index])
        contents[best] = replace(contents[best], tags=contents[best].tags | {"best": metric})
    return contents


def _content(study: Study, run: StudyRun, tables: Mapping[str, pd.DataFrame]) -> RunContent:
    files = RunContents.of(run, study)
    record = files.record
    label = full_label(study.models[run.model])
    comparisons = comparisons_of(study, run, tables) if record["success"] else []
    metrics, not_finite = _finite_and_not(_metrics(study, run, files, comparisons))
    tags = {f"nonfinite.{name}": values for name, values in not_finite.items()}
    # The first metric, as in the comparison with the published value.
    tags |= {f"verdict.{one.criterion}": one.verdict for one in reversed(comparisons) if is_published(one)}
    if not record["success"]:
        tags |= {"failure": record["status"], "failure.reason": record["error"][:LONGEST_ERROR]}
        if any(map(is_published, comparisons_of(study, run, tables))):
            tags["verdict"] = "no data" if record["status"] == "no data" else "failed"
    elif shown := headline(comparisons):
        tags |= {name: getattr(shown, name) for name in ("metric", "criterion", "table")}
        tags |= {"verdict": shown.verdict} if is_published(shown) else {}
    if record["success"] and files.without_model:
        tags[WITHOUT_MODEL] = files.without_model[:LONGEST_ERROR]
    tags["mlflow.note.content"] = run_note(study, run, label, files, comparisons)
    content = RunContent(run, label, files, comparisons, _params(study, run, files), metrics, tags)
    if files.trusted_types is None:
        return content
    note = version_note(study, run, label, files, content.score)
    return replace(content, version_note=note)


def _params(study: Study, run: StudyRun, files: RunContents) -> dict[str, str]:
    """The parameters of a run: those of its learner, fixed or selected, and those of the protocol."""
    record = files.record
    params = {
        "dataset": run.dataset,
        "model": run.model,
        "estimator": record["estimator"],
        "seed": record["seed"],
        "grid.points": len(grid_points(record)),
    }
    steps = study.models[run.model].steps
    learner = _with_alternatives(record, "params") | files.facts.get("params", {})
    for name, value in learner.items():
        # Such as `estimator`, which is a key of the run and may be a parameter of a learner.
        name = f"learner.{name}" if name in params else name
        params[name] = in_short(value) if isinstance(value, list) else value
    groups = {
        "step": {str(number): step.estimator for number, step in enumerate(steps, start=1)},
        ONE_OF: {name: learner["estimator"] for name, learner in record.get(ONE_OF, {}).items()},
        "grid": {
            name: in_short(expand_values(values))
            for name, values in _with_alternatives(record, "grid").items()
        },
        "protocol": study.protocol_of(run.dataset, run.model),
        "scaling": study.scaling_of(run.dataset),
        "data": record["data"],
        **{f"chosen.{criterion}": params for criterion, (params, _) in files.most_chosen().items()},
    }
    params |= {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}


def _with_alternatives(record: Mapping, part: str) -> dict:
    """A model's ``params`` or ``grid``, including those of its alternatives by name."""
    alternatives = record.get(ONE_OF, {}).items()
    return record[part] | {
        f"{name}.{key}": value for name, learner in alternatives for key, value in learner[part].items()
    }


def _metrics(
    study: Study, run: StudyRun, files: RunContents, comparisons: Sequence[Any]
) -> dict[tuple[str, int], float]:
    """Every metric of the run, finite or not: (name, step) -> value, in the order of the UI.

    The scores of folds have names of their own: for a metric with several steps, MLflow's tables show the
    last value, which would look like the result.
    """
    metrics: dict[tuple[str, int], float] = {}
    if shown := headline(comparisons):
        # The same names in every study, with rounded values.
        metrics["ours", 0] = _legible(shown.ours)
        if is_published(shown):
            metrics |= {("published", 0): shown.published, ("difference", 0): _legible(shown.difference)}
    # Selections from the whole grid first, then the first of several tables.
    for one in sorted(comparisons, key=lambda one: one.restricted):
        metrics.setdefault((f"{one.criterion}/{one.metric}_mean", 0), one.ours)
        metrics.setdefault((f"{one.criterion}/{one.metric}_std", 0), one.ours_std)
        if is_published(one):
            metrics.setdefault((f"{one.criterion}/published", 0), one.published)
            metrics.setdefault((f"{one.criterion}/difference", 0), one.difference)
    record, facts = files.record, files.facts
    metrics |= {(name, 0): record[name] for name in ("n_candidates", "n_failed")}
    metrics |= {(name, 0): facts[name] for name in MODEL_FACTS if name in facts}
    metrics["train_seconds", 0] = record["seconds"]
    folds = study.protocol_of(run.dataset, run.model).get("folds", 1)  # a trial has one test part
    for criterion, rows in files.by_criterion():
        steps = (rows["repeat"] * folds + rows["fold"]).astype(int)
        for metric in files.metrics:
            unit = 100.0 if METRICS[metric].percent else 1.0
            values = unit * rows[metric].astype(float).where(rows["success"].astype(bool))
            metrics |= zip(((f"{criterion}_folds/{metric}", step) for step in steps), values, strict=True)
    return metrics


def _legible(value: float) -> float:
    """A number rounded for MLflow's table of runs, which shows all digits.

    Examples
    --------
    >>> _legible(86.09592), _legible(-0.0380152), _legible(21507.0)
    (86.1, -0.038, 21507.0)
    """
    return round(value, 2) if abs(value) >= 1 else float(f"{value:.3g}")


def _finite_and_not(
    metrics: Mapping[tuple[str, int], float],
) -> tuple[dict[tuple[str, int], float], dict[str, str]]:
    """The finite metrics, and the others as text: MLflow shows infinity and NaN as results."""
    finite, not_finite = {}, {}
    for (name, step), value in metrics.items():
        if math.isfinite(value):
            finite[name, step] = float(value)
        else:
            not_finite.setdefault(name, []).append(f"{value} at step {step}")
    return finite, {name: ", ".join(values)[:LONGEST_ERROR] for name, values in not_finite.items()}
