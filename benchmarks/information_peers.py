"""Estimates of mutual information by npeet-plus and bmi, and bmi's tasks; run in a separate environment.

``make peers PEERS=information`` creates it in .peers/information. This file does not import entrolearn, whose
NumPy version bmi does not support. Run with the Python of that environment::

    benchmarks/information_peers.py draw FOLDER ROWS DRAWS   writes rows of bmi's tasks
    benchmarks/information_peers.py estimate FOLDER          estimates of all draws there

A draw is an .npz file with X, Y and perhaps Z; its estimates are in a .json file of the same name:
estimator -> nats and seconds.
"""

import json
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

#: Maximum number of rows for estimators that store all pairs.
MOST_ROWS = 2000


def estimators(X, Y, Z) -> dict:
    """Name -> function without arguments, for the estimators suited to such variables."""
    import npeet_plus

    if Z is not None:
        return {"npeet-plus": lambda: npeet_plus.mi(X, Y, Z, k=3, base=math.e)}
    if X.dtype.kind == "i":
        return {"npeet-plus": lambda: npeet_plus.midd(X[:, None], Y[:, None], base=math.e)}
    if Y.dtype.kind == "i":
        return {"npeet-plus": lambda: npeet_plus.micd(X, Y[:, None], k=3, base=math.e, warning=False)}
    found = {"npeet-plus": lambda: npeet_plus.mi(X, Y, k=3, base=math.e)}
    if X.shape[1] + Y.shape[1] == 2:
        found["npeet-plus LNC"] = lambda: npeet_plus.mi(X, Y, k=10, base=math.e, alpha=0.25)
    if len(X) <= MOST_ROWS:
        from bmi.estimators import (
            CCAMutualInformationEstimator,
            KDEMutualInformationEstimator,
            KSGEnsembleFirstEstimator,
        )

        found["bmi KSG"] = lambda: KSGEnsembleFirstEstimator(neighborhoods=(3,)).estimate(X, Y)
        found["bmi CCA"] = lambda: CCAMutualInformationEstimator().estimate(X, Y)
        found["bmi KDE"] = lambda: KDEMutualInformationEstimator().estimate(X, Y)
    return found


def estimate(folder: Path) -> None:
    """Write the estimates of every draw in a folder."""
    warnings.simplefilter("ignore")
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as held:
            X, Y, Z = held["X"], held["Y"], held.get("Z")
        found = {}
        for name, work in estimators(X, Y, Z).items():
            start = time.process_time()
            try:
                nats = float(work())
            except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError) as error:
                print(f"{file.name}, {name}: {error}", file=sys.stderr)
                nats = math.nan
            found[name] = {"nats": nats, "seconds": time.process_time() - start}
        file.with_suffix(".json").write_text(json.dumps(found))


def draw(folder: Path, n_samples: int, n_draws: int) -> None:
    """Write draws of bmi's tasks, each with its mutual information as stated by bmi."""
    from bmi.benchmark import BENCHMARK_TASKS

    for name, task in BENCHMARK_TASKS.items():
        for seed in range(n_draws):
            X, Y = task.sample(n_samples, seed)
            file = folder / f"{name}-{n_samples}-{seed}.npz"
            np.savez(file, X=X, Y=Y, information=float(task.mutual_information), name=name)


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        draw(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        estimate(Path(sys.argv[2]))
