"""Tables of what data sets hold."""

from entrolab.study.entries import OfData
from entrolab.study.sections import list_of, one_of
from entrolab.tables.base import PUBLISHED_ONLY, Found, TableType, phrase

COUNTS = {
    "n_features": {"label": "features", "sublabel": ""},
    "n_samples": {"label": "samples", "sublabel": ""},
    "n_negative": {"label": "negative", "sublabel": "samples"},
    "n_positive": {"label": "positive", "sublabel": "samples"},
    "n_classes": {"label": "classes", "sublabel": ""},
    "n_train": {"label": "training", "sublabel": "samples"},
    "n_test": {"label": "test", "sublabel": "samples"},
    "density": {"label": "nonzeros", "sublabel": "share"},
    "n_dims": {"label": "dimensions", "sublabel": "95 % of variance"},
    "n_dims_negative": {"label": "dimensions", "sublabel": "of negative"},
    "n_dims_positive": {"label": "dimensions", "sublabel": "of positive"},
}
# Those that depend on how a study divides a data set.
OF_A_DIVISION = {"n_train", "n_test"}
# Those that depend on how a study scales a data set.
OF_A_SCALING = {"density", "n_dims", "n_dims_negative", "n_dims_positive"}
SHARES = {"density"}


class Characteristics(TableType):
    """Counts of a data set as prepared, of its features as scaled, and of its first division into rows."""

    columns = ("metric",)

    class Entry(OfData):
        counts: list_of(one_of(*COUNTS)) = ["n_features", "n_negative", "n_positive"]

    def reads(self, table):
        counts = set(table["counts"])
        more = {"folds": OF_A_DIVISION, "scaled": OF_A_SCALING}
        return ("data", *(stage for stage, depending in more.items() if depending & counts))

    def metrics(self, table):
        return {count: COUNTS[count] for count in table["counts"]}

    def found(self, cell, spec, results):
        dataset, _, metric = cell
        facts = results.characteristics(dataset)
        if metric in OF_A_DIVISION and not facts["absent"]:
            facts = facts | results.division(dataset)
        if metric in OF_A_SCALING and not facts["absent"]:
            facts = facts | results.features(dataset)
        if metric in facts:
            return Found(float(facts[metric]))
        if facts["absent"]:
            return Found(status="no data", reason=phrase(facts["absent"]))
        return Found(status=PUBLISHED_ONLY)  # numbers have no classes, and three classes no positive one

    def tolerance(self, cell, spec, ours, published):
        return 0.5 * 10.0**-published.decimals if cell[2] in SHARES else 0

    def says(self, spec):
        divided = OF_A_DIVISION & set(spec["counts"])
        trial = ", training and test samples in the first trial" if divided else ""
        scaled = {
            "density": "the share of the values that are not zero",
            "n_dims": "how many principal components keep 95 % of the variance",
        }
        said = [
            text for count, text in scaled.items() if any(one.startswith(count) for one in spec["counts"])
        ]
        features = f" Of the features as the study scales them: {', and '.join(said)}." if said else ""
        return f"Counted in the data sets as the workflow prepares them{trial}.{features}"

    def agreement(self, spec):
        return "equal, rounded" if SHARES & set(spec["counts"]) else "equal"

    def meanings(self, spec):
        rounds = ", a share as it is rounded" if SHARES & set(spec["counts"]) else ""
        return {
            "reproduced": f"ours equals the published number{rounds}",
            "higher": "ours is larger",
            "lower": "ours is smaller",
            "ours only": "the published table does not have it",
        }

    def digits(self, metric, published_values):
        return 2 if metric in SHARES else 0

    def number(self, metric, value, digits):
        return f"{value:,.{digits}f}"
