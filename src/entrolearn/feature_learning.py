"""Recursive feature machines: estimators in a metric of the features that is learnt from their gradients."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Self

import numpy as np
from scipy.sparse import diags_array, issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from entrolearn.kernels import scale_gamma
from entrolearn.machines.additive import Needs, Survey
from entrolearn.machines.eem import EEKMClassifier
from entrolearn.machines.moments import row_blocks
from entrolearn.machines.rkelm import RKELMRegressor
from entrolearn.measures import average_gradient_outer_product
from entrolearn.validation import HasMethods, Interval, StrOptions, validate_data, validated

__all__ = ["RecursiveFeatureClassifier", "RecursiveFeatureRegressor"]

# Added to all eigenvalues, relative to the largest, so that a feature unused by one fit can return.
FLOOR = 1e-3
N_LANDMARKS = 300
# A gain must exceed this many standard errors over the folds: with one, sets of few rows of a class lose up
# to 1.8 points of AUC (mammography, heart) on the half of the catalog on which the defaults are fixed.
STANDARD_ERRORS = 2.0
METRICS = ("diagonal", "full")


@dataclass(frozen=True)
class _Metric:
    """A symmetric root R of a metric, by which rows are multiplied: ||R (x - z)||² is its squared distance.

    Attributes
    ----------
    root : ndarray, shape (n_features,) for a diagonal one, or (n_features, n_features)
    """

    root: np.ndarray

    @classmethod
    def of(cls, outer: np.ndarray, X) -> "_Metric":
        """The metric of an average gradient outer product, of variance one over all numbers of the rows X."""
        if outer.ndim == 1:
            root = np.sqrt(outer / (outer.max() or 1.0) + FLOOR)
        else:
            values, vectors = np.linalg.eigh(outer)
            values = np.maximum(values, 0)
            root = (vectors * np.sqrt(values / (values[-1] or 1.0) + FLOOR)) @ vectors.T
        metric = cls(root)
        moved = metric(X)
        return cls(root * np.sqrt(scale_gamma(moved) * moved.shape[1]))

    def __call__(self, X):
        """Rows in the coordinates of the metric."""
        if self.root.ndim == 2:
            return X @ self.root
        return (X @ diags_array(self.root)).tocsr() if issparse(X) else X * self.root

    def pull_back(self, values: np.ndarray) -> np.ndarray:
        """Gradients or, if the metric is diagonal, rows, from the coordinates of the metric."""
        return values @ self.root if self.root.ndim == 2 else values * self.root


def _fitted(estimator: BaseEstimator, X, y, metric: _Metric | None) -> BaseEstimator:
    """A clone fitted in the coordinates of a metric; without one, as it is."""
    machine = clone(estimator)
    if metric is None:
        return machine.fit(X, y)
    rows = metric(X)
    if isinstance(getattr(machine, "feature_range", None), str):
        machine.set_params(feature_range=_box_of_one_width(rows))
    return machine.fit(rows, y)


def _box_of_one_width(rows) -> np.ndarray:
    """The box of the rows with equal sides, so that the units do not undo the metric."""
    low, high = Survey.of(rows, Needs(box=True), np.random.RandomState(0)).box
    half = np.sqrt(np.mean((high - low) ** 2)) / 2
    return np.stack([(low + high) / 2 - half, (low + high) / 2 + half])


def _gradients(machine: BaseEstimator, X, metric: _Metric | None) -> Iterator[np.ndarray]:
    """Gradients with respect to the features themselves, block by block of the rows."""
    n_outputs = len(getattr(machine, "classes_", ())) or 1
    for block in row_blocks(X.shape[0], n_outputs * X.shape[1]):
        if metric is None:
            yield machine.input_gradient(X[block])
        else:
            yield metric.pull_back(machine.input_gradient(metric(X[block])))


def _outer_product(machine: BaseEstimator, X, metric: _Metric | None, kind: str) -> np.ndarray:
    """The average gradient outer product over the rows, of trace one; of a constant machine zero."""
    outer = average_gradient_outer_product(_gradients(machine, X, metric), diagonal=kind == "diagonal")
    return outer / ((outer.sum() if outer.ndim == 1 else np.trace(outer)) or 1.0)


def _score(machine: BaseEstimator, rows, y: np.ndarray) -> float:
    """The mean area under the ROC curves of each class against the rest; R² of a regressor."""
    if not is_classifier(machine):
        return r2_score(y, machine.predict(rows))
    values = machine.decision_function(rows)
    if values.ndim == 1:
        values = values[:, None]
    positive = y[:, None] == machine.classes_[-values.shape[1] :]
    told = [k for k in range(values.shape[1]) if 0 < positive[:, k].sum() < len(y)]
    return float(np.mean([roc_auc_score(positive[:, k], values[:, k]) for k in told])) if told else np.nan


def _estimator_has(name: str) -> Callable:
    def has(learner) -> bool:
        getattr(learner.estimator_ if hasattr(learner, "estimator_") else learner._base(), name)
        return True

    return has


class _RecursiveFeatures(MetaEstimatorMixin, BaseEstimator):
    """Base class: rounds of fit, gradients and metric, and their selection by cross-validation."""

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "metric": [StrOptions({*METRICS, "auto"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator=None, *, n_rounds=3, metric="diagonal", cv=3, random_state=None):
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.metric = metric
        self.cv = cv
        self.random_state = random_state

    def _fit(self, X, y) -> Self:
        estimator = self._base()
        if not hasattr(estimator, "input_gradient"):
            raise TypeError(
                f"{type(self).__name__} needs the gradients of its estimator, and {estimator!r} has no "
                "input_gradient; accepted: machines of this package with units, or a kernel, that have one."
            )
        if is_classifier(estimator) != is_classifier(self):
            wanted = "a classifier" if is_classifier(self) else "a regressor"
            raise TypeError(f"{type(self).__name__} has the estimator {estimator!r}; accepted: {wanted}.")
        if issparse(X) and self.metric == "full":
            raise ValueError(
                "metric='full' makes sparse rows dense; accepted of them: 'diagonal' and 'auto'."
            )
        kinds = (self.metric,) if self.metric != "auto" else METRICS[:1] if issparse(X) else METRICS
        with warnings.catch_warnings():  # of fits to parts of the rows
            warnings.simplefilter("ignore", UserWarning)
            scores, outers = self._cross_validate(estimator, X, y, kinds)
        self.scores_ = {kind: found.mean(axis=0) for kind, found in scores.items() if found.size}
        kind, self.n_rounds_ = _best_round(scores)
        chosen = None if not self.n_rounds_ else _Metric.of(outers[kind][self.n_rounds_ - 1], X)
        self.estimator_ = _fitted(estimator, X, y, chosen)
        self._root = None if chosen is None else chosen.root
        root = np.ones(X.shape[1]) if chosen is None else chosen.root
        self.metric_ = root @ root if root.ndim == 2 else root**2
        last = _outer_product(self.estimator_, X, chosen, "diagonal")
        found = [outer if outer.ndim == 1 else np.diag(outer) for outer in outers[kind][: self.n_rounds_]]
        variances = mean_variance_axis(X, axis=0)[1] if issparse(X) else X.var(axis=0)
        shares = np.array([*found, last]) * variances
        totals = shares.sum(axis=1, keepdims=True)
        self.importances_ = shares / np.where(totals > 0, totals, 1.0)
        self.feature_importances_ = self.importances_[-1]
        return self

    def _cross_validate(self, estimator, X, y, kinds):
        """Scores, shape (n_folds, n_rounds + 1), and mean outer products of each round, by metric.

        Rounds end early where the mean score falls.
        """
        splitter = StratifiedKFold if is_classifier(self) else KFold
        fewest = np.unique(y, return_counts=True)[1].min() if is_classifier(self) else len(y) // 2
        n_folds = min(self.cv, fewest) if self.n_rounds else 0
        folds = []
        if n_folds > 1:
            folds = list(splitter(n_folds, shuffle=True, random_state=self.random_state).split(X, y))
        plain = [_fitted(estimator, X[train], y[train], None) for train, _ in folds]
        first = [_score(machine, X[held], y[held]) for machine, (_, held) in zip(plain, folds, strict=True)]
        scores, outers = {}, {}
        for kind in kinds:
            machines, metrics, rounds, means = list(plain), [None] * len(folds), [first], []
            while folds and len(means) < self.n_rounds:
                if means and np.mean(rounds[-1]) < np.mean(rounds[-2]):
                    break
                total, found = 0.0, []
                for k, (train, held) in enumerate(folds):
                    outer = _outer_product(machines[k], X[train], metrics[k], kind)
                    metrics[k] = _Metric.of(outer, X[train])
                    machines[k] = _fitted(estimator, X[train], y[train], metrics[k])
                    found.append(_score(machines[k], metrics[k](X[held]), y[held]))
                    total = total + outer
                rounds.append(found)
                means.append(total / len(folds))
            scores[kind], outers[kind] = np.array(rounds).T, means
        return scores, outers

    @property
    def _metric(self) -> _Metric | None:
        return None if self._root is None else _Metric(self._root)

    def _ask(self, method: str, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return getattr(self.estimator_, method)(X if self._metric is None else self._metric(X))

    def predict(self, X) -> np.ndarray:
        """The class, or the value, of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._ask("predict", X)

    def input_gradient(self, X) -> np.ndarray:
        """Gradient of the decision values, or the values, with respect to the features.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        gradient : ndarray of shape (n_samples, n_features), or (n_samples, n_outputs, n_features)
            As that of the estimator, in units of the features as they come.
        """
        gradient = self._ask("input_gradient", X)
        return gradient if self._metric is None else self._metric.pull_back(gradient)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base()).input_tags.sparse
        return tags


