"""Tables of the cost of the selected models: seconds to fit and predict, their ratios, numbers stored."""

import math

from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Heading, one_of
from entrolab.tables.base import (
    NOTHING,
    PUBLISHED_ONLY,
    Found,
    Head,
    Judged,
    PublishedValue,
    phrase,
)
from entrolab.tables.number_format import decimals_for, decimals_needed
from entrolab.tables.trained import OfModels
from entrolab.tables.verdicts import placed

SECONDS, SPEEDUP = "fit_seconds", "speedup"
COSTS = {
    SECONDS: (
        "seconds",
        "Processor seconds to fit only the selected model on {learnt}, on one thread.",
    ),
    "predict_seconds": (
        "seconds",
        "Processor seconds in which the selected model predicts {predicted}, on one thread.",
    ),
    "n_stored_numbers": ("numbers", "Numbers that the selected model stores, fitted on {learnt}."),
    SPEEDUP: (
        "times the seconds",
        "Processor seconds to fit only the selected model on {learnt}, divided by those of the row's first "
        "column.",
    ),
}


class Times(OfModels):
    """Seconds to fit only the selected model, judged by their ratio to the row's first model.

    Seconds of different machines are not comparable, but ratios are. Published seconds are rounded, so their
    ratio is an interval. Ratios that a paper publishes itself, as speedups, are shown and not judged.
    """

    FACTOR = 2.0
    DECIMALS = (1, 3)  # minimum and maximum for our seconds

    stages = ("models", "record")

    class Entry(OfData):
        caption: Heading = "Seconds to fit the selected models"
        datasets: str = "all"
        models: ModelNames = "all"
        cost: one_of(*COSTS) = SECONDS

    compares = (
        "Top: ours; bottom: the published number and, since seconds of different machines are not "
        "comparable, for seconds our ratio to the row's first column divided by the published ratio."
    )

    def metrics(self, table):
        label, _ = COSTS[table.cost]
        return {table.cost: Head(label)}

    def found(self, cell, spec, results):
        dataset, model, metric = cell
        if metric != SPEEDUP:
            return super().found(cell, spec, results)
        first = next(iter(spec.models))
        ours, base = (self.found((dataset, name, SECONDS), spec, results) for name in (model, first))
        if {ours.status, base.status} != {"ok"}:
            return Found(status=PUBLISHED_ONLY)  # the table of the seconds has the reason
        return Found(ours.ours / base.ours)

    def of_trained(self, cell, spec, results, record):
        dataset, model, metric = cell
        facts = results.facts(dataset, model)
        if metric not in facts:
            return Found(status="failed", reason=phrase(facts.get("error") or "no model is stored"))
        return Found(facts[metric])

    def judge(self, cell, spec, found, published_values):
        dataset, _, metric = cell
        first = (dataset, next(iter(spec.models)), metric)
        value, unit = (published_values.get(one, NOTHING) for one in (cell, first))
        if math.isnan(value.value):
            return Judged("ours only")
        if metric == SPEEDUP:
            return Judged(PUBLISHED_ONLY)
        if cell == first:
            return Judged("unit")
        if math.isnan(unit.value) or found[first].status != "ok":
            whose = "published" if math.isnan(unit.value) else "of ours"
            return Judged("published only", note=f"no ratio: the row's first column has no seconds {whose}")
        ratio = found[cell].ours / found[first].ours
        (low, high), (unit_low, unit_high) = map(_bounds, (value, unit))
        highest = high / unit_low if unit_low else math.inf
        # A published 0.0 is replaced by the largest value that rounds to it.
        times = ratio / ((value.value or high) / (unit.value or unit_high))
        return Judged(placed(ratio, low / unit_high / self.FACTOR, highest * self.FACTOR), times)

    def says(self, spec):
        learnt = f"at most {spec.sample:,} rows" if spec.sample else "all rows"
        predicted = "the rows that it was fitted on"
        if spec.trials:
            learnt, predicted = "the training rows of the first trial", "its test rows"
        (metric,) = spec.metrics
        return COSTS[metric][1].format(learnt=learnt, predicted=predicted)

    def agreement(self, spec):
        return f"within ×{self.FACTOR:g}"

    def meanings(self, spec):
        return {
            "reproduced": "the ratio to the row's first column is within a factor of two of the published "
            "one, given the rounding of the published seconds",
            "higher": "relatively slower than published",
            "lower": "relatively faster than published",
            "unit": "the first column, by which the others of the row are divided",
            "published only": "a published number that is not judged",
            "failed": "no seconds of ours; the footnote says why",
        }

    def digits(self, metric, published_values):
        """One decimal, unless all published seconds are whole; none for other costs."""
        if metric in ("n_stored_numbers", SPEEDUP):
            return 0
        return min(1, max(map(decimals_needed, published_values), default=1))

    def row_digits(self, metric, numbers, spread, digits):
        """Two significant digits of the shortest time in a row, within limits."""
        if metric == "n_stored_numbers":
            return digits
        least, most = self.DECIMALS
        found = decimals_for(min((value for value in numbers if value > 0), default=1.0), 2)
        return min(max(found, least), most)

    def number(self, metric, value, digits):
        if metric == "n_stored_numbers":
            return f"{value:,.0f}"
        unit = 10.0**-digits
        return f"<{unit:.{digits}f}" if 0 < value < unit / 2 else f"{value:.{digits}f}"

    def published_number(self, metric, value, digits):
        """A published value with its published decimals."""
        return f"{value:.{max(digits, decimals_needed(value))}f}"

    def difference(self, metric, difference, published, digits):
        return f"{self.beside_published(metric, difference, published)} the published ratio"

    def beside_published(self, metric, difference, published):
        if math.isnan(difference):
            return ""
        factor = f"{difference:.0f}" if difference >= 9.5 else f"{difference:#.2g}"
        return f"{'≥' if published == 0 else ''}×{factor}"


def _bounds(seconds: PublishedValue) -> tuple[float, float]:
    """The least and the largest value that round to the published one."""
    half = 0.5 * 10.0**-seconds.decimals
    return max(seconds.value - half, 0), seconds.value + half
