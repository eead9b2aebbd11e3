"""Linear features of two views of the same objects with maximal or minimal mutual information.

Both are canonical variates: linear maps of Gaussian views that are uncorrelated with all variates except
their partners. The information is therefore the sum of -log(1 - correlation²) / 2 over the canonical
correlations.
"""

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.linalg import svd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from entrolearn.axes import signs_of_rows
from entrolearn.networks.spans import spanned
from entrolearn.validation import Interval, validate_data, validated

__all__ = ["CoherentFeatures", "IncoherentFeatures"]


@dataclass(frozen=True)
class _Whitened:
    """A whitened view.

    Attributes
    ----------
    scores : ndarray, shape (n_samples, rank)
        Orthonormal columns: the centred rows in whitened coordinates.
    shares : ndarray, shape (rank,)
        Share of the standard deviation along each coordinate that is not noise.
    whitening : ndarray, shape (n_features, rank)
        The map from centred rows, including noise, to unit variances.
    """

    scores: np.ndarray
    shares: np.ndarray
    whitening: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, mean: np.ndarray, noise_variance: float) -> "_Whitened":
        scores, sizes, axes = spanned(rows, mean)
        noisy = np.hypot(sizes, np.sqrt(len(rows) * noise_variance))
        return cls(scores, sizes / noisy, np.sqrt(len(rows)) * axes.T / noisy)

    @property
    def rank(self) -> int:
        return len(self.shares)


class _TwoViews(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear maps of two views with corresponding rows.

    A subclass implements ``_find(x, y, cross)``, which computes the components from the whitened views and
    their cross-correlations.
    """

    @abstractmethod
    def _find(self, x: _Whitened, y: _Whitened, cross: np.ndarray) -> None:
        """Set the components and the other fitted attributes."""

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y) -> Self:
        """Compute the maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One view.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The other view of the same objects, in the same order.

        Returns
        -------
        self : object
            The fitted maps.

        Raises
        ------
        ValueError
            If the views have different numbers of rows, or `n_components` is too large.
        """
        X, Y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        Y = _as_columns(Y)
        self.mean_, self.y_mean_ = X.mean(axis=0), Y.mean(axis=0)
        noise_variance = getattr(self, "noise_variance", 0.0)  # a parameter of CoherentFeatures alone
        x = _Whitened.of(X, self.mean_, noise_variance)
        y = _Whitened.of(Y, self.y_mean_, noise_variance)
        most = min(x.rank, y.rank)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is more than {type(self).__name__} finds in views whose "
                f"rows span {x.rank} and {y.rank} dimensions: at most {most}."
            )
        self._find(x, y, x.shares[:, np.newaxis] * (x.scores.T @ y.scores) * y.shares)
        return self

    def transform(self, X, y=None) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The outputs of one view or of both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional

        Returns
        -------
        Z_x : ndarray of shape (n_samples, n_components)
            ``(X - mean_) @ components_.T``.
        Z_y : ndarray of shape (n_samples, n_components)
            ``(y - y_mean_) @ y_components_.T``, if y is given.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        Z_x = (X - self.mean_) @ self.components_.T
        if y is None:
            return Z_x
        Y = _as_columns(check_array(y, dtype=np.float64, ensure_2d=False, input_name="y"))
        if Y.shape[1] != len(self.y_mean_):
            raise ValueError(f"y has {Y.shape[1]} columns; it had {len(self.y_mean_)} in fit")
        return Z_x, (Y - self.y_mean_) @ self.y_components_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class CoherentFeatures(_TwoViews):
    """Linear features of two views with maximal mutual information, equal to those of scikit-learn's CCA.

    Scaled to unit variance and up to signs, outputs differ by less than 1e-9 once CCA has converged. Here
    they have a closed form, and `noise_variance` adds a ridge. Examples of views are neighbouring patches
    of an image, two microphones, or two measurements of the same object.

    Parameters
    ----------
    n_components : int, default=1
        Number of pairs of outputs. Outputs of different pairs are uncorrelated.
    noise_variance : float, default=0.0
        Variance of independent noise at every input of both views, in their squared units. A positive value
        suppresses directions of small variance, and keeps the information finite if the views have more
        features than rows. This is known as canonical ridge.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of X, in order of decreasing information. The largest entry of each row is positive.
    y_components_ : ndarray of shape (n_components, n_targets)
        The map of y; outputs of a pair are positively correlated.
    mean_ : ndarray of shape (n_features,)
    y_mean_ : ndarray of shape (n_targets,)
    correlations_ : ndarray of shape (n_components,)
        Correlation of each pair of outputs, descending. Outputs have unit variance, including noise.
    information_ : float
        Mutual information of the outputs of X and of y in nats: the sum of -log(1 - correlations_²) / 2;
        infinite if a correlation is 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    IncoherentFeatures : Features with minimal information.
    sklearn.cross_decomposition.CCA : The same directions, computed one by one by iteration.

    Notes
    -----
    If the correlations differ, the maps are unique up to the signs of pairs. In a pipeline, ``transform`` and
    ``fit_transform`` return the outputs of X only, unlike scikit-learn's CCA.

    References
    ----------
    Becker and Hinton, Self-organizing neural network that discovers surfaces in random-dot stereograms,
    Nature 355, 1992; Haykin, Neural Networks and Learning Machines, chapter 10; Hotelling, Relations
    between two sets of variates, Biometrika 28, 1936.

    Examples
    --------
    >>> from entrolearn.networks import CoherentFeatures
    >>> from sklearn.datasets import load_linnerud
    >>> exercises, bodies = load_linnerud(return_X_y=True)
    >>> coherent = CoherentFeatures().fit(exercises, bodies)
    >>> coherent.correlations_.round(2), round(coherent.information_, 2)
    (array([0.8]), 0.5)
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "noise_variance": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, n_components=1, *, noise_variance=0.0):
        self.n_components = n_components
        self.noise_variance = noise_variance

    def _find(self, x: _Whitened, y: _Whitened, cross: np.ndarray) -> None:
        k = self.n_components
        left, correlations, right = svd(cross, full_matrices=False)
        self.correlations_ = _without_rounding(correlations[:k], cross)
        self.information_ = _information(self.correlations_)
        components, y_components = (x.whitening @ left[:, :k]).T, (y.whitening @ right[:k].T).T
        signs = signs_of_rows(components)
        self.components_, self.y_components_ = signs * components, signs * y_components


