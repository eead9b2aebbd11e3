"""Networks of maximal mutual information against closed forms: sources, noisy channels, two views.

See Haykin, Neural Networks and Learning Machines, chapter 10.
"""

import numpy as np

from entrolab.fit.learners import seed_from
from entrolearn import InfomaxICA
from entrolearn.networks import CoherentFeatures, LinearInfomax, amari_index


def measure(
    rows,
    at,
    *,
    sources: list[str],
    noises: list[float],
    correlations: list[float],
    n_rows: int = 5000,
    n_features: int = 4,
):
    """Fit the networks to generated rows; each has a value, the exact value and their difference.

    The value of "sources_laplace" and the like is Amari's index of the separation, exactly 0; that of
    "channel_1" (the noise variance) the information of the outputs about the input, exactly the capacity;
    that of "views_0.9" (the correlation of a hidden pair) the information of the outputs about each other,
    exactly that of the views.
    """
    rng = np.random.default_rng(seed_from(at.seed, at.study, at.table))
    mixing = rng.normal(size=(n_features, n_features))
    found = {}
    for kind in sources:
        S = getattr(rng, kind)(size=(n_rows, n_features))
        ica = InfomaxICA(random_state=at.seed).fit(S @ mixing.T)
        found[f"sources_{kind}"] = amari_index(ica.components_ @ mixing), 0.0
    X = rng.normal(size=(n_rows, n_features)) @ mixing.T
    for noise in noises:
        infomax = LinearInfomax(constraint="power", noise_variance=noise).fit(X)
        found[f"channel_{noise:g}"] = infomax.information_, capacity(X, noise)
    for correlation in correlations:
        hidden = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=n_rows)
        views = [rng.normal(size=(n_rows, n_features)) + np.outer(one, mixing[0]) for one in hidden.T]
        coherent = CoherentFeatures(n_features).fit(*views)
        found[f"views_{correlation:g}"] = coherent.information_, information(*views)
    for place, (value, exact) in found.items():
        numbers = {"value": value, "exact": exact, "difference": abs(value - exact)}
        for metric, number in numbers.items():
            yield {"reading": place, "metric": metric, "value": float(number)}


def capacity(X, noise):
    """The capacity in nats of a Gaussian channel with as much power as features, by water-filling."""
    grounds = np.sort(noise / np.linalg.eigvalsh(np.cov(X.T, bias=True)))
    for used in range(len(grounds), 0, -1):
        level = (len(grounds) + grounds[:used].sum()) / used
        if level > grounds[used - 1]:
            return 0.5 * np.log(level / grounds[:used]).sum()
    return 0.0


def information(X, Y):
    """The mutual information in nats of two Gaussian views, from the determinants of their covariances."""
    n, C = X.shape[1], np.cov(X.T, Y.T)
    parts = [np.linalg.slogdet(one)[1] for one in (C[:n, :n], C[n:, n:], C)]
    return 0.5 * (parts[0] + parts[1] - parts[2])
