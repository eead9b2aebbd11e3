"""Ridge regression on a hidden layer: base class of ELM and RKELM."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from entrolearn.machines.additive import (
    Additive,
    delete_sums,
    fits_one_by_one,
    path_on_layers,
    takes_chunks,
)
from entrolearn.machines.base import answer, class_targets, path_targets, targets_of
from entrolearn.machines.devices import as_columns, cast, like
from entrolearn.machines.layers import project_rows
from entrolearn.machines.ridge import (
    NormalEquations,
    equations_of_parts,
    leave_one_out_errors,
    no_equations,
    normal_equations,
    ridge_candidates,
)
from entrolearn.machines.sums import GroupSums
from entrolearn.path import Partition, PathPoint, acceptable, path
from entrolearn.validation import ARRAY_API

__all__ = ["LayeredRidge"]


class LayeredRidge(Additive):
    """A hidden layer, then ridge regression of the targets on its units.

    A subclass has the parameters ``alpha`` and ``fit_intercept``.
    """

    alpha: Any
    fit_intercept: bool
    hidden_coef_: np.ndarray
    intercept_: np.ndarray

    def _fit_outputs(self, X, T: np.ndarray, weights: np.ndarray | None) -> None:
        candidates = ridge_candidates(self.alpha)
        if candidates is None or self.store_sums is True:
            super()._fit_outputs(X, T, weights)
            return
        delete_sums(self)
        self._layer = self._draw_layer(X, weights)
        equations = normal_equations(self._layer, X, T, weights, intercept=self.fit_intercept)
        errors, spectrum = leave_one_out_errors(self._layer, X, T, equations, candidates, weights)
        self.loo_errors_ = like(errors, self._layer.where)
        best = candidates[errors.argmin()]
        coef = spectrum.solve(equations.right, best)
        vars(self).update(_attributes(float(best), equations, coef, "eigh"))

    def _outputs(self, X) -> np.ndarray:
        (outputs,) = project_rows(self._layer, X, [as_columns(self.hidden_coef_)])
        return outputs + cast(self.intercept_, outputs)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = ARRAY_API
        return tags

    def _takes_chunks(self):
        return np.isscalar(self.alpha)  # selection among several needs all rows at once

    def _check_settings(self, in_chunks, weights=None):
        if in_chunks and ridge_candidates(self.alpha) is not None:
            raise ValueError(
                f"alpha={self.alpha!r}: a selection among several ridges needs all rows at once; accepted "
                "for rows that come in chunks, and with store_sums=True: one number."
            )

    def _targets(self, codes, X):
        return targets_of(codes, len(self.classes_), X)

    def _names_of_sums(self):
        return ["rows"]

    def _no_sums(self, X, T):
        return no_equations(self._layer, X, T, intercept=self.fit_intercept)

    def _zero_sums(self):
        n_units = self._layer.n_units
        n_outputs = class_targets(len(self.classes_)).shape[1] if is_classifier(self) else self._n_outputs
        shifts = (np.zeros(n_units), np.zeros(n_outputs)) if self.fit_intercept else None
        return NormalEquations(n_units, n_outputs, shifts=shifts)

    def _sums_over(self, sums, classes):
        if classes is None or classes.tolist() == (mine := self.classes_.tolist()):
            return sums
        (equations,) = sums
        n_outputs = class_targets(len(mine)).shape[1]
        # The new targets are offset + targets @ matrix; those of a class without rows are -1.
        offset, matrix = np.full(len(classes), -1.0), np.zeros((n_outputs, len(classes)))
        places = [(c, mine.index(label)) for c, label in enumerate(classes.tolist()) if label in mine]
        for c, place in places:
            offset[c], matrix[:, c] = 0.0, [-1.0, 1.0][place] if n_outputs == 1 else np.eye(len(mine))[place]
        used = slice(1, None) if len(classes) == 2 else slice(None)  # two classes have one column
        return GroupSums([equations.of_targets(matrix[:, used], offset[used])])

    def _solve(self, sums, dtype=np.float64):
        (equations,) = sums
        return _attributes(float(self.alpha), equations, *equations.solve(self.alpha))


def _attributes(ridge: float, equations: NormalEquations, coef: np.ndarray, method: str) -> dict:
    """The fitted attributes of a solution."""
    return {
        "alpha_": ridge,
        "hidden_coef_": coef[:, 0] if coef.shape[1] == 1 else coef,
        "intercept_": equations.intercept(coef),
        "solver_info_": {"method": method},
    }


# --- path: one pass of normal equations for all training sets, sizes and alpha ------------------------------


@path.register
def _layered_path(
    estimator: LayeredRidge, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Normal equations of each fold, once per layer; those of a training set are sums over folds.

    Candidates whose hidden layer or equations cannot be computed are fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    data = path_targets(estimator, X, y, partition)
    one_by_one = fits_one_by_one(estimator, X, y, grid)
    if data is None or not all(map(_shares_equations, machines)):
        yield from one_by_one(partition)
        return
    X, T, classes = data

    def solve_on(largest, members, rows, left_outs):
        wanted = [(left_out, machines[i], grid[i]) for left_out in left_outs for i in members]
        layer = largest._draw_layer(X[rows])
        return _answers(layer, X, classes, wanted, _solutions(layer, X, T, partition, left_outs, wanted))

    yield from path_on_layers(machines, partition, solve_on, one_by_one)


def _shares_equations(machine: LayeredRidge) -> bool:
    """Whether candidates can share normal equations: valid parameters, an integer seed and a single alpha."""
    return acceptable(machine) and isinstance(machine.random_state, Integral) and takes_chunks(machine)


def _solutions(layer, X, T, partition: Partition, left_outs, wanted) -> list[tuple[np.ndarray, np.ndarray]]:
    """Coefficients and intercept of each (left_out, machine, params) in `wanted`, which share a layer."""
    intercept = wanted[0][1].fit_intercept
    if len(left_outs) > 1:
        without = equations_of_parts(layer, X, T, partition, left_outs, intercept=intercept).without
    else:

        def without(left_out):
            rows = partition.training(left_out)
            return [normal_equations(layer, X[rows], T[rows], intercept=intercept)]

    found: list = [None] * len(wanted)
    for left_out in left_outs:
        (training,) = without(left_out)
        for size, places in _places_by_size(wanted, left_out).items():
            leading = training.restrict(size)
            coefs = leading.solve_each([wanted[i][1].alpha for i in places])
            for i, coef in zip(places, coefs, strict=True):
                found[i] = coef, leading.intercept(coef)
    return found


def _places_by_size(wanted, left_out) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for i, (out, machine, _) in enumerate(wanted):
        if out == left_out:
            places.setdefault(machine._units().size, []).append(i)
    return places


def _answers(layer, X, classes, wanted, solutions: Sequence[tuple]) -> Iterator[PathPoint]:
    """Yield the predictions of each model for all rows."""
    outputs = project_rows(layer, X, [coef for coef, _ in solutions])
    for (left_out, _, params), output, (_, intercept) in zip(wanted, outputs, solutions, strict=True):
        yield PathPoint(left_out, params, **answer(output + intercept, classes))
