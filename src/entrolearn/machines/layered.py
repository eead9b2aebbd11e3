"""Ridge regression on a hidden layer: base classes of ELM and RKELM."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Integral
from typing import Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.metaestimators import available_if

from entrolearn.machines.additive import Additive, takes_chunks
from entrolearn.machines.base import (
    OutputClassifier,
    OutputRegressor,
    answer,
    class_targets,
    codes_among,
    learn_stream_classes,
    path_targets,
    targets_of,
)
from entrolearn.machines.devices import as_columns, cast, like
from entrolearn.machines.layers import project_rows
from entrolearn.machines.ridge import (
    NormalEquations,
    PartEquations,
    add_rows,
    leave_one_out_errors,
    no_equations,
    normal_equations,
    ridge_candidates,
)
from entrolearn.machines.sums import GroupSums
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, path, same_settings
from entrolearn.validation import ARRAY_API, numpy_dtype, validate_data, validated, weighted_rows

__all__ = ["LayeredClassifier", "LayeredRegressor"]


class _LayeredRidge(Additive):
    """A hidden layer, then ridge regression of the targets on its units.

    A subclass has the parameters ``C`` and ``fit_intercept``. ``_size`` names its parameter for the number of
    units, ``_layer_settings`` the other parameters that its hidden layer depends on.
    """

    _size: str
    _layer_settings: tuple[str, ...]

    @property
    def _n_units(self) -> int:
        """Maximum number of units."""
        return getattr(self, self._size)

    @abstractmethod
    def _layer_sources(self, partition: Partition) -> list:
        """The rows to draw each layer from, and the training sets (``left_out``) that use this layer."""

    def _fit_outputs(self, X, T: np.ndarray, weights: np.ndarray | None) -> None:
        self._forget()
        if self.keep_sums:
            self._refuse_sums()
        candidates = ridge_candidates(self.C)
        if candidates is None:
            self._fit_rows(X, T, weights)
            return
        self._layer = self._draw_layer(X, weights)
        equations = normal_equations(self._layer, X, T, weights=weights, intercept=self.fit_intercept)
        errors, spectrum = leave_one_out_errors(self._layer, X, T, equations, candidates, weights)
        self.loo_errors_ = like(errors, self._layer.where)
        best = candidates[errors.argmin()]
        self._keep(float(best), equations, spectrum.solve(equations.right, best), "eigh")

    def _keep(self, ridge: float, equations: NormalEquations, coef: np.ndarray, method: str) -> None:
        self.C_ = ridge
        intercept = equations.intercept(coef)
        one = coef.shape[1] == 1
        self.hidden_coef_ = coef[:, 0] if one else coef
        self.intercept_ = float(intercept[0]) if one else intercept
        self.solver_info_ = {"method": method}

    def _outputs(self, X) -> np.ndarray:
        (outputs,) = project_rows(self._layer, X, [as_columns(self.hidden_coef_)])
        intercept = self.intercept_
        return outputs + (intercept if isinstance(intercept, float) else cast(intercept, outputs))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = ARRAY_API
        return tags

    def _refuse_sums(self):
        if ridge_candidates(self.C) is not None:
            raise ValueError(
                f"C={self.C!r}: a selection among several ridges needs all rows at once; accepted for rows "
                "that come in chunks, and with keep_sums: one number."
            )

    def _no_sums(self, X, T):
        return GroupSums([no_equations(self._layer, X, T, intercept=self.fit_intercept)])

    def _add_rows(self, sums, X, T, weights):
        add_rows(sums[0], self._layer, X, T, weights=weights)
        return sums

    def _zero_sums(self):
        n_units = self._layer.where.shape[0]
        n_outputs = class_targets(len(self.classes_)).shape[1] if is_classifier(self) else self._n_outputs
        shifts = (np.zeros(n_units), np.zeros(n_outputs)) if self.fit_intercept else None
        return NormalEquations(n_units, n_outputs, shifts=shifts)

    def _solve_sums(self, sums, dtype):
        (equations,) = sums
        self._keep(float(self.C), equations, *equations.solve(self.C))

    def _extend_stream(self, X, T: np.ndarray, sample_weight, decay: float) -> None:
        """Add rows to the equations and solve them again; draw the layer from the first rows."""
        X, T, weights = weighted_rows(X, T, sample_weight)
        self._fade(decay)
        if not hasattr(self, "_stream"):
            self._layer = self._draw_layer(X, weights, first_chunk=True)
            self._stream = self._no_sums(X, T)
        self._add_rows(self._stream, X, T, weights)
        self._solve_sums(self._stream, numpy_dtype(X))

    def _takes_chunks(self):
        return np.isscalar(self.C)  # selection among several needs all rows at once

    def __sklearn_is_fitted__(self):
        return hasattr(self, "hidden_coef_")


class LayeredClassifier(_LayeredRidge, OutputClassifier):
    """A hidden layer, then ridge regression on targets ±1."""

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None, decay=1.0) -> Self:
        """Update the model with more rows of a stream; available if C is a single number.

        The model then equals that of :meth:`fit` on all rows so far with the hidden units of the first call.
        Random units are drawn in the box of the first call's rows (at least five; with fewer rows the
        features are not scaled, with a warning). After :meth:`fit`, the call updates the fitted model if
        ``keep_sums`` is true, and raises a ValueError otherwise.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur in the stream, at least two; required in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.
        decay : float in (0, 1], default=1.0
            Factor by which the weights of all earlier rows are multiplied. The model equals that of
            :meth:`fit` with weights ``decay**k`` for the rows of k calls ago.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, has only one class or changes later, y has a label that
            is not in `classes`, `decay` is out of range, or the model was fitted without ``keep_sums``.
        """
        first = self._begins()
        learn_stream_classes(self, classes)
        self._extend_stream(*self._checked(X, y, first=first, dtypes=[np.float64]), sample_weight, decay)
        return self

    def _checked(self, X, y, *, first, dtypes):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        return X, targets_of(codes_among(self.classes_, y), len(self.classes_), X)

    def _sums_over(self, classes):
        mine = self.classes_.tolist()
        if classes.tolist() == mine:
            return self._stream
        (equations,) = self._stream
        n_outputs = class_targets(len(mine)).shape[1]
        # The new targets are offset + targets @ matrix; those of a class without rows are -1.
        offset, matrix = np.full(len(classes), -1.0), np.zeros((n_outputs, len(classes)))
        places = [(c, mine.index(label)) for c, label in enumerate(classes.tolist()) if label in mine]
        for c, place in places:
            offset[c], matrix[:, c] = 0.0, [-1.0, 1.0][place] if n_outputs == 1 else np.eye(len(mine))[place]
        used = slice(1, None) if len(classes) == 2 else slice(None)  # two classes have one column
        return GroupSums([equations.of_targets(matrix[:, used], offset[used])])


class LayeredRegressor(_LayeredRidge, OutputRegressor):
    """A hidden layer, then ridge regression on the values of y."""

    @available_if(takes_chunks)
    @validated(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, sample_weight=None, decay=1.0) -> Self:
        """Update the model with more rows of a stream; available if C is a single number.

        The model then equals that of :meth:`fit` on all rows so far with the hidden units of the first call.
        Random units are drawn in the box of the first call's rows (at least five; with fewer rows the
        features are not scaled, with a warning). After :meth:`fit`, the call updates the fitted model if
        ``keep_sums`` is true, and raises a ValueError otherwise.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.
        decay : float in (0, 1], default=1.0
            Factor by which the weights of all earlier rows are multiplied. The model equals that of
            :meth:`fit` with weights ``decay**k`` for the rows of k calls ago.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the number of outputs in y differs from the first call, `decay` is out of range, or the model
            was fitted without ``keep_sums``.
        """
        rows = self._checked(X, y, first=self._begins(), dtypes=[np.float64])
        self._extend_stream(*rows, sample_weight, decay)
        return self

    def _checked(self, X, y, *, first, dtypes):
        checks = {"accept_sparse": "csr", "dtype": np.float64, "multi_output": True, "y_numeric": True}
        X, y = validate_data(self, X, y, reset=first, **checks)
        T = as_columns(y)
        if first:
            self._one_value, self._n_outputs = y.ndim == 1, T.shape[1]
        elif T.shape[1] != self._n_outputs:
            raise ValueError(
                f"y has {T.shape[1]} outputs for each row; the first rows had {self._n_outputs}."
            )
        return X, T


# --- path: one pass of normal equations for all training sets, sizes and C ------------------------------


@path.register
def _layered_path(
    estimator: _LayeredRidge, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Normal equations of each fold, once per layer; those of a training set are sums over folds.

    Candidates whose hidden layer or equations cannot be computed are fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    data = path_targets(estimator, X, y, partition)
    if data is None or not all(map(_shares_equations, machines)):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    one_by_one = partial(path.dispatch(object), estimator, X, y)
    X, T, classes = data
    for members in same_settings(machines, "fit_intercept", *estimator._layer_settings):
        largest = max((machines[i] for i in members), key=lambda machine: machine._n_units)
        for rows, left_outs in largest._layer_sources(partition):
            wanted = [(left_out, machines[i], grid[i]) for left_out in left_outs for i in members]
            try:
                layer = largest._draw_layer(X[rows])
                solutions = _solutions(layer, X, T, partition, left_outs, wanted)
            except FAILURES:
                yield from one_by_one(partition.only(left_outs), [grid[i] for i in members])
                continue
            yield from _answers(layer, X, classes, wanted, solutions)


def _shares_equations(machine: _LayeredRidge) -> bool:
    """Whether candidates can share normal equations: valid parameters, an integer seed and a single C."""
    return acceptable(machine) and isinstance(machine.random_state, Integral) and takes_chunks(machine)


def _solutions(layer, X, T, partition: Partition, left_outs, wanted) -> list[tuple[np.ndarray, np.ndarray]]:
    """Coefficients and intercept of each (left_out, machine, params) in `wanted`, which share a layer."""
    intercept = wanted[0][1].fit_intercept
    if len(left_outs) > 1:
        without = PartEquations(layer, X, T, partition, left_outs, intercept=intercept).without
    else:

        def without(left_out):
            return normal_equations(layer, X, T, partition.training(left_out), intercept=intercept)

    found: list = [None] * len(wanted)
    for left_out in left_outs:
        training = without(left_out)
        for size, places in _places_by_size(wanted, left_out).items():
            leading = training.restrict(size)
            coefs = leading.solve_each([wanted[i][1].C for i in places])
            for i, coef in zip(places, coefs, strict=True):
                found[i] = coef, leading.intercept(coef)
    return found


def _places_by_size(wanted, left_out) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for i, (out, machine, _) in enumerate(wanted):
        if out == left_out:
            places.setdefault(machine._n_units, []).append(i)
    return places


def _answers(layer, X, classes, wanted, solutions: Sequence[tuple]) -> Iterator[PathPoint]:
    """Yield the predictions of each model for all rows."""
    outputs = project_rows(layer, X, [coef for coef, _ in solutions])
    for (left_out, _, params), output, (_, intercept) in zip(wanted, outputs, solutions, strict=True):
        yield PathPoint(left_out, params, **answer(output + intercept, classes))
