"""Networks beside their peers: entropies of errors, softmax regression, perceptrons, components."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.decomposition import FastICA
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.data import Split, Trial, draw
from benchmarks.measure import alone, measured, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import InfomaxICA, MSEMLPClassifier, SoftmaxRegression
from entrolearn.measures import error_entropy
from entrolearn.networks import amari_index

logger = logging.getLogger(__name__)

DIGITS = Trial("sklearn-digits", 1400, 397, n_features=64, n_classes=10)
MNIST = Trial("mnist", 60_000, 10_000, n_features=784, n_classes=10)

# --- entropies of errors ------------------------------------------------------------------------------

ORDERS = ("shannon", "renyi")


def entropies(
    limits: Limits, sizes: Sequence[int] = (200, 2000, 20_000), bandwidths: Sequence[float] = (0.1, 1.0)
) -> Section:
    """The entropy of errors and its gradient by all pairs and binned."""
    rows = []
    for n in sizes:
        for order in ORDERS:
            for bandwidth in bandwidths:
                exact, binned = (
                    alone(limits, evaluated, method, n, order, bandwidth) for method in ("exact", "binned")
                )
                rows.append(
                    {
                        "N": n,
                        "entropy": order,
                        "h": bandwidth,
                        "all pairs ms": 1e3 * exact["s"],
                        "binned ms": 1e3 * binned["s"],
                        "faster": exact["s"] / binned["s"],
                        "value": abs(binned["value"] - exact["value"]),
                        "gradient": relative_error(binned["gradient"], exact["gradient"]),
                    }
                )
    notes = [
        "Errors of targets ±1 and outputs in between, h the bandwidth of their density. Processor seconds of "
        "an evaluation of value and gradient on one thread; the binned value's error in nats, that of its "
        "gradient as a share of its length.",
    ]
    return Section("Entropy of errors", pd.DataFrame(rows).set_index(["N", "entropy", "h"]), notes)


def evaluated(method: str, n_samples: int, order: str, bandwidth: float) -> dict:
    """Seconds of an evaluation, its value and its gradient."""
    e = errors(n_samples)
    spent = spend(lambda: error_entropy(e, bandwidth, order=order, method=method))
    value, gradient = spent.value
    return {"s": spent.seconds, "value": value, "gradient": gradient}


def errors(n_samples: int) -> np.ndarray:
    """Differences between targets ±1 and the outputs of a unit that has learnt something."""
    rng = np.random.default_rng(0)
    targets = rng.choice([-1.0, 1.0], n_samples)
    return targets - np.tanh(targets + rng.standard_normal(n_samples))


def relative_error(found: np.ndarray, right: np.ndarray) -> float:
    """The length of the difference over that of the right one."""
    return float(np.linalg.norm(found - right) / np.linalg.norm(right))


# --- softmax regression -------------------------------------------------------------------------------

WEIGHT_DECAY = 1e-3
SOFTMAX_COLUMNS = ("s", "iterations", "loss", "%")
# From the numbers of training rows and of iterations. Nothing but rounding ends them before, so that both do
# the same work.
DESCENTS: dict[str, Callable[[int, int], BaseEstimator]] = {
    "SoftmaxRegression": lambda n, iterations: SoftmaxRegression(WEIGHT_DECAY, max_iter=iterations, tol=0.0),
    "LogisticRegression": lambda n, iterations: LogisticRegression(
        C=1 / (n * WEIGHT_DECAY), max_iter=iterations, tol=0.0
    ),
}


def softmax(
    limits: Limits,
    trials: Sequence[Trial] = (DIGITS, MNIST),
    iterations=100,
    precisions: Sequence[str] = ("float64", "float32"),
    mirror=None,
) -> Section:
    """As many iterations of softmax regression as of scikit-learn's, and the loss at which they end."""
    rows = []
    for trial in trials:
        split, made = draw(trial, mirror=mirror)
        for precision in precisions:
            cast = in_precision(split, precision)
            found = {}
            for name, build in DESCENTS.items():
                logger.info("%s, %s: %s", trial.name, precision, name)
                machine = build(len(cast.y_train), iterations)
                found[name] = measured(limits, SOFTMAX_COLUMNS, descended, machine, cast)
            row = {"data set": named(trial, made), "precision": precision, **_seconds(found)}
            row["× at equal loss"] = at_equal_loss(*found.values())
            for column in SOFTMAX_COLUMNS[1:]:
                row |= {f"{name} {column}": each[column] for name, each in found.items()}
            rows.append(row | {"note": _notes(found)})
    notes = [
        f"At most {iterations} iterations of L-BFGS each from the same start, weight decay {WEIGHT_DECAY:g}, "
        "intercepts not penalised. Processor seconds on one thread, × multiples of our own, at equal loss "
        "those of the iterations that take ours to where the other one ends. The loss is the mean "
        "cross-entropy plus the penalty, computed once more from the weights in double precision; % is the "
        "accuracy on test rows.",
    ]
    table = pd.DataFrame(rows).set_index(["data set", "precision"])
    return Section("Softmax regression", table, notes)