def _best_round(scores: dict[str, np.ndarray]) -> tuple[str, int]:
    """The metric and round of the largest mean gain, if it is more than its errors; else round 0."""
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


class RecursiveFeatureClassifier(ClassifierMixin, _RecursiveFeatures):
    """Recursive feature machine for classification: a learner in a metric that its own gradients teach it.

    In each round the estimator is fitted, its average gradient outer product over the training rows becomes
    the metric of the features, and the next round measures distances in it. Features along which the decision
    values do not change lose their weight. Whether that helps, and after how many rounds, is chosen by
    cross-validation on the training rows; the metrics of the folds are averaged, and the estimator is fitted
    to all rows in the mean metric.

    Parameters
    ----------
    estimator : classifier, default=None
        With a method ``input_gradient``: a machine of random units, of landmarks or of a kernel. None:
        :class:`EEKMClassifier` with 300 landmarks and the kernel ``exponential_power`` (Laplace's of the
        Euclidean distance). Random units take the metric into the box in which they are drawn.
    n_rounds : int, default=3
        The most rounds; 0 is the estimator itself.
    metric : {"diagonal", "full", "auto"}, default="diagonal"
        ``"diagonal"`` weighs features; ``"full"`` finds directions too, for dense rows; ``"auto"`` tries
        both.
    cv : int, default=3
        Number of folds by which the round is chosen, by the mean area under the ROC curves of each class
        against the rest; as many as there are rows of the smallest class, if that is less, and no rounds if
        it is one. A gain over the estimator itself must exceed twice its standard error over
        the folds.
    random_state : int, RandomState instance or None, default=None
        Draws the folds, and the landmarks of the default estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimator_ : classifier
        Fitted to the rows in the coordinates of the metric.
    n_rounds_ : int
        The round that was chosen; 0 for the estimator itself.
    metric_ : ndarray of shape (n_features,) or (n_features, n_features)
        M of the squared distance (x - z)' M (x - z); its diagonal where that is all.
    feature_importances_ : ndarray of shape (n_features,)
        Mean squared derivatives of the fitted machine times the variances of the features, as shares of
        their sum.
    importances_ : ndarray of shape (`n_rounds_` + 1, n_features)
        The same of the machine of each round; the last is that of ``feature_importances_``.
    scores_ : dict of str to ndarray of shape (n_tried + 1,)
        For each metric, the mean score over the folds after each round; those after a fall are not tried.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    entrolearn.measures.average_gradient_outer_product : What is computed in each round.
    entrolearn.plotting.FeatureImportancesDisplay : Its picture.

    Notes
    -----
    A fit costs up to ``cv * (n_rounds + 1)`` fits of the estimator to a part of the rows, as many passes of
    gradients, and one fit to all rows. Rows cannot be weighted. A prediction multiplies the rows by the root
    of the metric before it does what the estimator's does. Standardise features whose units say nothing: the
    first round takes distances as they come.

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

    def _base(self):
        default = EEKMClassifier(N_LANDMARKS, kernel="exponential_power", random_state=self.random_state)
        return default if self.estimator is None else self.estimator

    @validated(prefer_skip_nested_validation=False)
    def fit(self, X, y) -> Self:
        """Choose the round and fit the estimator in its metric.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If the estimator has no gradients in closed form.
        ValueError
            If y holds one class only, or the rows are sparse and the metric is full.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self._fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

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
        return self._ask("decision_function", X)

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
        return self._ask("predict_proba", X)

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
        return self._ask("predict_log_proba", X)


