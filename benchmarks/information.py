"""Networks compared with peers: entropies of errors, softmax regression, perceptrons, components."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.decomposition import FastICA
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.data import Split, Trial, draw
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import InfomaxICA
from entrolearn.measures import error_entropy
from entrolearn.networks import MSEMLPClassifier, SoftmaxRegression, amari_index

DIGITS = Trial("sklearn-digits", 1400, 397, n_features=64, n_classes=10)
MNIST = Trial("mnist", 60_000, 10_000, n_features=784, n_classes=10)

# --- entropies of errors ------------------------------------------------------------------------------


def entropies(
    sizes: Sequence[int] = (200, 2000, 20_000), bandwidths: Sequence[float] = (0.1, 1.0)
) -> Iterator[Race]:
    """The entropy of errors and its gradient, by all pairs and with binning."""
    for n in sizes:
        for order in ("shannon", "renyi"):
            for h in bandwidths:
                ways = {
                    name: partial(evaluated, method, n, order, h)
                    for name, method in (("binned", "binned"), ("all pairs", "exact"))
                }
                yield Race(f"{n:,} errors, {order}, bandwidth {h:g}", ways, "nats")


def evaluated(method: str, n_samples: int, order: str, bandwidth: float, seed: int) -> Spent:
    """Cost of an evaluation of value and gradient, and the value."""
    e = errors(n_samples, seed)
    spent = spend(lambda: error_entropy(e, bandwidth, entropy=order, method=method))
    return replace(spent, value=spent.value[0])


def errors(n_samples: int, seed: int = 0) -> np.ndarray:
    """Differences between targets ±1 and the outputs of a partly trained unit."""
    rng = np.random.default_rng(seed)
    targets = rng.choice([-1.0, 1.0], n_samples)
    return targets - np.tanh(targets + rng.standard_normal(n_samples))


# --- softmax regression -------------------------------------------------------------------------------

WEIGHT_DECAY = 1e-3
# Functions of the numbers of training rows and of iterations. Tolerances are so small that all do the same
# number of iterations.
DESCENTS: dict[str, Callable[[int, int], BaseEstimator]] = {
    "SoftmaxRegression": lambda n, iterations: SoftmaxRegression(WEIGHT_DECAY, max_iter=iterations, tol=0.0),
    "LogisticRegression": lambda n, iterations: LogisticRegression(
        C=1 / (n * WEIGHT_DECAY), max_iter=iterations, tol=0.0
    ),
}


def softmax(
    trials: Sequence[Trial] = (DIGITS, MNIST),
    iterations=100,
    precisions: Sequence[str] = ("float64", "float32"),
    mirror=None,
) -> Iterator[Race]:
    """Equally many iterations of our softmax regression and scikit-learn's, and the final losses."""
    for trial in trials:
        split, made = draw(trial, mirror=mirror)
        for precision in precisions:
            cast = in_precision(split, precision)
            ways = {name: partial(descended, name, cast, iterations) for name in DESCENTS}
            yield Race(f"{named(trial, made)}, {precision}, {iterations} iterations", ways, "loss")


def descended(name: str, split: Split, iterations: int, seed: int) -> Spent:
    """Cost of a fit, and its final loss."""
    machine = DESCENTS[name](len(split.y_train), iterations)
    spent = spend(lambda: machine.fit(split.X_train, split.y_train))
    return replace(spent, value=penalised_loss(machine, split))


def penalised_loss(machine: BaseEstimator, split: Split) -> float:
    """Mean cross-entropy of the training rows plus half the weight decay times the squared weights."""
    coef = machine.coef_.astype(np.float64)
    logs = log_softmax(split.X_train @ coef.T + machine.intercept_, axis=1)
    own = np.searchsorted(machine.classes_, split.y_train)
    cross_entropy = -logs[np.arange(len(own)), own].mean()
    return float(cross_entropy + 0.5 * WEIGHT_DECAY * np.sum(coef**2))


def in_precision(split: Split, precision: str) -> Split:
    """The same rows in another precision."""
    return replace(split, X_train=split.X_train.astype(precision), X_test=split.X_test.astype(precision))


