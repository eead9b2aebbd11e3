"""Exact influence of training rows: predictions and thresholds without a row or a group of rows."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from entrolearn.machines.additive import Additive, stored_sums, without_rows
from entrolearn.machines.base import codes_among, targets_of
from entrolearn.machines.devices import as_columns, rows_of_groups, take_rows
from entrolearn.machines.moments import ClassMoments, row_blocks
from entrolearn.machines.readouts import ClassGaussians, class_gaussians
from entrolearn.machines.ridge import NormalEquations
from entrolearn.machines.sums import LEAST_SHARE, GroupSums
from entrolearn.validation import (
    checked_weights,
    class_priors,
    is_numpy,
    one_thread_where_small,
    to_numpy,
    validate_data,
)

__all__ = ["Influence", "influence"]

# Iterative refinement stops if the next step would change solutions by less than CONVERGED, or after
# MOST_STEPS. Solutions that the last step changed by more than LARGEST_CHANGE are rejected.
CONVERGED, MOST_STEPS, LARGEST_CHANGE = 1e-15, 20, 1e-10
# A row is solved separately if less than this share of a direction is left without it.
LEAST_LEFT = 1e-6
# Rows have weights if the sums of their weights and of the squares of these differ by more than this share.
SAME_WEIGHT = 1e-9


@dataclass(frozen=True)
class Influence:
    """Result of :func:`entrolearn.influence`.

    Attributes
    ----------
    left_out : ndarray, shape (n_models,)
        The row number or group that each model was fitted without.
    decision : ndarray, shape (n_samples,) or (n_samples, n_outputs)
        Decision value (of a classifier) or prediction (of a regressor) for each row, by the model fitted
        without this row or its group. It is NaN if no rows are left or, for EEM, EEKM and WELM, no rows of a
        class. Rows of weight zero have the values of these models, too.
    change : ndarray, of the same shape
        `decision` minus the value of the model fitted to all rows.
    threshold : float or None
        For EEM and EEKM with two classes, the threshold on the projected line, scaled such that the mean of
        ``classes_[0]`` is at -1 and that of ``classes_[1]`` at 1. Of two thresholds, the one closer to 0.
    thresholds : ndarray, shape (n_models,), or None
        The threshold of each model; NaN if it has none.
    """

    left_out: np.ndarray
    decision: np.ndarray
    change: np.ndarray
    threshold: float | None = None
    thresholds: np.ndarray | None = None

    @property
    def threshold_change(self) -> np.ndarray | None:
        """Difference of each model's threshold and that of the full model, shape (n_models,)."""
        return None if self.thresholds is None else self.thresholds - self.threshold


