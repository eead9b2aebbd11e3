"""The contents of runs in the tracking store, read from result files; this module does not use MLflow."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from entrolab.data.dataset import Dataset, DataUnavailable, load_dataset
from entrolab.experiments.measurement import Measurement
from entrolab.fit.learners import ONE_OF, grid_points, made_of
from entrolab.fit.metrics import METRICS
from entrolab.fit.selection import ORACLE
from entrolab.io.files import FILES
from entrolab.io.model_reading import NoModel, Refused, load_fitted
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.results.reader import Results, RunContents
from entrolab.study.study import Study
from entrolab.tables.base import GENERATED
from entrolab.tables.rendering import escape_md
from entrolab.text import full_label, in_short, one_line

DIVERGENCES = ("dcs_gaussian", "dcs_kde")
MODEL_FACTS = ("fit_seconds", "predict_seconds", "n_stored_numbers", "n_support", "n_iter")
START = re.compile(r"start (\d+)")  # readings of single starts
LONGEST = 1000  # characters of a text of a study, a catalog or an error


@dataclass
class Model:
    """A refitted model: the criteria that selected it, its facts and its scores in the folds."""

    criteria: list[str]
    fitted: BaseEstimator
    format: str  # of `model_format` in studies
    types: list[str]  # that skops has to trust
    facts: dict
    scores: dict[str, float]


@dataclass
class Content:
    """The content of a run: of a study's run, of a grid point, or of a measurement.

    `key` identifies it: a new run replaces the earlier one; grid points have the key of their run. Metrics
    are (name, step, value) and may be infinite or NaN; `started` is an ISO date. `frames` are files of the
    run, by name; `grid` is a table that MLflow's page shows.
    """

    key: str
    name: str
    tags: dict[str, str]
    params: dict[str, Any] = field(default_factory=dict)
    metrics: list[tuple[str, int, float]] = field(default_factory=list)
    failure: str = ""
    started: str = ""
    seconds: float = 0.0
    data: Dataset | None = None
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)
    record: dict = field(default_factory=dict)
    grid: pd.DataFrame | None = None
    models: list[Model] = field(default_factory=list)


# ------------------------------------------------------------------------------------------------ runs


def content_of_run(study: Study, dataset: str, model: str, *, with_models: bool = True) -> Content:
    """The content of a run of a study: its parameters, selections, scores by fold, curves and models.

    Means over the folds have the metric's or the criterion's name, with the criterion in front unless it is
    the first one: ``gmean`` and ``dcs_gaussian`` of what inner cross-validation selected,
    ``dcs_kde/gmean``. ``cv_folds/gmean`` has the folds as steps. Scores are percent where tables show
    percent.
    """
    results, entry = Results(study), study.models[model]
    files = results.run(dataset, model)
    record = files.record
    metrics = [(name, 0, record[name]) for name in ("n_candidates", "n_failed")]
    metrics += [("train_seconds", 0, record["seconds"])]
    metrics += [(name, 0, files.facts[name]) for name in MODEL_FACTS if name in files.facts]
    for name, values in files.facts.get("curves", {}).items():
        metrics += [(name, step, value) for step, value in enumerate(values)]
    tags = _tags(study, dataset, model)
    n_folds = study.protocol_of(dataset, model).get("folds", 1)  # a trial has one test part
    selected = [*_selected(entry.criteria, n_folds, files)] if record["success"] else []
    metrics += selected
    if record["success"] and entry.criteria:
        tags["metric"], tags["criterion"] = files.metrics[0], entry.criteria[0]
    failure = "" if record["success"] else f"{record['status']}: {record['error']}"
    models, without = [], ""
    if with_models and record["success"]:
        folder = results.file("models", dataset=dataset, model=model)
        means = {name: value for name, _, value in selected}
        models, without = _models(folder, entry, study.model_format, files.metrics, means)
    if without:
        tags["model.error"] = without[:LONGEST]
    if record["notes"]:
        notes = (f"{note} in {n} of {record['n_candidates']} fits" for note, n in record["notes"].items())
        tags["notes"] = "; ".join(notes)[:LONGEST]
    return Content(
        key=f"{study.name}/seed{study.seed}/{dataset}/{model}",
        name=f"{full_label(entry)} · {dataset}",
        tags=tags,
        params=_params(study, dataset, model, files),
        metrics=metrics,
        failure=failure,
        started=record["started"],
        seconds=record["seconds"],
        data=load_dataset(study.rows_of(dataset)) if record["data"] else None,
        frames={"scores.csv": files.scores, "candidates.parquet": files.candidates},
        record=record,
        models=models,
    )


def _tags(study: Study, dataset: str, model: str) -> dict[str, str]:
    return {"study": study.name, "dataset": dataset, "model": model, "seed": str(study.seed)}


def _selected(criteria: Sequence[str], n_folds: int, files: RunContents) -> Iterator[tuple[str, int, float]]:
    """The scores and the criteria's values of what each criterion selected: means, deviations and folds."""
    first = next(iter(criteria), "")
    at = ["repeat", "fold", "point"]
    of_criteria = _values_of_criteria(files).set_index(at)
    for criterion, rows in files.by_criterion():
        prefix = "" if criterion == first else f"{criterion}/"
        steps = (rows["repeat"] * n_folds + rows["fold"]).astype(int)
        values = of_criteria.reindex(pd.MultiIndex.from_frame(rows[at])).set_index(rows.index)
        values = values.dropna(axis="columns", how="all")  # a learner without a criterion
        for name in files.metrics:
            values[name] = _unit(name) * rows[name].astype(float).where(rows["success"].astype(bool))
            with np.errstate(invalid="ignore"):  # of an infinite score
                yield f"{prefix}{name}_std", 0, values[name].std(skipna=False)
        for name, column in values.items():
            yield f"{prefix}{name}", 0, column.mean(skipna=False)
            if criterion != ORACLE:
                yield from ((f"{criterion}_folds/{name}", *one) for one in zip(steps, column, strict=True))


