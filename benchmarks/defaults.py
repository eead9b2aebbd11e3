"""Every public classifier and regressor with default parameters, on raw and on scaled features.

``python -m benchmarks.defaults`` fits each of them, and learners of scikit-learn, on the catalog's data sets:
at most 2,000 rows of each, half for training and half for testing. It appends missing rows to
docs/defaults.csv and prints the means.
"""

import argparse
import csv
import os
import resource
import time
import warnings
from collections.abc import Iterator
from importlib import import_module

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

import entrolearn
from benchmarks.data import ROOT, catalog, from_catalog
from entrolab.data.dataset import DataUnavailable
from entrolab.io.limits import KilledError, LimitError, Limits, within

MAX_ROWS = 2000
MAX_BYTES = 20_000_000  # maximum size of a data set's files; data sets of unknown size are left out
MAX_DENSE = 1000  # sparse rows with at most so many features are made dense for learners that need that
GIB = 4.0
COLUMNS = ("set", "learner", "features", "score", "auc", "seconds", "reason")
FOUND = ROOT / "docs/defaults.csv"


SEARCHES = {"EntropySearch", "PathSearchCV"}  # which have no defaults


def _public() -> Iterator[tuple[str, BaseEstimator]]:
    for name, module in (entrolearn._MODULES | entrolearn._IN_SUBPACKAGES).items():
        value = getattr(import_module(module), name)
        if isinstance(value, type) and issubclass(value, BaseEstimator) and name not in SEARCHES:
            learner = value()
            if is_classifier(learner) or is_regressor(learner):
                random = {"random_state": 0} if "random_state" in learner.get_params() else {}
                yield name, learner.set_params(**random)


NYSTROEM = Nystroem(n_components=250, random_state=0)
PEERS: dict[str, BaseEstimator] = {
    "`SVC`": SVC(),
    "Nyström features + LDA": make_pipeline(
        NYSTROEM, LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    ),
    "Nyström features + `RidgeClassifier`": make_pipeline(NYSTROEM, RidgeClassifier()),
    "logistic regression": LogisticRegression(),
    "`HistGradientBoostingClassifier`": HistGradientBoostingClassifier(random_state=0),
    "`SVR`": SVR(),
    "Nyström features + `Ridge`": make_pipeline(NYSTROEM, Ridge()),
    "`HistGradientBoostingRegressor`": HistGradientBoostingRegressor(random_state=0),
}
LEARNERS = {**dict(_public()), **PEERS}


def measured(learner: BaseEstimator, X, y: np.ndarray, scaled: bool, seconds: float) -> dict:
    """The scores of a learner on one half of the rows, after a fit on the other; or the reason for none.

    `scaled` standardises features by the training rows; sparse ones are only divided by their deviation.
    `seconds` is the limit of processor time for fit and prediction. The result has ``score`` (balanced
    accuracy, or R²), ``auc`` (of one class against the rest, the mean over classes) and ``seconds``; or
    ``reason``.
    """
    tags = get_tags(learner)
    if is_classifier(learner) and len(np.unique(y)) > 2 and not tags.classifier_tags.multi_class:
        return {"reason": "two classes only"}
    if issparse(X) and not tags.input_tags.sparse:
        if X.shape[1] > MAX_DENSE:
            return {"reason": "dense rows only"}
        X = X.toarray()
    try:
        # The wall-clock limit only matters if the process sleeps, or if the machine is busy.
        (found,) = within(Limits(20 * seconds, GIB), _fitted, clone(learner), X, y, scaled, seconds)
    except (KilledError, LimitError, RuntimeError) as error:
        over = "SIGXCPU" in str(error) or isinstance(error, LimitError) and error.status == "time limit"
        return {"reason": f"over {seconds:g} s" if over else str(error)}
    return found


def _fitted(learner, X, y, scaled, seconds) -> Iterator[dict]:
    warnings.simplefilter("ignore")
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(np.ceil(seconds)), most))
    folds = StratifiedKFold if is_classifier(learner) else KFold
    train, test = next(folds(2, shuffle=True, random_state=0).split(X, y))
    if scaled:
        learner = make_pipeline(StandardScaler(with_mean=not issparse(X)), learner)
    started = time.process_time()
    predicted = learner.fit(X[train], y[train]).predict(X[test])
    taken = time.process_time() - started
    if is_regressor(learner):
        yield {"score": r2_score(y[test], predicted), "seconds": taken}
        return
    score = balanced_accuracy_score(y[test], predicted)
    yield {"score": score, "auc": auc(learner, X[test], y[test]), "seconds": taken}


