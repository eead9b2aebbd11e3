"""Tables of what data sets hold."""

from entrolearn.lab.kinds.base import NOTHING, PRINTED_ALONE, Found, Judged, Kind, phrase
from entrolearn.lab.verdicts import beside

COUNTS = {
    "n_features": {"label": "features", "sublabel": ""},
    "n_samples": {"label": "samples", "sublabel": ""},
    "n_negative": {"label": "negative", "sublabel": "samples"},
    "n_positive": {"label": "positive", "sublabel": "samples"},
    "n_classes": {"label": "classes", "sublabel": ""},
    "n_train": {"label": "training", "sublabel": "samples"},
    "n_test": {"label": "test", "sublabel": "samples"},
}
# Those that depend on how a study divides a data set.
OF_A_DIVISION = {"n_train", "n_test"}


class Characteristics(Kind):
    """Counts of a data set as prepared, and of its first division into training and test rows."""

    columns = ("metric",)
    defaults = {"counts": ["n_features", "n_negative", "n_positive"]}

    def reads(self, table):
        return ("data", "folds") if OF_A_DIVISION & set(table["counts"]) else ("data",)

    def metrics(self, table):
        return {count: COUNTS[count] for count in table["counts"]}

    def found(self, cell, spec, results):
        dataset, _, metric = cell
        facts = results.characteristics(dataset)
        if metric in OF_A_DIVISION and not facts["absent"]:
            facts = facts | results.division(dataset)
        if metric in facts:
            return Found(float(facts[metric]))
        if facts["absent"]:
            return Found(trouble="no data", reason=phrase(facts["absent"]))
        return Found(trouble=PRINTED_ALONE)  # numbers have no classes, and three classes no positive one

    def judge(self, cell, spec, found, printed):
        ours, value = found[cell].ours, printed.get(cell, NOTHING).value
        return Judged(beside(ours, value, tolerance=0), ours - value)

    def says(self, spec):
        divided = OF_A_DIVISION & set(spec["counts"])
        trial = ", training and test samples in the first trial" if divided else ""
        return f"Counted in the data sets as the workflow prepares them{trial}."

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
