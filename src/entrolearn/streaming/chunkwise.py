"""Results of one chunk in a fit to Dask collections, and how they merge: targets, surveys and sums.

The functions do not modify their arguments, because Dask may need them again if a worker is lost.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from dask.base import tokenize
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets

from entrolearn.machines.additive import Additive, checked_rows, units_of
from entrolearn.machines.base import hidden_layer
from entrolearn.machines.boxes import Survey
from entrolearn.streaming import sampling
from entrolearn.streaming.recursive import Moved, summed_squares

__all__ = [
    "Looking",
    "Summing",
    "first_rows_of_chunk",
    "merged_sums",
    "merged_surveys",
    "merged_targets",
    "moved_chunk",
    "picks_of",
    "rows_of_chunk",
    "squares_of_chunk",
    "sums_of_chunk",
    "survey_of_chunk",
    "targets_of_chunk",
]

# Number of rows of the first chunk from which the shifts of the sums are computed.
FIRST_ROWS = 1024


def first_rows_of_chunk(X, y, weights, where: str) -> tuple:
    """The first rows, their y and name, and the pairing of the whole chunk (see :func:`pairing_of`)."""
    return X[:FIRST_ROWS], y[:FIRST_ROWS], where, pairing_of(X, y, weights)


def pairing_of(X, y, weights) -> tuple[str, str] | None:
    """Order-independent tokens of the rows, and of their y and weights; None for invalid data.

    The token of a row uses a random projection of it; of several targets only the first is used.
    """
    try:
        rows = X if issparse(X) else np.asarray(X, dtype=np.float64)
        # Rounded, because the last digits of a product depend on the position of the row in the chunk.
        rows = (rows @ np.random.RandomState(0).standard_normal(X.shape[1])).astype(np.float32)
        y = np.asarray(y).reshape(X.shape[0], -1)[:, 0]
        order = np.lexsort((np.unique(y, return_inverse=True)[1], rows))
    except (TypeError, ValueError, IndexError):
        return None  # the validation of the first rows raises the error
    return tokenize(rows[order]), tokenize(y[order], None if weights is None else weights[order])


def check_pairing(X, y, weights, where: str, before: tuple[str, str] | None) -> None:
    """Raise if the rows are the same as before, but y or the weights are not.

    Raises
    ------
    ValueError
    """
    found = pairing_of(X, y, weights)
    if found is not None and before is not None and found[0] == before[0] and found[1] != before[1]:
        others = "y" if weights is None else "y or weights"
        raise ValueError(
            f"{where}: the rows have other {others} than when they were computed before, because X and y are "
            "computed separately and their order changes; accepted: a data frame and the names of its "
            "columns of y, or X and y persisted by one dask.persist(X, y)."
        )


# --- targets: number of rows, and labels
# ---------------------------------------------------------------------


@dataclass(frozen=True)
class Targets:
    """Results of a pass over y.

    Attributes
    ----------
    lengths : tuple of int
        Number of rows of each chunk, in order.
    labels : ndarray, shape (n_labels,)
        Sorted labels; empty if they were not requested.
    """

    lengths: tuple[int, ...]
    labels: np.ndarray


def targets_of_chunk(_, y, weights, where: str, labels: bool) -> Targets:
    """Results of one chunk of y, with or without labels."""
    y = np.asarray(y)
    if not (labels and len(y)):
        return Targets((len(y),), np.empty(0, dtype=y.dtype))
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return Targets((len(y),), np.unique(y))


def merged_targets(parts: Sequence[Targets]) -> Targets:
    """Results of adjacent chunks."""
    lengths = sum((part.lengths for part in parts), ())
    labels = [part.labels for part in parts if len(part.labels)] or [parts[0].labels]
    return Targets(lengths, reduce(np.union1d, labels))


# --- survey: sample, spread and extent ---------------------------------------------------------------------


@dataclass(frozen=True)
class Looking:
    """Parameters of a survey besides the chunk.

    Attributes
    ----------
    machine : Additive
    dtype : dtype
        Dtype of the rows.
    """

    machine: Additive
    dtype: np.dtype


@dataclass(frozen=True)
class Picked:
    """Some rows, and the position of each among all landmarks."""

    places: np.ndarray
    found: object
    found_weights: np.ndarray | None

    def merge(self, other: "Picked") -> "Picked":
        """The union of two sets of rows."""
        found = sampling.stack_rows([self.found, other.found])
        weights = self.found_weights
        if weights is not None:
            weights = np.concatenate([weights, other.found_weights])
        return Picked(np.concatenate([self.places, other.places]), found, weights)

    @property
    def rows(self):
        """The rows in the order of their positions, shape (n_landmarks, n_features)."""
        return self.found[np.argsort(self.places)]

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the rows, if they are kept."""
        return None if self.found_weights is None else self.found_weights[np.argsort(self.places)]


@dataclass(frozen=True)
class PickByNumber:
    """Row numbers of the landmarks in a chunk, and their positions among all landmarks."""

    rows: np.ndarray
    places: np.ndarray
    n_rows: int  # number of rows of the chunk

    def of(self, X, weights: np.ndarray | None) -> Picked:
        """The landmarks from the rows of the chunk."""
        return Picked(self.places, X[self.rows], None if weights is None else weights[self.rows])

    def __bool__(self) -> bool:
        return len(self.rows) > 0


