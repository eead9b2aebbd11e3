"""Tables of scores, optionally with the iterations and the seconds of the fits."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import model_validator

from entrolab.fit.learners import learner_at, searched
from entrolab.fit.metrics import METRICS, metrics_of, score_name
from entrolab.schema.sections import Heading, Section, described, list_of, mapping_of, number, wrong
from entrolab.tables.base import NAN, PUBLISHED_ONLY, Found, TableSpec, phrase
from entrolab.tables.entries import ModelNames, OfData, Tolerance
from entrolab.tables.quantities import PERCENT, Quantity
from entrolab.tables.times import COSTS, SECONDS, Times
from entrolab.tables.trained import OfModels

if TYPE_CHECKING:
    from pandas import DataFrame

ITERATIONS = "iterations"
# The note for iterations that the study's file sets.
SET = "as many iterations as were set"
# Metrics in the unit of the label, whose magnitude is unknown.
OF_THE_LABEL = ("rmse", "mae", "median_absolute_error")
CRITERIA = {
    "cv": "inner cross-validation on the training rows",
    "dcs_gaussian": "the Cauchy–Schwarz divergence of the projected training classes, as Gaussians",
    "dcs_kde": "the Cauchy–Schwarz divergence of the projected training classes, as kernel density estimates",
    "oracle": "the best mean score on the test folds (uses test data: a diagnostic only)",
}


class Limits(Section):
    """Limits of a parameter's values."""

    min: number() = None
    max: number() = None

    @model_validator(mode="after")
    def _ascend(self):
        if not self.model_fields_set:
            raise wrong("found {}; accepted: min, max or both")
        if None not in (self.min, self.max) and self.min > self.max:
            raise wrong(f"found min {self.min} and max {self.max}; accepted: a min up to max")
        return self


class Scores(OfModels):
    """Mean scores on test rows: data sets × models, with one row per metric if there are several.

    A table with the seconds of the fits has rows for data sets and models, and a column per metric. Seconds
    of another machine, and iterations set by the study, are not judged there.
    """

    rows = ("dataset", "metric")
    stages = ("selection", "predictions", "record")
    ranks = True
    tolerance = Tolerance(std=1)
    explanation = "{metrics}, mean ± standard deviation over {tests}. Parameters selected by {criterion}."

    class Entry(OfData):
        caption: Heading = "Scores on test rows"
        datasets: str = "all"
        models: ModelNames = "all"
        metric: described(str | list_of(str), "a metric, or a list of metrics") = None
        criterion: str = None
        tolerances: mapping_of(Tolerance, "tolerances by metric, instead of that of the table") = {}
        # Limits of the parameters to select from.
        among: dict[Any, Limits] = {}

    def for_entry(self, entry):
        if SECONDS not in (entry.metric or ()):
            return self
        own = copy.copy(self)
        own.rows, own.columns, own.ranks = ("dataset", "model"), ("metric",), False
        own.stages = (*self.stages, "models")
        return own

    def names_to_check(self, table, study):
        yield from super().names_to_check(table, study)
        # Seconds alone are a table of type times.
        known = [*study.metrics, *([SECONDS] if len(_listed(table)) > 1 else [])]
        yield from (("metric", metric, known, "metric of this study") for metric in _listed(table))
        yield from (("tolerances", one, _listed(table), "metric of this table") for one in table.tolerances)
        yield "criterion", table.criterion, study.criteria, "criterion of this study"
        models = {name: study.models[name] for name in table.models}
        models = {name: one for name, one in models.items() if not (one.published_only or one.known)}
        for name, model in models.items():
            if searched(model):  # models without a grid are in tables of every criterion
                yield "criterion", table.criterion, model.criteria, f"criterion of model {name!r}"
        names = dict.fromkeys(name for model in models.values() for name in searched(model))
        if table.among:  # part of a grid has candidates, but no predictions
            metrics = [metric for metric in study.metrics if not METRICS[metric].of_probabilities]
            yield from (("metric", metric, metrics, "metric of candidates") for metric in _listed(table))
        for name in table.among:
            yield "among", name, names, "parameter in this table's grids"

    def with_defaults(self, name, table, groups, study):
        """An entry, by default with all metrics that fit its data sets."""
        tasks = {study.tasks[key] for key in groups.get(table.datasets, ())}
        fitting = [metric for metric in study.metrics if all(metrics_of(task, [metric]) for task in tasks)]
        chosen = {
            "metric": table.metric or fitting or study.metrics,
            "criterion": table.criterion or study.criteria[0],
        }
        return super().with_defaults(name, table.model_copy(update=chosen), groups, study)

    def stages_of(self, table):
        # Selection from part of a grid starts from its candidates.
        return ("candidates", *self.stages[2:]) if table.among else self.stages

    def metrics(self, table):
        seconds = replace(COSTS[SECONDS], is_judged=False)
        return {
            metric: replace(
                seconds if metric == SECONDS else quantity_of(metric), tolerance=table.tolerances.get(metric)
            )
            for metric in _listed(table)
        }

    def value_of_run(self, cell, spec, results, record):
        """Mean and standard deviation (ddof=1) over all repeats × folds.

        A cell with a missing fold is failed: the mean of the other folds is not comparable.
        """
        dataset, model, metric = cell
        if metric == SECONDS:
            return Times().value_of_run(cell, spec, results, record)
        folds = results.scores(dataset, model, spec.entry.among)
        chosen = chosen_folds(folds, model, spec)
        if chosen is None:
            return Found(status="failed", reason="no scores by this criterion")
        if not METRICS[metric].chooses and chosen["success"].all() and chosen[metric].isna().all():
            return Found(status=PUBLISHED_ONLY, reason=f"a learner without {METRICS[metric].label}")
        lost = chosen[~chosen["success"].astype(bool) | chosen[metric].isna()]
        if len(lost):
            errors = [f": {phrase(error)}" for error in lost["error"] if error][:1]
            reason = f"{len(lost)} of {len(chosen)} folds have no score" + "".join(errors)
            return Found(status="failed", reason=reason)
        shown = 100 if METRICS[metric].percent else 1
        oracle = shown * folds["oracle"][metric].mean() if "oracle" in folds else NAN
        scores = shown * chosen[metric]
        found = Found(scores.mean(), scores.std(ddof=1), oracle)
        notes = _notes(len(chosen), spec, record)
        if SECONDS in spec.metrics and ITERATIONS in spec.metrics:
            most = _most_iterations(chosen, record)
            if metric == ITERATIONS:
                is_set = found.ours == most
                return replace(found, reason=SET if is_set else "", is_judged=not is_set)
            # The column of iterations shows that a solver stopped at the study's limit.
            notes = [note for note in notes if not note.startswith(f"stopped at {most} ")]
        return replace(found, reason="; ".join(notes))


