"""Tables that compare selection by divergence with selection by cross-validation."""

import math

from entrolab.experiments.base import Measured, names_of_datasets
from entrolab.experiments.searches import RATIOS
from entrolab.fit.learners import ONE_OF, estimator_of, learner_of, searched
from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Whole, list_of, number, one_of, whole
from entrolab.tables.base import ALL, Found, Head

SCORES = {"gmean": "GMEAN", "balanced_accuracy": "balanced accuracy"}
DIFFERENCES = [f"{name}_difference" for name in SCORES]
MEASURES = {
    "seconds_divergence": "seconds, divergence",
    "seconds_cv": "seconds, cross-validation",
    "seconds_path_cv": "seconds, cross-validation on the path",
    "ratio": "seconds, cross-validation / divergence",
    "ratio_path": "seconds, cross-validation on the path / divergence",
    "same": "same parameters, % of folds",
    "gmean_divergence": "GMEAN, divergence",
    "gmean_cv": "GMEAN, cross-validation",
    "gmean_difference": "GMEAN, difference",
    "balanced_accuracy_divergence": "balanced accuracy, divergence",
    "balanced_accuracy_cv": "balanced accuracy, cross-validation",
    "balanced_accuracy_difference": "balanced accuracy, difference",
}
ENOUGH = 6  # data sets; fewer differences are never significant at 5 %


class Searches(Measured):
    """A grid searched by divergence and by inner cross-validation: data sets and measures × models."""

    rows = ("dataset", "metric")
    measured_by = "entrolab.experiments.searches.measure"
    parameters = ("criterion", "scoring", "inner", "seconds", "gib", "folds")
    summarised = (*RATIOS, *DIFFERENCES)
    decimals, significant = {"same": 0}, ("seconds", "ratio")

    class Entry(OfData):
        models: ModelNames
        measures: list_of(one_of(*MEASURES)) = [
            "ratio",
            "ratio_path",
            "gmean_divergence",
            "gmean_cv",
            "gmean_difference",
        ]
        folds: Whole = None
        criterion: one_of("gaussian", "kde") = "gaussian"
        scoring: one_of(*SCORES) = "gmean"
        inner: whole(ge=2) = 5
        seconds: number(gt=0) = 3600
        gib: number(gt=0) = 8

    def names(self, table, study):
        known = [
            name
            for name, model in study.models.items()
            if searched(model) and (model.one_of or estimator_of(model, "binary"))
        ]
        yield from (
            ("models", name, known, "model with a grid and a learner of classes") for name in table.models
        )
        yield from names_of_datasets(table, study, "binary data set", ("binary",))

    def places(self, table):
        return {ALL: Head("all data sets")}

    def metrics(self, table):
        return {name: Head(MEASURES[name]) for name in table.measures}

    def measurement(self, table, study, dataset):
        models = {}
        for name in table.models:
            model = study.models[name]
            searched_too = {"grid": model.grid, ONE_OF: model.one_of}
            models[name] = learner_of(model, study.tasks[dataset]) | searched_too
        # The first repeat does not depend on the number of repeats.
        protocol = study.resolved(study.protocol, dataset, "protocol")
        protocol |= {} if "trials" in protocol else {"repeats": 1}
        return super().measurement(table, study, dataset) | {"protocol": protocol, "models": models}

    def summary(self, metric, numbers):
        """The mean and the range of ratios; the mean, the signs and, if enough, a test of differences."""
        if metric in RATIOS:
            mean = math.exp(math.fsum(map(math.log, numbers)) / len(numbers))
            return Found(mean, reason=f"{min(numbers):.2g} to {max(numbers):.2g} on single data sets")
        import numpy as np  # imported late: the workflow reads this module before any job starts
        from scipy.stats import wilcoxon

        higher, lower = sum(one > 0 for one in numbers), sum(one < 0 for one in numbers)
        said = f"divergence is higher on {higher} of {len(numbers)} data sets and lower on {lower}"
        if higher + lower >= ENOUGH:
            said += f" (Wilcoxon signed-rank p = {wilcoxon(numbers).pvalue:.2g})"
        std = np.std(numbers, ddof=1) if len(numbers) > 1 else np.nan
        return Found(float(np.mean(numbers)), float(std), reason=said)

    def says(self, spec):
        shown, folds = spec.entry.measures, "trials" if spec.trials else "folds"
        which = f"the first {spec.entry.folds} {folds}" if spec.entry.folds else f"all {folds}"
        repeat = "" if spec.trials else ", in its first repeat"
        said = (
            f"Two searches of one grid on the training rows of {which} of the study{repeat}, each with the "
            f"refit of the selected point. EntropySearch (criterion {spec.entry.criterion}) fits each point "
            "once and selects the largest Cauchy–Schwarz divergence of the training classes. GridSearchCV "
            f"fits each point in {spec.entry.inner} stratified inner folds and selects the largest mean "
            f"{SCORES[spec.entry.scoring]}."
        )
        if any(name.startswith(("seconds", "ratio")) for name in shown):
            said += " Seconds are of the processor, on one thread."
        if {"seconds_path_cv", "ratio_path"} & {*shown}:
            said += (
                " EntropySearch fits by the learner's path, where points of the grid may share work; "
                "GridSearchCV cannot. “On the path” is the same cross-validation with work shared between "
                "points and between folds: its ratio is the saving from leaving out only the validation."
            )
        if any(name.startswith((*SCORES,)) for name in shown):
            said += " Scores are on the test rows, in percent; a difference above 0 favours divergence."
        return (
            f"{said} Mean ± standard deviation over the {folds}; for all data sets, the geometric mean of "
            "the ratios, and the mean of the differences ± their standard deviation."
        )

    def meanings(self, spec):
        return super().meanings(spec) | {"failed": "no search; the footnote says why"}
