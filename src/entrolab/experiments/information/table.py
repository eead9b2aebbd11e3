"""Tables of the information in classifications, some of whose rows may be rejected."""

from entrolab.fit.learners import estimator_of, learners_of
from entrolab.jobs.source_analysis import locate
from entrolab.study.entries import ModelsWithParams, OfData
from entrolab.study.lookup import labels
from entrolab.study.sections import list_of, number
from entrolab.tables.base import NOTHING, Judged
from entrolab.tables.measured import Measured
from entrolab.tables.verdicts import beside

# Hu's measures by the names of `entrolearn.metrics.information_scores`, and the correlation that stands
# beside them. Percentages, then bits, then numbers of at most 1.
PERCENT = {"correct_rate": "CR", "error_rate": "E", "reject_rate": "Rej", "accuracy": "A"}
MEASURES = {
    **PERCENT,
    "mcc": "MCC",
    "entropy_true": "H(T)",
    "entropy_pred": "H(Y)",
    "joint_entropy": "H(T,Y)",
    "mutual_information": "I(T,Y)",
    "normalized_mutual_information": "I/H(T)",
    "conditional_entropy_true": "H(T|Y)",
    "conditional_entropy_pred": "H(Y|T)",
    "cross_entropy_true_pred": "H(T;Y)",
    "cross_entropy_pred_true": "H(Y;T)",
    "kl_true_pred": "KL(T,Y)",
    "kl_pred_true": "KL(Y,T)",
}


class Information(Measured):
    """Measures of a confusion matrix: data sets and models, with and without rejected rows, × measures."""

    rows, columns = ("dataset", "model"), ("metric",)
    measured_by = "entrolab.experiments.information.measure"

    class Entry(OfData):
        models: ModelsWithParams
        # Shares of the test rows that are rejected, the least certain.
        reject: list_of(number(ge=0, lt=1)) = [0]

    def names(self, table, study):
        tasks = study["tasks"]
        of_classes = [dataset for dataset in tasks if tasks[dataset] != "regression"]
        for dataset in study["datasets"][table["datasets"]]:
            yield "datasets", dataset, of_classes, "data set of classes"
        classifiers = [name for name, model in study["models"].items() if estimator_of(model, "binary")]
        for name, entry in table["models"].items():
            yield "models", name, study["models"], "model"
            yield "models", name, classifiers, "model with an estimator of classes"
            for learner in learners_of(study["models"][name]):
                accepted = locate(learner).parameters
                if accepted is not None:
                    for parameter in entry.get("params", {}):
                        yield f"models.{name}", parameter, accepted, f"parameter of {learner}"

    def models(self, table, study):
        """Each model as often as there are shares of rejected rows."""
        return {
            place_of(name, share): {**named, "sublabel": _sublabel(named["sublabel"], share)}
            for name, named in labels(study, table["models"]).items()
            for share in table["reject"]
        }

    def metrics(self, table):
        return {name: {"label": label, "sublabel": ""} for name, label in MEASURES.items()}

    def measurement(self, table, study, dataset):
        models = {
            name: {
                "estimator": estimator_of(study["models"][name], study["tasks"][dataset]),
                "steps": study["models"][name]["steps"],
                "params": {**study["models"][name]["params"], **entry.get("params", {})},
            }
            for name, entry in table["models"].items()
        }
        # The first of the parts that are drawn does not depend on how many there are.
        often = "trials" if "trials" in study["protocol"] else "repeats"
        return {"models": models, "reject": table["reject"], "protocol": {**study["protocol"], often: 1}}

    def judge(self, cell, spec, found, printed):
        ours, (value, _, decimals) = found[cell].ours, printed.get(cell, NOTHING)
        return Judged(beside(ours, value, 0.5 * 10.0**-decimals), ours - value)

    def says(self, spec):
        rejected = (
            " Where rows are rejected they are those that the classifier is least certain of, one more value "
            "of Y, of which T has none: H(Y;T) and KL(Y,T) are then infinite."
            if max(spec["reject"])
            else ""
        )
        where = "trial" if spec["trials"] else "fold"
        return (
            f"What the predicted class Y tells of the true one, T, on the first {where}'s test rows. CR, "
            "E and Rej are the shares that are recognised, mistaken and rejected, A = CR / (CR + E), all in "
            "percent; MCC, Matthews' correlation, is that of the rows that are not rejected; entropies, the "
            f"mutual information I, cross entropies H(·;·) and divergences KL are in bits.{rejected}"
        )

    def agreement(self, spec):
        return "equal, rounded"

    def meanings(self, spec):
        return {
            "reproduced": "ours rounds to the printed number",
            "ours alone": "measured here",
            "failed": "no measurement; the footnote says why",
        }

    def digits(self, metric, printed):
        return 2 if metric in PERCENT else 3

    def number(self, metric, value, digits):
        return super().number(metric, 100 * value if metric in PERCENT else value, digits)


def place_of(model: str, share: float) -> str:
    """The name of a row of such a table.

    Examples
    --------
    >>> place_of("softmax", 0), place_of("softmax", 0.05)
    ('softmax', 'softmax_reject_0.05')
    """
    return f"{model}_reject_{share:g}" if share else model


def _sublabel(sublabel: str, share: float) -> str:
    rejected = f"{100 * share:g} % rejected" if share else ""
    return ", ".join(filter(None, [sublabel, rejected]))
