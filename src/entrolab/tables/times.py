"""Tables of what the chosen models cost: seconds to fit, seconds to predict, numbers to keep."""

import math

from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Heading, one_of
from entrolab.tables.base import NOTHING, Found, Judged, PublishedValue, phrase
from entrolab.tables.number_format import decimals_needed
from entrolab.tables.trained import OfModels
from entrolab.tables.verdicts import placed

COSTS = {
    "fit_seconds": ("seconds", "Processor seconds to fit the chosen model alone on {learnt}, on one thread."),
    "predict_seconds": (
        "seconds",
        "Processor seconds in which the chosen model predicts {predicted}, on one thread.",
    ),
    "n_stored_numbers": ("numbers", "How many numbers the chosen model keeps, fitted on {learnt}."),
}


class Times(OfModels):
    """Seconds to fit the chosen model alone, judged by their ratio to the row's first model.

    Seconds of two machines do not compare, ratios do. The published ones have few decimals, so that their
    ratio is known as an interval only.
    """

    FACTOR = 2.0

    stages = ("facts", "record")

    class Entry(OfData):
        caption: Heading = "Seconds to fit the chosen models"
        datasets: str = "all"
        models: ModelNames = "all"
        cost: one_of(*COSTS) = "fit_seconds"

    compares = (
        "Ours above; below the published seconds, and how many times the published ratio to the row's first "
        "column ours is, since seconds of two machines do not compare."
    )

    def metrics(self, table):
        label, _ = COSTS[table["cost"]]
        return {table["cost"]: {"label": label, "sublabel": ""}}

    def of_trained(self, cell, spec, results, record):
        dataset, model, metric = cell
        facts = results.facts(dataset, model)
        if metric not in facts:
            return Found(
                status="failed", reason=phrase(facts.get("error") or "the chosen model is not there")
            )
        return Found(facts[metric])

    def judge(self, cell, spec, found, published_values):
        dataset, _, metric = cell
        first = (dataset, next(iter(spec["models"])), metric)
        value, unit = (published_values.get(one, NOTHING) for one in (cell, first))
        if math.isnan(value.value):
            return Judged("ours only")
        if cell == first:
            return Judged("unit")
        if math.isnan(unit.value) or found[first].status != "ok":
            whose = "published" if math.isnan(unit.value) else "of ours"
            return Judged("ours only", note=f"no ratio, the row's first column has no seconds {whose}")
        ratio = found[cell].ours / found[first].ours
        low = _least(value) / _most(unit)
        high = _most(value) / _least(unit) if _least(unit) else math.inf
        # A published 0.0 is taken as the most that rounds to it.
        times = ratio / ((value.value or _most(value)) / (unit.value or _most(unit)))
        return Judged(placed(ratio, low / self.FACTOR, high * self.FACTOR), times)

    def says(self, spec):
        learnt = f"at most {spec['sample']:,} rows" if spec["sample"] else "all rows"
        predicted = "the rows that it was fitted on"
        if spec["trials"]:
            learnt, predicted = "the training rows of the first trial", "its test rows"
        (metric,) = spec["metrics"]
        return COSTS[metric][1].format(learnt=learnt, predicted=predicted)

    def agreement(self, spec):
        return f"within ×{self.FACTOR:g}"

    def meanings(self, spec):
        return {
            "reproduced": "the ratio to the row's first column is within a factor of two of the published "
            "one, as far as the rounding of the published seconds tells it",
            "higher": "relatively slower than published",
            "lower": "relatively faster than published",
            "unit": "the first column, which the others of the row are divided by",
            "ours only": "no published ratio to compare with",
            "failed": "no seconds of ours; the footnote says why",
        }

    def digits(self, metric, published_values):
        """One decimal, unless all published seconds are whole."""
        if metric == "n_stored_numbers":
            return 0
        return min(1, max(map(decimals_needed, published_values), default=1))

    def number(self, metric, value, digits):
        """Seconds with one decimal, or two significant digits where that would show fewer."""
        if metric == "n_stored_numbers":
            return f"{value:,.0f}"
        enough = value >= 0.95 or value == round(value, 1)
        return f"{value:.1f}" if enough else f"{value:#.2g}"

    def published_number(self, metric, value, digits):
        """With the decimals that it is published with."""
        return f"{value:.{max(digits, decimals_needed(value))}f}"

    def difference(self, metric, difference, published, digits):
        return f"{self.beside_published(metric, difference, published)} the published ratio"

    def beside_published(self, metric, difference, published):
        if math.isnan(difference):
            return ""
        factor = f"{difference:.0f}" if difference >= 9.5 else f"{difference:#.2g}"
        return f"{'≥' if published == 0 else ''}×{factor}"


def _least(seconds: PublishedValue) -> float:
    """The least that rounds to what is published."""
    return max(seconds.value - _half_decimal(seconds), 0)


def _most(seconds: PublishedValue) -> float:
    """The most that rounds to what is published."""
    return seconds.value + _half_decimal(seconds)


def _half_decimal(seconds: PublishedValue) -> float:
    return 0.5 * 10.0**-seconds.decimals
