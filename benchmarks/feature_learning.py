"""Recursive feature machines beside the plain learners and boosted trees, on sets of the catalog.

``python -m benchmarks.feature_learning`` fits each learner on half of at most 2,000 rows of a set, features
standardised by the training rows, on one thread. It appends what is missing to docs/feature-learning.csv and
writes the means into docs/feature-learning.md. Defaults are fixed on the sets for which
:func:`benchmarks.halves.chosen_on` is true, by a hash of their names; the others are looked at once the
defaults stand.
"""

import argparse
import csv
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.data import ROOT, catalog, from_catalog
from benchmarks.defaults import auc
from benchmarks.halves import chosen_on
from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    RecursiveFeatureClassifier,
    RecursiveFeatureRegressor,
    RKELMClassifier,
    RKELMRegressor,
)

__all__ = ["FIXED_ON", "LEARNERS", "OTHERS", "SETS", "measured", "summary"]

SETS = (
    *("australian", "bank", "breast-cancer", "diabetes", "german-numer", "heart", "ionosphere", "splice"),
    *("liver-disorders", "sonar", "fourclass", "wdbc", "abalone7", "arrhythmia", "balance-scale", "skin"),
    *("car-eval-34", "ecoli-imu", "libras-move", "oil-spill", "sick-euthyroid", "solar-flare-m0", "adult"),
    *("spectrometer", "forest-cover", "isolet", "mammography", "webpages", "adult-raw"),  # binary
    *("segment", "satimage", "shuttle", "usps", "mnist", "sklearn-wine", "sklearn-digits", "sklearn-iris"),
    *("auto-mpg", "abalone", "california-housing", "wpbc", "computer-activity", "triazines", "bank8fm"),
    *("sklearn-diabetes", "mackey-glass"),  # regression
)
FIXED_ON = tuple(name for name in SETS if chosen_on(name))
OTHERS = tuple(name for name in SETS if not chosen_on(name))
LARGE = ("isolet", "webpages", "usps", "mnist")  # of many features: measured last
MAX_ROWS = 2000
COLUMNS = ("set", "learner", "score", "accuracy", "fit_s", "predict_s", "n_rounds")
FOUND, PAGE = ROOT / "docs/feature-learning.csv", ROOT / "docs/feature-learning.md"
BEGIN, END = "<!-- written by python -m benchmarks.feature_learning -->\n", "<!-- end -->"

LAPLACE = {"kernel": "exponential_power", "random_state": 0}
#: Name -> the classifier and the regressor, None where there is none.
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
    "RKELM 300, Laplace": (RKELMClassifier(300, C=0.1, **LAPLACE), RKELMRegressor(300, **LAPLACE)),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(random_state=0),
        HistGradientBoostingRegressor(random_state=0),
    ),
}
PLAIN = {"RFM, diagonal": "EEKM 300, Laplace", "RFM, both metrics": "EEKM 300, Laplace", "RFM on EEM": "EEM"}


def measured(learner, X, y: np.ndarray, regression: bool) -> dict:
    """AUC (the mean over classes) or R² on one half of the rows after a fit on the other, and seconds."""
    folds = KFold if regression else StratifiedKFold
    train, test = next(folds(2, shuffle=True, random_state=0).split(X, y))
    scaler = StandardScaler().fit(X[train])
    seen, unseen = scaler.transform(X[train]), scaler.transform(X[test])
    learner = clone(learner)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        started = time.process_time()
        learner.fit(seen, y[train])
        fitted = time.process_time()
        predicted = learner.predict(unseen)
        done = time.process_time()
        found = {"fit_s": fitted - started, "predict_s": done - fitted}
        found["n_rounds"] = getattr(learner, "n_rounds_", "")
        if regression:
            return {"score": r2_score(y[test], predicted), **found}
        score = auc(learner, unseen, y[test])
    return {"score": score, "accuracy": accuracy_score(y[test], predicted), **found}


def measure(found: Path, mirror, seconds: float) -> None:
    """Append the rows that a file lacks, those of the sets that defaults are fixed on first."""
    new = not found.exists()
    done = set() if new else {tuple(row[:2]) for row in csv.reader(found.open(encoding="utf-8"))}
    until = time.monotonic() + seconds
    with found.open("a", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            table.writeheader()
        for name in sorted(FIXED_ON + OTHERS, key=lambda name: name in LARGE):
            regression = catalog()[name]["task"] == "regression"
            due = {label: pair[regression] for label, pair in LEARNERS.items() if (name, label) not in done}
            due = {label: learner for label, learner in due.items() if learner is not None}
            if not due or time.monotonic() > until:
                continue
            X, y = from_catalog(name, mirror, ROOT / "resources/benchmarks")
            drawn = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
            X, y = X[drawn].toarray() if issparse(X) else X[drawn], y[drawn]
            for label, learner in due.items():
                row = measured(learner, X, y, regression)
                rounded = {key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()}
                table.writerow({"set": name, "learner": label, **rounded})
                file.flush()


def summary(found: pd.DataFrame) -> str:
    """Means by task and half over the sets that all its learners were measured on, as Markdown tables."""
    tasks = {name: catalog()[name]["task"] for name in SETS}
    found = found.assign(task=found["set"].map(tasks), half=found["set"].map(chosen_on))
    tables = []
    for (task, half), some in found.groupby(["task", "half"], sort=False):
        scores = 100 * some.pivot(index="learner", columns="set", values="score")
        scores = scores.dropna(axis="columns")
        seconds = some.pivot(index="learner", columns="set", values="fit_s")[scores.columns]
        lines = [
            f"| {task}, {len(scores.columns)} sets, {'fixed on' if half else 'not looked at'} | "
            f"{'R²' if task == 'regression' else 'AUC'} | worst loss to the plain learner | fit, s |",
            "| --- | --: | --: | --: |",
        ]
        for label in (name for name in LEARNERS if name in scores.index):
            plain = "RKELM 300, Laplace" if task == "regression" else PLAIN.get(label)
            loss = "–"
            if label in PLAIN and plain in scores.index:
                losses = scores.loc[plain] - scores.loc[label]
                loss = f"{losses.max():.1f} ({losses.idxmax()})" if losses.max() > 0.05 else "none"
            lines.append(
                f"| {label} | {scores.loc[label].mean():.1f} | {loss} | {seconds.loc[label].mean():.2f} |"
            )
        tables.append("\n".join(lines))
    return "\n\n".join(tables) + "\n"


def main() -> None:
    """Measure what is missing and write the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.feature_learning", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--mirror", default=os.environ.get("ENTROLEARN_MIRROR"), help="folder of raw files")
    parser.add_argument("--seconds", type=float, default=3600, help="begin no set after so many")
    parser.add_argument("--found", type=Path, default=FOUND, help="rows measured so far")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page whose tables are written")
    arguments = parser.parse_args()
    measure(arguments.found, arguments.mirror, arguments.seconds)
    before, rest = arguments.page.read_text(encoding="utf-8").split(BEGIN)
    tables = summary(pd.read_csv(arguments.found))
    arguments.page.write_text(before + BEGIN + "\n" + tables + "\n" + END + rest.split(END, 1)[1], "utf-8")


if __name__ == "__main__":
    main()
