"""Estimate the cost of fits to very many rows on several machines from measurements on one machine."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.data import uniform
from benchmarks.distributed import one_reduction
from benchmarks.measure import alone, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import EEMClassifier
from entrolearn.machines.moments import ClassMoments, moments_by_group
from entrolearn.machines.readouts import class_covariances, entropy_discriminant
from entrolearn.streaming.distributed import FAN_IN

# Assumed, since they cannot be measured here: speeds of network and shared storage, and cores per machine.
NETWORK = 10e9 / 8  # bytes a second: 10 Gbit/s
STORE = 2e9  # bytes a second of shared storage, for all machines together
CORES = 16


@dataclass(frozen=True)
class Constants:
    """Measurements for one number of features and of units, with two classes and rows in single precision."""

    row_seconds: float  # of a core, for the sums of one row
    solve_seconds: float  # to compute the machine from the sums
    predict_seconds: float  # of one row
    sums_bytes: int  # of the sums in transfer: one triangle of symmetric matrices
    merge_seconds: float  # to pack and unpack sums and to add them to others


@dataclass(frozen=True)
class Cost:
    """The estimated cost of one fit, in seconds and bytes."""

    sums: float
    store: float
    tree: float
    solve: float
    travels: float
    memory: float

    @property
    def seconds(self) -> float:
        """Seconds of the pass over the rows; reading and summing overlap, so the slower one counts."""
        return max(self.sums, self.store) + self.tree + self.solve

    @property
    def bottleneck(self) -> str:
        """The name of the part that takes most of the time."""
        parts = {"sums": self.sums, "store": self.store, "tree": self.tree, "solve": self.solve}
        return max(parts, key=parts.get)


def on_paper(
    limits: Limits,
    n_samples: Sequence[float] = (1e9, 1e12),
    n_features=100,
    n_hidden=1000,
    n_machines: Sequence[int] = (1, 10, 100),
    measured_on: Sequence[int] = (50_000, 150_000),
) -> Section:
    """Estimated time, memory, transfer and core hours of fits to very many rows."""
    found = alone(limits, constants, n_features, n_hidden, measured_on)
    rows = []
    for n in n_samples:
        for m in n_machines:
            of_fit = cost(found, n, n_features, n_hidden, m)
            rows.append(
                {
                    "rows": f"{n:.0e}",
                    "machines": m,
                    "fit min": of_fit.seconds / 60,
                    "sums min": of_fit.sums / 60,
                    "store min": of_fit.store / 60,
                    "tree s": of_fit.tree,
                    "solve s": of_fit.solve,
                    "travels GiB": of_fit.travels / 2**30,
                    "memory MiB": of_fit.memory / 2**20,
                    "core hours": m * CORES * of_fit.seconds / 3600,
                    "bottleneck": of_fit.bottleneck,
                }
            )
    notes = [
        f"d = {n_features}, h = {n_hidden}, two classes, float32. Measured on one core: {in_words(found)}.",
        f"Assumed: {CORES} cores for each machine, a network of {NETWORK * 8 / 1e9:.0f} Gbit/s, a store that "
        f"gives {STORE / 1e9:.0f} GB/s to all of them together, a tree that adds {FAN_IN} sums at a time. "
        "Core hours are of all cores as long as the fit takes; times a price they are its cost.",
    ]
    table = pd.DataFrame(rows).set_index(["rows", "machines"])
    return Section("Very many rows on several machines, on paper", table, notes)


def constants(n_features: int, n_hidden: int, measured_on: Sequence[int]) -> Constants:
    """Measure the constants on this machine; the cost per row is the difference of two fits."""
    few, many = measured_on
    X, y = uniform(many, n_features, np.float32)
    machine = EEMClassifier(n_hidden, random_state=0).fit(X[:1000], y[:1000])
    of_few, of_many = (spend(lambda n=n: machine.fit(X[:n], y[:n])).seconds for n in (few, many))
    row = (of_many - of_few) / (many - few)
    moments = moments_by_group(machine._layer, X[:few], y[:few], n_groups=2)
    solve = spend(lambda: solved(moments)).seconds
    predict = spend(lambda: machine.predict(X)).seconds / many
    of_sums = one_reduction(n_hidden)
    merge = sum(of_sums[step] for step in ("packing ms", "unpacking ms", "merging ms")) / 1000
    return Constants(row, solve, predict, int(of_sums["MiB"] * 2**20), merge)


def solved(moments: list[ClassMoments]):
    """The entropy discriminant of two classes, and their shrinkages."""
    covariances, _ = class_covariances(moments, "ledoit_wolf")
    return entropy_discriminant(np.array([of_class.mean for of_class in moments]), covariances)


def cost(found: Constants, n_samples: float, n_features: int, n_hidden: int, n_machines: int) -> Cost:
    """The cost of a fit by a tree of sums: each core sums its rows, then FAN_IN sums are merged per level."""
    workers = n_machines * CORES
    levels = math.ceil(math.log(workers, FAN_IN)) if workers > 1 else 0
    level = (FAN_IN - 1) * (found.merge_seconds + found.sums_bytes / NETWORK)
    return Cost(
        sums=n_samples * found.row_seconds / workers,
        store=n_samples * n_features * 4 / STORE,
        tree=levels * level,
        solve=found.solve_seconds,
        travels=(workers - 1) * found.sums_bytes,
        # Memory of a worker: its sums and received sums (both triangles), two chunks, a block of units.
        memory=4 * found.sums_bytes + 2 * 2**25 + 2 * 2**24,
    )


def in_words(found: Constants) -> str:
    """The constants with their units."""
    return (
        f"{found.row_seconds * 1e6:.1f} µs for a row's sums, {found.solve_seconds:.2f} s for the solution, "
        f"{found.predict_seconds * 1e6:.2f} µs for a prediction, {found.sums_bytes / 2**20:.1f} MiB of sums, "
        f"{found.merge_seconds * 1e3:.0f} ms to pack, unpack and add them"
    )