def named(trial: Trial, made: bool) -> str:
    """The data set's name, with a remark if it had to be generated."""
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
    """The learning rate, which is small if batches are single rows."""
    return 0.02 if training.batch_size == 1 else 0.2


def perceptrons(trainings: Sequence[tuple[Trial, Training]] = TRAININGS, mirror=None) -> Iterator[Race]:
    """An epoch of networks with the same shape, batches and learning rate, and the accuracy after all epochs.

    The networks minimise different losses, squared error and cross-entropy, with gradients of different size:
    the accuracies only show that both learn, not which one is better.
    """
    held = None
    for trial, training in trainings:
        if trial != held:
            held, (split, made) = trial, draw(trial, mirror=mirror)
        cast = in_precision(split, training.precision)
        ways = {name: partial(trained, name, training, cast) for name in PERCEPTRONS}
        what = f"{named(trial, made)}, {training.n_hidden} units, batches of {training.batch_size}"
        yield Race(f"{what}, {training.precision}: an epoch", ways, "accuracy %")


def trained(name: str, training: Training, split: Split, seed: int) -> Spent:
    """Cost of an epoch, and the accuracy on test rows in percent after all epochs."""
    machine = PERCEPTRONS[name](training)
    spent = spend(lambda: machine.fit(split.X_train, split.y_train))
    if machine.n_iter_ != training.epochs:
        raise RuntimeError(f"{machine.n_iter_} epochs instead of {training.epochs}")
    accuracy = 100 * machine.score(split.X_test, split.y_test)
    return replace(spent, seconds=spent.seconds / training.epochs, value=accuracy)


# --- independent components ---------------------------------------------------------------------------

SEPARATORS: dict[str, Callable[[int], BaseEstimator]] = {
    "InfomaxICA": lambda seed: InfomaxICA(random_state=seed),
    "FastICA": lambda seed: FastICA(whiten="unit-variance", random_state=seed),
    "Picard, extended": lambda seed: _picard(seed, ortho=False),
    "Picard, orthogonal": lambda seed: _picard(seed, ortho=True),
}


def _picard(seed: int, ortho: bool) -> BaseEstimator:
    """python-picard with the tolerance of ours; `make peers` installs it."""
    from picard import Picard

    return Picard(ortho=ortho, extended=True, tol=InfomaxICA().tol, random_state=seed)


# Kinds of the sources in turn, number of sources, rows.
MIXTURES = (
    (("laplace",), 5, 1000),
    (("laplace",), 5, 20_000),
    (("laplace",), 20, 20_000),
    (("laplace", "uniform"), 6, 5000),
    (("laplace", "uniform"), 20, 20_000),
)


def components(mixtures: Sequence[tuple[Sequence[str], int, int]] = MIXTURES) -> Iterator[Race]:
    """Separation of mixtures of sources; the Amari index is 0 if each output is one source."""
    for kinds, n_sources, n_samples in mixtures:
        ways = {name: partial(separated, name, kinds, n_sources, n_samples) for name in SEPARATORS}
        yield Race(f"{n_sources} sources, {' and '.join(kinds)}, {n_samples:,} rows", ways, "Amari index")


def separated(name: str, kinds: Sequence[str], n_sources: int, n_samples: int, seed: int) -> Spent:
    """Cost of a fit of one of :data:`SEPARATORS`, and the Amari index of its result."""
    X, mixing = mixture(kinds, n_sources, n_samples, seed)
    ica = SEPARATORS[name](seed)
    spent = spend(lambda: ica.fit(X))
    return replace(spent, value=amari_index(ica.components_ @ mixing))


def mixture(kinds: Sequence[str], n_sources: int, n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of mixed sources of alternating kinds, and the mixing matrix."""
    rng = np.random.default_rng(seed)
    draws = {"laplace": rng.laplace, "uniform": rng.uniform}
    sources = np.column_stack([draws[kinds[i % len(kinds)]](size=n_samples) for i in range(n_sources)])
    mixing = rng.standard_normal((n_sources, n_sources))
    return sources / sources.std(axis=0) @ mixing.T, mixing