def _values_of_criteria(files: RunContents) -> pd.DataFrame:
    """The value of each criterion for each candidate; that of inner cross-validation in the metric's unit."""
    rows = files.candidates
    values = rows[["repeat", "fold", "point"]].copy()
    for name in rows.columns:
        if name.startswith("dcs_"):
            values[name] = rows[name]
        elif name.startswith("cv_"):
            values[name] = _unit(name.removeprefix("cv_")) * rows[name]
    return values


def _unit(metric: str) -> float:
    return 100.0 if METRICS[metric].percent else 1.0


def _models(
    folder: Path, entry, model_format: str, metrics: Sequence[str], means: Mapping[str, float]
) -> tuple[list[Model], str]:
    """The refitted models of a run, each once, and the first reason why a criterion has none.

    `means` are the metrics of the run, of which each model has those of its first criterion.
    """
    found: dict[str, Model] = {}
    reason = ""
    for criterion in entry.criteria:
        facts = read_json(folder / f"{criterion}.json")
        point = json.dumps(facts.get("params"), sort_keys=True)
        try:
            if point not in found:
                fitted = load_fitted(folder, criterion, made_of(entry), model_format)
                prefix = "" if criterion == entry.criteria[0] else f"{criterion}/"
                names = [name for name in (*metrics, *DIVERGENCES) if f"{prefix}{name}" in means]
                found[point] = Model([], *fitted, facts, {name: means[f"{prefix}{name}"] for name in names})
            found[point].criteria.append(criterion)
        except (NoModel, Refused) as error:
            reason = reason or str(error)
    return [*found.values()], reason


def _params(study: Study, dataset: str, model: str, files: RunContents) -> dict[str, Any]:
    """The parameters of a run: those of its learner, fixed or selected, and those of the protocol."""
    record = files.record
    params = {
        "dataset": dataset,
        "model": model,
        "estimator": record["estimator"],
        "seed": record["seed"],
        "grid.points": len(grid_points(record)),
    }
    learner = _with_alternatives(record, "params") | files.facts.get("params", {})
    params = _beside(params, learner)
    steps = study.models[model].steps
    groups = {
        "step": {str(number): step.estimator for number, step in enumerate(steps, start=1)},
        ONE_OF: {name: learner["estimator"] for name, learner in record.get(ONE_OF, {}).items()},
        "grid": {name: in_short(values) for name, values in _with_alternatives(record, "grid").items()},
        "protocol": study.protocol_of(dataset, model),
        "scaling": study.scaling_of(dataset),
        "data": record["data"],
        **{f"{criterion}": chosen for criterion, (chosen, _) in files.most_chosen().items()},
    }
    return params | {
        f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()
    }


