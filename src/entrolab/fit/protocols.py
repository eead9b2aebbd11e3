"""Protocols: repeated cross-validation, random trials or splits in time, and the training rows of each fit.

The parts of rows are drawn once per data set and stored, one array row per repeat; all learners share them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import resample

from entrolab.data.dataset import DataError
from entrolearn.path import Partition

__all__ = ["Folds", "InTime", "Trials", "protocol", "splits"]

UNUSED, TEST = -1, 0  # parts of a trial; the others are its inner folds


@dataclass(frozen=True)
class Folds:
    """Repeated cross-validation, stratified by class.

    The inner folds of a fold are the other folds, so the fit without two folds is used for both. From data
    sets with more than `rows` rows, each repeat draws that many, stratified by class. The folds of the first
    repeat are those of scikit-learn's ``StratifiedKFold(folds, shuffle=True, random_state=seed)``, for values
    of ``KFold``, by group of ``StratifiedGroupKFold`` or ``GroupKFold``; with `named_seeds`, its random state
    too is derived from the seed.
    """

    folds: int
    repeats: int
    rows: int | None = None
    named_seeds: bool = True

    def given(self, splits: np.ndarray, seed: int) -> np.ndarray:
        """The folds that the source of the data defines, shape (repeats, n_samples)."""
        return splits.T.astype(np.int16)

    def draw(self, y: np.ndarray, seed: int, groups: np.ndarray | None = None) -> np.ndarray:
        """The fold (0 .. folds - 1) of each row, -1 for rows not used: int16, shape (repeats, n_samples).

        `y`, shape (n_samples,), contains classes as integers, or values. Rows of a group are in the same
        fold. The first repeats do not depend on the number of repeats.
        """
        values = y.dtype.kind == "f"
        if groups is not None:
            return self._of_groups(y, groups, seed, GroupKFold if values else StratifiedGroupKFold)
        scheme = KFold if values else StratifiedKFold
        strata = np.zeros(len(y), dtype=int) if values else y
        assignment = np.full((self.repeats, len(y)), UNUSED, dtype=np.int16)
        for repeat, random_state in enumerate(self._random_states(seed)):
            rows = self._rows(strata, random_state)
            self._check_rows(strata[rows])
            draw = scheme(self.folds, shuffle=True, random_state=random_state)
            for fold, (_, left_out) in enumerate(draw.split(rows, y[rows])):
                assignment[repeat, rows[left_out]] = fold
        return assignment

    def _random_states(self, seed: int) -> list[int]:
        children = np.random.SeedSequence(seed).spawn(self.repeats)
        first, *others = (int(child.generate_state(1)[0]) for child in children)
        return [first if self.named_seeds else seed, *others]

    def _of_groups(self, y: np.ndarray, groups: np.ndarray, seed: int, scheme: type) -> np.ndarray:
        n_groups = len(np.unique(groups))
        if self.folds > n_groups:
            raise DataError(f"{self.folds} folds by group: accepted are 2 to the {n_groups} groups")
        assignment = np.empty((self.repeats, len(y)), dtype=np.int16)
        for repeat, random_state in enumerate(self._random_states(seed)):
            draw = scheme(self.folds, shuffle=True, random_state=random_state)
            for fold, (_, left_out) in enumerate(draw.split(y, y, groups)):
                assignment[repeat, left_out] = fold
                lacking = np.setdiff1d(y, y[left_out]) if scheme is StratifiedGroupKFold else ()
                if len(lacking):
                    raise DataError(
                        f"fold {fold} by group has no row of class {lacking[0]}; accepted: fewer folds, or "
                        "groups with rows of several classes"
                    )
        return assignment

    def _rows(self, y: np.ndarray, random_state: int) -> np.ndarray:
        """The indices of all rows, or of a sample of `rows` rows."""
        if self.rows is None or self.rows >= len(y):
            return np.arange(len(y))
        drawn = resample(
            np.arange(len(y)), replace=False, n_samples=self.rows, stratify=y, random_state=random_state
        )
        return np.sort(drawn)

    def _check_rows(self, y: np.ndarray) -> None:
        classes, counts = np.unique(y, return_counts=True)
        if not 2 <= self.folds <= counts.min():
            found = ", ".join(f"{label}: {count}" for label, count in zip(classes, counts, strict=True))
            raise DataError(
                f"{self.folds} folds: accepted are 2 to the rows of the smallest class (rows: {found})"
            )

    @property
    def n_inner(self) -> int:
        """The number of inner scores of a grid point in a fold."""
        return self.folds - 1

    @property
    def test_to_train(self) -> float:
        """The ratio of test to training rows of equal folds, for the variance of Nadeau and Bengio (2003)."""
        return 1 / (self.folds - 1)

    def partition(self, assignment: np.ndarray, *, nested: bool, whole: bool) -> Partition:
        """The fits of a repeat; with `nested` also the inner ones, with `whole` predictions for all rows."""
        partition = Partition.cross_validation(assignment, nested=nested)
        return partition if whole else replace(partition, asked=partition.left_out)

    def validates(self, left_out: tuple[int, int]) -> list[tuple[int, int]]:
        """The outer folds that an inner fit is used for, each with the part that it is validated on."""
        return [left_out, left_out[::-1]]

    def final_rows(self, assignments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the refit, and those for which its predictions are timed."""
        rows = np.flatnonzero(assignments[0] > UNUSED)
        return rows, rows