def influence(estimator: Additive, X, y, *, groups=None, sample_weight=None) -> Influence:
    """Exact leave-one-out predictions of all training rows, without refitting.

    Each left-out model equals ``estimator.fit`` on the other rows with the same hidden layer. Leaving out one
    row changes the sums by one outer product, so all rows together take the time of about two fits for ELM
    and RKELM, and of 13 to 25 for EEM and EEKM. In four cases each model is solved from its sums, with
    n_hidden³ operations: groups, weighted rows, WELM, and singular systems without shrinkage or ridge. For
    kernel learners on all rows one matrix is inverted, with n_samples³ operations for all rows or groups.

    Parameters
    ----------
    estimator : fitted learner
        EEMClassifier, EEKMClassifier, WELMClassifier, ELM* or RKELM* with its sums, by ``store_sums`` or
        ``partial_fit``; or KELM*, LSSVC or LSSVR, without weights that depend on the rows.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Training rows of the model; for KELM*, LSSVC and LSSVR all of them, in the same order. Rows that were
        not in the training set are not detected in general.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets of the rows.
    groups : array-like of shape (n_samples,), default=None
        Rows with the same value are left out together. If None, each row is left out alone.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights of the fit; not accepted for kernel learners on all rows.

    Returns
    -------
    Influence

    Raises
    ------
    TypeError
        If the learner has no closed form, or is a Pipeline.
    ValueError
        If the model has no sums; if the rows cannot be in the sums, because they exceed the number or weight
        of the training rows (of a class, for EEM, EEKM and WELM) or leave a negative sum of squares; or if
        the rows of the sums were weighted and no `sample_weight` is given.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier, influence
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = EEMClassifier(30, store_sums=True, random_state=0).fit(X, y)
    >>> found = influence(machine, X, y)
    >>> row = abs(found.threshold_change).argmax()
    >>> machine.set_params(bounds=machine.bounds_)  # doctest: +ELLIPSIS
    EEMClassifier(...
    >>> without = machine.forget(X[[row]], y[[row]])
    >>> bool(abs(without.decision_function(X[[row]])[0] - found.decision[row]) < 1e-8)
    True
    """
    if isinstance(estimator, Pipeline):
        raise TypeError(
            "influence takes the final estimator, not a Pipeline: "
            "influence(pipe[-1], pipe[:-1].transform(X), y)"
        )
    if hasattr(estimator, "_system") and sample_weight is None:
        return _of_kernel_machine(estimator, X, y, groups)
    if not isinstance(estimator, Additive):
        raise TypeError(
            f"{type(estimator).__name__} has no closed form of this; accepted: EEMClassifier, "
            "EEKMClassifier, WELMClassifier(solver='cholesky'), ELM*, RKELM*; without sample_weight KELM*, "
            "LSSVC, LSSVR."
        )
    sums, machine = stored_sums(estimator, "influence"), estimator
    check_is_fitted(machine)
    X, targets = machine._checked(X, y)
    numbers = _names(X.shape[0], groups)
    check_consistent_length(X, numbers)
    said = _said(machine, X)
    weights = checked_weights(sample_weight, X)
    _check_held(sums, machine._names_of_sums(), targets, weights)
    left_out, code = np.unique(numbers, return_inverse=True)
    # Groups with only rows of weight zero keep the values of the full model.
    whole, decision = _threshold(machine), said.copy()
    thresholds = np.full(len(left_out), np.nan if whole is None else whole)
    solved = np.bincount(code, weights, len(left_out)) == 0
    if groups is None and weights is None and is_numpy(X):
        by_rows = _entropy_rows if hasattr(machine, "covariance") else _ridge_rows
        for rows, answers, moved in by_rows(machine, X, targets):
            decision[rows], thresholds[rows], solved[rows] = (
                answers.reshape(decision[rows].shape),
                moved,
                True,
            )
    members = rows_of_groups(code, len(left_out))
    # However many rows there are, each group solves matrices of n_hidden x n_hidden.
    with one_thread_where_small(max(members, key=len), {"n_hidden": machine._layer.n_units}):
        for g in np.flatnonzero(~solved):
            rows = learnt = members[g]
            if weights is not None:
                learnt = rows[weights[rows] > 0]
            gone = take_rows(X, learnt), take_rows(targets, learnt)
            without = without_rows(machine, *gone, None if weights is None else weights[learnt])
            decision[rows], thresholds[g] = np.nan, np.nan
            if without is not None:
                decision[rows], thresholds[g] = _said(without, take_rows(X, rows)), _threshold(without)
    if whole is None:
        return Influence(left_out, decision, decision - said)
    return Influence(left_out, decision, decision - said, whole, thresholds)


def _check_held(sums: GroupSums, names: list[str], targets, weights: np.ndarray | None) -> None:
    """Raise if the rows weigh more than the sums, or if sums of weighted rows come without weights."""
    given = np.ones(targets.shape[0]) if weights is None else weights
    group = to_numpy(targets) if len(sums) > 1 else np.zeros(len(given), dtype=int)
    totals = np.bincount(group, given, minlength=len(sums))
    for each, name, total in zip(sums, names, totals, strict=True):
        if weights is None and abs(each.n - each.squares_of_weights) > SAME_WEIGHT * each.n:
            raise ValueError(
                f"the {name} were learnt with weights, or have faded; accepted: these as sample_weight."
            )
        if total > each.n * (1 + LEAST_SHARE):
            raise ValueError(
                f"{total:.10g} {name} are given, counted by weight, but the model has {each.n:.10g}."
            )


def _said(machine: BaseEstimator, X) -> np.ndarray:
    """Decision values or predictions of validated rows."""
    machine = copy(machine)
    machine.__dict__.pop("feature_names_in_", None)  # validated rows have no names
    return to_numpy(machine.decision_function(X) if is_classifier(machine) else machine.predict(X))


def _threshold(machine: BaseEstimator) -> float | None:
    """The threshold of EEM or EEKM with two classes, see `Influence.threshold`; NaN if it has none."""
    if not hasattr(machine, "thresholds_") or len(machine.classes_) != 2:
        return None
    return _between(to_numpy(machine.thresholds_), to_numpy(machine.projected_means_))


