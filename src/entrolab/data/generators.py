"""Generators of data sets, which return a `Table`; the catalog names the functions of this module."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from entrolab.data.raw_table import Table, as_table, numbered
from entrolab.data.series import mackey_glass_series


def gaussians(
    *, n_samples: int, n_features: int, distance: float, variances: Sequence[float], seed: int
) -> Table:
    """Two isotropic Gaussians with labels 0 and 1 and equally many rows.

    The means are at ±distance/2 along the diagonal; `variances` are the per-axis variances of the classes.
    """
    rng = np.random.default_rng(seed)
    mean = np.full(n_features, distance / 2 / np.sqrt(n_features))
    half = n_samples // 2
    negative, positive = (
        sign * mean + np.sqrt(variance) * rng.standard_normal((half, n_features))
        for sign, variance in zip((-1, 1), variances, strict=True)
    )
    return as_table(np.concatenate([negative, positive]), np.repeat([0, 1], half))


def stretched_gaussians(
    *, n_samples: int, mean: Sequence[float], deviations: Sequence[float], seed: int
) -> Table:
    """Two Gaussians in the plane with a common covariance; labels -1 and 1 with probability one half.

    The mean of class y is y times `mean`, the covariance is V D² Vᵀ: `deviations`, the diagonal of D, are the
    standard deviations along the columns of V, (1, -1)/√2 and (1, 1)/√2.
    """
    rng = np.random.default_rng(seed)
    label = rng.choice([-1, 1], size=n_samples)
    axes = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    along = np.asarray(deviations, dtype=float) * rng.standard_normal((n_samples, 2))
    return as_table(label[:, None] * np.asarray(mean, dtype=float) + along @ axes.T, label)


def two_moons(*, n_samples: int, noise: float, seed: int) -> Table:
    """scikit-learn's two interleaving half circles, labels 0 and 1."""
    from sklearn.datasets import make_moons

    return as_table(*make_moons(n_samples, noise=noise, random_state=seed))


def rings(*, n_samples: int, radii: Sequence[float], noise: float, seed: int, n_classes: int = 2) -> Table:
    """Concentric rings in the plane with equally many rows; ring i has label i modulo `n_classes`.

    A row is at a random angle on its ring, plus normal noise on each axis; a radius of zero gives a blob.
    """
    rng = np.random.default_rng(seed)
    ring = np.arange(n_samples) % len(radii)
    angle, radius = rng.uniform(0, 2 * np.pi, n_samples), np.asarray(radii, dtype=float)[ring]
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return as_table(points + noise * rng.standard_normal((n_samples, 2)), ring % n_classes)


def spirals(*, n_samples: int, n_arms: int, turns: float, noise: float, seed: int) -> Table:
    """Interleaved Archimedean spirals in the plane, labels from 0, with equally many rows per arm.

    The radius of an arm grows linearly from 0 to 1 with the angle, over `turns` turns. Rows are equally dense
    along the arm (its parameter is the square root of a uniform number), with normal noise on each axis.
    """
    rng = np.random.default_rng(seed)
    arm = np.arange(n_samples) % n_arms
    radius = np.sqrt(rng.uniform(size=n_samples))
    angle = 2 * np.pi * (turns * radius + arm / n_arms)
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return as_table(points + noise * rng.standard_normal((n_samples, 2)), arm)


def mixture(
    *,
    sizes: Sequence[int],
    means: Sequence[Sequence[float]],
    deviations: Sequence[Sequence[float]],
    angles: Sequence[float],
    seed: int,
) -> Table:
    """Gaussians in the plane, labels from 0, with given numbers of rows and means.

    `deviations` are the two standard deviations of each Gaussian along its own axes, which are rotated
    counterclockwise by `angles` degrees.
    """
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(len(sizes)), sizes)
    along = np.asarray(deviations, dtype=float)[label] * rng.standard_normal((len(label), 2))
    cosine, sine = np.cos(np.radians(angles))[label], np.sin(np.radians(angles))[label]
    turned = np.column_stack(
        [cosine * along[:, 0] - sine * along[:, 1], sine * along[:, 0] + cosine * along[:, 1]]
    )
    return as_table(np.asarray(means, dtype=float)[label] + turned, label)


