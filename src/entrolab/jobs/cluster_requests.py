"""Memory and time that jobs request from a cluster, from the size of the data and the cost of the learner.

The numbers are upper bounds from a rough model: a job that requests too much waits longer; a job that
requests too little is ended by the cluster and tried again with `GROWTH` times as much. No job requests more
than the limits of a run allow; a job with an unknown learner requests that maximum at once. Snakemake calls
these functions for each job before any data exist, so numbers of rows and features come from the catalog.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from entrolab.fit import thresholds
from entrolab.fit.learners import grid_points, learners_of

MIB = 2**20
BASE_MIB = 1200  # of the job's process with its libraries, and the two snakemakes that a cluster's job starts
BASE_MINUTES = 10  # for starting and writing files, even on a slow file system
MARGIN_MINUTES = 30  # that a run may need in addition to the time limit of its fits
COPIES = 4  # of the rows: as read, as used, and those of a training set
GROWTH = 4  # factor of a request when a job is tried again

DOUBLE = 8  # bytes
PER_BYTE_OF_TEXT = 3  # bytes of a sparse row's values and columns for each byte of its text
# Measured rates per second of one slow core (docs/cluster.md): floating-point operations, and entries of a
# kernel matrix that libsvm visits.
RATE = 2e9
ENTRIES = 1e7
UNITS = 1000  # units or landmarks of a learner if the study does not set them
SQUARES = 6  # rows × rows matrices that a fit with a full kernel matrix holds at once

# Learners by what their cost grows with: hidden units, landmarks, pairs of rows, passes over these pairs.
LAYERED = {"EEMClassifier", "WELMClassifier", "ELMClassifier", "ELMRegressor"}
REDUCED = {"EEKMClassifier", "RKELMClassifier", "RKELMRegressor"}
SQUARE = {"LSSVC", "LSSVR", "KELMClassifier", "KELMRegressor"}
KERNEL_SVMS = {"SVC", "SVR", "NuSVC", "NuSVR"}


class Ask(NamedTuple):
    """Memory in megabytes of 10^6 bytes, and wall-clock time in minutes."""

    mem_mb: int
    runtime: int


@dataclass(frozen=True)
class Needs:
    """Bytes and seconds that some work needs, without starting its job; infinite if unknown."""

    bytes: float
    seconds: float

    def asked(self, limits: Mapping, attempt: int = 1) -> Ask:
        """The request of a job with these needs, capped by ``limit_gib`` and ``limit_seconds`` of a run."""
        most, times = ceiling(limits), GROWTH ** (attempt - 1)
        minutes = BASE_MINUTES + self.seconds / 60
        return Ask(
            math.ceil(min(times * _megabytes(self.bytes), most.mem_mb)),
            math.ceil(min(times * minutes, most.runtime)),
        )


UNKNOWN = Needs(math.inf, math.inf)


def ceiling(limits: Mapping) -> Ask:
    """The largest request of a job: the limits of a run, plus the overhead of its job."""
    minutes = math.ceil(limits["limit_seconds"] / 60) + MARGIN_MINUTES
    return Ask(math.ceil(_megabytes(limits["limit_gib"] * 2**30)), minutes)


def needs_of_data(entry: Mapping) -> Needs:
    """The needs of reading, scaling or splitting a data set, from its entry in the catalog."""
    expect = entry["expect"]
    size = DOUBLE * expect["rows"] * expect["features"]
    texts = [file.get("bytes") for file in entry.get("files", ())]
    if entry.get("format", {}).get("sparse_features") and all(texts):
        size = min(size, PER_BYTE_OF_TEXT * sum(texts))
    return Needs(COPIES * size, size / 1e6)


def needs_of_run(spec: Mapping, entry: Mapping) -> Needs:
    """The needs of fitting the whole grid of a run on all training sets, and of its refit.

    For `spec` see :func:`entrolab.study.job_specs.run_spec`; `entry` is the data set's in the catalog.
    """
    of_learners = [_needs_of_learner(learner, spec, entry) for learner in learners_of(spec)]
    data = needs_of_data(entry)
    fits = 1 + thresholds.FOLDS if "threshold" in spec else 1
    if spec["steps"]:  # a copy of the rows per step; other costs of steps are unknown
        data = Needs(2 * data.bytes, math.inf)
    return Needs(
        data.bytes + max(needs.bytes for needs in of_learners),
        data.seconds + fits * sum(needs.seconds for needs in of_learners),
    )


def needs_of_drawing(entries: Iterable[Mapping]) -> Needs:
    """The needs of drawing figures of some data sets, including fits for the figures."""
    each = [needs_of_data(entry) for entry in entries]
    return Needs(sum(needs.bytes for needs in each), BASE_MINUTES * 60 + sum(needs.seconds for needs in each))


def _needs_of_learner(learner: str, spec: Mapping, entry: Mapping) -> Needs:
    rows, repeats, sets = _drawn(spec["protocol"], entry["expect"]["rows"])
    features, points = entry["expect"]["features"], len(grid_points(spec))
    name = learner.rsplit(".", 1)[-1]
    if name in LAYERED | REDUCED:
        units = _largest(spec, "n_hidden" if name in LAYERED else "n_landmarks", rows)
        # Candidates that differ only in layer size share a pass; other candidates have one each.
        passes = repeats * points * (1 if name in LAYERED else 2)
        classes = entry["expect"].get("classes", 2)
        held = DOUBLE * (units**2 * classes * (sets + 2) + units * features + rows * points)
        return Needs(held, passes * (rows * units**2 + 2 * rows * features * units + sets * units**3) / RATE)
    if name in SQUARE:
        return Needs(SQUARES * DOUBLE * rows**2, repeats * points * sets * rows**3 / RATE)
    if name in KERNEL_SVMS:
        return Needs(SQUARES * DOUBLE * rows**2, repeats * points * sets * rows**2 / ENTRIES)
    return UNKNOWN


def _drawn(protocol: Mapping, rows: int) -> tuple[int, int, int]:
    """The rows that a repeat draws, the number of repeats, and of training sets including inner ones."""
    if "trials" in protocol:
        return protocol["train"] + protocol["test"], protocol["trials"], 1 + protocol["inner"]["used"]
    folds = protocol["folds"]
    return min(rows, protocol.get("rows", rows)), protocol["repeats"], folds + folds * (folds - 1) // 2


def _largest(spec: Mapping, name: str, rows: int) -> float:
    """The largest value of a size parameter in a run's grid; `rows` if it is not a number of units."""
    values = [point.get(name, spec["params"].get(name, UNITS)) for point in grid_points(spec)]
    return max(value if isinstance(value, int) and value > 0 else rows for value in values)


def _megabytes(size: float) -> float:
    return (BASE_MIB * MIB + size) / 1e6
