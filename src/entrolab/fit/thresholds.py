"""The threshold of a binary classifier, chosen by a metric in a cross-validation of training rows."""

__all__ = ["BY", "FOLDS", "PARAMETER", "fixed", "tuned"]

# The metrics by which a threshold may be chosen.
BY = ("balanced_accuracy", "gmean", "accuracy", "f1", "f1_macro", "f1_weighted", "mcc")
FOLDS = 5
PARAMETER = "estimator__"  # prefix of the parameters of what a threshold is chosen for


def tuned(estimator, metric: str, seed: int):
    """An unfitted binary classifier with a threshold that its ``fit`` chooses.

    Parameters
    ----------
    estimator : classifier
        Of the classes 0 and 1, with ``predict_proba`` or ``decision_function``.
    metric : str
        One of :data:`BY`, whose mean over stratified folds of the rows given to ``fit`` is maximised.
    seed : int
        Of the folds.
    """
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return TunedThresholdClassifierCV(estimator, scoring=make_scorer(_score, metric=metric), cv=folds)


def _score(y, prediction, metric: str) -> float:
    """A metric of predicted classes, in a hundredth of the time that scikit-learn's checks take."""
    from entrolab.fit.scoring import scores

    return scores(y, prediction, [metric])[metric]


def fixed(fitted):
    """A fitted :func:`tuned` classifier as one with a given threshold, whose file holds no functions."""
    from sklearn.model_selection import FixedThresholdClassifier

    made = FixedThresholdClassifier(fitted.estimator, threshold=float(fitted.best_threshold_))
    made.estimator_ = fitted.estimator_
    return made
