"""Tables of what clusterers find, beside classes that they never see."""

from collections.abc import Mapping

from entrolab.experiments.base import Measured, heading
from entrolab.experiments.clusterings import CLASSES, DIVERGENCE
from entrolab.fit.learners import ONE_OF, searched
from entrolab.study.entries import OfData
from entrolab.study.sections import Whole, described, list_of, number, one_of, whole

# What a name among the models stands for.
CLUSTERER = "model that clusters, which has an estimator, no grid and `criteria: []`,"

MEASURES = {
    "ari": "adjusted Rand index",
    "ami": "adjusted mutual information",
    "clusters": "clusters",
    DIVERGENCE: "divergence between clusters, %",
    "seconds": "seconds",
}


class Clusterings(Measured):
    """How clusters agree with classes, and what they cost: data sets and measures × models."""

    rows = ("dataset", "metric")
    measured_by = "entrolab.experiments.clusterings.measure"
    decimals, significant = {"ari": 3, "ami": 3}, ("seconds",)
    divides = False

    class Entry(OfData):
        models: described(list_of(str), "a list of model names")
        measures: list_of(one_of(*MEASURES)) = ["ari", "ami", "clusters", "seconds"]
        repeats: Whole = 10
        # A larger set has a random sample of as many.
        rows: whole(ge=10) = 5000
        seconds: number(gt=0) = 600
        gib: number(gt=0) = 8

    def has_learner(self, table, model):
        return "estimator" in model

    def names(self, table, study):
        known = clusterers_of(study)
        yield from (("models", name, known, CLUSTERER) for name in table["models"])
        of_classes = [dataset for dataset, task in study["tasks"].items() if task != "regression"]
        group = study["datasets"][table["datasets"]]
        yield from (("datasets", dataset, of_classes, "data set of classes") for dataset in group)

    def metrics(self, table):
        return {name: heading(MEASURES[name]) for name in table["measures"]}

    def measurement(self, table, study, dataset):
        asked = ("measures", "repeats", "rows", "seconds", "gib")
        models = {
            name: {part: study["models"][name][part] for part in ("estimator", "params", "steps")}
            for name in table["models"]
        }
        return {name: table[name] for name in asked} | {"models": models}

    def note(self, cell, spec, found, published_values, verdict):
        """What the classes themselves come to."""
        classes = found[cell].readings.get(CLASSES)
        return "" if classes is None else f"{CLASSES}: {classes:.1f} %"

    def says(self, spec):
        said = (
            "How clusters agree with classes that no clusterer has seen: 1 where they are equal, 0 as by "
            f"chance. Mean ± standard deviation over {spec['repeats']} seeds of a clusterer that draws at "
            f"random, one run of any other. A set of more than {spec['rows']:,} rows is clustered by as many "
            "of them, drawn at random, the same for all. Rows left out as noise are a group of their own in "
            "both indices, and no cluster in the count."
        )
        if "seconds" in spec["measures"]:
            said += " Seconds are of the processor, on one thread."
        if DIVERGENCE in spec["measures"]:
            said += (
                " The divergence is that of Kullback and Leibler, of rows taken as distributions, from the "
                "mean of all: the share that lies between the means of the clusters, the rest being within."
            )
        return said

    def meanings(self, spec):
        return super().meanings(spec) | {"failed": "no clusters; the footnote says why"}


def clusterers_of(study: Mapping) -> list[str]:
    """The models that may be clusterers: one learner, fitted as it stands, that no rule trains.

    A model without criteria is in none of the tables whose cells are trained.
    """
    return [
        name
        for name, model in study["models"].items()
        if "estimator" in model and not (searched(model) or model[ONE_OF] or model["criteria"])
    ]