def waveform(*, n_samples: int, seed: int) -> Table:
    """Breiman's waveforms, labels 0 to 2: convex combinations of two of three triangles, plus unit noise.

    Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, section 2.6.1. The 21
    features are the values at 1 to 21.
    """
    rng = np.random.default_rng(seed)
    at = np.arange(1, 22)
    triangles = np.maximum(6 - abs(at - np.array([[11], [15], [7]])), 0)
    label = rng.integers(3, size=n_samples)
    first, second = np.array([[0, 1], [0, 2], [1, 2]])[label].T
    share = rng.uniform(size=(n_samples, 1))
    clean = share * triangles[first] + (1 - share) * triangles[second]
    return as_table(clean + rng.standard_normal((n_samples, 21)), label)


def documents(
    *, n_samples: int, n_features: int, n_classes: int, words: int, spread: float, seed: int
) -> Table:
    """Bags of words as in text classification: sparse, long-tailed, rows of unit length; labels from 0.

    Word frequencies fall as 1 / rank (Zipf); in each class, the frequency of every word is multiplied by
    exp(`spread` z) with z standard normal. The number of words in a document is Poisson with mean `words`;
    features are 1 + ln(count), times ln(n_samples / documents with the word).
    """
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(seed)
    frequency = (
        1 / np.arange(1, n_features + 1) * np.exp(spread * rng.standard_normal((n_classes, n_features)))
    )
    cumulative = np.cumsum(frequency / frequency.sum(axis=1, keepdims=True), axis=1)
    label = rng.integers(n_classes, size=n_samples)
    length = np.maximum(rng.poisson(words, n_samples), 1)
    drawn = [np.searchsorted(cumulative[c], rng.uniform(size=n)) for c, n in zip(label, length, strict=True)]
    column = np.minimum(np.concatenate(drawn), n_features - 1)
    row = np.repeat(np.arange(n_samples), length)
    # LIBLINEAR and scikit-learn's solvers derived from it need 32-bit indices.
    places = row.astype(np.int32), column.astype(np.int32)
    counts = sparse.csr_array((np.ones(len(row)), places), shape=(n_samples, n_features))
    counts.data = 1 + np.log(counts.data)
    in_documents = np.bincount(counts.indices, minlength=n_features)
    counts.data *= np.log(n_samples / in_documents[counts.indices])
    return Table(normalize(counts), label, numbered(n_features), [n_samples])


def phrases(
    *, n_samples: int, n_features: int, n_pairs: int, n_classes: int, terms: float, spread: float, seed: int
) -> Table:
    """Word counts in which some words occur only in pairs, like "Puerto" and "Rico"; sparse, labels from 0.

    A document is a Poisson number of independent terms with mean `terms`. The first `n_pairs` terms are pairs
    of words (columns 2i and 2i + 1), the others are single words. Frequencies fall as 1 / rank in a random
    order of the terms; in each class, every one is multiplied by exp(`spread` z) with z standard normal.
    """
    rng = np.random.default_rng(seed)
    n_terms = n_features - n_pairs
    rank = 1 + rng.permutation(n_terms)
    frequency = np.exp(spread * rng.standard_normal((n_classes, n_terms))) / rank
    label = rng.integers(n_classes, size=n_samples)
    length = np.maximum(rng.poisson(terms, n_samples), 1)
    counts = rng.multinomial(length, (frequency / frequency.sum(axis=1, keepdims=True))[label])
    words = counts[:, np.r_[np.repeat(np.arange(n_pairs), 2), np.arange(n_pairs, n_terms)]]
    return Table(sparse.csr_array(words.astype(np.float64)), label, numbered(n_features), [n_samples])


def mackey_glass(*, n_samples: int, n_delays: int, interval: int, delay: int) -> Table:
    """Prediction of the Mackey-Glass series: a row contains consecutive values, its label is the next value.

    Values are `interval` time units apart, the oldest in the first column; each row starts one value later.
    """
    series = mackey_glass_series(n_samples + n_delays, delay=delay, interval=interval)
    windows = np.lib.stride_tricks.sliding_window_view(series, n_delays + 1)
    return as_table(windows[:, :-1], windows[:, -1])
