"""One run of a board: a learner fitted to one half of a draw of rows and scored on the other.

Everything is learnt from the training rows only: the scaling of features and of regression targets, the
encoding of names, the configuration and the threshold.
"""

import resource
import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from math import ceil

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold, TunedThresholdClassifierCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.board.learners import configurations, make
from benchmarks.board.sets import categorical_columns
from entrolearn import gmean_score, gmean_scorer

FOLDS = 2
INNER_FOLDS = 3  # of the training rows, for the threshold and for tuning
#: Processor seconds of a fit with its prediction, by the number of rows; three times with a threshold.
LIMIT_S = {1_000: 60, 10_000: 120, 100_000: 300}
TUNING_S = 120  # no configuration is started after so many processor seconds
SCORES = {
    "binary": ("gmean", "balanced_accuracy", "accuracy", "auc", "log_loss"),
    "multiclass": ("gmean", "balanced_accuracy", "accuracy", "auc", "log_loss"),
    "regression": ("r2", "rmse", "mae"),
}
#: Board -> the metric that selects the configuration on inner folds.
CHOSEN_BY = {"binary": "roc_auc", "multiclass": "balanced_accuracy", "regression": "r2"}


@dataclass(frozen=True, order=True)
class Run:
    """A run of a board: the learner and the rows."""

    set: str
    size: int
    learner: str
    variant: str  # "default", "threshold" or "tuned"
    repeat: int
    fold: int

    @property
    def key(self) -> tuple:
        return astuple(self)


def fold_of(run: Run, y: np.ndarray, regression: bool) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of a run."""
    folds = (KFold if regression else StratifiedKFold)(FOLDS, shuffle=True, random_state=run.repeat)
    return list(folds.split(np.zeros(len(y)), y))[run.fold]


def pipeline(
    estimator: BaseEstimator, categorical: list[int], n_features: int, regression: bool
) -> BaseEstimator:
    """An estimator with standardised numbers, one-hot encoded categories, and standardised targets."""
    numbers = [column for column in range(n_features) if column not in categorical]
    features = ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categorical),
        ]
    )
    whole = make_pipeline(features, estimator)
    return TransformedTargetRegressor(whole, transformer=StandardScaler()) if regression else whole


def results_of(run: Run, board: str, X: np.ndarray, y: np.ndarray) -> Iterator[dict]:
    """Fit and score one run on drawn rows. Call it in a process of its own, since it sets RLIMIT_CPU.

    Yields ``variant``, the scores of the board, ``fit_s`` and ``predict_s``; of a tuned run of two classes
    also those with a tuned threshold.
    """
    warnings.simplefilter("ignore")
    regression = board == "regression"
    train, test = fold_of(run, y, regression)
    seed = FOLDS * run.repeat + run.fold
    categorical = categorical_columns(run.set)

    def model(configuration: dict | None = None) -> BaseEstimator:
        estimator = make(run.learner, board, seed, configuration)
        return pipeline(estimator, categorical, X.shape[1], regression)

    rows = X[train], y[train], X[test], y[test]
    limit = LIMIT_S[run.size]
    plain = model()  # imports the library before the clock starts
    with threadpool_limits(1):
        if run.variant == "default":
            _allow(limit)
            yield {"variant": "default", **_measured(plain, rows, board)}
        elif run.variant == "threshold":
            _allow(3 * limit)
            yield {"variant": "threshold", **_measured(_with_threshold(plain), rows, board)}
        else:
            _allow(TUNING_S + INNER_FOLDS * limit)  # the last configuration may start just before TUNING_S
            started = _seconds()
            best = _best(
                [model(one) for one in configurations(run.learner, board)], X[train], y[train], board
            )
            searched = _seconds() - started
            _allow(limit)
            found = _measured(clone(best), rows, board)
            yield {"variant": "tuned", **found, "fit_s": found["fit_s"] + searched}
            if board == "binary":
                _allow(3 * limit)
                found = _measured(_with_threshold(best), rows, board)
                yield {"variant": "tuned threshold", **found, "fit_s": found["fit_s"] + searched}


def _seconds() -> float:
    """Processor seconds of this process; under RLIMIT_CPU, `time.process_time` has a resolution of 4 ms."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _allow(seconds: float) -> None:
    """End this process after so many more processor seconds."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(_seconds() + seconds), most))


def _with_threshold(model: BaseEstimator) -> BaseEstimator:
    inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0)
    return TunedThresholdClassifierCV(model, scoring=gmean_scorer, cv=inner)


def _best(models: list[BaseEstimator], X, y, board: str) -> BaseEstimator:
    """The model with the best mean on inner folds among those finished in time, or the first."""
    folds = (KFold if board == "regression" else StratifiedKFold)(INNER_FOLDS, shuffle=True, random_state=0)
    best, found = models[0], -np.inf
    until = _seconds() + TUNING_S
    for model in models:
        if _seconds() > until:
            break
        score = np.mean(cross_val_score(model, X, y, cv=folds, scoring=CHOSEN_BY[board], error_score=np.nan))
        if score > found:
            best, found = model, score
    return best


def _measured(model: BaseEstimator, rows: tuple, board: str) -> dict:
    X, y, new, truth = rows
    started = _seconds()
    model.fit(X, y)
    fitted = _seconds()
    predicted = model.predict(new)
    done = _seconds()
    found = scores(model, new, truth, predicted, board)
    return {**found, "fit_s": fitted - started, "predict_s": done - fitted}


def scores(model: BaseEstimator, X, y: np.ndarray, predicted: np.ndarray, board: str) -> dict[str, float]:
    """The scores of a model on test rows; without probabilities, there is no log loss.

    A classifier has seen all classes, which are 0, 1, ...
    """
    if board == "regression":
        return {
            "r2": r2_score(y, predicted),
            "rmse": root_mean_squared_error(y, predicted),
            "mae": mean_absolute_error(y, predicted),
        }
    predicted = np.ravel(predicted)
    found = {
        "gmean": gmean_score(y, predicted),
        "balanced_accuracy": balanced_accuracy_score(y, predicted),
        "accuracy": accuracy_score(y, predicted),
    }
    if hasattr(model, "predict_proba"):
        values = model.predict_proba(X)
        found["log_loss"] = log_loss(y, np.clip(values, 1e-15, 1), labels=model.classes_)
    else:
        values = model.decision_function(X)
        values = np.column_stack([-values, values]) if values.ndim == 1 else values
    positive = y[:, None] == model.classes_
    present = np.flatnonzero(positive.any(axis=0))
    found["auc"] = float(np.mean([roc_auc_score(positive[:, k], values[:, k]) for k in present]))
    return found