def descended(machine: BaseEstimator, split: Split) -> dict:
    """Seconds of a fit, its iterations, the loss at its end and on the way, the accuracy in percent."""
    seconds = spend(lambda: machine.fit(split.X_train, split.y_train)).seconds
    return {
        "s": seconds,
        "iterations": int(np.max(machine.n_iter_)),
        "loss": penalised_loss(machine, split),
        "%": 100 * machine.score(split.X_test, split.y_test),
        "curve": getattr(machine, "loss_curve_", ()),
    }


def at_equal_loss(ours: dict, theirs: dict) -> float:
    """Their seconds over those of ours until its loss is theirs; NaN where it does not get there."""
    there = np.flatnonzero(np.asarray(ours.get("curve", ())) <= theirs["loss"] * (1 + 1e-6))
    if not there.size:
        return np.nan
    return theirs["s"] / (ours["s"] * (there[0] + 1) / ours["iterations"])


def penalised_loss(machine: BaseEstimator, split: Split) -> float:
    """Mean cross-entropy of the training rows plus half the weight decay times the squared weights."""
    coef = machine.coef_.astype(np.float64)
    logs = log_softmax(split.X_train @ coef.T + machine.intercept_, axis=1)
    own = np.searchsorted(machine.classes_, split.y_train)
    cross_entropy = -logs[np.arange(len(own)), own].mean()
    return float(cross_entropy + 0.5 * WEIGHT_DECAY * np.sum(coef**2))


def _seconds(found: dict[str, dict]) -> dict[str, float]:
    """Those of our own, which come first, and the multiples of them that the others take."""
    (ours, own), *others = found.items()
    return {f"{ours} s": own["s"]} | {f"{name} ×": each["s"] / own["s"] for name, each in others}


def _notes(found: dict[str, dict]) -> str:
    return "; ".join(f"{name}: {each['note']}" for name, each in found.items() if each["note"])


def in_precision(split: Split, precision: str) -> Split:
    """The same rows as numbers of that precision."""
    X_train, X_test = (X.astype(precision) for X in (split.X_train, split.X_test))
    return Split(X_train, split.y_train, X_test, split.y_test)


def named(trial: Trial, made: bool) -> str:
    """The data set's name, which says where it had to be made."""
    return trial.name + " (made)" * made


# --- perceptrons --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Training:
    """The shape of a perceptron and how it is trained."""

    n_hidden: int
    batch_size: int
    epochs: int
    precision: str = "float32"


# Mini-batches, and the essay's online rule.
TRAININGS = (
    (DIGITS, Training(100, 32, 20, "float64")),
    (DIGITS, Training(100, 32, 20)),
    (MNIST, Training(100, 100, 3, "float64")),
    (MNIST, Training(100, 100, 3)),
    (MNIST, Training(300, 100, 3)),
    (MNIST, Training(100, 1, 1)),
)
MLP_COLUMNS = ("s", "%")
PERCEPTRONS: dict[str, Callable[[Training], BaseEstimator]] = {
    "MSEMLPClassifier": lambda t: MSEMLPClassifier(
        t.n_hidden, batch_size=t.batch_size, max_iter=t.epochs, learning_rate=_rate(t), random_state=0
    ),
    "MLPClassifier": lambda t: MLPClassifier(
        (t.n_hidden,),
        activation="logistic",
        solver="sgd",
        alpha=0.0,
        momentum=0.0,
        batch_size=t.batch_size,
        learning_rate_init=_rate(t),
        max_iter=t.epochs,
        n_iter_no_change=t.epochs,
        random_state=0,
    ),
}


def _rate(training: Training) -> float:
    """Small where single rows are followed."""
    return 0.02 if training.batch_size == 1 else 0.2


