"""Tables of what data sets hold."""

from entrolearn.lab.kinds.base import NOTHING, Found, Judged, Kind, phrase
from entrolearn.lab.verdicts import beside


class Characteristics(Kind):
    """Counts of a data set as prepared: features, and the samples of both classes."""

    columns = ("metric",)
    stages = ("data",)

    def metrics(self, table):
        return {
            "n_features": {"label": "features", "sublabel": ""},
            "n_negative": {"label": "negative", "sublabel": "samples"},
            "n_positive": {"label": "positive", "sublabel": "samples"},
        }

    def found(self, cell, spec, results):
        dataset, _, metric = cell
        facts = results.characteristics(dataset)
        if metric in facts:
            return Found(float(facts[metric]))
        return Found(trouble=facts["kind"], reason=phrase(facts["error"]))

    def judge(self, cell, spec, found, printed):
        ours, value = found[cell].ours, printed.get(cell, NOTHING).value
        return Judged(beside(ours, value, tolerance=0), ours - value)

    def says(self, spec):
        return "Counted in the data sets as the workflow prepares them."

    def agreement(self, spec):
        return "equal"

    def meanings(self, spec):
        return {
            "reproduced": "ours equals the printed number",
            "higher": "ours is larger",
            "lower": "ours is smaller",
            "ours alone": "the printed table does not have it",
        }

    def digits(self, metric, printed):
        return 0

    def number(self, metric, value, digits):
        return f"{value:,.0f}"
