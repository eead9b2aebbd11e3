"""Linsker's infomax principle for a linear map with noisy outputs."""

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.covariance import empirical_covariance
from sklearn.utils.validation import check_is_fitted

from entrolearn.axes import signs_of_rows, unit_of_length
from entrolearn.validation import Interval, StrOptions, validate_data, validated

__all__ = ["LinearInfomax"]

#: Smallest noise variance; the ratio of a large variance to a smaller one overflows.
LEAST_NOISE = 1e-150


class LinearInfomax(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear map of maximal information: by default PCA, to 1e-10; with bounded power, water-filling.

    The outputs are Y = W (x - mean) + n, with independent noise n of equal variance. I(Y; x) is maximised in
    closed form under one of two constraints on W: orthonormal rows, which gives principal component analysis,
    or a bound on their mean squared length, which also determines the number of outputs that are used.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of outputs; None for the number of features.
    constraint : {"orthonormal", "power"}, default="orthonormal"
        "orthonormal": W W' = I. "power": the mean squared length of the rows is 1, and the lengths are set by
        water-filling. If the noise is large, only the direction of largest variance has a nonzero length.
    noise_variance : float, default=1.0
        Noise variance of each output, in the squared units of the features; at least 1e-150.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W, in order of decreasing information; rows of outputs without power are zero.
    mean_ : ndarray of shape (n_features,)
    variances_ : ndarray of shape (n_components,)
        Maximum likelihood variance of the input along the direction of each row.
    powers_ : ndarray of shape (n_components,)
        Squared lengths of the rows.
    information_ : float
        I(Y; x) in nats: the sum of ``log(1 + powers_ * variances_ / noise_variance) / 2``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    sklearn.decomposition.PCA : The same components as with orthonormal rows, and other solvers.

    Notes
    -----
    W is not unique: I(Y; x) does not change under rotations of the outputs, or of directions of equal
    variance. The basis with uncorrelated outputs is returned.

    With orthonormal rows, input noise of equal variances is equivalent to output noise. If the inputs have
    noise of different variances, first divide each feature by the standard deviation of its noise.

    If the power of the outputs, trace(W C W'), were bounded instead, all subspaces would give the same
    information, by uncorrelated outputs of equal variance.

    References
    ----------
    Linsker, Self-Organization in a Perceptual Network, Computer 21(3), 1988, describes the change from
    redundant to different outputs with decreasing noise; Haykin, Neural Networks and Learning Machines,
    chapter 10; Cover and Thomas, Elements of Information Theory, section 9.4, for water-filling.

    Examples
    --------
    >>> from entrolearn.networks import LinearInfomax
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> infomax = LinearInfomax(2, constraint="power", noise_variance=1.0).fit(X)
    >>> infomax.powers_.round(2)
    array([2., 0.])
    >>> round(infomax.information_, 2)
    1.12
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "constraint": [StrOptions({"orthonormal", "power"})],
        "noise_variance": [Interval(Real, LEAST_NOISE, None, closed="left")],
    }

    def __init__(self, n_components=None, *, constraint="orthonormal", noise_variance=1.0):
        self.n_components = n_components
        self.constraint = constraint
        self.noise_variance = noise_variance

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> "LinearInfomax":
        """Compute the map.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are more components than features.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n_features = X.shape[1]
        k = n_features if self.n_components is None else self.n_components
        if k > n_features:
            raise ValueError(f"n_components is {k}; it must be at most n_features={n_features}")
        self.mean_ = X.mean(axis=0)
        centred = X - self.mean_
        unit = unit_of_length(max(-centred.min(), centred.max()))
        centred /= unit
        covariance = empirical_covariance(centred, assume_centered=True)
        values, vectors = eigh(covariance, subset_by_index=[n_features - k, n_features - 1])
        self.variances_ = np.maximum(values[::-1], 0) * unit * unit  # rounding makes some of them negative
        axes = np.ascontiguousarray(vectors[:, ::-1].T)
        if self.constraint == "power":
            self.powers_ = water_filling(self.variances_ / self.noise_variance, k)
        else:
            self.powers_ = np.ones(k)
        self.components_ = np.sqrt(self.powers_)[:, np.newaxis] * signs_of_rows(axes) * axes
        self.information_ = float(np.log1p(self.powers_ * self.variances_ / self.noise_variance).sum() / 2)
        return self

    def transform(self, X) -> np.ndarray:
        """Compute the outputs without noise.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, n_components)
            ``(X - mean_) @ components_.T``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def water_filling(gains: np.ndarray, power: float) -> np.ndarray:
    """Powers p with a given sum that maximise the sum of log(1 + p gain) over Gaussian channels.

    Parameters
    ----------
    gains : ndarray, shape (n,)
        Signal-to-noise ratio of each channel at power 1, descending and non-negative.
    power : float
        Sum of the powers.

    Returns
    -------
    ndarray, shape (n,)
        The power plus the reciprocal gain is the same level for all channels with power. All powers are zero
        if all gains are zero.
    """
    with np.errstate(divide="ignore", over="ignore"):
        grounds = 1 / gains
    levels = (power + np.cumsum(grounds)) / np.arange(1, len(gains) + 1)  # with so many channels in use
    n_used = np.count_nonzero(levels > grounds)
    level = levels[n_used - 1] if n_used else 0.0
    return np.maximum(level - grounds, 0.0)