@dataclass(frozen=True)
class PickAtRandom:
    """Number of rows of a chunk that may become landmarks, and the seed of their random keys."""

    size: int
    seed: int

    def of(self, X, weights: np.ndarray | None) -> sampling.Reservoir:
        """A reservoir of the rows of the chunk."""
        sample = sampling.Reservoir(self.size, np.random.RandomState(self.seed))
        sample.offer(X, weights)
        return sample


def picks_of(lengths: Sequence[int], n_landmarks: int, rng: np.random.RandomState) -> Iterator:
    """Yield the pick of each chunk; the landmarks are those of a fit in memory if this is possible.

    Parameters
    ----------
    lengths : sequence of int
        Number of rows of each chunk.
    n_landmarks : int
    rng : RandomState
        In the state that it has in ``fit``.
    """
    n_rows = sum(lengths)
    if n_rows > sampling.MOST_PERMUTED:
        for seed in rng.randint(2**31, size=len(lengths)):
            yield PickAtRandom(n_landmarks, int(seed))
        return
    numbers = rng.permutation(n_rows)[:n_landmarks]
    places = np.argsort(numbers)
    edges = np.cumsum([0, *lengths])
    here = np.split(places, np.searchsorted(numbers[places], edges[1:-1]))
    for some, start, n_rows in zip(here, edges[:-1], lengths, strict=True):
        yield PickByNumber(numbers[some] - start, some, n_rows)


@dataclass(frozen=True)
class Surveyed:
    """Results of a survey.

    Attributes
    ----------
    sample : Picked or Reservoir
    seen : Survey
    """

    sample: Any
    seen: Survey


def survey_of_chunk(X, y, weights, where: str, looking: Looking, pick) -> Surveyed | None:
    """Results of one chunk; None if it is empty."""
    if isinstance(pick, PickByNumber) and pick.n_rows != X.shape[0]:
        raise ValueError(
            f"{where}: {X.shape[0]} rows, but {pick.n_rows} when they were counted; accepted: the same "
            "number each time that they are computed, as after persist()."
        )
    if not X.shape[0]:
        return None
    X, _ = checked_rows(looking.machine, X, y, where, first=False, dtypes=[looking.dtype])
    units = units_of(looking.machine)
    sample = pick.of(X, weights if units.in_box else None)
    return Surveyed(sample, Survey.of_chunk(X, units, weights))


def merged_surveys(parts: Sequence[Surveyed | None]) -> Surveyed | None:
    """Results of several chunks."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    sample, seen = copy.copy(found[0].sample), found[0].seen
    for other in found[1:]:
        sample, seen = sample.merge(other.sample), seen.merge(other.seen)
    return Surveyed(sample, seen)


# --- sums --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summing:
    """Parameters of a summation besides the chunk.

    Attributes
    ----------
    machine : Additive
        The estimator with its hidden layer.
    no_sums : object
        Sums of zero rows, with the common shifts.
    dtype : dtype
        Dtype of the rows.
    """

    machine: Additive
    no_sums: Any
    dtype: np.dtype


@dataclass(frozen=True)
class Sums:
    """Sums over some rows.

    Attributes
    ----------
    sums : object
        Sums of the estimator.
    labels : ndarray, shape (n_labels,)
        Labels of the rows; empty for a regressor.
    """

    sums: Any
    labels: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __sizeof__(self) -> int:
        """Size in bytes, by which Dask places tasks and spills results."""
        return self.sums.nbytes


def sums_of_chunk(X, y, weights, where: str, summing: Summing, before: tuple | None = None) -> Sums | None:
    """Sums over the rows of one chunk, with the pairing `before`; None if the chunk is empty."""
    if not X.shape[0]:
        return None
    machine = summing.machine
    if before is not None:
        check_pairing(X, y, weights, where, before)
    rows, targets = checked_rows(machine, X, y, where, first=False, dtypes=[summing.dtype])
    sums = copy.deepcopy(summing.no_sums).add_rows(hidden_layer(machine), rows, targets, weights)
    return Sums(sums, np.unique(np.asarray(y))) if is_classifier(machine) else Sums(sums)


def merged_sums(parts: Sequence[Sums | None]) -> Sums | None:
    """Sums over the rows of several chunks."""
    found = [part for part in parts if part is not None]
    if len(found) < 2:
        return found[0] if found else None
    total = found[0].sums + found[1].sums
    for other in found[2:]:
        total += other.sums
    return Sums(total, reduce(np.union1d, [part.labels for part in found]))


# --- recursive feature machines: selected rows, rows in a metric, squared gradients
# --------------------------


def rows_of_chunk(X, y, weights, where: str, places: np.ndarray | None) -> tuple:
    """The rows with these row numbers, or all rows, with their y and weights."""
    y = np.asarray(y)
    if places is None:
        return X, y, weights
    return _safe_indexing(X, places), y[places], None if weights is None else np.asarray(weights)[places]


def moved_chunk(moved: Moved, X, y, weights, where: str) -> tuple:
    """A chunk with rows in the coordinates of a metric; errors name its rows."""
    if not X.shape[0]:
        return X, y, weights, where
    try:
        return moved.transform(X), y, weights, where
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from error


def squares_of_chunk(X, y, weights, where: str, estimator) -> np.ndarray:
    """Weighted sum of the squared derivatives of an estimator over the rows of a chunk."""
    return summed_squares(estimator, X, weights)
