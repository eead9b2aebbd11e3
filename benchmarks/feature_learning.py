"""Recursive feature machines, plain learners, boosted trees and xRFM compared on data sets of the catalog.

``python -m benchmarks.feature_learning`` fits each learner on half of at most 2,000 rows of a data set, with
features standardised by the training rows, on one thread. It appends missing rows to
docs/feature-learning.csv, whose means ``make docs`` shows. Defaults are chosen on the data
sets for which :func:`chosen_on` is true, by a hash of their names; the others are only used
after the defaults are fixed. xRFM is included if ``make board-env`` has installed it.
"""

import argparse
import csv
import hashlib
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.data import ROOT, catalog, from_catalog
from benchmarks.defaults import auc
from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    RecursiveFeatureClassifier,
    RecursiveFeatureRegressor,
    RKELMClassifier,
    RKELMRegressor,
)

SETS = (
    *("australian", "bank", "breast-cancer", "diabetes", "german-numer", "heart", "ionosphere", "splice"),
    *("liver-disorders", "sonar", "fourclass", "wdbc", "abalone7", "arrhythmia", "balance-scale", "skin"),
    *("car-eval-34", "ecoli-imu", "libras-move", "oil-spill", "sick-euthyroid", "solar-flare-m0", "adult"),
    *("spectrometer", "forest-cover", "isolet", "mammography", "webpages", "adult-raw"),  # binary
    *("segment", "satimage", "shuttle", "usps", "mnist", "sklearn-wine", "sklearn-digits", "sklearn-iris"),
    *("auto-mpg", "abalone", "california-housing", "wpbc", "computer-activity", "triazines", "bank8fm"),
    *("sklearn-diabetes", "mackey-glass"),  # regression
)


def chosen_on(name: str) -> bool:
    """Whether defaults are chosen on this data set; the others are only used afterwards.

    Examples
    --------
    >>> [name for name in ("auto-mpg", "bank8fm", "wpbc") if chosen_on(name)]
    ['auto-mpg']
    """
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


FIXED_ON = tuple(name for name in SETS if chosen_on(name))
OTHERS = tuple(name for name in SETS if not chosen_on(name))
LARGE = ("isolet", "webpages", "usps", "mnist")  # data sets with many features, measured last
MAX_ROWS = 2000
COLUMNS = ("set", "learner", "score", "accuracy")
COLUMNS += ("fit_s", "predict_s", "n_rounds", "times_fit", "times_predict")
REPETITIONS = 7  # number of repeated predictions, alternating with the plain learner
XRFM = "xRFM"
XRFM_FOLDER = ROOT / ".board"
FOUND = ROOT / "docs/feature-learning.csv"

LAPLACE = {"kernel": "exponential_power", "random_state": 0}
#: Name -> classifier and regressor, or None.
LEARNERS = {
    "RFM, diagonal": (RecursiveFeatureClassifier(random_state=0), RecursiveFeatureRegressor(random_state=0)),
    "RFM, both metrics": (
        RecursiveFeatureClassifier(metric="auto", random_state=0),
        RecursiveFeatureRegressor(metric="auto", random_state=0),
    ),
    "EEKM 300, Laplace": (EEKMClassifier(300, **LAPLACE), None),
    "EEKM 300, Gaussian": (EEKMClassifier(300, random_state=0), None),
    "RFM on EEM": (RecursiveFeatureClassifier(EEMClassifier(random_state=0), random_state=0), None),
    "EEM": (EEMClassifier(random_state=0), None),
    "RKELM 300, Laplace": (RKELMClassifier(300, alpha=0.1, **LAPLACE), RKELMRegressor(300, **LAPLACE)),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(random_state=0),
        HistGradientBoostingRegressor(random_state=0),
    ),
}
PLAIN = {"RFM, diagonal": "EEKM 300, Laplace", "RFM, both metrics": "EEKM 300, Laplace", "RFM on EEM": "EEM"}