def _most_iterations(chosen: "DataFrame", record: Mapping) -> int | None:
    """The limit of the iterations of the candidate selected most often; None without a limit."""
    from entrolab.fit.selection import most_often  # imported late: it imports pandas

    params, _ = most_often(chosen)
    return {**learner_at(record, params).params, **params}.get("max_iter")


def chosen_folds(folds: Mapping[str, "DataFrame"], model: str, spec: TableSpec) -> "DataFrame | None":
    """The scores of folds by a table's criterion, by any for a model without a grid; None if it has none."""
    if spec.entry.criterion in folds or searched(spec.study.models[model]):
        return folds.get(spec.entry.criterion)
    return next(iter(folds.values()), None)


def _listed(table: "Scores.Entry") -> list[str]:
    """The metrics of a table as a list."""
    return [table.metric] if isinstance(table.metric, str) else table.metric


def quantity_of(metric: str) -> Quantity:
    """What the scores of a metric are."""
    known = METRICS[metric]
    common = {"less_is_better": not known.greater_is_better, "panel": score_name(metric)}
    if metric == ITERATIONS:
        common["explanation"] = "Iterations, or epochs, are those of the solver."
    if not known.percent:
        by_row = "spread" if metric in OF_THE_LABEL else ""
        return Quantity(known.label, decimals=known.digits, most=known.digits, by_row=by_row, **common)
    unit = f"{PERCENT} of the training rows" if known.of_fit else PERCENT
    return Quantity(known.label, unit=unit, decimals=1, most=2, **common)


def _notes(n_scores: int, spec: TableSpec, record: Mapping) -> list[str]:
    """The number of trials if some are missing, and the notes of the record."""
    said = []
    if n_scores < spec.trials:
        said.append(f"{n_scores} trial{'' if n_scores == 1 else 's'}")
    found = record["notes"] | ({"no result": record["n_failed"]} if record["n_failed"] else {})
    fits = record["n_candidates"]
    said += [f"{phrase(note)} in {times} of {fits} fits" for note, times in found.items()]
    return said
