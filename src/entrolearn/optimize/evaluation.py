"""Evaluation of points: in batches, on several processes, each distinct discrete point once."""

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from entrolearn.optimize.families import Family

__all__ = ["Evaluation"]

#: Numbers of the points that are drawn and evaluated at once (8 MiB).
BLOCK_NUMBERS = 2**20


class Evaluation:
    """Evaluates an objective at samples and caches the values of discrete points.

    Parameters
    ----------
    objective : callable
        As in :func:`~entrolearn.optimize.cross_entropy_method`.
    family : Family
        Validates points that the objective returns. If it is discrete, each distinct point is evaluated once.
    parallel : Parallel
        Runs the batches, which are made before, so that the number of processes does not change them.
    vectorized : bool
    batch_size : int

    Attributes
    ----------
    n_evaluations : int
        Number of points at which the objective was evaluated.
    """

    def __init__(
        self,
        objective: Callable,
        family: Family,
        parallel: Parallel,
        *,
        vectorized: bool,
        batch_size: int,
    ):
        self.n_evaluations = 0
        self._objective = objective
        self._family = family
        self._parallel = parallel
        self._vectorized = vectorized
        self._batch_size = batch_size
        self._known: dict[bytes, tuple[float, np.ndarray]] = {}

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and, if the objective repairs points, the repaired points.

        Parameters
        ----------
        points : ndarray, shape (n_points, n_variables)

        Returns
        -------
        values : ndarray, shape (n_points,)
        points : ndarray, shape (n_points, n_variables)
        """
        if not self._family.discrete:
            return self._evaluated(points)
        keys = [point.tobytes() for point in points]
        rows = {key: row for row, key in enumerate(keys) if key not in self._known}
        if rows:
            values, repaired = self._evaluated(points[list(rows.values())])
            self._known.update(zip(rows, zip(values, repaired, strict=True), strict=True))
        values, repaired = zip(*(self._known[key] for key in keys), strict=True)
        return np.array(values), np.array(repaired)

    def blocks(self, n: int, n_variables: int) -> Iterator[int]:
        """Sizes of the blocks in which `n` points are drawn: whole batches; all points of a discrete family.

        Parameters
        ----------
        n : int
        n_variables : int
            Length of a point.

        Yields
        ------
        int
        """
        batches = max(1, BLOCK_NUMBERS // (self._batch_size * n_variables))
        size = n if self._family.discrete else batches * self._batch_size
        for start in range(0, n, size):
            yield min(size, n - start)

    def _evaluated(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Points are read-only: changes in place would be visible in this process but not from another one.
        points.flags.writeable = False
        starts = range(0, len(points), self._batch_size)
        batches = [points[start : start + self._batch_size] for start in starts]
        results = self._parallel(
            delayed(evaluated_batch)(self._objective, batch, self._vectorized) for batch in batches
        )
        self.n_evaluations += len(points)
        values, repaired = zip(*results, strict=True)
        seen = [
            batch if mended is None else self._checked(mended, batch)
            for mended, batch in zip(repaired, batches, strict=True)
        ]
        return np.concatenate(values), np.concatenate(seen)

    def _checked(self, mended, batch: np.ndarray) -> np.ndarray:
        mended = self._family.check(mended)
        if mended.shape != batch.shape:
            raise ValueError(
                f"objective returned points of shape {mended.shape} for points of shape {batch.shape}; "
                "it may change points, not their number or length"
            )
        return mended


def evaluated_batch(
    objective: Callable, points: np.ndarray, vectorized: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Values of a batch, and the points that the objective returned instead, if any."""
    if not vectorized:
        return _as_values([objective(point) for point in points], len(points), "a number for one point"), None
    returned = objective(points)
    # A tuple of two numbers holds the values of two points.
    is_pair = isinstance(returned, tuple) and len(returned) == 2 and np.ndim(returned[1]) > 0
    values, repaired = returned if is_pair else (returned, None)
    wanted = (
        f"values of shape ({len(points)},) for points of shape {points.shape}, or a pair (values, points)"
    )
    return _as_values(values, len(points), wanted), repaired


def _as_values(values, n: int, wanted: str) -> np.ndarray:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"objective must return {wanted}; it returned no array: {error}") from error
    if numbers.shape != (n,):
        raise ValueError(f"objective must return {wanted}; got shape {numbers.shape} for {n} point(s)")
    return numbers
