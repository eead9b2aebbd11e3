"""Recursive feature machines: estimators with a metric of the features learnt from their gradients."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_array, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from entrolearn.kernels import check_memory, gamma_of_spread
from entrolearn.machines.base import (
    OutputClassifier,
    OutputRegressor,
    gradient_at,
    to_original_coordinates,
)
from entrolearn.machines.boxes import Survey
from entrolearn.machines.devices import cast, like, take_rows
from entrolearn.machines.eem import EEKMClassifier
from entrolearn.machines.gradients import without_empty_features
from entrolearn.machines.layers import in_metric
from entrolearn.machines.moments import row_blocks
from entrolearn.machines.rkelm import RKELMRegressor
from entrolearn.measures import average_gradient_outer_product
from entrolearn.validation import (
    HasMethods,
    Interval,
    StrOptions,
    check_params,
    check_same_namespace,
    checked_weights,
    to_numpy,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["RecursiveFeatureClassifier", "RecursiveFeatureRegressor"]

# Added to all eigenvalues, relative to the largest, so that a feature without weight in one fit can return.
FLOOR = 1e-3
N_LANDMARKS = 300
# Standard errors over the folds that a gain must exceed. With one, data sets with few rows of a class lose up
# to 1.8 points of AUC (mammography, heart) on the half of the catalog on which the defaults were fixed.
STANDARD_ERRORS = 2.0
METRICS = ("diagonal", "full")
MOST_FOLDS = 20


def _metric_root(outer: np.ndarray, X, weights: np.ndarray | None) -> np.ndarray:
    """Root R of the metric of an average gradient outer product: ||R (x - z)||² is the squared distance.

    R is symmetric, or a diagonal. In its coordinates the mean variance of the features over the weighted rows
    X is one: each about its own mean, because the root gives every feature another offset.
    """
    if outer.ndim == 1:
        root = np.sqrt(outer / (outer.max() or 1.0) + FLOOR)
    else:
        values, vectors = np.linalg.eigh(outer)
        values = np.maximum(values, 0)
        root = (vectors * np.sqrt(values / (values[-1] or 1.0) + FLOOR)) @ vectors.T
    variance = _variances(in_metric(X, cast(root, X)), weights).mean()
    return root * np.sqrt(gamma_of_spread(1, 0.0, float(variance), np.float64))


def _variances(X, weights: np.ndarray | None) -> np.ndarray:
    """Variances of the features over the weighted rows, shape (n_features,)."""
    if issparse(X):
        return mean_variance_axis(X, axis=0, weights=weights)[1]
    rows = to_numpy(X)
    rows = rows - rows[0]  # of equal numbers the mean may be another
    means = np.average(rows, axis=0, weights=weights)
    return np.average((rows - means) ** 2, axis=0, weights=weights)


def _clone_for_metric(estimator: BaseEstimator, rows, root, weights: np.ndarray | None) -> BaseEstimator:
    """A clone for such rows in the coordinates of a metric, given its root.

    Units that are drawn in a box fitted to the rows would undo the metric: they get a box of equal widths.
    The width "scale" is that of the spread about one mean of all features: it becomes that about their own
    means, whose mean is one. Given landmarks are rows too.
    """
    machine, n_features = clone(estimator), float(rows.shape[1])
    if not isinstance(landmarks := getattr(machine, "n_landmarks", 0), Integral):
        landmarks = to_numpy(landmarks) if hasattr(landmarks, "__dlpack__") else landmarks
        machine.set_params(n_landmarks=in_metric(check_array(landmarks, accept_sparse="csr"), root))
    if isinstance(getattr(machine, "bounds", None), str):
        box: Any = Survey.in_memory(rows, machine._units(), np.random.RandomState(0), weights).box
        low, high = box
        half = np.sqrt(np.mean((high - low) ** 2)) / 2
        machine.set_params(bounds=np.stack([(low + high) / 2 - half, (low + high) / 2 + half]))
    if isinstance(gamma := getattr(machine, "gamma", None), str) and gamma == "scale":
        machine.set_params(gamma=1 / n_features)
    return machine


def _fitted(estimator: BaseEstimator, X, y, weights: np.ndarray | None, root: np.ndarray | None):
    """A clone fitted in the metric with the given root; it takes rows in the original coordinates."""
    weighted = {} if weights is None else {"sample_weight": weights}
    if root is None:
        return clone(estimator).fit(X, y, **weighted)
    rows = in_metric(X, cast(root, X))
    machine = _clone_for_metric(estimator, rows, root, weights).fit(rows, y, **weighted)
    to_original_coordinates(machine, root)
    return machine


def _with_share_of_landmarks(estimator: BaseEstimator, share: float) -> BaseEstimator:
    """A clone for a share of the rows, with the same share of the landmarks."""
    params = estimator.get_params(deep=False)
    if not isinstance(n_landmarks := params.get("n_landmarks"), Integral):
        return estimator
    return clone(estimator).set_params(n_landmarks=math.ceil(share * int(n_landmarks)))


def _gradients(machine: BaseEstimator, X) -> Iterator:
    n_outputs = len(getattr(machine, "classes_", ())) or 1
    for block in row_blocks(X, n_outputs * X.shape[1]):
        yield to_numpy(machine.input_gradient(take_rows(X, block)))


def mean_squares(machine: BaseEstimator, X, weights: np.ndarray | None) -> np.ndarray:
    """Weighted mean over the rows of the squared derivatives of all outputs, shape (n_features,)."""
    if issparse(X) and issparse(getattr(machine._layer, "landmarks", None)):
        return _mean_squares_of_sparse(machine, X, weights)
    return average_gradient_outer_product(_gradients(machine, X), diagonal=True, sample_weight=weights)


def _mean_squares_of_sparse(machine: BaseEstimator, X, weights: np.ndarray | None) -> np.ndarray:
    """The same for CSR rows and landmarks; its time is that of the stored numbers, whatever the features."""
    layer = machine._layer
    root = layer.root
    layer, rows, seen, slopes = without_empty_features(layer, X)
    weights = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    n_outputs, squares = len(getattr(machine, "classes_", ())) or 1, np.zeros(X.shape[1])
    for block in row_blocks(rows, n_outputs * rows.shape[1]):
        of_rows = np.square(gradient_at(machine, rows[block], layer)).sum(axis=1)
        squares[seen] += weights[block] @ of_rows[:, :-1]
        squares[~seen] += slopes[block].power(2).T @ (weights[block] * of_rows[:, -1])
    if not np.isfinite(squares).all():
        raise ValueError("the gradients are not finite, or their squares overflow; scale the features or y.")
    return squares if root is None else squares * root**2


def _outer_product(machine: BaseEstimator, X, weights: np.ndarray | None, kind: str) -> np.ndarray:
    """Average gradient outer product over the rows, normalised to trace one; zero for a constant model."""
    if kind == "diagonal":
        outer = mean_squares(machine, X, weights)
        return outer / (outer.sum() or 1.0)
    outer = average_gradient_outer_product(_gradients(machine, X), sample_weight=weights)
    return outer / (np.trace(outer) or 1.0)


def _score(machine: BaseEstimator, rows, y: np.ndarray, weights: np.ndarray | None) -> float:
    """Mean area under the ROC curves of each class against the rest; R² for a regressor."""
    if not is_classifier(machine):
        return r2_score(y, to_numpy(machine.predict(rows)), sample_weight=weights)
    values = to_numpy(machine.decision_function(rows)).reshape(len(y), -1)
    positive = y[:, None] == machine.classes_[-values.shape[1] :]
    varied = [k for k in range(values.shape[1]) if 0 < positive[:, k].sum() < len(y)]
    each = np.ones(len(y)) if weights is None else weights
    return float(np.mean([_auc(positive[:, k], values[:, k], each) for k in varied])) if varied else np.nan


def _auc(positive: np.ndarray, values: np.ndarray, weights: np.ndarray) -> float:
    """Weighted share of pairs of a positive and another row that are ranked correctly; ties count half."""
    _, place = np.unique(values, return_inverse=True)
    others = np.bincount(place, weights * ~positive)
    below = np.cumsum(others) - others / 2
    return np.bincount(place, weights * positive) @ below / (weights[positive].sum() * others.sum())


@dataclass
class _Folds:
    """The estimator and its data, with the indices of the training and the held-out rows of each fold.

    ``plain`` caches the fits without a metric, for the folds that were needed so far.
    """

    estimator: BaseEstimator
    X: Any
    y: Any
    weights: np.ndarray | None
    places: list[tuple[np.ndarray, np.ndarray]]
    plain: list[tuple[BaseEstimator, float]] = field(default_factory=list)

    @property
    def plain_scores(self) -> list[float]:
        return [score for _, score in self.plain]

    def next_round(self, machines: dict, kind: str) -> tuple[list[float], np.ndarray] | None:
        """Scores of the folds after one more round, and their mean outer product, given the last fits.

        Returns None as soon as two folds do not improve on the estimator without a metric.
        """
        total, scores, without_gain = np.zeros(()), [], 0
        for k, (train, _) in enumerate(self.places):
            if k == len(self.plain):
                self.plain.append(self._fit(k, None))
            machine, score_before = self.plain[k]
            X, _, weights = self._rows(train)
            outer = _outer_product(machines.get(k, machine), X, weights, kind)
            machines[k], score = self._fit(k, _metric_root(outer, X, weights))
            scores.append(score)
            total = total + outer
            without_gain += not score > score_before
            if without_gain == 2:
                return None
        return scores, total / len(self.places)

    def _fit(self, k: int, root: np.ndarray | None) -> tuple[BaseEstimator, float]:
        train, held = self.places[k]
        machine = _fitted(self.estimator, *self._rows(train), root)
        X, y, weights = self._rows(held)
        return machine, _score(machine, X, to_numpy(y), weights)

    def _rows(self, places: np.ndarray) -> tuple[Any, Any, Any]:
        weights = None if self.weights is None else self.weights[places]
        return take_rows(self.X, places), take_rows(self.y, places), weights


@dataclass(frozen=True)
class SelectedMetric:
    """Result of the rounds on some rows.

    Attributes
    ----------
    estimator : estimator
        Estimator to fit to rows in the coordinates of the metric.
    root : ndarray, shape (n_features,) or (n_features, n_features), or None
        Root of the metric; None for the original coordinates.
    shares : list of ndarray, shape (n_features,)
        Mean squared derivatives of the fitted model of each round except the last.
    variances : ndarray, shape (n_features,)
    """

    estimator: BaseEstimator
    root: np.ndarray | None
    shares: list[np.ndarray]
    variances: np.ndarray

    def transform(self, X):
        """Rows in the coordinates of the metric."""
        return X if self.root is None else in_metric(X, cast(self.root, X))

    def to_original_coordinates(self, machine: BaseEstimator) -> BaseEstimator:
        """Convert an estimator fitted to such rows to one for the original coordinates."""
        if self.root is not None:
            to_original_coordinates(machine, self.root)
        return machine


def _estimator_has(name: str) -> Callable:
    def has(learner) -> bool:
        getattr(learner.estimator_ if hasattr(learner, "estimator_") else learner._base(), name)
        return True

    return has


class RecursiveFeatures(MetaEstimatorMixin, BaseEstimator):
    """Base class: rounds of fit, gradients and metric, and their selection by cross-validation."""

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "metric": [StrOptions({*METRICS, "auto"})],
        "cv": [
            Interval(Integral, 2, MOST_FOLDS, closed="both"),
            HasMethods(["split", "get_n_splits"]),
            HasMethods("__iter__"),
        ],
        "selection_rows": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
    }
    _default: type[BaseEstimator]
    _checks: dict = {}

    def __init__(
        self,
        estimator=None,
        *,
        n_rounds=3,
        metric="diagonal",
        cv=3,
        selection_rows=10_000,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.metric = metric
        self.cv = cv
        self.selection_rows = selection_rows
        self.random_state = random_state

    def _base(self) -> BaseEstimator:
        if self.estimator is not None:
            return self.estimator
        return self._default(N_LANDMARKS, kernel="exponential_power", random_state=self.random_state)

    @validated(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Select the number of rounds and fit the estimator in its metric.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones; values for a regressor.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: in the fits, the gradients, the scores and the width of the metric. A row of
            weight zero is left out.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If the estimator has no gradients in closed form, or is a regressor instead of a classifier or the
            reverse.
        ValueError
            If y holds only one class, the rows are sparse and the metric is full, `cv` gives fewer than two
            splits or one without training or test rows, or `sample_weight` holds negative numbers.
        """
        X, y = self._checked(X, y, first=True)
        labels, weights = to_numpy(y), checked_weights(sample_weight, X)
        used = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        X, y, weights = weighted_rows(X, y, weights)
        places = self._selection_places(X.shape[0])
        if places is None:
            selected = self._learn(X, y, weights, self._given_splits(labels, used))
        else:
            some = None if weights is None else weights[places]
            splits = self._given_splits(labels, used[places])
            selected = self._learn(take_rows(X, places), take_rows(y, places), some, splits)
        weighted = {} if weights is None else {"sample_weight": weights}
        machine = selected.estimator.fit(selected.transform(X), y, **weighted)
        machine = selected.to_original_coordinates(machine)
        self._keep(selected, machine, _outer_product(machine, X, weights, "diagonal"))
        return self

    def _selection_places(self, n_rows: int) -> np.ndarray | None:
        """Indices of the rows on which the number of rounds is selected; None for all rows."""
        if self.selection_rows is None or n_rows <= self.selection_rows:
            return None
        return np.sort(check_random_state(self.random_state).permutation(n_rows)[: self.selection_rows])

    def _fit_in_passes(self, passes) -> None:
        """Fit to rows that are read in passes: a sample, a fit to all rows in its metric, and gradients.

        The number of rounds and the metric are learnt from the same sample of rows as in memory.

        Parameters
        ----------
        passes : object
            With the methods ``n_rows()``; ``sample(places)``, the rows with these ascending numbers, their y
            and weights; ``fit(estimator, transform)``, which fits to all rows in the coordinates that
            ``transform(X)`` gives; and ``squares(estimator)``, the squared derivatives of an estimator summed
            over all rows.
        """
        n_rows = passes.n_rows()
        places = self._selection_places(n_rows)
        selected = self._learn(*passes.sample(np.arange(n_rows) if places is None else places))
        passes.fit(selected.estimator, selected.transform)
        estimator = selected.to_original_coordinates(selected.estimator)
        squares = passes.squares(estimator)
        self._keep(selected, estimator, squares / (squares.sum() or 1.0))

    def _check_passes(self) -> BaseEstimator:
        """The estimator to fit; raise, before any row is read, if parameters need all rows in memory."""
        check_params(self)
        estimator = self._base()
        self._check_estimator(estimator, sparse=False)
        if self.selection_rows is None:
            raise ValueError(
                "selection_rows=None learns from all rows in memory; accepted for chunks: a number."
            )
        if not isinstance(self.cv, Integral):
            raise ValueError("cv gives splits of rows in memory; accepted for chunks: a number of folds.")
        return estimator

    def _checked(self, X, y, *, first: bool) -> tuple:
        """Validated rows and y of a chunk; the first chunk sets the number of features."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first, **self._checks)
        if is_classifier(self):
            check_classification_targets(y)
        return X, y

    def _given_splits(self, labels: np.ndarray, used: np.ndarray) -> list[tuple] | None:
        """The training and the held-out rows of each split of ``cv`` as positions in `used`; None for an int.

        Splits are of all rows of a fit; `used` holds the numbers of those that the rounds are selected on.
        """
        if isinstance(self.cv, Integral) or not self.n_rounds:
            return None
        place = np.full(len(labels), -1)
        place[used] = np.arange(len(used))
        splitter = check_cv(self.cv, labels, classifier=is_classifier(self))
        splits = [
            tuple(rows[rows >= 0] for rows in (place[train], place[test]))
            for train, test in splitter.split(np.empty((len(labels), 0)), labels)
        ]
        if len(splits) < 2 or not all(len(rows) for split in splits for rows in split):
            raise ValueError(
                f"cv gives {len(splits)} splits; accepted: two or more, each with training and test rows of "
                "positive weight among the selection_rows."
            )
        return splits

    def _learn(self, X, y, weights: np.ndarray | None, splits: list[tuple] | None = None) -> "SelectedMetric":
        """Select the number of rounds and the metric on these rows."""
        estimator = self._base()
        self._check_estimator(estimator, issparse(X))
        kinds = (self.metric,) if self.metric != "auto" else METRICS[:1] if issparse(X) else METRICS
        quiet = config_context(skip_parameter_validation=True, assume_finite=True)
        with warnings.catch_warnings(), quiet:
            warnings.simplefilter("ignore", UserWarning)  # from fits to parts of the rows
            scores, outers = self._cross_validate(estimator, X, y, weights, kinds, splits)
        self.scores_ = {kind: found.mean(axis=0) for kind, found in scores.items() if found.size}
        kind, self.n_rounds_ = _best_round(scores)
        outers = outers[kind][: self.n_rounds_]
        shares = [outer if outer.ndim == 1 else np.diag(outer) for outer in outers]
        variances = _variances(X, weights)
        if not outers:
            return SelectedMetric(clone(estimator), None, shares, variances)
        root = _metric_root(outers[-1], X, weights)
        estimator = _clone_for_metric(estimator, in_metric(X, cast(root, X)), root, weights)
        return SelectedMetric(estimator, root, shares, variances)

    def _check_estimator(self, estimator: BaseEstimator, sparse: bool) -> None:
        """Raise, before any computation, if the estimator and the rows are not supported."""
        if not (
            isinstance(estimator, OutputClassifier | OutputRegressor) and hasattr(estimator, "input_gradient")
        ):
            raise TypeError(
                f"{type(self).__name__} has the estimator {estimator!r}; accepted: estimators of this "
                "package with hidden units or a kernel, that have an input_gradient."
            )
        if is_classifier(estimator) != is_classifier(self):
            wanted = "a classifier" if is_classifier(self) else "a regressor"
            raise TypeError(f"{type(self).__name__} has the estimator {estimator!r}; accepted: {wanted}.")
        if sparse and self.metric == "full":
            raise ValueError(
                "metric='full' would make sparse rows dense; accepted for sparse rows: 'diagonal' and 'auto'."
            )
        check_params(estimator)

    def _shuffled_splits(self, labels: np.ndarray) -> list[tuple]:
        """``cv`` splits, fewer for few rows; none without rounds, or for too few rows."""
        splitter = StratifiedKFold if is_classifier(self) else KFold
        fewest = len(labels) // 2
        if is_classifier(self):
            sizes = np.unique(labels, return_counts=True)[1]
            fewest = sizes.min() if len(sizes) > 1 else 0  # the selection rows may have only one class
        n_folds = min(self.cv, fewest)
        if not self.n_rounds or n_folds < 2:
            return []
        shuffled = splitter(n_folds, shuffle=True, random_state=self.random_state)
        return list(shuffled.split(np.empty((len(labels), 0)), labels))

    def _cross_validate(self, estimator, X, y, weights, kinds, splits):
        """Scores, shape (n_folds, n_rounds + 1), and mean outer products of each round, for each metric."""
        places = self._shuffled_splits(to_numpy(y)) if splits is None else splits
        if places:
            left_out = sum(X.shape[0] - len(train) for train, _ in places)
            estimator = _with_share_of_landmarks(estimator, 1 - left_out / X.shape[0] / len(places))
        folds = _Folds(estimator, X, y, weights, places)
        scores, outers = {}, {}
        for kind in kinds:
            machines, rounds, outers[kind] = {}, [], []
            while places and len(rounds) < self.n_rounds and (found := folds.next_round(machines, kind)):
                rounds.append(found[0])
                outers[kind].append(found[1])
                if np.mean(found[0]) < np.mean([folds.plain_scores, *rounds][-2]):
                    break
            scores[kind] = np.array([folds.plain_scores, *rounds]).T
        return scores, outers

    def _keep(self, selected: "SelectedMetric", machine: BaseEstimator, last: np.ndarray) -> None:
        """Store a fitted estimator for the original coordinates and its mean squared derivatives."""
        self.estimator_ = machine
        where = machine._layer.where
        self._root = None if selected.root is None else like(selected.root, where)
        if hasattr(self, "feature_names_in_"):
            machine.feature_names_in_ = self.feature_names_in_
        if is_classifier(self):
            self.classes_ = machine.classes_
        shares = np.array([*selected.shares, last]) * selected.variances
        totals = shares.sum(axis=1, keepdims=True)
        self.importances_ = like(shares / np.where(totals > 0, totals, 1.0), where)
        self.feature_importances_ = self.importances_[-1, :]

    @property
    def metric_(self) -> np.ndarray:
        """Matrix M of the squared distance (x - z)' M (x - z), shape (n_features, n_features).

        Raises
        ------
        MemoryError
            If the matrix does not fit into memory.
        """
        check_is_fitted(self)
        d = self.n_features_in_
        check_memory(8 * d**2, f"a metric of {d} x {d} features", "feature_importances_ needs less")
        if self._root is not None and self._root.ndim == 2:
            return self._root @ self._root
        identity = like(np.eye(d), self.importances_)
        return identity if self._root is None else identity * self._root**2

    def _delegate(self, method: str, X) -> np.ndarray:
        if not hasattr(self, "estimator_"):  # avoids computing the tags, which is slow for few rows
            check_is_fitted(self)
        check_same_namespace(self, X, self.importances_, method)
        return getattr(self.estimator_, method)(X)

    def predict(self, X) -> np.ndarray:
        """The class, or the value, of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._delegate("predict", X)

    def input_gradient(self, X) -> np.ndarray:
        """Gradient of the decision values, or the predicted values, with respect to the features.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        gradient : ndarray of shape (n_samples, n_features), or (n_samples, n_outputs, n_features)
            As for the estimator, in the units of the original features.
        """
        return self._delegate("input_gradient", X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self._base())
        tags.input_tags.sparse = of_estimator.input_tags.sparse and self.metric != "full"
        tags.array_api_support = of_estimator.array_api_support
        return tags


