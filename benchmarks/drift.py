"""Accuracy over time on streams with drift: fading and windows compared with other incremental learners.

``python -m benchmarks.drift FOLDER`` writes the accuracies over time there, as drift.csv and drift.png.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.data import from_catalog
from benchmarks.measure import measured
from benchmarks.peers import why_absent
from benchmarks.report import Section
from entrolab.data.dataset import DataUnavailable
from entrolab.io.limits import Limits
from entrolearn import EEMClassifier, ELMClassifier
from entrolearn.streaming import SlidingWindow

CLASSES = np.array([0, 1])
FIRST, CHUNK = 200, 50  # rows of the first chunk, and of each later one
WINDOW = 1000  # rows; the total weight of rows in fading machines is the same
DECAY = 1 - CHUNK / WINDOW
N_HIDDEN = 100
SEGMENTS = 20  # of a stream, for the accuracy over time
GENERATED = ("none", "sudden", "gradual", "recurring")
REAL = ("elec", "weather")


def generated(drift: str, n_rows: int = 12_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A stream of rows uniform in [0, 1]^5 with two classes and one wrong label in twenty.

    The classes lie inside and outside a ball around one of two centres, and are swapped with the centre.
    "sudden": after half of the rows. "gradual": the share of the second concept grows from 0 after three
    tenths of the rows to 1 after seven tenths. "recurring": the concepts alternate, six times.
    """
    rng, place = np.random.default_rng(seed), np.arange(n_rows) / n_rows
    X = rng.uniform(size=(n_rows, 5))
    share = {
        "none": np.zeros(n_rows),
        "sudden": place >= 0.5,
        "gradual": np.clip((place - 0.3) / 0.4, 0, 1),
        "recurring": (6 * place).astype(int) % 2,
    }[drift]
    second = rng.uniform(size=n_rows) < share
    centre = np.where(second[:, None], 0.7, 0.3)
    inside = np.square(X[:, :3] - centre[:, :1]).sum(axis=1) < 0.2
    return X, ((inside != second) != (rng.uniform(size=n_rows) < 0.05)).astype(int)


@dataclass
class Learner:
    """An incremental learner: `learn` takes rows and labels, `predict` takes rows."""

    learn: Callable
    predict: Callable


def _ours(machine, **options) -> Learner:
    return Learner(lambda X, y: machine.partial_fit(X, y, classes=CLASSES, **options), machine.predict)


def _eem() -> EEMClassifier:
    return EEMClassifier(N_HIDDEN, priors="empirical", random_state=0)


def _elm() -> ELMClassifier:
    return ELMClassifier(N_HIDDEN, slope=5.0, alpha=0.1, random_state=0)


def _scaled(model) -> Learner:
    """A learner of scikit-learn on rows standardised by the means and variances so far."""
    scaler = StandardScaler()

    def learn(X, y):
        model.partial_fit(scaler.partial_fit(X).transform(X), y, classes=CLASSES)

    return Learner(learn, lambda X: model.predict(scaler.transform(X)))


def _river(model) -> Learner:
    """A learner of river, which takes one row at a time, as a dictionary."""

    def learn(X, y):
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            model.learn_one(dict(enumerate(row)), label)

    return Learner(
        learn, lambda X: np.array([model.predict_one(dict(enumerate(row))) or 0 for row in X.tolist()])
    )


def _no_change() -> Learner:
    """A baseline that always predicts the last label of the previous chunk."""
    last = [0]
    return Learner(lambda X, y: last.append(y[-1]), lambda X: np.full(len(X), last[-1]))


def learners() -> dict[str, Callable[[], Learner]]:
    """Name -> function that makes the learner; those of river only if it is installed."""
    found = {
        "EEM": lambda: _ours(_eem()),
        "EEM, fading": lambda: _ours(_eem(), decay=DECAY),
        "EEM, window": lambda: _ours(SlidingWindow(_eem(), WINDOW)),
        "ELM": lambda: _ours(_elm()),
        "ELM, fading": lambda: _ours(_elm(), decay=DECAY),
        "ELM, window": lambda: _ours(SlidingWindow(_elm(), WINDOW)),
        "SGD, log loss": lambda: _scaled(SGDClassifier(loss="log_loss", random_state=0)),
        "passive-aggressive": lambda: _scaled(
            SGDClassifier(penalty=None, learning_rate="pa1", eta0=1.0, random_state=0)
        ),
        "GaussianNB": lambda: _scaled(GaussianNB()),
        "MLP": lambda: _scaled(MLPClassifier(random_state=0)),
        "no change": _no_change,
    }
    if not why_absent("river"):
        from river import drift, forest, naive_bayes, tree

        found |= {
            "river GaussianNB": lambda: _river(naive_bayes.GaussianNB()),
            "river Hoeffding tree": lambda: _river(tree.HoeffdingTreeClassifier()),
            "river adaptive tree": lambda: _river(tree.HoeffdingAdaptiveTreeClassifier(seed=0)),
            "river adaptive forest": lambda: _river(
                forest.ARFClassifier(seed=0, drift_detector=drift.ADWIN())
            ),
        }
    return found


