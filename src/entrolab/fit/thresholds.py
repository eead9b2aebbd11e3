"""Binary classifiers with a threshold tuned by cross-validation on the training rows."""

__all__ = ["BY", "FOLDS", "PARAMETER", "fixed", "tuned"]

# The metrics that may tune a threshold.
BY = ("balanced_accuracy", "gmean", "accuracy", "f1", "f1_macro", "f1_weighted", "mcc")
FOLDS = 5
PARAMETER = "estimator__"  # prefix of the classifier's parameters


def tuned(estimator, metric: str, seed: int):
    """An unfitted classifier for the classes 0 and 1 whose ``fit`` tunes its threshold.

    `estimator` has ``predict_proba`` or ``decision_function``. The mean of the metric, one of :data:`BY`,
    over stratified folds of the rows given to ``fit`` is maximised; `seed` is that of the folds.
    """
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return TunedThresholdClassifierCV(estimator, scoring=make_scorer(_score, metric=metric), cv=folds)


def _score(y, prediction, metric: str) -> float:
    """A metric of predicted classes, computed without scikit-learn's slow validation."""
    from entrolab.fit.scoring import scores

    return scores(y, prediction, [metric])[metric]


def fixed(fitted):
    """A fitted :func:`tuned` classifier as one with a fixed threshold, whose file contains no functions."""
    from sklearn.model_selection import FixedThresholdClassifier

    made = FixedThresholdClassifier(fitted.estimator, threshold=float(fitted.best_threshold_))
    made.estimator_ = fitted.estimator_
    return made
