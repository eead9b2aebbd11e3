"""Tables of the sizes of data sets."""

from entrolab.schema.sections import list_of, one_of
from entrolab.tables.base import PUBLISHED_ONLY, Found, TableType, phrase
from entrolab.tables.entries import OfData, Tolerance
from entrolab.tables.quantities import Quantity


def _count(label: str, sublabel: str = "", explanation: str = "") -> Quantity:
    return Quantity(label, sublabel, style="thousands", explanation=explanation)


TRIAL = "Training and test samples are those of the first trial."
DIMENSIONS = "Dimensions: principal components of the scaled features with 95 % of their variance."
COUNTS = {
    "n_features": _count("features"),
    "n_samples": _count("samples"),
    "n_negative": _count("negative", "samples"),
    "n_positive": _count("positive", "samples"),
    "n_classes": _count("classes"),
    "n_train": _count("training", "samples", TRIAL),
    "n_test": _count("test", "samples", TRIAL),
    "density": Quantity(
        "nonzeros",
        "share",
        decimals=2,
        tolerance=Tolerance(),
        explanation="Nonzeros: the share of such values of the scaled features.",
    ),
    "n_dims": _count("dimensions", "95 % of variance", DIMENSIONS),
    "n_dims_negative": _count("dimensions", "of negative", DIMENSIONS),
    "n_dims_positive": _count("dimensions", "of positive", DIMENSIONS),
}
# Counts that depend on a study's splits, and those that depend on its scaling.
OF_A_DIVISION = {"n_train", "n_test"}
OF_A_SCALING = {"density", "n_dims", "n_dims_negative", "n_dims_positive"}


class Characteristics(TableType):
    """Counts of a data set as prepared, of its features as scaled, and of its first split."""

    columns = ("metric",)
    tolerance = Tolerance(points=0)
    explanation = "Counted in the prepared data sets."

    class Entry(OfData):
        counts: list_of(one_of(*COUNTS)) = ["n_features", "n_negative", "n_positive"]

    def stages_of(self, table):
        counts = set(table.counts)
        more = {"folds": OF_A_DIVISION, "scaled": OF_A_SCALING}
        return ("data", *(stage for stage, depending in more.items() if depending & counts))

    def metrics(self, table):
        return {count: COUNTS[count] for count in table.counts}

    def cell_value(self, cell, spec, results):
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