def auc(learner, X, y: np.ndarray) -> float:
    """Area under the ROC curve of each class against the rest, the mean over the classes."""
    how = "decision_function" if hasattr(learner, "decision_function") else "predict_proba"
    values = getattr(learner, how)(X)
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    positive = y[:, None] == learner.classes_
    told = positive.any(axis=0)
    return float(np.mean([roc_auc_score(positive[:, k], values[:, k]) for k in np.flatnonzero(told)]))


def measure(mirror, seconds: float) -> None:
    """Measure and append the rows that docs/defaults.csv lacks."""
    done = {tuple(row[:3]) for row in csv.reader(FOUND.open(encoding="utf-8"))}
    with FOUND.open("a", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        for name, entry in catalog().items():
            kind = is_regressor if entry["task"] == "regression" else is_classifier
            due = [
                (label, features)
                for label, learner in LEARNERS.items()
                for features in ("raw", "scaled")
                if kind(learner) and (name, label, features) not in done
            ]
            size = sum(part.get("bytes", np.inf) for part in entry.get("files", ()))
            if not due or size > MAX_BYTES:
                continue
            try:
                X, y = from_catalog(name, mirror, ROOT / "resources/benchmarks")
            except DataUnavailable as absence:
                print(f"{name}: {absence}", flush=True)
                continue
            drawn = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
            X, y = X[drawn], y[drawn]
            for label, features in due:
                row = measured(LEARNERS[label], X, y, features == "scaled", seconds)
                rounded = {key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()}
                table.writerow({"set": name, "learner": label, "features": features, **rounded})
                file.flush()


def summary(found: pd.DataFrame, kind) -> str:
    """Means of classifiers or regressors over data sets with both raw and scaled features, as Markdown.

    `kind` is :func:`sklearn.base.is_classifier`, or is_regressor: R² below -1 counts as -1.
    """
    scores = found.assign(score=found["score"].clip(lower=-1))
    wide = scores.pivot(index=["learner", "set"], columns="features", values=["score", "auc", "seconds"])
    lines = []
    for label, learner in LEARNERS.items():
        if not kind(learner) or label not in wide.index:
            continue
        rows = wide.loc[label]
        both = rows[rows["score"].notna().all(axis=1)]
        raw, scaled = 100 * both["score"].mean()[["raw", "scaled"]]
        shown = [f"{raw:.1f}", f"{scaled:.1f}", f"{raw - scaled:+.1f}".replace("-", "−")]
        if kind is is_classifier:
            shown += [f"{100 * both['auc'].mean()[way]:.1f}" for way in ("raw", "scaled")]
        over = rows["score"].isna() & found[found.learner == label].pivot(
            index="set", columns="features", values="reason"
        ).apply(lambda column: column.str.startswith("over", na=False))
        shown += [f"{len(both)}", f"{over.any(axis=1).sum() or '–'}"]
        module = entrolearn._IN_SUBPACKAGES.get(label, "entrolearn")
        public = label in entrolearn.__all__ or label in entrolearn._IN_SUBPACKAGES
        named = f"{{class}}`~{module}.{label}`" if public else label
        lines.append((raw, f"| {named} | {' | '.join(shown)} |"))
    head = ["raw", "scaled", "raw − scaled", *(["AUC raw", "AUC scaled"] if kind is is_classifier else [])]
    head += ["sets", "over the limit"]
    ordered = [line for _, line in sorted(lines, key=lambda pair: -pair[0])]
    score = "balanced accuracy" if kind is is_classifier else "R²"
    return "\n".join([f"| {score}, % | {' | '.join(head)} |", "| --- |" + " --: |" * len(head), *ordered, ""])


def main() -> None:
    """Run missing measurements and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__.split("\n")[0])
    parser.add_argument("--mirror", default=os.environ.get("ENTROLEARN_MIRROR"), help="folder of raw files")
    parser.add_argument(
        "--seconds", type=float, default=20, help="processor time of a fit (default %(default)s)"
    )
    arguments = parser.parse_args()
    measure(arguments.mirror, arguments.seconds)
    tables = [summary(pd.read_csv(FOUND), kind) for kind in (is_classifier, is_regressor)]
    print("\n".join(tables))


if __name__ == "__main__":
    main()
