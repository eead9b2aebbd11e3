"""Seconds and memory of each stage of a study of a wide and of a tall user's table."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from benchmarks.measure import RSS_UNITS_PER_MIB
from benchmarks.report import Section
from entrolab.data.dataset import load_dataset, save_dataset, save_folds
from entrolab.data.prepare import prepare
from entrolab.fit.limits import Limits
from entrolab.fit.protocols import protocol
from entrolab.fit.training import train
from entrolab.report.protocol import protocol as in_words
from entrolab.study.config import load_study
from entrolab.study.job_specs import run_spec
from entrolab.study.lookup import protocol_of

KEY = "table"
MODELS = {
    "EEM": {"estimator": "entrolearn.EEMClassifier", "params": {"n_hidden": 50}},
    "logistic": {"estimator": "sklearn.linear_model.LogisticRegression", "params": {"max_iter": 20}},
}
FOLDS = 3
LIMITS = {"seconds": 600, "gib": 16}  # limits of a run
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Size:
    """The rows and columns of a table of numbers with a label of two classes."""

    name: str
    rows: int
    columns: int


SIZES = (Size("wide", 200, 100_000), Size("tall", 1_000_000, 10))


def own_tables(limits: Limits, sizes: tuple[Size, ...] = SIZES) -> Section:
    """The cost of each job of a study of a CSV file, each in a separate process."""
    rows, notes = {}, []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _write(folder, size)
            for stage in STAGES:
                rows[size.name, stage] = _spent(limits, stage, folder)
            mib = {one: sum(map(_mib, folder.rglob(one))) for one in ("*.csv", "*.json", "*.npz", "*.model")}
        notes.append(
            f"{size.name}: {size.rows:,} rows and {size.columns:,} columns; MiB of the csv file "
            f"{mib['*.csv']:.0f}, of what is kept of its columns {mib['*.json']:.1f}, of the prepared rows "
            f"{mib['*.npz']:.0f}, of the models {mib['*.model']:.1f}."
        )
    table = pd.DataFrame.from_dict(rows, orient="index")
    return Section("Wide and tall tables", table, notes)


def _mib(path: Path) -> float:
    return path.stat().st_size / 2**20


def _spent(limits: Limits, stage: str, folder: Path) -> dict:
    """Processor seconds and peak memory of a stage, including processes that it starts."""
    command = [sys.executable, "-m", __name__, stage, str(folder)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limits.seconds)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{stage}: {error.timeout:g} s were not enough") from None
    if done.returncode:
        raise RuntimeError(f"{stage}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def main(stage: str, folder: Path) -> None:
    """Run a stage in a folder with a table, and print its cost."""
    os.chdir(folder)
    STAGES[stage](folder)
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in ended)
    print(json.dumps({"seconds": seconds, "MiB": max(one.ru_maxrss for one in ended) / RSS_UNITS_PER_MIB}))


def _write(folder: Path, size: Size) -> None:
    """Write a CSV file in chunks, and a study of it."""
    rng = np.random.default_rng(0)
    with (folder / "table.csv").open("w") as file:
        file.write(",".join([*(f"x{k}" for k in range(size.columns)), "y"]) + "\n")
        for begin in range(0, size.rows, 10_000_000 // size.columns):
            X = rng.normal(size=(min(10_000_000 // size.columns, size.rows - begin), size.columns))
            y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, "yes", "no")
            lines = (
                ",".join([*(f"{value:.3f}" for value in row), label]) for row, label in zip(X, y, strict=True)
            )
            file.writelines(f"{line}\n" for line in lines)
    study = {
        "datasets": {KEY: {"file": "table.csv", "label": "y"}},
        "models": {name.lower(): model for name, model in MODELS.items()},
        "protocol": {"folds": FOLDS},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(study))
    (folder / ".snakemake").mkdir()


def _look(folder: Path) -> dict:
    return load_study(folder / "mine.yaml", {})


def _prepare(folder: Path) -> None:
    study = _look(folder)
    " ".join(in_words(study))
    save_dataset(folder / "rows.npz", prepare(KEY, study["own_data"][KEY]))


def _split(folder: Path) -> None:
    scheme = protocol(protocol_of(_look(folder), KEY))
    save_folds(folder / "folds.npz", scheme.draw(load_dataset(folder / "rows.npz").y, 0))


def _train(model: str, folder: Path) -> None:
    spec = run_spec("mine", _look(folder), KEY, model, seed=0)
    outputs = {name: folder / f"{model}.{name}" for name in ("model", "facts", "record")}
    outputs |= {
        name: folder / f"{model}.{name}.parquet" for name in ("candidates", "selection", "predictions")
    }
    train(folder / "rows.npz", folder / "folds.npz", outputs, spec, LIMITS, lambda done, total: None)


STAGES: dict[str, Callable[[Path], object]] = {
    "look through the file": _look,
    "any later start": _look,
    "prepare": _prepare,
    "split": _split,
    **{f"train {name}": partial(_train, name.lower()) for name in MODELS},
}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
