"""Base classes: conversion of labels to targets, and of real outputs to labels or values."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from entrolearn.machines.devices import as_columns, like, namespace, take_rows
from entrolearn.machines.gradients import DIFFERENTIABLE, units_gradient
from entrolearn.path import Partition
from entrolearn.validation import (
    array_namespace,
    check_same_namespace,
    check_X_y,
    encode,
    is_numpy,
    learn_classes,
    to_numpy,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = [
    "OutputClassifier",
    "OutputRegressor",
    "answer",
    "check_place",
    "class_targets",
    "codes_among",
    "codes_of",
    "decide",
    "gradient_at",
    "labels_of",
    "learn_stream_classes",
    "path_targets",
    "targets_of",
    "to_original_coordinates",
]


def has_gradient(machine: BaseEstimator) -> bool:
    """True if the estimator's hidden units have a gradient in closed form.

    Raises
    ------
    AttributeError
        If they have none; the message names those that do.
    """
    params = machine.get_params(deep=False)
    for name, accepted in DIFFERENTIABLE.items():
        found = params.get(name)
        if found is not None and (callable(found) or found not in accepted):
            raise AttributeError(
                f"{type(machine).__name__} has no gradient in closed form with {name}={found!r}; accepted: "
                f"{', '.join(sorted(accepted))}."
            )
    return True


@available_if(has_gradient)
def input_gradient(self, X) -> np.ndarray:
    """Gradient of the decision values, or the predicted values, with respect to the features.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)

    Returns
    -------
    gradient : ndarray of shape (n_samples, n_features), or (n_samples, n_outputs, n_features)
        Gradient of ``decision_function``, or of ``predict`` for a regressor. The second shape is for more
        than two classes, with one output each, and for a two-dimensional y. In units of the output per
        unit of the feature; zero for features that the hidden layer ignores.

    Raises
    ------
    AttributeError
        If an activation or a kernel is not differentiable, or is a callable.
    """
    check_is_fitted(self)
    check_place(self, X, "input_gradient")
    X = validate_data(self, X, accept_sparse="csr", dtype=list(self._dtypes), reset=False)
    gradient = gradient_at(self, X)
    one = len(self.classes_) == 2 if hasattr(self, "classes_") else self._one_value
    return gradient[:, 0, :] if one else gradient


def gradient_at(machine: BaseEstimator, X, layer=None):
    """The gradient at validated rows, shape (n_samples, n_outputs, n_features); of another layer if given."""
    own, coef = machine._linear_part()
    return units_gradient(own if layer is None else layer, X, coef, machine._output_slopes)


def to_original_coordinates(machine: BaseEstimator, root) -> None:
    """Convert an estimator of rows in a metric, given its root, to one for the original coordinates."""
    machine._layer = machine._layer.in_metric(like(root, machine._layer.where))


class _Output(BaseEstimator):
    """Base class of classifiers and regressors with real outputs that are fitted to targets.

    Subclasses implement ``_fit_outputs(X, T, weights)``, with targets of shape (n_samples, n_outputs) and
    sample weights or None, and ``_outputs(X)``, which returns an array of the shape of T. They accept dense
    and CSR rows.
    """

    # Accepted types of X; others are converted to the first.
    _dtypes: tuple = (np.float64,)
    # For outputs that are functions of the sums of units, see units_gradient.
    _output_slopes: Callable | None = None
    _weighted_rows = staticmethod(weighted_rows)
    input_gradient = input_gradient

    def _linear_part(self):
        """The hidden layer, and the coefficients of its units, shape (n_hidden, n_outputs)."""
        return self._layer, as_columns(self.hidden_coef_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OutputClassifier(ClassifierMixin, _Output):
    """Base class of classifiers with targets ±1, in one column for two classes."""

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If y has only one class, or `sample_weight` has negative values.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight) -> Self:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._fit_dtypes())
        X, y, weights = self._weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, type(self).__name__)
        self._fit_outputs(X, self._targets(codes, X), weights)
        return self

    def _fit_dtypes(self) -> list:
        """Types in which a fit computes."""
        return list(self._dtypes)

    def _targets(self, codes, X):
        """Targets of rows, given the indices of their classes."""
        return targets_of(codes, len(self.classes_), X)

    def _check_is_fitted(self) -> None:
        check_is_fitted(self)

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_place(self, X, "predict")
        return decide(self.decision_function(X), self.classes_)

    def decision_function(self, X) -> np.ndarray:
        """Real outputs of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        output : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Positive for ``classes_[1]``; for more than two classes the largest output is predicted.
        """
        self._check_is_fitted()
        check_place(self, X, "decision_function")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        output = self._outputs(X)
        return output[:, 0] if len(self.classes_) == 2 else output


class OutputRegressor(MultiOutputMixin, RegressorMixin, _Output):
    """Base class of regressors, whose targets are the values of y."""

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `sample_weight` has negative values.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True
        )
        X, y, weights = self._weighted_rows(X, y, sample_weight)
        T = as_columns(y)
        self._one_value, self._n_outputs = y.ndim == 1, T.shape[1]
        self._fit_outputs(X, T, weights)
        return self

    def predict(self, X) -> np.ndarray:
        """Predicted values of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs), as in ``fit``
        """
        check_is_fitted(self)
        check_place(self, X, "predict")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        output = self._outputs(X)
        return output[:, 0] if self._one_value else output


def check_place(machine: BaseEstimator, X, method: str) -> None:
    """Raise ValueError unless X is on the device of the model; models in NumPy check this on their own.

    Raises
    ------
    ValueError
        The message names both places.
    """
    if is_numpy(X) and is_numpy(getattr(machine, "hidden_coef_", X)):
        return
    check_is_fitted(machine)
    if get_tags(machine).array_api_support:
        check_same_namespace(machine, X, machine.hidden_coef_, method)


def codes_among(classes: np.ndarray, y) -> np.ndarray:
    """Index of each label among the sorted `classes` of a stream, on the device of y.

    Raises
    ------
    ValueError
        If y has another label.
    """
    if not is_numpy(y):
        found, codes = namespace(y).unique_inverse(y)
        return namespace(y).take(like(codes_among(classes, to_numpy(found)), y), codes)
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y holds the label {unknown.tolist()[0]!r}, which is not among the classes of the first "
            f"call: {classes.tolist()}."
        )
    return np.searchsorted(classes, y)


def learn_stream_classes(machine: BaseEstimator, classes) -> None:
    """Store the classes of a stream, which the first call of ``partial_fit`` gives.

    Raises
    ------
    ValueError
        If they are missing in the first call, are fewer than two, or change later.
    """
    learn_classes(machine, classes)
    if len(machine.classes_) < 2:
        raise ValueError(f"a stream needs at least two classes, got {machine.classes_.tolist()}.")


def class_targets(n_classes: int) -> np.ndarray:
    """The target of each class: ±1, in one column for two classes, in one column per class for more."""
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    return 2 * np.eye(n_classes) - 1


def targets_of(codes, n_classes: int, X):
    """Targets, shape (n_samples, n_outputs), for indices of classes; on the device of X."""
    return like(take_rows(like(class_targets(n_classes), codes), codes), X)


def codes_of(targets: np.ndarray) -> np.ndarray:
    """Indices of classes, given targets of shape (n_samples, n_outputs); the inverse of `targets_of`."""
    return (targets[:, 0] > 0).astype(int) if targets.shape[1] == 1 else targets.argmax(axis=1)


def decide(output, classes: np.ndarray):
    """Label by the sign of a single output, or by the largest of several outputs; see :func:`labels_of`."""
    xp = array_namespace(output)  # NumPy 2.0 has no astype
    codes = xp.astype(output > 0, xp.int64) if output.ndim == 1 else xp.argmax(output, axis=1)
    return labels_of(codes, classes)


def labels_of(codes, classes: np.ndarray):
    """Labels for indices of classes: numbers on the device of the indices, strings in a NumPy array."""
    if classes.dtype.kind not in "biuf":
        return classes[to_numpy(codes)]
    return take_rows(like(classes, codes), codes)


def answer(output: np.ndarray, classes: np.ndarray | None) -> dict[str, Any]:
    """Fields of a :class:`PathPoint` from outputs of shape (n_samples, n_outputs).

    They are the labels and, for two classes, the output as the projection; the values if `classes` is None.
    """
    if classes is None:
        return {"prediction": output[:, 0] if output.shape[1] == 1 else output}
    one = output[:, 0] if len(classes) == 2 else None
    return {"prediction": decide(output if one is None else one, classes), "projection": one}


def path_targets(
    estimator: BaseEstimator, X, y, partition: Partition
) -> tuple[object, np.ndarray, np.ndarray | None] | None:
    """Validated rows, the targets of all rows, and the classes, which the fits of a path share.

    Returns
    -------
    X : {ndarray, CSR}, shape (n_samples, n_features)
    T : ndarray, shape (n_samples, n_outputs)
    classes : ndarray, shape (n_classes,), or None for a regressor

    The result is None if a training set lacks a class, because its targets would differ.
    """
    if isinstance(estimator, OutputRegressor):
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True)
        return X, y.reshape(len(y), -1), None
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2 or partition.by_classes(codes)[1].left_out:
        return None
    return X, class_targets(len(classes))[codes], classes
