"""Paths of EEM and EEKM: class moments are computed once and shared by all folds and hidden sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from entrolearn.machines.additive import fits_one_by_one, path_on_layers
from entrolearn.machines.devices import with_enough_digits
from entrolearn.machines.layers import NystromLayer, RandomLayer, project_rows
from entrolearn.machines.moments import ClassMoments, moments_by_group, moments_of_parts
from entrolearn.machines.readouts import EntropyReadout, check_classes, class_gaussians, entropy_discriminant
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, describe
from entrolearn.validation import check_X_y, class_priors

__all__ = ["entropy_path", "first_part_sources"]


@dataclass(frozen=True)
class _Solved:
    """The solved readout of one candidate."""

    left_out: tuple[int, ...]
    params: dict
    priors: np.ndarray
    readout: EntropyReadout
    folded: np.ndarray


def entropy_path(estimator, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """Fit all candidates of EEM or EEKM on all training sets.

    Candidates with the same hidden units share the class moments of each fold; the moments of a training set
    are sums over its folds. Training sets without a row of some class, and candidates whose hidden layer
    cannot be computed, are fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    one_by_one = fits_one_by_one(estimator, X, y, grid)
    if len(np.unique(y)) < 2 or not all(_shares_moments(machine) for machine in machines):
        yield from one_by_one(partition)
        return
    dtypes = list(estimator._dtypes)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=dtypes)
    classes, codes = np.unique(y, return_inverse=True)
    partition, incomplete = partition.by_classes(codes)
    yield from one_by_one(incomplete)

    fits = _Fits(machines, grid, X, classes, codes, partition, dtypes)
    if partition.left_out:
        yield from path_on_layers(machines, partition, fits.solve_on, one_by_one)


def first_part_sources(
    n_landmarks: int, partition: Partition
) -> list[tuple[np.ndarray, list[tuple[int, ...]]]]:
    """The rows to draw landmarks from, and the training sets that contain these rows.

    The parts must be random. If one has enough rows, the landmarks of a training set are drawn from its first
    part: a random subset of a random part is a random subset of the training rows, and two or three layers
    are then enough for all training sets of a cross-validation. Otherwise each training set has its own
    landmarks, as in ``fit``.
    """
    parts = np.unique(partition.part).tolist()
    shared: dict[int, list[tuple[int, ...]]] = {}
    sources = []
    for left_out in partition.left_out:
        kept = [part for part in parts if part not in left_out]
        if len(kept) > 1 and len(partition.held_out(kept[:1])) >= n_landmarks:
            shared.setdefault(kept[0], []).append(left_out)
        else:
            sources.append((partition.training(left_out), [left_out]))
    return [(partition.held_out((part,)), left_outs) for part, left_outs in shared.items()] + sources


@dataclass(frozen=True)
class _Candidate:
    """A candidate and its number of hidden units."""

    machine: BaseEstimator
    params: dict
    size: int


@dataclass(frozen=True)
class _Fits:
    """All candidates, the validated rows and their classes, and the training sets."""

    machines: Sequence[BaseEstimator]
    grid: Sequence[dict]
    X: Any
    classes: np.ndarray
    codes: np.ndarray
    partition: Partition
    dtypes: list

    def solve_on(self, largest, members, rows, left_outs) -> Iterator[PathPoint]:
        """Path points of some candidates on some training sets, see :func:`path_on_layers`."""
        n_rows = len(self.codes[rows])
        candidates = [
            _Candidate(self.machines[i], self.grid[i], self.machines[i]._units().size_for(n_rows))
            for i in members
        ]
        attempt = partial(self._solve, largest, candidates, rows, left_outs)
        layer, solved, failed = with_enough_digits(attempt, self.dtypes)
        return chain(failed, _answer(layer, self.X, self.classes, solved))

    def _solve(
        self, largest, candidates: Sequence[_Candidate], rows, left_outs, accepted: list
    ) -> tuple[RandomLayer | NystromLayer, list[_Solved], list[PathPoint]]:
        """Draw the layer of the largest candidate from `rows`, and solve every candidate on it."""
        X = self.X if self.X.dtype in accepted else self.X.astype(np.float64)
        layer = largest._draw_layer(X[rows])
        sizes = [candidate.size for candidate in candidates]
        n_models, n_parts = len(left_outs), 1
        if n_models > 1:  # the total, and a difference from it
            n_parts = len(np.unique(self.partition.part)) + 2
        check_classes(max(sizes), len(self.classes), sizes * n_models, n_parts)
        solved, failed = [], []
        for left_out, moments in self._moments(layer, X, left_outs, set(sizes)):
            for each in candidates:
                try:
                    leading = [m.restrict(each.size) for m in moments]
                    solved.append(_solve_point(each, layer, self.classes, leading, left_out, X.dtype))
                except FAILURES as error:
                    failed.append(PathPoint(left_out, each.params, error=describe(error)))
        return layer, solved, failed

    def _moments(self, layer, X, left_outs, sizes: set[int]) -> Iterator[tuple]:
        """Each training set with the moments of its classes."""
        n_classes = len(self.classes)
        if len(left_outs) == 1:
            rows = self.partition.training(left_outs[0])
            yield left_outs[0], moments_by_group(layer, X[rows], self.codes[rows], n_classes, sizes)
            return
        moments = moments_of_parts(layer, X, self.codes, n_classes, self.partition.part, sizes)
        for left_out in left_outs:
            yield left_out, moments.without(left_out)


def _shares_moments(machine: BaseEstimator) -> bool:
    """Whether candidates can share moments: valid parameters, an integer seed, covariances from moments."""
    seeded = isinstance(machine.random_state, Integral)
    return acceptable(machine) and seeded and not hasattr(machine.covariance, "fit")


def _solve_point(
    candidate: _Candidate, layer, classes, moments: Sequence[ClassMoments], left_out, dtype
) -> _Solved:
    """Solve the readout on the hidden units of these moments."""
    machine = candidate.machine
    means, covariances, _ = class_gaussians(moments, machine.covariance)
    readout = entropy_discriminant(means, covariances, dtype, machine.min_class_size)
    folded = layer.fold(readout.coef).astype(dtype, copy=False)
    priors = class_priors(machine.priors, classes, [m.n for m in moments])
    return _Solved(left_out, candidate.params, priors, readout, folded)


def _answer(layer, X, classes: np.ndarray, solved: Sequence[_Solved]) -> Iterator[PathPoint]:
    """Project all rows by all models, then predict their classes."""
    projections = project_rows(layer, X, [machine.folded for machine in solved])
    for machine, projected in zip(solved, projections, strict=True):
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
