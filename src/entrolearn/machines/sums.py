"""Sums over rows, as named arrays about a shift; and those of several groups of rows, such as classes."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import compress
from operator import iadd, imul, isub
from typing import Any, Self

import numpy as np

from entrolearn.machines.devices import (
    add_to_diagonal,
    cholesky,
    copied,
    namespace,
    packed,
    unpacked,
)
from entrolearn.validation import to_numpy

__all__ = ["LEAST_SHARE", "ROUNDINGS", "WRONG_SHARE", "GroupSums", "PartSums", "Sums"]

# Smallest variance along a direction, as a share of the sum of the units' variances. Smaller variances are
# rounding errors of sums of squares. This bound changes only the last digits of results that do not need it.
LEAST_SHARE = 1e-12
# The same bound in rounding errors of the sums, which are larger if rows are far from zero or their shift.
ROUNDINGS = 16
# Smallest total weight of a group; with further decay its sums would underflow.
LEAST_WEIGHT = 1e-100
# Relative error of a sum of squares after rows were subtracted. Hidden rows of an ill-conditioned layer can
# differ by this much when they are computed again.
WRONG_SHARE = 1e-7
# Smallest ratio of a difference of sums of squares to the larger sum for which the difference is accurate.
LEAST_KEPT = 1 / 16
COUNTS = ("n", "n_added", "squares_of_weights")


class Sums:
    """Base class of sums over weighted rows minus a shift, which can be added and subtracted.

    A subclass has the arrays ``_<name>`` for each of its `names`, of which the first is a square matrix with
    only its lower triangle, and the arrays ``shifts``, or None instead.

    Attributes
    ----------
    n : int or float
        Number of rows, or the sum of their weights.
    n_added : int
        Number of rows, regardless of their weights.
    squares_of_weights : float
        Sum of the squared weights.
    """

    names: tuple[str, ...]
    shift_names: tuple[str, ...]
    shifts: Any
    n: float
    n_added: float
    squares_of_weights: float

    def _count(self, n_rows: int, weights: np.ndarray | None) -> None:
        """Count rows that are added."""
        self.n += n_rows if weights is None else float(weights.sum())
        self.n_added += n_rows
        self.squares_of_weights += n_rows if weights is None else float(weights @ weights)

    def _with(self, change: Callable) -> Self:
        """Sums of the arrays ``change(array)``."""
        result = object.__new__(type(self))
        vars(result).update(vars(self))
        for name in self.names:
            setattr(result, f"_{name}", change(getattr(self, f"_{name}")))
        return result

    def copy(self) -> Self:
        """A copy that does not share arrays."""
        return self._with(copied)

    def empty(self) -> Self:
        """Sums of zero rows, which can be combined with these."""
        none = self._with(lambda array: namespace(array).zeros_like(array))
        none.n = none.n_added = none.squares_of_weights = 0
        return none

    def _combine(self, other: Self, subtract: bool = False) -> Self:
        self._check_alike(other)
        for name in (*COUNTS, *(f"_{name}" for name in self.names)):
            setattr(self, name, (isub if subtract else iadd)(getattr(self, name), getattr(other, name)))
        return self

    def _check_alike(self, other: Self) -> None:
        """Raise ValueError if the sums have other units or another shift."""
        if self.shifts is not other.shifts and not (
            None not in (self.shifts, other.shifts)
            and all(
                np.array_equal(to_numpy(a), to_numpy(b))
                for a, b in zip(self.shifts, other.shifts, strict=True)
            )
        ):
            raise ValueError(f"only {type(self).__name__} with the same shifts can be combined.")

    def __add__(self, other: Self) -> Self:
        return self.copy()._combine(other)

    def __sub__(self, other: Self) -> Self:
        return self.copy()._combine(other, subtract=True)

    def __iadd__(self, other: Self) -> Self:
        return self._combine(other)

    def __isub__(self, other: Self) -> Self:
        return self._combine(other, subtract=True)

    def __imul__(self, factor: float) -> Self:
        """Multiply the weights of all rows by a factor, in place; their sum stays above LEAST_WEIGHT."""
        if self.n > 0:
            factor = min(1.0, max(factor, LEAST_WEIGHT / self.n))
            self.n *= factor
            self.squares_of_weights *= factor**2
            for name in self.names:
                setattr(self, f"_{name}", imul(getattr(self, f"_{name}"), factor))
        return self

    def total_square(self) -> float:
        """Sum of the squared distances of the rows from the shift."""
        square = getattr(self, f"_{self.names[0]}")
        return float(namespace(square).linalg.trace(square))

    def rounding(self) -> float:
        """Bound of the error of the sums of squares after rows were subtracted."""
        squares, noise = self.total_square(), 0.0
        if self.shifts is not None:
            shift = self.shifts[0]
            noise = ROUNDINGS * float(np.finfo(float).eps) * (self.n * float(shift @ shift)) ** 0.5
        return WRONG_SHARE * squares + noise * (squares**0.5 + noise) + float(np.finfo(float).tiny)

    def scatter(self):
        """Sum of the outer products of the rows minus their mean, as a new lower triangle."""
        raise NotImplementedError

    def about(self, shifts) -> Self:
        """A copy with other shifts."""
        raise NotImplementedError

    @staticmethod
    def _add_rows_to(groups: list, layer: Callable, X, targets, weights: np.ndarray | None) -> None:
        """Add rows to the sums of their groups, in place; see :meth:`GroupSums.add_rows`."""
        raise NotImplementedError

    def without(self, rows: Self, rounding: float, name: str) -> Self:
        """Subtract the sums over some rows, after a check that these can contain them.

        Parameters
        ----------
        rows : Sums
            With the same shift.
        rounding : float
            The largest ``rounding()`` of these sums so far.
        name : str
            Name of the rows in error messages.

        Returns
        -------
        Sums
            Empty sums if no rows are left.

        Raises
        ------
        ValueError
            If the number of rows or a sum of squares would be negative.
        """
        if not rows.n:
            return self
        n, least = self.n - rows.n, LEAST_SHARE * self.n
        if n < -least:
            raise ValueError(
                f"{rows.n:g} {name} are to be forgotten, counted by weight, but the model has {self.n:g}."
            )
        left = self - rows
        if n <= least:
            held, left = abs(left.total_square()) <= rounding, self.empty()
        else:
            held = cholesky(add_to_diagonal(left.scatter(), rounding)) is not None
        if not held:
            raise ValueError(
                f"the model was not fitted to these {name}, or with other weights: without them it would "
                "have negative sums of squares, beyond rounding."
            )
        return left

    def __getstate__(self) -> dict:
        square = f"_{self.names[0]}"
        return {**vars(self), square: packed(getattr(self, square), self.n)}

    def __setstate__(self, state: dict) -> None:
        square = f"_{self.names[0]}"
        vars(self).update(state, **{square: unpacked(state[square], state[f"_{self.names[1]}"].shape[0])})

    # --- files ----------------------------------------------------------------------------------------------

    def members(self) -> dict[str, np.ndarray]:
        """The sums and shifts by name, of the square matrix its triangle by columns."""
        first, *others = self.names
        arrays = {name: getattr(self, f"_{name}") for name in others}
        shifts = {} if self.shifts is None else dict(zip(self.shift_names, self.shifts, strict=True))
        return {first: packed(getattr(self, f"_{first}"), 1)} | arrays | shifts

    def of_members(self, members: dict[str, np.ndarray], counts: Sequence[float]) -> Self:
        """Sums of this type from their members and counts.

        Raises
        ------
        ValueError
            If no rows can have such sums, even with rounding errors.
        """
        sums, (first, *others) = self.empty(), self.names
        sums.n, sums.n_added, sums.squares_of_weights = counts
        setattr(sums, f"_{first}", unpacked(members[first], len(members[others[0]])))
        for name in others:
            setattr(sums, f"_{name}", members[name])
        if self.shifts is not None:
            sums.shifts = tuple(members[name] for name in self.shift_names)
        with np.errstate(over="ignore", invalid="ignore"):
            possible = sums.are_possible() if sums.n else not any(members[name].any() for name in self.names)
        if not possible:
            raise ValueError("no rows have such sums, even with rounding errors.")
        return sums

    def are_possible(self) -> bool:
        """Whether sums over rows can have these values, up to rounding."""
        if self.total_square() < 0:
            return False
        return cholesky(add_to_diagonal(self.scatter(), self.rounding())) is not None


class GroupSums:
    """The sums of each group of rows: of each class, or of all rows together.

    Parameters
    ----------
    groups : iterable of Sums
    """

    def __init__(self, groups):
        self.groups = list(groups)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index):
        return self.groups[index]

    def copy(self) -> "GroupSums":
        """A copy that does not share arrays."""
        return GroupSums(each.copy() for each in self)

    def empty(self) -> "GroupSums":
        """Sums of zero rows, which can be combined with these."""
        return GroupSums(each.empty() for each in self)

    def __iadd__(self, other: "GroupSums") -> "GroupSums":
        for mine, others in zip(self, other, strict=True):
            mine += others
        return self

    def __isub__(self, other: "GroupSums") -> "GroupSums":
        for mine, others in zip(self, other, strict=True):
            mine -= others
        return self

    def __add__(self, other: "GroupSums") -> "GroupSums":
        return iadd(self.copy(), other)

    def __imul__(self, factor: float) -> "GroupSums":
        for each in self:
            each *= factor
        return self

    def add_rows(self, layer: Callable, X, targets, weights: np.ndarray | None = None) -> "GroupSums":
        """Add the hidden rows of each group, in place.

        Parameters
        ----------
        layer : callable
            Maps rows of X to an array of shape (n_rows, n_hidden); accepts an argument `out`.
        X : array, shape (n_samples, n_features)
            Dense, CSR, or of another library; computations run on its device.
        targets : array, shape (n_samples,) or (n_samples, n_outputs)
            For class moments the group of each row, for normal equations the targets.
        weights : ndarray of float64, shape (n_samples,), optional
            Positive weights, always a NumPy array. Default: all ones.
        """
        self.groups[0]._add_rows_to(self.groups, layer, X, targets, weights)
        return self

    @property
    def nbytes(self) -> int:
        """Number of bytes of the arrays."""
        return sum(getattr(value, "nbytes", 0) for each in self for value in vars(each).values())

    def __sizeof__(self) -> int:
        return self.nbytes  # by which Dask places tasks and spills results

    def all_have_rows(self) -> bool:
        """Whether every group has a row, as a solution requires."""
        return all(each.n for each in self)

    def rounding(self) -> np.ndarray:
        """See :meth:`Sums.rounding`, shape (n_groups,)."""
        return np.array([each.rounding() for each in self])

    def without(self, rows: "GroupSums", rounding: np.ndarray, names: Sequence[str]) -> "GroupSums":
        """See :meth:`Sums.without`, for each group."""
        groups = zip(self, rows, rounding, names, strict=True)
        return GroupSums(mine.without(*others) for mine, *others in groups)

    @classmethod
    def total(cls, parts: Sequence["GroupSums"]) -> "GroupSums":
        """The sum of the parts, each group with the shift of the part with the most rows."""
        return cls(_total(of_group) for of_group in zip(*parts, strict=True))


class PartSums:
    """The sums of parts of the rows, such as folds, from which those of training sets follow.

    Parameters
    ----------
    names : sequence of int
    parts : sequence of GroupSums
        With the same shifts.
    """

    def __init__(self, names: Sequence[int] | np.ndarray, parts: Sequence[GroupSums]):
        self.names, self.parts = names, parts
        self.total = reduce(iadd, parts[1:], parts[0].copy())

    def without(self, left_out: Sequence[int]) -> GroupSums:
        """Sums of all rows outside some parts, given by their names: the total minus these parts."""
        held = np.isin(self.names, left_out)
        training = reduce(isub, compress(self.parts, held), self.total.copy())
        kept = list(compress(self.parts, ~held))
        for g, (sums, total) in enumerate(zip(training, self.total, strict=True)):
            if sums.n and sums.total_square() < LEAST_KEPT * total.total_square():
                training.groups[g] = reduce(iadd, (part[g] for part in kept[1:]), kept[0][g].copy())
        return training


def _total(parts: Sequence[Sums]) -> Sums:
    largest = max(range(len(parts)), key=lambda i: parts[i].n)
    others = (part.about(parts[largest].shifts) for i, part in enumerate(parts) if i != largest)
    return reduce(iadd, others, parts[largest].copy())
