"""Paths of EEM and EEKM: class moments are computed once and shared by all folds and hidden sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral

import numpy as np
from sklearn.base import clone

from entrolearn.machines.base import Machine
from entrolearn.machines.devices import with_enough_digits
from entrolearn.machines.layers import NystromLayer, RandomLayer, project_rows
from entrolearn.machines.moments import ClassMoments, PartMoments, moments_by_group
from entrolearn.machines.readouts import EntropyReadout, check_classes, entropy_discriminant
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, describe, path, same_settings
from entrolearn.validation import check_X_y

__all__ = ["eekm_path", "eem_path"]


@dataclass(frozen=True)
class _Solved:
    """The solved readout of one candidate, or its error message."""

    left_out: tuple[int, ...]
    params: dict
    priors: np.ndarray | None = None
    readout: EntropyReadout | None = None
    folded: np.ndarray | None = None
    error: str = ""


def eem_path(estimator: Machine, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """Fit all candidates of EEM on all training sets.

    Candidates with the same hidden units and the same box of features share the class moments of each fold;
    the moments of a training set are sums over its folds. Training sets without a row of some class, and
    candidates whose hidden layer cannot be computed, are fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    if len(np.unique(y)) < 2 or not all(_shares_moments(machine) for machine in machines):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    one_by_one = partial(path.dispatch(object), estimator, X, y)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=list(estimator._dtypes))
    classes, codes = np.unique(y, return_inverse=True)
    partition, incomplete = partition.by_classes(codes)
    yield from one_by_one(incomplete, grid)
    if not partition.left_out:
        return
    for members in same_settings(machines, "activation", "gamma", "feature_range", "random_state"):
        largest = max((machines[i] for i in members), key=lambda machine: machine.n_hidden)
        sized = [(machines[i], machines[i].n_hidden, grid[i]) for i in members]
        for rows, left_outs in largest._box_sources(partition):
            shared = codes, partition, left_outs, sized, rows
            try:
                attempt = partial(_solve_in, X, largest, classes, *shared)
                layer, solved = with_enough_digits(attempt, estimator._dtypes)
            except FAILURES:
                yield from one_by_one(partition.only(left_outs), [grid[i] for i in members])
                continue
            yield from _answer(layer, X, classes, solved)


