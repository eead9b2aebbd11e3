"""Tables that compare clusters with classes unknown to the clusterers."""

from entrolab.experiments.base import Measured, names_of_datasets
from entrolab.experiments.clusterings import CLASSES, DIVERGENCE
from entrolab.fit.learners import learner_of, searched
from entrolab.study.entries import OfData
from entrolab.study.sections import Whole, described, list_of, number, one_of, whole
from entrolab.tables.base import Head

CLUSTERER = "model that clusters, which has an estimator, no grid and `criteria: []`,"

MEASURES = {
    "ari": "adjusted Rand index",
    "ami": "adjusted mutual information",
    "clusters": "clusters",
    DIVERGENCE: "divergence between clusters, %",
    "seconds": "seconds",
}


class Clusterings(Measured):
    """Agreement of clusters with classes, and seconds: data sets and measures × models."""

    rows = ("dataset", "metric")
    measured_by = "entrolab.experiments.clusterings.measure"
    parameters = ("measures", "repeats", "rows", "seconds", "gib")
    decimals, significant = {"ari": 3, "ami": 3}, ("seconds",)
    divides = False

    class Entry(OfData):
        models: described(list_of(str), "a list of model names")
        measures: list_of(one_of(*MEASURES)) = ["ari", "ami", "clusters", "seconds"]
        repeats: Whole = 10
        # The size of the random sample of a larger data set.
        rows: whole(ge=10) = 5000
        seconds: number(gt=0) = 600
        gib: number(gt=0) = 8

    def has_learner(self, table, model):
        return model.estimator is not None

    def names(self, table, study):
        known = clusterers_of(study)
        yield from (("models", name, known, CLUSTERER) for name in table.models)
        yield from names_of_datasets(table, study, "data set of classes", ("binary", "multiclass"))

    def metrics(self, table):
        return {name: Head(MEASURES[name]) for name in table.measures}

    def measurement(self, table, study, dataset):
        models = {name: learner_of(study.models[name], study.tasks[dataset]) for name in table.models}
        return super().measurement(table, study, dataset) | {"models": models}

    def note(self, cell, found, published_values, verdict):
        """The measure of the classes themselves."""
        classes = found[cell].readings.get(CLASSES)
        return "" if classes is None else f"{CLASSES}: {classes:.1f} %"

    def says(self, spec):
        said = (
            "Agreement of clusters with the classes, which the clusterer does not see: 1 if equal, 0 as "
            f"by chance. Mean ± standard deviation over {spec.entry.repeats} seeds if a clusterer depends on "
            f"its seed, else one fit. Of data sets with more than {spec.entry.rows:,} rows, a random sample "
            "of that size is clustered, the same for all models. Rows marked as noise are one more group in "
            "both indices, but not counted as a cluster."
        )
        if "seconds" in spec.entry.measures:
            said += " Seconds are of the processor, on one thread."
        if DIVERGENCE in spec.entry.measures:
            said += (
                " The divergence is the Kullback–Leibler divergence of rows (as distributions) from their "
                "mean; shown is the share between the means of the clusters, the rest is within clusters."
            )
        return said

    def meanings(self, spec):
        return super().meanings(spec) | {"failed": "no clusters; the footnote says why"}


def clusterers_of(study) -> list[str]:
    """The models that may be clusterers: one learner, no grid and no criteria, so that no run trains it."""
    return [
        name
        for name, model in study.models.items()
        if model.estimator and not (searched(model) or model.criteria)
    ]
