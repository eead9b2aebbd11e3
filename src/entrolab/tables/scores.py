"""Tables of scores."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import model_validator

from entrolab.fit.learners import searched
from entrolab.fit.metrics import METRICS, Metric, metrics_of
from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Heading, Section, described, list_of, number, plain, wrong
from entrolab.tables.base import NAN, PUBLISHED_ONLY, Found, Head, TableSpec, phrase
from entrolab.tables.number_format import decimals_for
from entrolab.tables.trained import OfModels
from entrolab.tables.verdicts import ROUNDING, SLACK

if TYPE_CHECKING:
    from pandas import DataFrame

# Metrics in the unit of the label, whose magnitude is unknown.
OF_THE_LABEL = ("rmse", "mae", "median_absolute_error")
CRITERIA = {
    "cv": "inner cross-validation on the training rows",
    "dcs_gaussian": "the Cauchy–Schwarz divergence of the projected training classes, as Gaussians",
    "dcs_kde": "the Cauchy–Schwarz divergence of the projected training classes, as kernel density estimates",
    "oracle": "the best mean score on the test folds (uses test data: a diagnostic only)",
}


class Tolerance(Section):
    """The tolerance around the published value: ``{points: 1}`` or ``{percent: 5}``."""

    points: number(gt=0) = None
    percent: number(gt=0) = None

    @model_validator(mode="after")
    def _one(self):
        if len(self.model_fields_set) > 1:
            raise wrong("found points and percent; accepted: one of them")
        return self


class Limits(Section):
    """Limits of a parameter's values."""

    min: number() = None
    max: number() = None


class Scores(OfModels):
    """Mean scores on test rows: data sets × models, with one row per metric if there are several."""

    PERCENT_DIGITS = (1, 2)  # minimum and maximum

    rows = ("dataset", "metric")
    stages = ("selection", "predictions", "record")
    ranks, measures = True, ""

    class Entry(OfData):
        caption: Heading = "Scores on test rows"
        datasets: str = "all"
        models: ModelNames = "all"
        metric: described(str | list_of(str), "a metric, or a list of metrics") = None
        criterion: str = None
        # Instead of the published ±.
        tolerance: Tolerance = Tolerance()
        # Limits of the parameters to select from.
        among: dict[Any, Limits] = {}

    def names(self, table, study):
        yield from super().names(table, study)
        yield from (("metric", metric, study.metrics, "metric of this study") for metric in _listed(table))
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

    def filled(self, name, table, groups, study):
        """An entry, by default with all metrics that fit its data sets."""
        tasks = {study.tasks[key] for key in groups.get(table.datasets, ())}
        fitting = [metric for metric in study.metrics if all(metrics_of(task, [metric]) for task in tasks)]
        chosen = {
            "metric": table.metric or fitting or study.metrics,
            "criterion": table.criterion or study.criteria[0],
        }
        return super().filled(name, table.model_copy(update=chosen), groups, study)

    def reads(self, table):
        # Selection from part of a grid starts from its candidates.
        return ("candidates", *self.stages[2:]) if table.among else self.stages

    def metrics(self, table):
        return {metric: Head(METRICS[metric].label) for metric in _listed(table)}

    def of_trained(self, cell, spec, results, record):
        """Mean and standard deviation (ddof=1) over all repeats × folds.

        A cell with a missing fold is failed: the mean of the other folds is not comparable.
        """
        dataset, model, metric = cell
        folds = results.scores(dataset, model, plain(spec.entry.among))
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
        notes = _notes(len(chosen), spec, record)
        return Found(scores.mean(), scores.std(ddof=1), oracle, reason="; ".join(notes))

    def tolerance(self, cell, spec, ours, published):
        match spec.entry.tolerance:
            case Section(points=int() | float() as points):
                return points
            case Section(percent=int() | float() as percent):
                return percent / 100 * abs(published.value)
        return ROUNDING if math.isnan(published.std) else published.std

    def says(self, spec):
        what = _in_words([METRICS[metric] for metric in spec.metrics])
        over = "the test rows of the trials" if spec.trials else "the test folds"
        return (
            f"{what[0].upper()}{what[1:]}, mean ± standard deviation over {over}. "
            f"Parameters selected by {CRITERIA[spec.entry.criterion]}."
        )

    def agreement(self, spec):
        return f"within {tolerance_in_words(spec) or '±'}"

    def meanings(self, spec):
        tolerance = tolerance_in_words(spec)
        within, beyond = "the published ±", "{} the published ±"
        if tolerance:
            within, beyond = (
                f"{tolerance} of the published number",
                f"more than {tolerance} {{}} the published number",
            )
        less_is_better = not any(METRICS[metric].greater_is_better for metric in spec.metrics)
        worse, better = (", which is worse", ", which is better") if less_is_better else ("", "")
        return {
            "reproduced": f"ours lies within {within}",
            "higher": f"ours lies {beyond.format('above')}{worse}",
            "lower": f"ours lies {beyond.format('below')}{better}",
            "failed": "no score of ours; the footnote says why",
        }

    def digits(self, metric, published_values):
        """For percentages, the decimals of the published values, within limits."""
        if not METRICS[metric].percent:
            return METRICS[metric].digits
        least, most = self.PERCENT_DIGITS
        return least if all(abs(round(value, least) - value) < SLACK for value in published_values) else most

    def row_digits(self, metric, numbers, spread, digits):
        """For errors in the label's unit, two significant digits of the least ±; otherwise `digits`."""
        least = min((value for value in spread if value > 0), default=0)
        return decimals_for(least, 2) if metric in OF_THE_LABEL and least else digits

    def difference(self, metric, difference, published, digits):
        text = super().difference(metric, difference, published, digits)
        if METRICS[metric].greater_is_better or not difference:
            return text
        return f"{text} ({'better' if difference < 0 else 'worse'})"