def _between(thresholds: np.ndarray, means: np.ndarray) -> float:
    places = thresholds - means.mean()
    return float(places[np.abs(places).argmin()]) if len(places) else np.nan


# --- kernel learners: dual coefficients divided by blocks of the inverse ------------------------------------


def _names(n_samples: int, groups) -> np.ndarray:
    """The group of each row, or the row numbers without groups."""
    if groups is None:
        return np.arange(n_samples)
    groups = column_or_1d(groups)
    try:
        np.unique(groups)
    except TypeError as error:
        raise ValueError(f"groups cannot be sorted: {error}; accepted: numbers or words, not both.") from None
    return groups


def _of_kernel_machine(machine, X, y, groups) -> Influence:
    """With the bordered system M, the error on left-out rows G is ``(M^-1)_GG^-1 alpha_G``."""
    check_is_fitted(machine)
    values = {"multi_output": True, "y_numeric": True}
    checks = {"accept_sparse": "csr", "dtype": np.float64} | ({} if is_classifier(machine) else values)
    X, y = validate_data(machine, X, y, reset=False, **checks)
    T = y
    if is_classifier(machine):
        T = targets_of(codes_among(machine.classes_, y), len(machine.classes_), X)
    T, dual = as_columns(T), machine.dual_coef_.T
    said = _said(machine, X)
    # The fitted coefficients solve the system only of the training rows, in their order, without weights.
    closed = machine.kernel != "precomputed" and getattr(machine, "class_weight", None) != "balanced"
    if closed and len(T) == len(dual):
        gram, penalties, bordered = machine._system(X, T)
        rest = T - said.reshape(T.shape) - penalties[:, None] * dual
        closed = np.abs(rest).max() <= 1e-6 * np.abs(T).max()
    if not closed or len(T) != len(dual):
        raise ValueError(
            f"{type(machine).__name__} does not solve its system on these rows; accepted: all rows that it "
            "was fitted to, in their order and without weights, no class_weight='balanced', no precomputed "
            "kernel, and a C with which the system is not singular."
        )
    inverse = np.linalg.inv(gram + np.diag(penalties))
    if bordered:
        sums = inverse.sum(axis=1)
        inverse -= sums[:, None] * (sums / sums.sum())
    names = _names(len(T), groups)
    check_consistent_length(X, names)
    left_out, code = np.unique(names, return_inverse=True)
    decision = np.empty(T.shape)
    for g in range(len(left_out)):
        rows = np.flatnonzero(code == g)
        if len(rows) == len(T):  # no rows are left
            decision[rows] = np.nan
            continue
        decision[rows] = T[rows] - np.linalg.solve(inverse[np.ix_(rows, rows)], dual[rows])
    decision = decision.reshape(said.shape)
    return Influence(left_out, decision, decision - said)


# --- least squares: residual / (1 - leverage) ---------------------------------------------------------------


def _ridge_rows(machine, X, T) -> Iterator[tuple]:
    """Yield row numbers, their leave-one-out predictions, and NaN in place of thresholds."""
    (equations, *_), layer = stored_sums(machine, "influence"), machine._layer
    if not isinstance(equations, NormalEquations) or machine.solver_info_["method"] != "cholesky":
        return
    matrix = equations.scatter()
    matrix[np.diag_indices(len(matrix))] += machine.alpha_
    factor = cho_factor(matrix, lower=True, check_finite=False)
    coef, intercept, mean, share = as_columns(machine.hidden_coef_), machine.intercept_, 0.0, 0.0
    if equations.shifts is not None:
        mean, share = equations.means()[0], 1 / equations.n
    for block in row_blocks(X, equations.n_units):
        H = layer(X[block])
        Z = H - mean
        left = 1 - share - np.einsum("ij,ji->i", Z, cho_solve(factor, Z.T, check_finite=False))
        sound = left > LEAST_LEFT
        residuals = T[block] - H @ coef - intercept
        answers = T[block][sound] - residuals[sound] / left[sound, None]
        yield np.flatnonzero(sound) + block.start, answers, np.nan


