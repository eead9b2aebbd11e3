"""Tables of training times."""

import math

from entrolearn.lab.kinds.base import NOTHING, Found, Judged, phrase
from entrolearn.lab.kinds.trained import OfModels, without_result
from entrolearn.lab.verdicts import placed


class Times(OfModels):
    """Seconds to fit the chosen model alone, judged by their ratio to the row's first model.

    Seconds of two machines do not compare, ratios do. The printed ones have one decimal, so that their ratio
    is known as an interval only.
    """

    HALF_DECIMAL = 0.05
    FACTOR = 2.0

    stages = ("models", "records")
    agreement = "within ×2"
    compares = (
        "Ours above; below the printed seconds, and how many times the printed ratio to the row's first "
        "column ours is, since seconds of two machines do not compare."
    )
    meanings = {
        "reproduced": "the ratio to the row's first column is within a factor of two of the printed one, as "
        "far as rounding to 0.1 s tells it",
        "higher": "relatively slower than in print",
        "lower": "relatively faster than in print",
        "unit": "the first column, which the others of the row are divided by",
        "ours alone": "no printed ratio to compare with",
        "failed": "no seconds of ours; the footnote says why",
    }

    def metrics(self, table):
        return {"fit_seconds": {"label": "seconds", "sublabel": ""}}

    def found(self, cell, spec, results):
        dataset, model, metric = cell
        if failed := without_result(results.record(dataset, model)):
            return failed
        facts = results.facts(dataset, model)
        if metric not in facts:
            return Found(
                trouble="failed", reason=phrase(facts.get("error") or "the chosen model is not there")
            )
        return Found(facts[metric])

    def judge(self, cell, spec, found, printed):
        dataset, _, metric = cell
        first = (dataset, next(iter(spec["models"])), metric)
        value, unit = (printed.get(one, NOTHING)[0] for one in (cell, first))
        if math.isnan(value):
            return Judged("ours alone")
        if cell == first:
            return Judged("unit")
        if math.isnan(unit) or found[first].trouble:
            whose = "printed" if math.isnan(unit) else "of ours"
            return Judged("ours alone", note=f"no ratio, the row's first column has no seconds {whose}")
        ratio = found[cell].ours / found[first].ours
        half = self.HALF_DECIMAL
        low = max(value - half, 0) / (unit + half)
        high = (value + half) / (unit - half) if unit > half else math.inf
        # A printed 0.0 is taken as the most that rounds to it.
        times = ratio / (max(value, half) / max(unit, half))
        return Judged(placed(ratio, low / self.FACTOR, high * self.FACTOR), times)

    def says(self, spec):
        return "Processor seconds to fit the chosen model alone on all rows, on one thread."

    def digits(self, printed):
        return 1

    def number(self, value, digits):
        """Seconds with one decimal, as in print, or two significant digits where that would show fewer."""
        enough = value >= 0.95 or value == round(value, digits)
        return f"{value:.{digits}f}" if enough else f"{value:#.2g}"

    def difference(self, difference, published, digits):
        return f"{self.beside_printed(difference, published)} the printed ratio"

    def beside_printed(self, difference, published):
        if math.isnan(difference):
            return ""
        factor = f"{difference:.0f}" if difference >= 9.5 else f"{difference:#.2g}"
        return f"{'≥' if published == 0 else ''}×{factor}"