def chosen_folds(folds: Mapping[str, "DataFrame"], model: str, spec: TableSpec) -> "DataFrame | None":
    """The scores of folds by a table's criterion, by any for a model without a grid; None if it has none."""
    if spec.entry.criterion in folds or searched(spec.study.models[model]):
        return folds.get(spec.entry.criterion)
    return next(iter(folds.values()), None)


def _listed(table: "Scores.Entry") -> list[str]:
    """The metrics of a table as a list."""
    return [table.metric] if isinstance(table.metric, str) else table.metric


def _in_words(metrics: Sequence[Metric]) -> str:
    """A list of metrics, with one unit if they share it."""
    same = len({metric.percent for metric in metrics}) == 1
    *others, last = [
        metric.label
        + (" (of the training rows)" if metric.of_fit and metric.percent else "")
        + (" in percent" if metric.percent and not same else "")
        for metric in metrics
    ]
    what = f"{', '.join(others)} and {last}" if others else last
    return what + (" in percent" if same and metrics[0].percent else "")


def tolerance_in_words(spec: TableSpec) -> str:
    """The tolerance around the published value; empty if it is the published ±."""
    match spec.entry.tolerance:
        case Section(points=int() | float() as points):
            return f"{points:g} point{'' if points == 1 else 's'}"
        case Section(percent=int() | float() as percent):
            return f"{percent:g} %"
    return ""


def _notes(n_scores: int, spec: TableSpec, record: Mapping) -> list[str]:
    """The number of trials if some are missing, and the notes of the record."""
    said = []
    if n_scores < spec.trials:
        said.append(f"{n_scores} trial{'' if n_scores == 1 else 's'}")
    found = record["notes"] | ({"no result": record["n_failed"]} if record["n_failed"] else {})
    fits = record["n_candidates"]
    said += [f"{phrase(note)} in {times} of {fits} fits" for note, times in found.items()]
    return said
