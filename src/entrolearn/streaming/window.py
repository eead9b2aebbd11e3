"""Sliding-window learning on streams."""

import copy
from collections import deque
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from entrolearn.machines.additive import (
    check_additive,
    solve,
    stored_sums,
    with_sums,
)
from entrolearn.machines.base import codes_among
from entrolearn.streaming.sampling import stacked
from entrolearn.validation import (
    HasMethods,
    Interval,
    encode,
    validated,
)

__all__ = ["SlidingWindow"]


def _has(method: str):
    return available_if(lambda window: hasattr(window.estimator, method))


class SlidingWindow(MetaEstimatorMixin, BaseEstimator):
    """Meta-estimator that fits an estimator to the last rows of a stream, up to rounding.

    Each call of :meth:`partial_fit` subtracts the rows that leave the window from the sums over rows, adds
    the new rows and solves once. When `n_rows` rows have left the window, the sums are recomputed from its
    rows, so that rounding errors do not accumulate.

    Parameters
    ----------
    estimator : estimator
        An estimator whose fit is a sum over rows, as in :func:`merge`. Its hidden units are drawn in the
        first call and do not change; with ``bounds="data"`` they depend on the rows of the first call.
    n_rows : int, default=1000
        Number of rows in the window; they are kept in memory.

    Attributes
    ----------
    estimator_ : estimator
        The estimator fitted to the rows of the window. Its classes, and those of its `priors` and
        `class_weight`, are those in the window; if there is only one class, it is the estimator of the last
        window with two.
    classes_ : ndarray of shape (n_classes,)
        Classes of ``estimator_``, for a classifier.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import ELMClassifier, streaming
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    >>> y = np.where(np.arange(1000) < 600, X[:, 0] > 0, X[:, 1] > 0)  # from row 600 on another feature
    >>> window = streaming.SlidingWindow(ELMClassifier(20, alpha=0.1, random_state=0), n_rows=200)
    >>> for chunk, labels in streaming.rows(X, y, chunk_rows=50):
    ...     window = window.partial_fit(chunk, labels, classes=[False, True])
    >>> window.score(X[-200:], y[-200:]) > 0.9
    True
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "partial_fit"])],
        "n_rows": [Interval(Integral, 1, None, closed="left")],
    }

    _learner: Any
    _held: deque

    def __init__(self, estimator, n_rows=1000):
        self.estimator = estimator
        self.n_rows = n_rows

    def fit(self, X, y) -> Self:
        """Start a new stream with these rows; the last `n_rows` of them are in the window.

        All rows are validated.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or, of a regressor, (n_samples, n_outputs)

        Returns
        -------
        self : object
        """
        for name in ("estimator_", "_learner"):
            self.__dict__.pop(name, None)
        targets, classes = self._targets(y), None
        if is_classifier(self.estimator) and len(targets):
            classes, _ = encode(targets, type(self).__name__)
        return self.partial_fit(X, y, classes)

    @validated(prefer_skip_nested_validation=False)
    def partial_fit(self, X, y, classes=None) -> Self:
        """Add rows to the window, and remove the oldest ones.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or, of a regressor, (n_samples, n_outputs)
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur in the stream; required in the first call of a classifier only.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If the estimator's fit is not a sum over rows.
        ValueError
            For the same reasons as in the estimator's ``partial_fit``.
        """
        check_additive(self.estimator)
        first = not hasattr(self, "_learner")
        learner = clone(self.estimator) if first else self._learner
        announced = {"classes": classes} if is_classifier(learner) else {}
        X, y = indexable(X, self._targets(y))
        n_new = min(len(y), self.n_rows)
        new, labels = X[-n_new:], y[-n_new:].copy()
        if first:
            learner.partial_fit(new, labels, **announced)
        checked = learner._checked(X, y)  # also rows that the window skips
        rows, targets = (each[-n_new:].copy() for each in checked)
        if first:
            self._learner, self._held, self._n_left = learner, deque(), 0
            self._counts = np.zeros(len(learner.classes_) if is_classifier(learner) else 1, dtype=int)
        else:
            self._leave(sum(len(labels) for _, _, labels in self._held) + n_new - self.n_rows)
            learner = self._learner
            learner.partial_fit(new, labels, **announced)
        self._held.append((rows, targets, labels))
        self._count(labels, 1)
        self.estimator_ = self._answering()
        return self

    def _targets(self, y) -> np.ndarray:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        return column_or_1d(y, warn=True) if is_classifier(self.estimator) else np.asarray(y)

    def _leave(self, n_rows: int) -> None:
        """Subtract the oldest rows from the sums."""
        left, held, n_left = [], self._held.copy(), self._n_left
        while n_rows > 0:
            oldest = held.popleft()
            if len(oldest[-1]) > n_rows:
                held.appendleft(tuple(each[n_rows:] for each in oldest))
                oldest = tuple(each[:n_rows] for each in oldest)
            left.append(oldest)
            n_rows -= len(oldest[-1])
            n_left += len(oldest[-1])
        if not left:
            return
        learner, layer = self._learner, self._learner._layer
        sums = stored_sums(learner, "partial_fit")
        if n_left >= self.n_rows and held:
            n_left = 0
            X, targets, _ = stacked(held)
            sums = learner._no_sums(X, targets).add_rows(layer, X, targets)
        elif held:
            sums -= sums.empty().add_rows(layer, *stacked(left)[:2])
        else:
            sums = sums.empty()
        self._learner = with_sums(learner, sums)
        self._held, self._n_left = held, n_left
        for _, _, labels in left:
            self._count(labels, -1)

    def _count(self, y: np.ndarray, sign: int) -> None:
        if is_classifier(self._learner):
            codes = codes_among(self._learner.classes_, y)
            self._counts += sign * np.bincount(codes, minlength=len(self._counts))

    def _answering(self):
        """The solved estimator for the classes in the window."""
        learner, present = self._learner, self._counts > 0
        if not is_classifier(learner) or present.all():
            return copy.copy(learner)
        if present.sum() < 2:
            return getattr(self, "estimator_", learner)
        classes = learner.classes_[present]
        found = with_sums(learner, learner._sums_over(learner._stream, classes), classes)
        priors = getattr(learner, "priors", "uniform")
        if isinstance(priors, Mapping):
            found.priors = {label: priors[label] for label in found.classes_.tolist()}
        elif not isinstance(priors, str):
            found.priors = np.asarray(priors)[present]
        class_weight = getattr(learner, "class_weight", None)
        if isinstance(class_weight, Mapping):
            found.class_weight = {label: class_weight.get(label, 1.0) for label in found.classes_.tolist()}
        return solve(found)

    @_has("predict")
    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the window's estimator for rows X, shape (n_samples, n_features)."""
        return self._fitted().predict(X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the window's estimator for rows X, shape (n_samples, n_features)."""
        return self._fitted().decision_function(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the window's classes for rows X, shape (n_samples, n_features)."""
        return self._fitted().predict_proba(X)

    @_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of these probabilities for rows X, shape (n_samples, n_features)."""
        return self._fitted().predict_log_proba(X)

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of a classifier or R² of a regressor on rows X with targets y."""
        return self._fitted().score(X, y)

    def _fitted(self):
        check_is_fitted(self, "estimator_")
        return self.estimator_

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the window's rows."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return self._learner.n_features_in_

    def __sklearn_tags__(self):
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(own, name))
        return tags