# --- EEM and EEKM -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Leaving:
    """Covariance estimates of a class without one row, for several rows at offsets `d` from its mean.

    If S is the covariance of n rows, that of the other rows is ``n / (n - 1) S - n / (n - 1)² d d'``.

    Attributes
    ----------
    d : ndarray, shape (n_rows, n_hidden)
    of_S, of_rows, ridge : ndarray, shape (n_rows,)
        The covariance estimate is ``of_S S - of_rows d d' + ridge I``.
    """

    d: np.ndarray
    of_S: np.ndarray
    of_rows: np.ndarray
    ridge: np.ndarray

    @classmethod
    def of(cls, moments: ClassMoments, covariance, S: np.ndarray, d: np.ndarray) -> "_Leaving":
        """Estimates of a class with covariance S, for row offsets d, shape (n_rows, n_hidden)."""
        n, p = moments.n, len(S)
        rest = n - 1
        grown, taken = n / rest, n / rest**2
        square, along = np.einsum("ij,ij->i", d, d), np.einsum("ij,ij->i", d @ S, d)
        variance = (grown * np.trace(S) - taken * square) / p
        norm2 = grown**2 * (S * S).sum() - 2 * grown * taken * along + taken**2 * square**2
        if not isinstance(covariance, str):
            shrinkage = np.zeros(len(d))
            ridge = np.full(len(d), float(covariance))
        else:
            if covariance == "oas":
                mean_square = norm2 / p**2
                error, spread = mean_square + variance**2, (rest + 1) * (mean_square - variance**2 / p)
                shrinkage = np.where(spread <= 0, 1.0, np.minimum(error / spread, 1.0))
            elif covariance == "ledoit_wolf":
                error = (moments.norm4_without(S, d, square, along) / rest / p - norm2 / p) / rest
                spread = norm2 / p - variance**2
                shrinkage = np.where(np.minimum(error, spread) <= 0, 0.0, np.minimum(error / spread, 1.0))
            ridge = shrinkage * variance
        return cls(d, (1 - shrinkage) * grown, (1 - shrinkage) * taken, ridge)

    def only(self, rows: np.ndarray) -> "_Leaving":
        """The estimates for some of the rows."""
        return _Leaving(self.d[rows], self.of_S[rows], self.of_rows[rows], self.ridge[rows])


def _entropy_rows(machine, X, codes) -> Iterator[tuple]:
    """Yield row numbers, their leave-one-out decision values, and the thresholds."""
    sums, k, layer = stored_sums(machine, "influence"), len(machine.classes_), machine._layer
    all_means, covariances, _ = class_gaussians(sums, machine.covariance)
    if (
        min(m.n for m in sums) <= max(machine.min_class_size, k, 3)
        or any(m.n != m.n_rows for m in sums)
        or any(c.ridge <= 2 * c.moments.least_variance() for c in covariances)
        or machine.solver_info_["degenerate"]
    ):
        return
    total: Any = sum(c.dense() for c in covariances)
    for c, moments in enumerate(sums):
        counts = [m.n - (b == c) for b, m in enumerate(sums)]
        log_priors = np.log(class_priors(machine.priors, machine.classes_, counts))
        of_class, others = np.flatnonzero(codes == c), total - covariances[c].dense()
        for block in row_blocks(of_class, len(total)):
            H = layer(X[of_class[block]])
            without = _Leaving.of(moments, machine.covariance, moments.covariance(), H - moments.mean)
            sound, means, spreads, coef = _projections(sums, all_means, covariances, c, without, others)
            offsets = np.einsum("ip,iqp->iq", H[sound], coef)[:, None] - means
            joint = log_priors + _log_densities(offsets, spreads)
            if k > 2:
                yield of_class[block][sound], joint, np.nan
                continue
            gaussians = (ClassGaussians(*each, log_priors) for each in zip(means, spreads, strict=True))
            thresholds = [_between(each.thresholds(), each.means[:, 0]) for each in gaussians]
            yield of_class[block][sound], joint[:, 1] - joint[:, 0], thresholds