def stream(name: str, mirror=None) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a stream in order of time, and labels 0 and 1; raises `DataUnavailable` without them."""
    if name in GENERATED:
        return generated(name)
    X, y = from_catalog(name, mirror)
    return X, (y > 0).astype(int)


def prequential(learner: Learner, X, y) -> np.ndarray:
    """Whether rows after the first chunk were predicted correctly before they were learnt, chunk by chunk."""
    learner.learn(X[:FIRST], y[:FIRST])
    right = []
    for start in range(FIRST, len(y), CHUNK):
        rows = slice(start, start + CHUNK)
        right.append(learner.predict(X[rows]) == y[rows])
        learner.learn(X[rows], y[rows])
    return np.concatenate(right)


def run(learner: str, X, y) -> dict:
    """Accuracy in percent, on all rows and on each segment, and processor seconds per 1,000 rows."""
    start = time.process_time()
    right = 100.0 * prequential(learners()[learner](), X, y)
    seconds = 1000 * (time.process_time() - start) / len(y)
    over_time = [segment.mean() for segment in np.array_split(right, SEGMENTS)]
    return {"all": right.mean(), "s / 1000 rows": seconds, **dict(enumerate(over_time))}


def accuracies(limits: Limits, mirror=None) -> Iterator[tuple[str, str, dict]]:
    """Yield stream, learner and the result of :func:`run`, NaN if it fails."""
    columns = ["all", "s / 1000 rows", *range(SEGMENTS)]
    for name in (*GENERATED, *REAL):
        try:
            X, y = stream(name, mirror)
        except DataUnavailable:
            continue
        for learner in learners():
            yield name, learner, measured(limits, columns, run, learner, X, y)


def drift(limits: Limits, mirror=None) -> Section:
    """Prequential accuracy of all learners on all streams."""
    found = {(learner, name): each["all"] for name, learner, each in accuracies(limits, mirror)}
    table = pd.Series(found).unstack(sort=False)
    notes = [
        f"Accuracy in % of rows that are predicted, {CHUNK} at a time, before they are learnt; the first "
        f"{FIRST} rows are learnt only. h = {N_HIDDEN}; windows of {WINDOW:,} rows, fading by {DECAY:g} "
        "per chunk. " + why_absent("river")
    ]
    return Section("Streams that drift", table, notes)


def main(folder: Path) -> None:
    """Write accuracies over time as a table and a figure."""
    limits, rows = Limits(seconds=1200), []
    for name, learner, found in accuracies(limits, os.environ.get("ENTROLEARN_MIRROR")):
        rows.append({"stream": name, "learner": learner, **found})
        print(name, learner, f"{found['all']:.1f} %, {found['s / 1000 rows']:.3f} s", flush=True)
    pd.DataFrame(rows).drop(columns="note").round(3).to_csv(folder / "drift.csv", index=False)
    draw(pd.read_csv(folder / "drift.csv"), folder / "drift.png")


def draw(table: pd.DataFrame, path: Path) -> None:
    """Accuracy over time of some learners, a panel for each stream."""
    import matplotlib.pyplot as plt

    shown = ["EEM", "EEM, fading", "EEM, window", "SGD, log loss", "GaussianNB", "river adaptive forest"]
    names = table["stream"].unique()
    figure, axes = plt.subplots(2, -(-len(names) // 2), figsize=(10, 5), sharex=True, layout="constrained")
    place = (np.arange(SEGMENTS) + 0.5) / SEGMENTS
    for axis, name in zip(axes.flat, names, strict=False):
        axis.set_title(name)
        lines = table[table["stream"] == name].set_index("learner")[[str(i) for i in range(SEGMENTS)]]
        for learner in [each for each in shown if each in lines.index]:
            axis.plot(place, lines.loc[learner], label=learner)
    for axis in axes[:, 0]:
        axis.set_ylabel("accuracy, %")
    figure.supxlabel("share of the stream")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(shown))
    figure.savefig(path, dpi=90, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
