"""Linsker's principle for a linear map: convey as much about the input as the noise lets through."""

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.covariance import empirical_covariance
from sklearn.utils.validation import check_is_fitted

from entrolearn.axes import signs_of_rows, unit_of_length
from entrolearn.validation import Interval, StrOptions, validate_data, validated

__all__ = ["LinearInfomax"]

#: The largest variances over a smaller one overflow.
LEAST_NOISE = 1e-150


class LinearInfomax(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear map that conveys most information about a Gaussian input through noisy outputs.

    Y = W (x - mean) + n, with independent noise n of equal variance at each output. I(Y; x) is maximised in
    closed form under one of two constraints on W: orthonormal rows, which makes it principal component
    analysis, or a bound on their mean squared length, which also decides how many outputs are worth having.

    Parameters
    ----------
    n_components : int or None, default=None
        Outputs; None: as many as features.
    constraint : {"orthonormal", "power"}, default="orthonormal"
        "orthonormal": W W' = I. "power": the squared lengths of the rows are 1 on average, and the outputs
        share them by water-filling: while there is much noise, the direction of most variance has it all.
    noise_variance : float, default=1.0
        Of each output, in the squared units of the features; at least 1e-150.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W, the output that conveys most first; rows of zeros where there is no power for them.
    mean_ : ndarray of shape (n_features,)
    variances_ : ndarray of shape (n_components,)
        Of the input along the direction of each row, a maximum likelihood estimate.
    powers_ : ndarray of shape (n_components,)
        Squared lengths of the rows.
    information_ : float
        I(Y; x) in nats: the sum of ``log(1 + powers_ * variances_ / noise_variance) / 2``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X has names of features that are all strings.

    See Also
    --------
    entrolearn.networks.infomax_objective : The information of any map, with its gradient.
    sklearn.decomposition.PCA : The same subspace, where rows are orthonormal.

    Notes
    -----
    Only I(Y; x) is determined: a rotation of the outputs changes nothing, and neither does one within
    directions of equal variance. The basis taken has uncorrelated outputs.

    With orthonormal rows, noise of equal variance at the inputs is the same as noise at the outputs. Where
    the inputs have noise of different variances, divide each feature by its noise's standard deviation first.

    Were it the power of the outputs that is bounded, trace(W C W'), all subspaces would convey the same:
    outputs of equal variance and no correlation, whatever they are made of.

    References
    ----------
    Linsker, Self-Organization in a Perceptual Network, Computer 21(3), 1988, has the change from redundant
    outputs to different ones as the noise falls; Haykin, Neural Networks and Learning Machines, chapter 10;
    Cover and Thomas, Elements of Information Theory, section 9.4, for water-filling.

    Examples
    --------
    >>> from entrolearn import LinearInfomax
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
        """Find the map.

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
        """The outputs, without the noise.

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
    """Powers p of parallel Gaussian channels that maximise the sum of log(1 + p gain), within their sum.

    Parameters
    ----------
    gains : ndarray, shape (n,)
        Signal to noise ratio of each channel at power 1, falling, none negative.
    power : float
        Sum of the powers.

    Returns
    -------
    ndarray, shape (n,)
        A channel's power and the reciprocal of its gain make up the same level wherever there is power. All
        zeros where all gains are.
    """
    with np.errstate(divide="ignore", over="ignore"):
        grounds = 1 / gains
    levels = (power + np.cumsum(grounds)) / np.arange(1, len(gains) + 1)  # with so many channels in use
    n_used = np.count_nonzero(levels > grounds)
    level = levels[n_used - 1] if n_used else 0.0
    return np.maximum(level - grounds, 0.0)
