"""Tables of the sizes of data sets."""

from entrolab.study.entries import OfData
from entrolab.study.sections import list_of, one_of
from entrolab.tables.base import PUBLISHED_ONLY, Found, Head, TableType, phrase

COUNTS = {
    "n_features": Head("features"),
    "n_samples": Head("samples"),
    "n_negative": Head("negative", "samples"),
    "n_positive": Head("positive", "samples"),
    "n_classes": Head("classes"),
    "n_train": Head("training", "samples"),
    "n_test": Head("test", "samples"),
    "density": Head("nonzeros", "share"),
    "n_dims": Head("dimensions", "95 % of variance"),
    "n_dims_negative": Head("dimensions", "of negative"),
    "n_dims_positive": Head("dimensions", "of positive"),
}
# Counts that depend on a study's splits, and those that depend on its scaling.
OF_A_DIVISION = {"n_train", "n_test"}
OF_A_SCALING = {"density", "n_dims", "n_dims_negative", "n_dims_positive"}
SHARES = {"density"}


class Characteristics(TableType):
    """Counts of a data set as prepared, of its features as scaled, and of its first split."""

    columns = ("metric",)

    class Entry(OfData):
        counts: list_of(one_of(*COUNTS)) = ["n_features", "n_negative", "n_positive"]

    def reads(self, table):
        counts = set(table.counts)
        more = {"folds": OF_A_DIVISION, "scaled": OF_A_SCALING}
        return ("data", *(stage for stage, depending in more.items() if depending & counts))

    def metrics(self, table):
        return {count: COUNTS[count] for count in table.counts}

    def found(self, cell, spec, results):
        dataset, _, metric = cell
        facts = results.characteristics(dataset)
        if facts["absent"]:
            return Found(status="no data", reason=phrase(facts["absent"]))
        if metric in OF_A_DIVISION:
            facts = results.division(dataset)
        if metric in OF_A_SCALING:
            facts = results.features(dataset)
        if metric in facts:
            return Found(float(facts[metric]), given=True)
        return Found(status=PUBLISHED_ONLY)  # such as the positive class of three

    def tolerance(self, cell, spec, ours, published):
        return 0.5 * 10.0**-published.decimals if cell[2] in SHARES else 0

    def says(self, spec):
        divided = OF_A_DIVISION & set(spec.entry.counts)
        trial = ", training and test samples in the first trial" if divided else ""
        scaled = {
            "density": "the share of nonzero values",
            "n_dims": "the number of principal components with 95 % of the variance",
        }
        said = [
            text for count, text in scaled.items() if any(one.startswith(count) for one in spec.entry.counts)
        ]
        features = f" Computed from the scaled features: {', and '.join(said)}." if said else ""
        return f"Counted in the prepared data sets{trial}.{features}"

    def agreement(self, spec):
        return "equal, rounded" if SHARES & set(spec.entry.counts) else "equal"

    def meanings(self, spec):
        rounds = ", a share as it is rounded" if SHARES & set(spec.entry.counts) else ""
        return {
            "equal": f"ours equals the published number{rounds}",
            "differs": "ours is another number",
            "ours only": "not in the published table",
        }

    def digits(self, metric, published_values):
        return 2 if metric in SHARES else 0

    def number(self, metric, value, digits):
        return f"{value:,.{digits}f}"
