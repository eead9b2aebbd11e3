"""Find the missing runs of a board, carry them out, and append their rows to its file."""

import csv
import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path

import numpy as np

from benchmarks.board.learners import LEARNERS, N_CONFIGURATIONS, make
from benchmarks.board.protocol import FOLDS, INNER_FOLDS, LIMIT_S, SCORES, TUNING_S, Run, pipeline, results_of
from benchmarks.board.sets import SIZES, TUNED, draw, in_order, n_rows, sets_of
from benchmarks.data import ROOT
from benchmarks.report import machine
from entrolab.data.dataset import DataUnavailable
from entrolab.io.atomic import write_text
from entrolab.io.limits import KilledError, LimitError, Limits, within

FOLDER = ROOT / "docs/board"
GIB = 6.0
WALL = 100  # wall-clock seconds allowed per processor second: for runs that sleep, and busy machines
#: (variant, size) -> number of runs of a learner on a data set, two per draw.
N_RUNS = {
    ("default", 1_000): 10,
    ("threshold", 1_000): 4,
    ("tuned", 1_000): 4,
    ("default", 10_000): 2,
    ("default", 100_000): 1,
}
PEERS = ("lightgbm", "catboost", "xgboost-cpu", "skglm", "xrfm", "torch")
PACKAGES = ("entrolearn", "scikit-learn", "numpy", "scipy", *PEERS)
KEY = ("set", "size", "learner", "variant", "repeat", "fold")


def due_runs(board: str, variant: str, size: int) -> Iterator[Run]:
    """Yield the planned runs of a variant and size, draw by draw: an unfinished board has complete draws.

    Data sets that fit into the next smaller size are left out.
    """
    if variant == "threshold" and board != "binary":
        return
    names = TUNED[board] if variant == "tuned" else in_order(sets_of(board))
    below = max((one for one in SIZES if one < size), default=0)
    learners = [
        name
        for name, learner in LEARNERS.items()
        if make(name, board) is not None and (learner.space if variant == "tuned" else not learner.only_tuned)
    ]
    n_runs = N_RUNS[variant, size]
    for repeat in range(math.ceil(n_runs / FOLDS)):
        for name in names:
            if n_rows(name) > below:
                for fold in range(min(FOLDS, n_runs - FOLDS * repeat)):
                    for learner in learners:
                        yield Run(name, size, learner, variant, repeat, fold)


def carry_out_due(file: Path, board: str, runs: Iterable[Run], made: str, mirror, until: float) -> int:
    """Carry out the runs that a file lacks and append their rows; return the number of runs carried out.

    A learner that reached its limit on a data set is not run there again, neither on other rows nor on more
    rows: these runs get the reason at once. `made` is the digest of the versions and the machine; after
    `until`, by the monotonic clock, no run is begun.
    """
    done, over, absent, count = _read(file), {}, set(), 0
    for key, reason in done.items():
        _note(over, Run(*key), reason)
    new = not file.exists() or not file.stat().st_size
    with file.open("a", encoding="utf-8", newline="") as opened:
        columns = [*KEY, *SCORES[board], "fit_s", "predict_s", "reason", "made"]
        table = csv.DictWriter(opened, columns, lineterminator="\n")
        if new:
            table.writeheader()
        for run in runs:
            if run.key in done or run.set in absent:
                continue
            if time.monotonic() > until:
                break
            try:
                found = _rows_of(run, board, over, mirror)
            except DataUnavailable as absence:
                print(f"{run.set}: {absence}", flush=True)
                absent.add(run.set)
                continue
            count += 1
            for row in found:
                if row["variant"] == run.variant:
                    _note(over, run, row.get("reason", ""))
                row = {**dict(zip(KEY, run.key, strict=True)), **row, "made": made}
                table.writerow({name: _compact(value) for name, value in row.items()})
            opened.flush()
    return count


