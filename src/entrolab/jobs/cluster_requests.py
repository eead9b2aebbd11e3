"""What a job asks a cluster for: memory and time, from the sizes of its data and from how its learner grows.

The numbers are upper bounds by a rough model, not predictions: a job that asks for too much waits longer, one
that asks for too little is ended by the cluster and tried again with four times as much. No job asks for more
than the study's limits allow a cell to take, and one of whose learner nothing is known asks for all of that
at once.

Snakemake calls these for each job of a run, before any data are there: rows and features are those of the
catalog.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from entrolab.fit.learners import grid_points, learners_of

__all__ = ["Ask", "Needs", "ceiling", "needs_of_run", "needs_of_data", "needs_of_drawing"]

MIB = 2**20
# Beside the work itself: the job's process with its libraries, and the two snakemakes that a cluster's job
# starts.
BASE_MIB = 1200
# Minutes in which any job starts and writes what it has found, on a slow file system too.
BASE_MINUTES = 10
# What a cell's job may still need when its fits have had all of their time.
MARGIN_MINUTES = 30
# Copies of the rows: as they are read, as they are used, and those of a training set.
COPIES = 4
# A job that was ended asks for as many times as much.
GROWTH = 4

DOUBLE = 8
# Bytes of a sparse row's value with its column, for each byte of the text that it was read from.
PER_BYTE_OF_TEXT = 3
# Of one slow core in a second: operations, and entries of a kernel matrix that libsvm looks at. Measured
# (docs/cluster.md), with room.
RATE = 2e9
ENTRIES = 1e7
# Units or landmarks of a learner whose study does not say.
UNITS = 1000
# Matrices of the order of the rows that a fit by all pairs holds at once: kernels and factors.
SQUARES = 6

# How learners grow: by hidden units, by landmarks, by all pairs of rows, by these pairs again and again.
LAYERED = {"EEMClassifier", "WELMClassifier", "ELMClassifier", "ELMRegressor"}
REDUCED = {"EEKMClassifier", "RKELMClassifier", "RKELMRegressor"}
SQUARE = {"LSSVC", "LSSVR", "KELMClassifier", "KELMRegressor"}
KERNEL_SVMS = {"SVC", "SVR", "NuSVC", "NuSVR"}


class Ask(NamedTuple):
    """What a job asks for.

    Attributes
    ----------
    mem_mb : int
        Memory, in megabytes of 10^6 bytes.
    runtime : int
        Wall-clock time, in minutes.
    """

    mem_mb: int
    runtime: int


@dataclass(frozen=True)
class Needs:
    """Bytes and seconds of some work, without those of starting its job; infinite where nothing is known."""

    bytes: float
    seconds: float

    def asked(self, limits: Mapping, attempt: int = 1) -> Ask:
        """What a job with these needs asks for.

        Parameters
        ----------
        limits : mapping
            With ``limit_gib`` and ``limit_seconds``, what a cell may take.
        attempt : int
            1, and one more each time that the job is tried again.
        """
        most, times = ceiling(limits), GROWTH ** (attempt - 1)
        return Ask(
            _whole(min(times * _megabytes(self.bytes), most.mem_mb)),
            _whole(min(times * (BASE_MINUTES + self.seconds / 60), most.runtime)),
        )


UNKNOWN = Needs(math.inf, math.inf)


def ceiling(limits: Mapping) -> Ask:
    """The most that a job asks for: what a cell may take, and what its job takes beside that."""
    return Ask(
        _whole(_megabytes(limits["limit_gib"] * 2**30)),
        _whole(limits["limit_seconds"] / 60) + MARGIN_MINUTES,
    )


def needs_of_data(entry: Mapping) -> Needs:
    """What reading, scaling or dividing a data set takes.

    Parameters
    ----------
    entry : mapping
        Of the catalog: its ``expect`` says how many rows and features there are.
    """
    size = _bytes_of(entry)
    return Needs(COPIES * size, size / 1e6)


def needs_of_run(cell: Mapping, entry: Mapping) -> Needs:
    """What training a learner's whole grid on all training sets of a data set takes, the refit included.

    Parameters
    ----------
    cell : mapping
        As :func:`entrolab.study.job_specs.run_spec` gives it.
    entry : mapping
        Of the catalog.
    """
    of_learners = [_needs_of_learner(learner, cell, entry) for learner in learners_of(cell)]
    data = needs_of_data(entry)
    if cell["steps"]:  # copies of the rows for each step; what else a step does is not known
        data = Needs(2 * data.bytes, math.inf)
    return Needs(
        data.bytes + max(needs.bytes for needs in of_learners),
        data.seconds + sum(needs.seconds for needs in of_learners),
    )


def needs_of_drawing(entries: Iterable[Mapping]) -> Needs:
    """What drawing the rows of some data sets takes, with what is fitted to them on the way."""
    each = [needs_of_data(entry) for entry in entries]
    return Needs(sum(needs.bytes for needs in each), BASE_MINUTES * 60 + sum(needs.seconds for needs in each))


def _needs_of_learner(learner: str, cell: Mapping, entry: Mapping) -> Needs:
    rows = _rows(cell["protocol"], entry["expect"]["rows"])
    features, points = entry["expect"]["features"], len(grid_points(cell))
    repeats, sets = _training_sets(cell["protocol"])
    name = learner.rsplit(".", 1)[-1]
    if name in LAYERED | REDUCED:
        units = _largest(cell, "n_hidden" if name in LAYERED else "n_landmarks", rows)
        # Sizes of a layer share their pass; what else is searched has one each.
        passes = repeats * points * (1 if name in LAYERED else 2)
        held = DOUBLE * (units**2 * _classes(entry) * (sets + 2) + units * features + rows * points)
        return Needs(held, passes * (rows * units**2 + 2 * rows * features * units + sets * units**3) / RATE)
    if name in SQUARE:
        return Needs(SQUARES * DOUBLE * rows**2, repeats * points * sets * rows**3 / RATE)
    if name in KERNEL_SVMS:
        return Needs(SQUARES * DOUBLE * rows**2, repeats * points * sets * rows**2 / ENTRIES)
    return UNKNOWN


def _bytes_of(entry: Mapping) -> float:
    """Bytes of a data set's features: all of them, or those that are not zero where it is kept sparse."""
    expect = entry["expect"]
    dense = DOUBLE * expect["rows"] * expect["features"]
    texts = [file.get("bytes") for file in entry.get("files", ())]
    if entry.get("format", {}).get("sparse_features") and all(texts):
        return min(dense, PER_BYTE_OF_TEXT * sum(texts))
    return dense


def _classes(entry: Mapping) -> int:
    classes = entry["expect"].get("classes")
    return 2 if classes is None else len(classes) if isinstance(classes, (list, dict)) else classes


def _rows(protocol: Mapping, rows: int) -> int:
    """Rows of a training set and those that are held out of it, at most."""
    if "trials" in protocol:
        return protocol["train"] + protocol["test"]
    return min(rows, protocol.get("rows", rows))


def _training_sets(protocol: Mapping) -> tuple[int, int]:
    """How often a protocol begins anew, and how many training sets it has each time, inner ones counted."""
    if "trials" in protocol:
        return protocol["trials"], 1 + protocol["inner"]["used"]
    folds = protocol["folds"]
    return protocol["repeats"], folds + folds * (folds - 1) // 2


def _largest(cell: Mapping, name: str, rows: int) -> float:
    """The largest value of a size in a cell; all rows where it is not a plain number of units."""
    points = grid_points(cell)
    values = [point.get(name, cell["params"].get(name, UNITS)) for point in points]
    return max(value if isinstance(value, int) and value > 0 else rows for value in values)


def _megabytes(size: float) -> float:
    return (BASE_MIB * MIB + size) / 1e6


def _whole(number: float) -> int:
    return math.ceil(number)