class IncoherentFeatures(_TwoViews):
    """Linear features of each view about which the other view has least information: Imin for Gaussian views.

    For two related images, such as radar images of two polarisations, this removes what they have in common:
    each output is the one about which the whole other view has the least information.

    Parameters
    ----------
    n_components : int, default=1
        Number of outputs of each view.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of X, in order of increasing information of y about the output. The largest entry of each row
        is positive.
    y_components_ : ndarray of shape (n_components, n_targets)
        The map of y.
    mean_ : ndarray of shape (n_features,)
    y_mean_ : ndarray of shape (n_targets,)
    correlations_ : ndarray of shape (n_components,)
        Largest correlation of each output of X with a linear function of y, ascending. The outputs have unit
        variance and are uncorrelated.
    y_correlations_ : ndarray of shape (n_components,)
        The same for the outputs of y.
    information_ : float
        Mutual information of the outputs of X and all of y in nats, the sum of -log(1 - correlations_²) / 2.
    y_information_ : float
        Mutual information of the outputs of y and all of X.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    CoherentFeatures : Features with maximal information.

    Notes
    -----
    Minimising the mutual information of two scalar outputs is not a useful objective: if a view has two or
    more features, it has an uncorrelated output for every output of the other view. The objective here is
    therefore the maximum information that any output of the other view has. Its minimum is given by the
    smallest canonical correlations, which also bound the information that the outputs of both views have
    about each other.

    The solution is unique up to signs if the smallest correlations differ. It is not unique if several of
    them are zero: a view with more features than the other has directions about which the other view has no
    information, and any basis of these is a solution. The solution does not depend on scale, so that an
    output may have very small variance; remove directions of pure noise first.

    References
    ----------
    Ukrainec and Haykin, A modular neural network for enhancement of cross-polar radar targets, Neural
    Networks 9, 1996; Haykin, Neural Networks and Learning Machines, chapter 10.

    Examples
    --------
    >>> from entrolearn.networks import IncoherentFeatures
    >>> from sklearn.datasets import load_linnerud
    >>> exercises, bodies = load_linnerud(return_X_y=True)
    >>> IncoherentFeatures().fit(exercises, bodies).correlations_.round(2)
    array([0.07])
    """

    _parameter_constraints: dict = {"n_components": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, n_components=1):
        self.n_components = n_components

    def _find(self, x: _Whitened, y: _Whitened, cross: np.ndarray) -> None:
        self.components_, self.correlations_ = self._least_told(x, cross)
        self.y_components_, self.y_correlations_ = self._least_told(y, cross.T)
        self.information_, self.y_information_ = map(_information, (self.correlations_, self.y_correlations_))

    def _least_told(self, view: _Whitened, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Components of a view, and their largest correlations with the other view."""
        left, found, _ = svd(cross)
        correlations = np.zeros(len(left))  # zero for directions beyond the rank of the other view
        correlations[: len(found)] = found
        components = (view.whitening @ left[:, ::-1][:, : self.n_components]).T
        smallest = correlations[::-1][: self.n_components]
        return signs_of_rows(components) * components, _without_rounding(smallest, cross)


def _as_columns(Y: np.ndarray) -> np.ndarray:
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _without_rounding(correlations: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """Replace correlations by 1 if they differ from it only by rounding of the singular values."""
    uncertain = 10 * max(cross.shape) * np.finfo(float).eps
    return np.where(correlations > 1 - uncertain, 1.0, correlations)


def _information(correlations: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        return float(-0.5 * np.log1p(-(correlations**2)).sum())