def plain_of(label: str, regression: bool) -> str | None:
    """The plain learner inside a recursive one; None for other learners."""
    return "RKELM 300, Laplace" if regression and label in PLAIN else PLAIN.get(label)


def measured(learner, X, y: np.ndarray, regression: bool, plain=None) -> dict:
    """AUC (the mean over classes) or R² on one half of the rows after a fit on the other, and seconds.

    Seconds of `plain` are measured right before and after, for the ratio to it.
    """
    X, y, unseen, truth = _halves(X, y, regression)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        before = None if plain is None else _fit_seconds(plain, X, y)[1]
        learner, fit_seconds = _fit_seconds(learner, X, y)
        found = {"fit_s": fit_seconds, "n_rounds": getattr(learner, "n_rounds_", "")}
        seconds = [_predict_seconds(learner, unseen)]
        if plain is not None:
            plain, after = _fit_seconds(plain, X, y)
            found["times_fit"] = fit_seconds / (before + after) * 2
            pairs = [
                (_predict_seconds(learner, unseen), _predict_seconds(plain, unseen))
                for _ in range(REPETITIONS)
            ]
            seconds, of_plain = zip(*pairs, strict=True)
            found["times_predict"] = float(np.median(seconds) / np.median(of_plain))
        found["predict_s"] = float(np.median(seconds))
        predicted = learner.predict(unseen)
        if regression:
            return {"score": r2_score(truth, predicted), **found}
        return {"score": auc(learner, unseen, truth), "accuracy": accuracy_score(truth, predicted), **found}


def _halves(X, y: np.ndarray, regression: bool) -> tuple:
    """Standardised training rows and their y, and the others."""
    folds = KFold if regression else StratifiedKFold
    train, test = next(folds(2, shuffle=True, random_state=0).split(X, y))
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _fit_seconds(learner, X, y) -> tuple:
    learner, started = clone(learner), time.process_time()
    learner.fit(X, y)
    return learner, time.process_time() - started


def _predict_seconds(learner, X) -> float:
    started = time.process_time()
    learner.predict(X)
    return time.process_time() - started