def _rows_of(run: Run, board: str, over: dict, mirror) -> list[dict]:
    """The rows of a run: its results, then the reason for variants that failed."""
    variants = [run.variant]
    if run.variant == "tuned" and board == "binary":
        variants.append("tuned threshold")
    least = over.get((run.set, run.learner, run.variant), math.inf)
    if run.size >= least:
        reason = f"over the limit on a draw of at most {least} rows: not run again"
        return [{"variant": variant, "reason": reason} for variant in variants]
    X, y = draw(run.set, run.size, run.repeat, mirror)
    seconds = 3 * LIMIT_S[run.size] + TUNING_S * (run.variant == "tuned")
    rows, reason = [], ""
    try:
        for row in within(Limits(WALL * seconds, GIB), results_of, run, board, X, y):
            rows.append(row)
    except KilledError:
        raise
    except (LimitError, RuntimeError) as error:
        over_limit = isinstance(error, LimitError) or "SIGXCPU" in str(error)
        reason = "over the limit" if over_limit else " ".join(str(error).split())[:120]
    return rows + [{"variant": variant, "reason": reason} for variant in variants[len(rows) :]]


def _note(over: dict, run: Run, reason: str) -> None:
    if reason.startswith("over the limit"):
        key = run.set, run.learner, run.variant
        over[key] = min(run.size, over.get(key, math.inf))


def _compact(value):
    return f"{value:.4g}" if isinstance(value, float | np.floating) else value


def _read(file: Path) -> dict[tuple, str]:
    """The runs in a file, with the reasons of those that failed; an interrupted run is removed."""
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
    if file.stem == "binary" and lines and ",tuned," in lines[-1]:  # the row "tuned threshold" is missing
        lines.pop()
    if "".join(lines) != text:
        write_text(file, "".join(lines))
    rows = [row for row in csv.DictReader(lines) if row["variant"] != "tuned threshold"]
    numbers = {"size", "repeat", "fold"}
    return {tuple(int(row[k]) if k in numbers else row[k] for k in KEY): row["reason"] for row in rows}


def write_header() -> str:
    """Write protocol, versions and machine; return the digest of versions and machine."""
    file = FOLDER / "header.json"
    header = json.loads(file.read_text(encoding="utf-8"))
    trees = ["HEAD:src/entrolearn", "HEAD:benchmarks/board"]
    found = subprocess.run(["git", "rev-parse", *trees], cwd=ROOT, capture_output=True, text=True)
    made = {
        "machine": machine().split("\n")[0].removeprefix("- "),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "trees": dict(zip(trees, found.stdout.split(), strict=False)),
    }
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:6]
    header["made"][digest] = made
    header["protocol"] = {
        "limit, processor seconds by rows": LIMIT_S,
        "tuning, processor seconds": TUNING_S,
        "configurations": N_CONFIGURATIONS,
        "inner folds": INNER_FOLDS,
        "clock": "processor time",
        "seeds": "of a draw and its folds: the repeat; of a learner: 2 × repeat + fold",
    }
    file.write_text(json.dumps(header, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return digest


def by_turns(runs: dict[str, Iterator[Run]]) -> Iterator[tuple[str, list[Run]]]:
    """Yield the runs of one data set of each board in turn."""
    key = attrgetter("repeat", "set")
    groups = [[(board, list(of)) for _, of in groupby(due, key)] for board, due in runs.items()]
    return (group for turn in zip_longest(*groups) for group in turn if group is not None)


def warm_up() -> None:
    """Fit every learner to a few rows as a run does, so that no learner's time has imports or compilation."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    warnings.simplefilter("ignore")
    for board, y in (("binary", X[:, 0] > 0), ("multiclass", np.arange(60) % 3), ("regression", X[:, 1])):
        for name in LEARNERS:
            learner, regression = make(name, board), board == "regression"
            if learner is not None:
                model = pipeline(learner, [], X.shape[1], regression)
                model.fit(X, y.astype(float) if regression else y.astype(int)).predict(X)


def one_thread() -> None:
    """Start this program again with one thread for BLAS and OpenMP, if it has more."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    if any(os.environ.get(name) != "1" for name in names):
        os.environ.update(dict.fromkeys(names, "1"))
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.board", *sys.argv[1:]])
