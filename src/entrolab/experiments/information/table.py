"""Tables of the information in classifications, with and without rejected rows."""

from entrolab.experiments.base import Measured, names_of_datasets, with_params
from entrolab.experiments.information import place_of
from entrolab.fit.learners import estimator_of
from entrolab.study.entries import ModelsWithParams, OfData
from entrolab.study.sections import list_of, number
from entrolab.tables.base import Head

# Hu's measures by the names of `entrolearn.metrics.information_scores`, and Matthews' correlation:
# percentages, then bits, then numbers of at most 1.
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
    parameters = ("reject",)
    decimals, usual_decimals = dict.fromkeys(PERCENT, 2), 3

    class Entry(OfData):
        models: ModelsWithParams
        # Shares of the test rows that are rejected, the least certain.
        reject: list_of(number(ge=0, lt=1)) = [0]

    def names(self, table, study):
        yield from names_of_datasets(table, study, "data set of classes", ("binary", "multiclass"))
        classifiers = [name for name, model in study.models.items() if estimator_of(model, "binary")]
        for name in table.models:
            yield "models", name, study.models, "model"
            yield "models", name, classifiers, "model with an estimator of classes"

    def models(self, table, study):
        """Each model once per share of rejected rows."""
        return {
            place_of(name, share): Head(named.label, _sublabel(named.sublabel, share))
            for name, named in super().models(table, study).items()
            for share in table.reject
        }

    def metrics(self, table):
        return {name: Head(label) for name, label in MEASURES.items()}

    def measurement(self, table, study, dataset):
        # The first split does not depend on the number of splits.
        protocol = study.resolved(study.protocol, dataset, "protocol")
        often = "trials" if "trials" in protocol else "repeats"
        return super().measurement(table, study, dataset) | {
            "models": with_params(table.models, study, study.tasks[dataset]),
            "protocol": protocol | {often: 1},
        }

    def tolerance(self, cell, spec, ours, published):
        return 0.5 * 10.0**-published.decimals

    def says(self, spec):
        rejected = (
            " Rejected rows are those with the least certainty. Rejection is an additional value of Y that T "
            "does not have: H(Y;T) and KL(Y,T) are then infinite."
            if max(spec.entry.reject)
            else ""
        )
        where = "trial" if spec.trials else "fold"
        return (
            f"Information of the predicted class Y about the true class T on the first {where}'s test rows. "
            "CR, E and Rej are the shares of correct, wrong and rejected rows, A = CR / (CR + E), all in "
            "percent; MCC is Matthews' correlation on the rows that are not rejected; entropies, the "
            f"mutual information I, cross entropies H(·;·) and divergences KL are in bits.{rejected}"
        )

    def agreement(self, spec):
        return "equal, rounded"

    def meanings(self, spec):
        return super().meanings(spec) | {"reproduced": "ours rounds to the published number"}

    def number(self, metric, value, digits):
        return super().number(metric, 100 * value if metric in PERCENT else value, digits)


def _sublabel(sublabel: str, share: float) -> str:
    rejected = f"{100 * share:g} % rejected" if share else ""
    return ", ".join(filter(None, [sublabel, rejected]))