class RecursiveFeatureRegressor(RegressorMixin, _RecursiveFeatures):
    """Recursive feature machine for regression.

    As :class:`RecursiveFeatureClassifier`; the round is chosen by R².

    Parameters
    ----------
    estimator : regressor, default=None
        With a method ``input_gradient``. None: :class:`RKELMRegressor` with 300 landmarks, the kernel
        ``exponential_power`` and its intercept.
    n_rounds : int, default=3
        The most rounds; 0 is the estimator itself.
    metric : {"diagonal", "full", "auto"}, default="diagonal"
        As in :class:`RecursiveFeatureClassifier`.
    cv : int, default=3
        Number of folds by which the round is chosen.
    random_state : int, RandomState instance or None, default=None
        Draws the folds, and the landmarks of the default estimator.

    Attributes
    ----------
    estimator_ : regressor
        Fitted to the rows in the coordinates of the metric.
    n_rounds_ : int
        The round that was chosen; 0 for the estimator itself.
    metric_ : ndarray of shape (n_features,) or (n_features, n_features)
    feature_importances_ : ndarray of shape (n_features,)
    importances_ : ndarray of shape (`n_rounds_` + 1, n_features)
    scores_ : dict of str to ndarray of shape (n_tried + 1,)
        These as in :class:`RecursiveFeatureClassifier`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

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

    def _base(self):
        default = RKELMRegressor(N_LANDMARKS, kernel="exponential_power", random_state=self.random_state)
        return default if self.estimator is None else self.estimator

    @validated(prefer_skip_nested_validation=False)
    def fit(self, X, y) -> Self:
        """Choose the round and fit the estimator in its metric.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If the estimator has no gradients in closed form.
        ValueError
            If the rows are sparse and the metric is full.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        return self._fit(X, y)