def _projections(sums, all_means, covariances, c: int, without: _Leaving, others: np.ndarray) -> tuple:
    """Projections of the classes by the models without one row of class c.

    Parameters
    ----------
    sums : sequence of n_classes ClassMoments
        Moments of all rows, like `all_means`, shape (n_classes, n_hidden), and `covariances`.
    covariances : sequence of n_classes ClassCovariance
    c : int
    without : _Leaving
        Estimates of class c without each of n_rows rows.
    others : ndarray, shape (n_hidden, n_hidden)
        Sum of the covariances of the other classes.

    Returns
    -------
    sound : ndarray of bool, shape (n_rows,)
        The rows that were solved accurately.
    means : ndarray, shape (n_sound, n_classes, n_components)
    spreads : ndarray, shape (n_sound, n_classes, n_components, n_components)
    coef : ndarray, shape (n_sound, n_components, n_hidden)
    """
    k, rest = len(sums), sums[c].n - 1
    # Without a row, the mean of class c moves by -d / rest. The differences are relative to the first class.
    turns = np.ones(k - 1) if c == 0 else -1.0 * (np.arange(1, k) == c)
    differences = all_means[1:] - all_means[0] + without.d[:, None, :] * (turns[:, None] / rest)
    solutions, sound = _solutions(others, sums[c].covariance(), without, differences)
    solutions, without = solutions[sound], without.only(sound)
    gram = np.einsum("iqp,irp->iqr", differences[sound], solutions)
    if k == 2:
        coef = 2 * solutions / gram
    else:
        values, axes = np.linalg.eigh(gram)
        coef = np.swapaxes(axes / np.sqrt(values)[:, None, :], 1, 2) @ solutions
    along = np.einsum("ip,iqp->iq", without.d, coef)
    means = np.einsum("bp,iqp->ibq", all_means, coef)
    means[:, c] -= along / rest
    squares = np.einsum("iqp,irp->iqr", coef, coef)
    spreads = []
    for b, (moments, covariance) in enumerate(zip(sums, covariances, strict=True)):
        spread = np.einsum("iqp,irp->iqr", _times(coef, moments.covariance()), coef)
        if b != c:
            spreads.append(covariance.weight * spread + covariance.ridge * squares)
            continue
        of_S, of_rows, ridge = (
            each[:, None, None] for each in (without.of_S, without.of_rows, without.ridge)
        )
        spreads.append(of_S * spread - of_rows * along[:, :, None] * along[:, None, :] + ridge * squares)
    return sound, means, np.stack(spreads, axis=1), coef


def _log_densities(offsets: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """ln N(0, covariance)[offset] of rows and classes, up to a constant, shape (n_rows, n_classes)."""
    lower = np.linalg.cholesky(covariances)
    standard = np.linalg.solve(lower, offsets[..., None])[..., 0]
    diagonals = np.diagonal(lower, axis1=2, axis2=3)
    return -0.5 * (standard**2).sum(axis=2) - np.log(diagonals).sum(axis=2)


def _times(vectors: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Multiply vectors of shape (n_rows, n_vectors, n_hidden) by a symmetric matrix."""
    return (vectors.reshape(-1, len(S)) @ S).reshape(vectors.shape)


def _solutions(others: np.ndarray, S: np.ndarray, without: _Leaving, right: np.ndarray) -> tuple:
    """Solve ``(others + of_S S - of_rows d d' + ridge I) x = right`` per row; and whether it converged.

    Because `of_S` and `ridge` differ little between rows, one factorisation with their means is enough. The
    outer product is added by the Sherman–Morrison formula, the rest by iterative refinement.
    """
    of_S, ridge, d = without.of_S.mean(), without.ridge.mean(), without.d[:, None, :]
    matrix = others + of_S * S + ridge * np.eye(len(S))
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(vectors: np.ndarray) -> np.ndarray:
        columns = vectors.reshape(-1, len(S)).T
        return cho_solve(factor, columns, check_finite=False).T.reshape(vectors.shape)

    row = solve(d)
    left = 1 - without.of_rows * (d * row).sum(axis=(1, 2))
    sound = left > LEAST_LEFT
    row *= np.where(sound, without.of_rows / np.where(sound, left, 1.0), 0.0)[:, None, None]
    more_S, more = (without.of_S - of_S)[:, None, None], (without.ridge - ridge)[:, None, None]
    x, before = np.zeros_like(right), 1.0
    for step in range(MOST_STEPS):
        y = solve(right - more_S * _times(x, S) - more * x if step else right)
        y += (y @ np.swapaxes(d, 1, 2)) * row
        change = np.abs(y - x).max(axis=(1, 2)) / np.abs(y).max(axis=(1, 2))
        x, largest = y, change[sound].max(initial=0.0)
        # Stop if the estimated change of the next step is small, or if rounding prevents further progress.
        if largest**2 / before < CONVERGED or (step and largest > before / 2):
            break
        before = largest
    return x, sound & (change < LARGEST_CHANGE)