def _best_round(scores: dict[str, np.ndarray]) -> tuple[str, int]:
    """Metric and round of the largest mean gain, if this exceeds its standard errors; else round 0."""
    best, largest = (next(iter(scores)), 0), 0.0
    for kind, found in scores.items():
        gains = found[:, 1:] - found[:, :1]
        if not gains.size:
            continue
        means = gains.mean(axis=0)
        sure = means > STANDARD_ERRORS * gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        r = int(np.argmax(np.where(sure, means, 0.0)))
        if sure[r] and means[r] > largest:
            best, largest = (kind, r + 1), means[r]
    return best


class RecursiveFeatureClassifier(ClassifierMixin, RecursiveFeatures):
    """Recursive feature machine for classification: an estimator with a metric learnt from its gradients.

    In each round the estimator is fitted, the average gradient outer product over the training rows becomes
    the metric of the features, and the next round measures distances in it. Features in which the decision
    values do not vary lose their weight. The number of rounds, possibly 0, is selected by cross-validation on
    the training rows. The metrics of the folds are averaged, and the estimator is fitted to all rows in the
    mean metric.

    Parameters
    ----------
    estimator : classifier, default=None
        Classifier with a method ``input_gradient``: one with random units, landmarks or a kernel. None uses
        :class:`EEKMClassifier` with 300 landmarks and the kernel ``exponential_power`` (Laplace's kernel of
        the Euclidean distance). With random units, the metric is applied to the box in which they are drawn.
    n_rounds : int, default=3
        Maximum number of rounds; 0 is the estimator itself.
    metric : {"diagonal", "full", "auto"}, default="diagonal"
        ``"diagonal"`` weights features; ``"full"`` also finds directions, for dense rows; ``"auto"`` tries
        both.
    cv : int, cross-validation generator or iterable, default=3
        Splits for selecting the round by the mean area under the ROC curves of each class against the rest.
        An int, up to 20, is a number of shuffled stratified folds; it is at most the number of rows of the
        smallest class, and if that is one, there are no rounds. A splitter, or an iterable of training and
        test indices, splits the rows given to :meth:`fit`. A gain over the estimator itself must exceed
        twice its standard error over the splits. Rounds end as soon as two splits do not gain, or the mean
        score falls.
    selection_rows : int or None, default=10000
        Maximum number of rows, drawn at random, from which the rounds and the metric are learnt; the
        estimator is then fitted to all rows. None uses all rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the selection rows, the folds, and the landmarks of the default estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimator_ : classifier
        Fitted in the metric, which is included in its hidden layer, so that it takes rows in the original
        coordinates. Its landmarks are in the coordinates of the metric, that is, rows times its root.
    n_rounds_ : int
        The selected number of rounds; 0 for the estimator itself.
    metric_ : ndarray of shape (n_features, n_features)
        M of the squared distance (x - z)' M (x - z) for any ``metric``; the identity after no round. It is
        computed on access; for a diagonal metric only the diagonal is stored.
    feature_importances_ : ndarray of shape (n_features,)
        Mean squared derivatives of the fitted estimator times the variances of the features, normalised to
        sum one.
    importances_ : ndarray of shape (`n_rounds_` + 1, n_features)
        The importances after each round; the last row is ``feature_importances_``.
    scores_ : dict of str to ndarray of shape (n_tried + 1,)
        For each metric, the mean score over the folds after each round; rounds after a decrease are not
        tried.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    entrolearn.measures.average_gradient_outer_product : The matrix computed in each round.
    entrolearn.plotting.FeatureImportancesDisplay : Plot of the importances.

    Notes
    -----
    A fit takes up to ``cv * (n_rounds + 1)`` fits of the estimator to a part of the rows, with its share of
    the landmarks, ``cv * n_rounds`` passes of gradients over such a part, and one fit and one such pass over
    all rows. If nothing is gained it takes four fits to parts, two passes, and those over all rows. A
    prediction costs that of the estimator. Standardise features whose units are arbitrary: the first round
    uses the given distances, and the width ``"scale"`` of its fit is scikit-learn's, of the variance of all
    numbers about one mean. In a metric ``"scale"`` is the mean variance of the features, each about its own
    mean, so that one constant added to all features changes nothing, and with a width that is a number
    different constants do not either. :func:`entrolearn.streaming.fit` accepts more rows than fit into
    memory, and Dask arrays.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin (2024). Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models. Science 383, 1461-1467.
    .. [2] D. Beaglehole, D. Holzmüller, A. Radhakrishnan and M. Belkin (2025). xRFM: Accurate, scalable, and
       interpretable feature learning models for tabular data. arXiv:2508.10053.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import RecursiveFeatureClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 10))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> machine = RecursiveFeatureClassifier(random_state=0).fit(X[:800], y[:800])
    >>> sorted(machine.feature_importances_.argsort()[-2:].tolist())
    [0, 1]
    """

    _default = EEKMClassifier

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Decision values of the estimator.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        return self._delegate("decision_function", X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._delegate("predict_proba", X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return self._delegate("predict_log_proba", X)


class RecursiveFeatureRegressor(RegressorMixin, RecursiveFeatures):
    """Recursive feature machine for regression.

    Same as :class:`RecursiveFeatureClassifier`, with the number of rounds selected by R².

    Parameters
    ----------
    estimator : regressor, default=None
        Regressor with a method ``input_gradient``. None uses :class:`RKELMRegressor` with 300 landmarks, the
        kernel ``exponential_power`` and an intercept.
    n_rounds : int, default=3
        Maximum number of rounds; 0 is the estimator itself.
    metric : {"diagonal", "full", "auto"}, default="diagonal"
        As for :class:`RecursiveFeatureClassifier`.
    cv : int, cross-validation generator or iterable, default=3
        Splits for selecting the number of rounds; an int is a number of shuffled folds.
    selection_rows : int or None, default=10000
        Maximum number of rows from which the rounds and the metric are learnt.
    random_state : int, RandomState instance or None, default=None
        Seed of the selection rows, the folds, and the landmarks of the default estimator.

    Attributes
    ----------
    estimator_ : regressor
        Fitted in the metric; it takes rows in the original coordinates.
    n_rounds_ : int
        The selected number of rounds; 0 for the estimator itself.
    metric_ : ndarray of shape (n_features, n_features)
    feature_importances_ : ndarray of shape (n_features,)
    importances_ : ndarray of shape (`n_rounds_` + 1, n_features)
    scores_ : dict of str to ndarray of shape (n_tried + 1,)
        As for :class:`RecursiveFeatureClassifier`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin (2024). Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models. Science 383, 1461-1467.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import RecursiveFeatureRegressor
    >>> X = np.random.default_rng(0).normal(size=(600, 20))
    >>> y = X[:, 0] * X[:, 1]
    >>> machine = RecursiveFeatureRegressor(random_state=0).fit(X[:400], y[:400])
    >>> sorted(machine.feature_importances_.argsort()[-2:].tolist())
    [0, 1]
    """

    _default = RKELMRegressor
    _checks = {"y_numeric": True}