@dataclass(frozen=True)
class Trials:
    """Random trials: some rows are drawn for training, others for testing, the rest is not used.

    The training rows are split into inner folds, and the first `used` of them serve for validation: one is a
    hold-out set, all are cross-validation. Without `shuffle`, the first rows of the files are for training
    and the last for testing, as with an official test part; inner folds are still random.
    """

    trials: int
    train: int
    test: int
    folds: int
    used: int
    shuffle: bool = True

    def draw(self, y: np.ndarray, seed: int, groups: None = None) -> np.ndarray:
        """The part of each row of `y` in each trial: int16, shape (trials, n_samples).

        0 for test rows, 1 .. folds for the inner folds of the training rows, -1 for rows not used. The first
        trials do not depend on the number of trials.
        """
        if self.train + self.test > len(y):
            asked = f"{self.train} training and {self.test} test rows"
            raise DataError(f"{asked} are more than the {len(y)} rows that there are")
        if self.folds > self.train:
            found = f"{self.folds} inner folds of {self.train} training rows"
            raise DataError(f"{found}; accepted are at most as many")
        generators = self._generators(seed)
        return self._divided(len(y), [self._rows(len(y), rng) for rng in generators])

    def given(self, splits: np.ndarray, seed: int) -> np.ndarray:
        """The test rows that the source of the data defines, and random inner folds of all others."""
        rows = [
            (rng.permutation(np.flatnonzero(tested != TEST)), np.flatnonzero(tested == TEST))
            for rng, tested in zip(self._generators(seed), splits.T, strict=True)
        ]
        return self._divided(len(splits), rows)

    def _generators(self, seed: int) -> list[np.random.Generator]:
        return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(self.trials)]

    def _divided(self, n_rows: int, of_trials: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """The part of each row, given the ordered training rows and the test rows of each trial."""
        assignment = np.full((self.trials, n_rows), UNUSED, dtype=np.int16)
        for trial, (learnt, tested) in enumerate(of_trials):
            for fold, rows in enumerate(np.array_split(learnt, self.folds), start=1):
                assignment[trial, rows] = fold
            assignment[trial, tested] = TEST
        return assignment

    def _rows(self, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The training rows, in random order, and the test rows."""
        if not self.shuffle:
            return rng.permutation(self.train), np.arange(n_rows - self.test, n_rows)
        order = rng.permutation(n_rows)
        return order[: self.train], order[self.train : self.train + self.test]

    @property
    def n_inner(self) -> int:
        """The number of inner scores of a grid point in a trial."""
        return self.used

    @property
    def test_to_train(self) -> float:
        """The ratio of test rows to training rows."""
        return self.test / self.train

    def partition(self, assignment: np.ndarray, *, nested: bool, whole: bool) -> Partition:
        """The fits of a trial; with `nested` also the inner ones, with `whole` predictions for all rows."""
        folds = range(1, self.used + 1) if nested else ()
        left_out = ((TEST,), *((TEST, fold) for fold in folds))
        return Partition(assignment, left_out, None if whole else ((TEST,), *((fold,) for fold in folds)))

    def validates(self, left_out: tuple[int, int]) -> list[tuple[int, int]]:
        """The test part, with the inner fold that an inner fit is validated on."""
        return [left_out]

    def final_rows(self, assignments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the refit, and those for which its predictions are timed."""
        ((_, learnt, tested),) = splits(self, assignments[0])
        return learnt, tested


@dataclass(frozen=True)
class InTime:
    """Splits in time: rows are divided into equal consecutive blocks, and all but the first are tested.

    A trial is trained on all blocks before the one that it tests. The last of these rows are for validating
    parameters: as many as a block has, or half of them.
    """

    folds: int

    def draw(self, y: np.ndarray, seed: int, groups: None = None) -> np.ndarray:
        """The part of each row in each trial: int16, shape (folds, n_samples).

        0 for rows of the tested block, 1 for rows used for validation, 2 for the other rows before the block,
        -1 for rows after it.
        """
        if len(y) < 2 * (self.folds + 1):
            raise DataError(f"{self.folds} folds in time of {len(y)} rows: accepted are two rows a block")
        blocks = np.array_split(np.arange(len(y)), self.folds + 1)
        assignment = np.full((self.folds, len(y)), UNUSED, dtype=np.int16)
        for trial, tested in enumerate(blocks[1:]):
            n_learnt, n_last = tested[0], min(len(tested), tested[0] // 2)
            assignment[trial, : n_learnt - n_last] = 2
            assignment[trial, n_learnt - n_last : n_learnt] = 1
            assignment[trial, tested] = TEST
        return assignment

    @property
    def test_to_train(self) -> float:
        """The mean ratio of test to training rows of equal blocks: one to the one, two, ... before it."""
        return sum(1 / n_blocks for n_blocks in range(1, self.folds + 1)) / self.folds

    n_inner = 1
    partition = Trials.partition
    validates = Trials.validates
    used = 1

    def final_rows(self, assignments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the refit, and those for which its predictions are timed: all."""
        rows = np.arange(assignments.shape[1])
        return rows, rows


def splits(
    scheme: Folds | Trials | InTime, assignment: np.ndarray
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield the left-out part, the training rows and the test rows of each split of a repeat or trial."""
    used = np.flatnonzero(assignment > UNUSED)
    partition = scheme.partition(assignment[used], nested=False, whole=False)
    for left_out in partition.left_out:
        yield left_out[0], used[partition.training(left_out)], used[partition.held_out(left_out)]


def protocol(entry: Mapping) -> Folds | Trials | InTime:
    """The protocol that a mapping describes, see :meth:`entrolab.study.study.Study.protocol_of`."""
    if entry.get("method") == "time":
        return InTime(entry["folds"])
    if "trials" in entry:
        sizes = {name: entry[name] for name in ("trials", "train", "test")}
        return Trials(**sizes, **entry["inner"], shuffle=entry.get("shuffle", True))
    return Folds(entry["folds"], entry["repeats"], entry.get("rows"), entry.get("named_seeds", True))