@contextmanager
def xrfm() -> Iterator[subprocess.Popen | None]:
    """Yield a process that runs :mod:`benchmarks.xrfm_peer`; None if xRFM is not installed."""
    if not (XRFM_FOLDER / ".entrolearn").exists():
        yield None
        return
    command = [XRFM_FOLDER / "bin/python", ROOT / "benchmarks/xrfm_peer.py"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
    with subprocess.Popen(command, text=True, env=alone, **pipes) as process:
        yield process
        process.stdin.close()


def ask_xrfm(process: subprocess.Popen, X, y: np.ndarray, unseen, n_classes: int) -> tuple[np.ndarray, dict]:
    """xRFM's predictions of unseen rows (values, or probabilities of the classes 0, 1, ...), and its seconds.

    If xRFM fails, a RuntimeError has its message.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, X_train=X, y_train=y, X_test=unseen, n_classes=n_classes)
        process.stdin.write(f"{file}\n")
        process.stdin.flush()
        found = json.loads(process.stdout.readline())
        if "error" in found:
            raise RuntimeError(found["error"])
        return np.load(found.pop("answers")), found


def measured_xrfm(process: subprocess.Popen, X, y: np.ndarray, regression: bool) -> dict:
    """The result of :func:`measured` for xRFM; raises RuntimeError if it fails."""
    classes, y = ([], y) if regression else np.unique(y, return_inverse=True)
    X, y, unseen, truth = _halves(X, y, regression)
    answers, found = ask_xrfm(process, X, y, unseen, len(classes))
    if regression:
        return {"score": r2_score(truth, answers), **found}
    told = [k for k in range(len(classes)) if (truth == k).any()]
    score = np.mean([roc_auc_score(truth == k, answers[:, k]) for k in told])
    return {"score": float(score), "accuracy": accuracy_score(truth, answers.argmax(axis=1)), **found}


def measured_on(name: str, mirror, process: subprocess.Popen | None, done: Set) -> Iterator[dict]:
    """Yield the rows of the learners on a data set that are not in `done`."""
    regression = catalog()[name]["task"] == "regression"
    due = {label: pair[regression] for label, pair in LEARNERS.items() if (name, label) not in done}
    due = {label: learner for label, learner in due.items() if learner is not None}
    asked = process is not None and (name, XRFM) not in done
    if not due and not asked:
        return
    X, y = from_catalog(name, mirror, ROOT / "resources/benchmarks")
    drawn = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
    X, y = X[drawn].toarray() if issparse(X) else X[drawn], y[drawn]
    for label, learner in due.items():
        of = plain_of(label, regression)
        plain = None if of is None else LEARNERS[of][regression]
        yield {"set": name, "learner": label, **measured(learner, X, y, regression, plain)}
    if asked:
        try:
            yield {"set": name, "learner": XRFM, **measured_xrfm(process, X, y, regression)}
        except RuntimeError as error:
            print(f"{name}: xRFM: {error}", flush=True)


def measure(mirror, seconds: float) -> None:
    """Measure and append the rows that docs/feature-learning.csv lacks, sets with many features last."""
    done = {tuple(row[:2]) for row in csv.reader(FOUND.open(encoding="utf-8"))}
    until = time.monotonic() + seconds
    with FOUND.open("a", encoding="utf-8", newline="") as file, xrfm() as process:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        for name in sorted(FIXED_ON + OTHERS, key=lambda name: name in LARGE):
            if time.monotonic() > until:
                return
            for row in measured_on(name, mirror, process, done):
                table.writerow({key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()})
                file.flush()


def summary(found: pd.DataFrame) -> str:
    """Means by task and half, over the data sets with results of all learners, as Markdown tables."""
    tasks = {name: catalog()[name]["task"] for name in SETS}
    found = found.assign(task=found["set"].map(tasks), half=found["set"].map(chosen_on))
    tables = []
    for (task, half), some in found.groupby(["task", "half"], sort=False):
        scores = 100 * some.pivot(index="learner", columns="set", values="score")
        scores = scores.dropna(axis="columns")
        seconds, times_fit, times_predict = (
            some.pivot(index="learner", columns="set", values=column)[scores.columns].astype(float)
            for column in ("fit_s", "times_fit", "times_predict")
        )
        lines = [
            f"| {task}, {len(scores.columns)} sets, {'fixed on' if half else 'not looked at'} | "
            f"{'R²' if task == 'regression' else 'AUC'} | worst loss to the plain learner | fit, s | "
            "× plain: median, largest | predict × plain |",
            "| --- | --: | --: | --: | --: | --: |",
        ]
        for label in (name for name in (*LEARNERS, XRFM) if name in scores.index):
            plain, loss, ratios = plain_of(label, task == "regression"), "–", "– | –"
            if plain in scores.index:
                losses = scores.loc[plain] - scores.loc[label]
                loss = f"{losses.max():.1f} ({losses.idxmax()})" if losses.max() > 0.05 else "none"
                of_fits, of_predictions = times_fit.loc[label], times_predict.loc[label]
                ratios = f"{of_fits.median():.1f}, {of_fits.max():.1f} | {of_predictions.median():.2f}"
            means = f"{scores.loc[label].mean():.1f} | {loss} | {seconds.loc[label].mean():.2f}"
            lines.append(f"| {label} | {means} | {ratios} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables) + "\n"


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.feature_learning", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--mirror", default=os.environ.get("ENTROLEARN_MIRROR"), help="folder of raw files")
    parser.add_argument("--seconds", type=float, default=3600, help="begin no set after so many")
    arguments = parser.parse_args()
    measure(arguments.mirror, arguments.seconds)


if __name__ == "__main__":
    main()