def perceptrons(
    limits: Limits, trainings: Sequence[tuple[Trial, Training]] = TRAININGS, mirror=None
) -> Section:
    """Seconds of an epoch of networks of the same shape and batches."""
    rows, held = [], None
    for trial, training in trainings:
        if trial != held:
            held, (split, made) = trial, draw(trial, mirror=mirror)
        cast = in_precision(split, training.precision)
        row = {
            "data set": named(trial, made),
            "hidden": training.n_hidden,
            "batch": training.batch_size,
            "precision": training.precision,
        }
        found = {}
        for name, build in PERCEPTRONS.items():
            logger.info("%s, %s: %s", trial.name, training, name)
            found[name] = measured(limits, MLP_COLUMNS, trained, build(training), cast, training.epochs)
        row |= {**_seconds(found), "epochs": training.epochs}
        row |= {f"{name} %": each["%"] for name, each in found.items()}
        rows.append(row | {"note": _notes(found)})
    notes = [
        "One hidden layer of logistic units, plain gradient descent, the same batches and learning rate. "
        "Processor seconds of an epoch on one thread, × multiples of our own; the accuracy on test rows "
        "after so many epochs. The networks minimise different losses, squared error and cross-entropy, "
        "whose gradients differ in size: the accuracies say that both learn, not which learns better.",
    ]
    table = pd.DataFrame(rows).set_index(["data set", "hidden", "batch", "precision"])
    return Section("Epochs of perceptrons", table, notes)


def trained(machine: BaseEstimator, split: Split, epochs: int) -> dict:
    """Seconds of an epoch, and the accuracy on test rows in percent after all of them."""
    seconds = spend(lambda: machine.fit(split.X_train, split.y_train)).seconds
    if machine.n_iter_ != epochs:
        raise RuntimeError(f"{machine.n_iter_} epochs instead of {epochs}")
    return {"s": seconds / epochs, "%": 100 * machine.score(split.X_test, split.y_test)}


# --- independent components ---------------------------------------------------------------------------

SEPARATORS: dict[str, Callable[[int], BaseEstimator]] = {
    "InfomaxICA": lambda seed: InfomaxICA(random_state=seed),
    "all logistic": lambda seed: InfomaxICA(extended=False, random_state=seed),
    "FastICA": lambda seed: FastICA(whiten="unit-variance", random_state=seed),
}
# Kinds of the sources in turn, number of sources, rows.
MIXTURES = (
    (("laplace",), 5, 1000),
    (("laplace",), 5, 20_000),
    (("laplace",), 20, 20_000),
    (("laplace", "uniform"), 6, 5000),
    (("laplace", "uniform"), 20, 20_000),
)


def components(
    limits: Limits, mixtures: Sequence[tuple[Sequence[str], int, int]] = MIXTURES, repetitions=9
) -> Section:
    """Seconds to find the sources of mixtures, and how far they are from being recovered."""
    rows = []
    for kinds, n_sources, n_samples in mixtures:
        row = {"sources": " and ".join(kinds), "n": n_sources, "N": n_samples}
        found = {}
        for name in SEPARATORS:
            logger.info("%s: %s", row, name)
            each = [
                alone(limits, separated, name, kinds, n_sources, n_samples, s) for s in range(repetitions)
            ]
            found[name] = pd.DataFrame(each).median()
        row |= _seconds(found)
        row |= {f"{name} index": each["index"] for name, each in found.items()}
        rows.append(row | {f"{name} iterations": each["iterations"] for name, each in found.items()})
    notes = [
        f"Medians over {repetitions} mixtures by random matrices, the same for all. Processor seconds of a "
        "fit on one thread, × multiples of InfomaxICA's; Amari's index is 0 where each output is one source. "
        "All logistic is InfomaxICA without densities for flat sources; FastICA has its default settings.",
    ]
    return Section("Independent components", pd.DataFrame(rows).set_index(["sources", "n", "N"]), notes)


def separated(name: str, kinds: Sequence[str], n_sources: int, n_samples: int, seed: int) -> dict:
    """Seconds of a fit of one of :data:`SEPARATORS`, Amari's index of what it finds, its iterations."""
    X, mixing = mixture(kinds, n_sources, n_samples, seed)
    ica = SEPARATORS[name](seed)
    seconds = spend(lambda: ica.fit(X)).seconds
    return {"s": seconds, "index": amari_index(ica.components_ @ mixing), "iterations": ica.n_iter_}


def mixture(kinds: Sequence[str], n_sources: int, n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of sources of these kinds in turn, mixed, and the matrix that mixes them."""
    rng = np.random.default_rng(seed)
    draws = {"laplace": rng.laplace, "uniform": rng.uniform}
    sources = np.column_stack([draws[kinds[i % len(kinds)]](size=n_samples) for i in range(n_sources)])
    mixing = rng.standard_normal((n_sources, n_sources))
    return sources / sources.std(axis=0) @ mixing.T, mixing