def _beside(place: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a run's place and of its learner, such as `estimator`, which may be in both."""
    return {**place, **{f"learner.{name}" if name in place else name: one for name, one in params.items()}}


def _with_alternatives(record: Mapping, part: str) -> dict:
    """A model's ``params`` or ``grid``, including those of its alternatives by name."""
    alternatives = record.get(ONE_OF, {}).items()
    return record[part] | {
        f"{name}.{key}": value for name, learner in alternatives for key, value in learner[part].items()
    }


def plain(text: object) -> str:
    """A text of a study, a catalog or an error as one line without markup, links or pictures."""
    return escape_md(one_line(text, LONGEST))


# ------------------------------------------------------------------------------------------ candidates


def mean_candidates(content: Content) -> pd.DataFrame | None:
    """The grid of a run: a row per point, with its parameters and the means over the folds with a result.

    ``chosen_by`` names the criteria that selected the point, with the number of folds; ``failed`` is the
    number of fits without a result. None without candidates.
    """
    rows, scores = content.frames["candidates.parquet"], content.frames["scores.csv"]
    if not len(rows):
        return None
    names = [name for name in rows if name.startswith(("dcs_", "cv_", "test_"))]
    units = {name: 1.0 if name.startswith("dcs_") else _unit(name.partition("_")[2]) for name in names}
    means = rows[names].where(rows["success"].astype(bool)).mul(units).groupby(rows["point"]).mean()
    selected = scores[scores["success"].astype(bool)] if len(scores) else scores
    chosen = (
        {
            point: ", ".join(
                f"{name} {n}" for name, n in of_point["criterion"].value_counts(sort=False).items()
            )
            for point, of_point in selected.groupby("point")
        }
        if len(selected)
        else {}
    )
    points = rows.groupby("point")
    params = pd.DataFrame([*points["params"].first().map(json.loads)], index=means.index)
    failed = (~rows["success"].astype(bool)).groupby(rows["point"]).sum()
    return params.join(means.dropna(axis="columns", how="all")).assign(
        failed=failed, chosen_by=[chosen.get(point, "") for point in means.index]
    )


def contents_of_candidates(content: Content, grid: pd.DataFrame) -> Iterator[Content]:
    """The grid of a run, as :func:`mean_candidates` returns it, as a run per point."""
    names = [name for name in grid if name.startswith(("dcs_", "cv_", "test_"))]
    place = {name: content.tags[name] for name in ("dataset", "model")}
    for row in grid.to_dict("records"):
        params = {name: value for name, value in row.items() if name not in (*names, "failed", "chosen_by")}
        params = {name: value for name, value in params.items() if value == value}
        values = ", ".join(f"{name} {value}" for name, value in params.items())
        yield Content(
            key=content.key,
            name=f"{values} · {content.name}" if values else content.name,
            tags=content.tags | {"chosen_by": row["chosen_by"]},
            params=_beside(place, params),
            metrics=[(name, 0, row[name]) for name in (*names, "failed")],
            failure="" if any(row[name] == row[name] for name in names) else "no fit succeeded",
            started=content.started,
        )


# ---------------------------------------------------------------------------------------- measurements


def contents_of_measurement(study: Study, measurement: Measurement) -> Iterator[Content]:
    """What was measured for a table on a data set: a run per method, with its numbers as metrics."""
    table, dataset, learners = measurement.table, measurement.dataset, measurement.learners()
    at = {"study": study.name, "seed": measurement.seed, "table": table, "dataset": dataset}
    rows = read_frame(FILES["measured"].format(**at))
    try:
        data = None if dataset == GENERATED else load_dataset(FILES["scaled"].format(**at))
    except DataUnavailable:
        data = None
    for model, of_model in rows.groupby("model", sort=False):
        named = study.tables[table].methods.get(model) or study.models.get(model)
        label = full_label(named) if named and named.label else model or table
        failed = of_model[of_model["status"] != "ok"]
        fixed = learners.get(model, {}).get("params", {})
        yield Content(
            # MLflow's filters have no way to quote a quote.
            key=f"{study.name}/seed{measurement.seed}/{table}/{dataset}/{model}".replace("'", "’"),
            name=f"{label} · {dataset} · {table}",
            tags={**at, "model": model, "seed": str(measurement.seed)},
            params=_beside(
                {"dataset": dataset, "model": model, "script": measurement.script, "seed": measurement.seed},
                {**measurement.params, **fixed},
            ),
            metrics=[*_measured(of_model[of_model["status"] == "ok"], bool(study.tables[table].places))],
            failure="; ".join(dict.fromkeys(failed["error"])) if len(failed) == len(of_model) else "",
            data=data,
            frames={"measured.csv": of_model},
        )


def _measured(rows: pd.DataFrame, has_places: bool) -> Iterator[tuple[str, int, float]]:
    """The numbers of a method; those of places of a table begin with the place, starts are steps.

    Other readings than that of the table are in its file alone.
    """
    for row in rows.itertuples():
        name, step, start = row.metric or "value", 0, START.fullmatch(row.reading)
        if start:
            name, step = f"{name}_starts", int(start[1])
        elif row.reading:
            if not has_places:
                continue
            name = f"{row.reading}/{name}"
        yield name, step, row.value
        if not math.isnan(row.std):
            yield f"{name}_std", step, row.std


def finite_and_not(
    metrics: Iterable[tuple[str, int, float]],
) -> tuple[list[tuple[str, int, float]], dict[str, str]]:
    """The finite metrics, and the others as tags: MLflow shows infinity and NaN as results."""
    finite, others = [], {}
    for name, step, value in metrics:
        if math.isfinite(value):
            finite.append((name, step, float(value)))
        else:
            others.setdefault(f"nonfinite.{name}", []).append(f"{value} at step {step}")
    return finite, {name: ", ".join(values)[:LONGEST] for name, values in others.items()}