def eekm_path(estimator: Machine, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """Fit all candidates of EEKM on all training sets.

    For each kernel, training sets that share their landmarks also share the class moments of each fold.
    Training sets without a row of some class, and candidates whose hidden layer cannot be computed, are
    fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    if len(np.unique(y)) < 2 or not all(_shares_moments(machine) for machine in machines):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    one_by_one = partial(path.dispatch(object), estimator, X, y)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=list(estimator._dtypes))
    classes, codes = np.unique(y, return_inverse=True)
    partition, incomplete = partition.by_classes(codes)
    yield from one_by_one(incomplete, grid)
    if not partition.left_out:
        return
    settings = ("landmarks", "kernel", "gamma", "degree", "coef0", "power", "random_state")
    for members in same_settings(machines, *settings):
        largest = max((machines[i] for i in members), key=lambda machine: machine.n_landmarks)
        for rows, left_outs in _landmark_sources(largest, partition):
            sized = [(machines[i], machines[i]._n_landmarks(len(codes[rows])), grid[i]) for i in members]
            try:
                layer, solved = _solve_on_parts(largest, X, classes, codes, partition, left_outs, sized, rows)
            except FAILURES:
                yield from one_by_one(partition.only(left_outs), [grid[i] for i in members])
                continue
            yield from _answer(layer, X, classes, solved)


def _landmark_sources(
    machine: Machine, partition: Partition
) -> list[tuple[np.ndarray, list[tuple[int, ...]]]]:
    """The rows to draw landmarks from, and the training sets that contain these rows.

    If one fold has enough rows, the landmarks of a training set are drawn from its first fold: a random
    subset of a random fold is a random subset of the training rows, and two or three layers are then enough
    for all training sets of a cross-validation. Otherwise, or if gamma depends on the training rows, each
    training set has its own landmarks, as in ``fit``.
    """
    if machine.landmarks is not None:
        return [(slice(None), list(partition.left_out))]
    parts = np.unique(partition.part).tolist()
    shared: dict[int, list[tuple[int, ...]]] = {}
    sources = []
    for left_out in partition.left_out:
        kept = [part for part in parts if part not in left_out]
        enough = len(kept) > 1 and len(partition.held_out(kept[:1])) >= machine.n_landmarks
        if enough and not isinstance(machine.gamma, str):
            shared.setdefault(kept[0], []).append(left_out)
        else:
            sources.append((partition.training(left_out), [left_out]))
    return [(partition.held_out((part,)), left_outs) for part, left_outs in shared.items()] + sources


def _solve_on_parts(
    largest: Machine,
    X,
    classes: np.ndarray,
    codes: np.ndarray,
    partition: Partition,
    left_outs: Sequence[tuple[int, ...]],
    sized: Sequence[tuple[Machine, int, dict]],
    rows=slice(None),
) -> tuple[RandomLayer | NystromLayer, list[_Solved]]:
    """Draw the layer of the largest candidate from `rows`, and solve every candidate in `sized` on it."""
    layer = largest._draw_layer(X[rows])
    sizes = {size for _, size, _ in sized}
    n_classes = len(classes)
    n_models, n_parts = len(left_outs), 1
    if n_models > 1:  # the total, and a difference from it
        n_parts = len(np.unique(partition.part)) + 2
    check_classes(max(sizes), n_classes, [size for _, size, _ in sized] * n_models, n_parts)
    if n_models > 1:
        moments = PartMoments(layer, X, codes, n_classes, partition.part, sizes)
        without = moments.without
    else:

        def without(left_out):
            training = partition.training(left_out)
            return moments_by_group(layer, X[training], codes[training], n_classes, sizes)

    solved = []
    for left_out in left_outs:
        training = without(left_out)
        solved += [
            _solve_point(machine, layer, classes, training, size, left_out, params, X.dtype)
            for machine, size, params in sized
        ]
    return layer, solved


def _solve_in(X, largest: Machine, classes: np.ndarray, *shared) -> tuple:
    """`_solve_on_parts` for rows of the dtypes that are the last argument."""
    *shared, dtypes = shared
    X = X if X.dtype in dtypes else X.astype(np.float64)
    return _solve_on_parts(largest, X, classes, *shared)


def _shares_moments(machine: Machine) -> bool:
    """Whether candidates can share moments: valid parameters, an integer seed, covariances from moments."""
    seeded = isinstance(machine.random_state, Integral)
    return acceptable(machine) and seeded and not hasattr(machine.covariance, "fit")


def _solve_point(
    machine: Machine, layer, classes, moments: Sequence[ClassMoments], h: int, left_out, params: dict, dtype
) -> _Solved:
    """Solve the readout on the first h hidden units."""
    try:
        leading = [m.restrict(h) for m in moments]
        means, covariances, _ = machine._gaussians_of(leading)
        readout = entropy_discriminant(means, covariances, dtype, machine.pool_below)
        folded = layer.fold(readout.coef).astype(dtype, copy=False)
        priors = machine._density_weights(classes, [m.n for m in leading])
        return _Solved(left_out, params, priors, readout, folded)
    except FAILURES as error:
        return _Solved(left_out, params, error=describe(error))


def _answer(layer, X, classes: np.ndarray, solved: Sequence[_Solved]) -> Iterator[PathPoint]:
    """Project all rows by all models, then predict their classes."""
    sound = [machine for machine in solved if not machine.error]
    yield from (PathPoint(m.left_out, m.params, error=m.error) for m in solved if m.error)
    for machine, projected in zip(
        sound, project_rows(layer, X, [machine.folded for machine in sound]), strict=True
    ):
        readout = machine.readout
        gaussians = readout.gaussians(machine.priors)
        prediction = classes[gaussians.most_likely(projected)]
        if len(classes) > 2:
            yield PathPoint(machine.left_out, machine.params, prediction)
            continue
        (m0, m1), (s0, s1) = readout.means[:, 0], readout.covariances[:, 0, 0]
        yield PathPoint(
            machine.left_out,
            machine.params,
            prediction,
            projection=projected[:, 0],
            gaussians=(float(m0), float(s0), float(m1), float(s1)),
            log_odds=np.diff(gaussians.log_joint(projected))[:, 0],
        )
