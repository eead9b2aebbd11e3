"""Features of two views of the same thing: those that the views share, and those of which they tell nothing.

Both are canonical variates: linear maps of Gaussian views that are uncorrelated with all but their partners,
so that the information is a sum over the canonical correlations, -log(1 - correlation²) / 2 each.
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
    """A view in coordinates in which the sample has no correlations.

    Attributes
    ----------
    scores : ndarray, shape (n_samples, rank)
        Orthonormal columns; those of the view's rows, less the mean, in such coordinates.
    shares : ndarray, shape (rank,)
        Of the standard deviation along each that is the view's own, not noise.
    whitening : ndarray, shape (n_features, rank)
        From the rows, less the mean and with the noise, to unit variances.
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
    """Linear maps of two views, each row of which is seen in both.

    A subclass says how many components there can be, in ``_most_components(x, y)``, and finds them, in
    ``_find(x, y, cross)``, from the whitened views and the correlations between their coordinates.
    """

    @abstractmethod
    def _most_components(self, x: _Whitened, y: _Whitened) -> int:
        """How many components there can be."""

    @abstractmethod
    def _find(self, x: _Whitened, y: _Whitened, cross: np.ndarray) -> None:
        """Set the components and what is to be known of them."""

    _noise_variance = 0.0

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y) -> Self:
        """Find the maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One view.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The other one, of the same things in the same order.

        Returns
        -------
        self : object
            The fitted maps.

        Raises
        ------
        ValueError
            If the two have different numbers of rows, or there are not so many components.
        """
        X, Y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        Y = _as_columns(Y)
        self.mean_, self.y_mean_ = X.mean(axis=0), Y.mean(axis=0)
        x = _Whitened.of(X, self.mean_, self._noise_variance)
        y = _Whitened.of(Y, self.y_mean_, self._noise_variance)
        most = self._most_components(x, y)
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
            ``(y - y_mean_) @ y_components_.T``, where y is given.
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
    """Linear features of two views that tell most of each other: Imax for Gaussian views.

    The outputs of neighbouring patches of an image, of two microphones, of two measurements of the same
    thing are to agree in what they say of it. Their mutual information is maximised in closed form, which
    is canonical correlation analysis.

    Parameters
    ----------
    n_components : int, default=1
        Pairs of outputs. Each is uncorrelated with all others.
    noise_variance : float, default=0.0
        Of independent noise at every input of both views, in their squared units. More than 0 leaves out
        what stands on little variance, keeps the information finite where the views have more features
        than rows, and is known as canonical ridge.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of X; the pair of outputs that tells most comes first. The largest entry of a row is positive.
    y_components_ : ndarray of shape (n_components, n_targets)
        That of y; outputs of a pair are positively correlated.
    mean_ : ndarray of shape (n_features,)
    y_mean_ : ndarray of shape (n_targets,)
    correlations_ : ndarray of shape (n_components,)
        Of the outputs of a pair, falling. The outputs have unit variance, noise included.
    information_ : float
        Mutual information of the outputs of X and those of y in nats: the sum of
        -log(1 - correlations_²) / 2, infinite where one correlation is 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X has names of features that are all strings.

    See Also
    --------
    IncoherentFeatures : Those that tell least.
    entrolearn.networks.views_objective : The information of any two maps, with its gradients.
    sklearn.cross_decomposition.CCA : The same directions, found one after the other by iteration.

    Notes
    -----
    Where the correlations differ, the maps are determined but for the signs of pairs. As a step of a pipeline
    it gives the outputs of X, with ``fit_transform`` too, unlike scikit-learn's CCA.

    References
    ----------
    Becker and Hinton, Self-organizing neural network that discovers surfaces in random-dot stereograms,
    Nature 355, 1992; Haykin, Neural Networks and Learning Machines, chapter 10; Hotelling, Relations
    between two sets of variates, Biometrika 28, 1936.

    Examples
    --------
    >>> from entrolearn import CoherentFeatures
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

    @property
    def _noise_variance(self) -> float:  # type: ignore[override]
        return self.noise_variance

    def _most_components(self, x: _Whitened, y: _Whitened) -> int:
        return min(x.rank, y.rank)

    def _find(self, x: _Whitened, y: _Whitened, cross: np.ndarray) -> None:
        k = self.n_components
        left, correlations, right = svd(cross, full_matrices=False)
        self.correlations_ = _without_rounding(correlations[:k], cross)
        self.information_ = _information(self.correlations_)
        components, y_components = (x.whitening @ left[:, :k]).T, (y.whitening @ right[:k].T).T
        signs = signs_of_rows(components)
        self.components_, self.y_components_ = signs * components, signs * y_components


class IncoherentFeatures(_TwoViews):
    """Linear features of each of two views of which the other one tells least: Imin for Gaussian views.

    Of two related images, say radar images of two polarisations, what they have in common is taken away:
    each output is the one about which the whole other view has least information.

    Parameters
    ----------
    n_components : int, default=1
        Outputs of each view.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of X; the output about which y tells least comes first. The largest entry of a row is
        positive.
    y_components_ : ndarray of shape (n_components, n_targets)
        That of y.
    mean_ : ndarray of shape (n_features,)
    y_mean_ : ndarray of shape (n_targets,)
    correlations_ : ndarray of shape (n_components,)
        Of each output of X with the linear function of y that has most to do with it, rising. The outputs
        have unit variance and no correlation with each other.
    y_correlations_ : ndarray of shape (n_components,)
        The same of the outputs of y.
    information_ : float
        Mutual information of the outputs of X and all of y in nats, the sum of -log(1 - correlations_²) / 2.
    y_information_ : float
        That of the outputs of y and all of X.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X has names of features that are all strings.

    See Also
    --------
    CoherentFeatures : Those that tell most.
    entrolearn.networks.views_objective : The information of any two maps, with its gradients.

    Notes
    -----
    To ask only that two scalar outputs tell nothing of each other asks for too little: with two features or
    more in a view, to every output of the other one there is an output of its own that is uncorrelated with
    it. What is minimised here is the most that any output of the other view could tell, which has a minimum
    that means something: the smallest canonical correlations. The outputs of the two views tell no more of
    each other than that.

    It is determined but for signs where the smallest correlations differ. It is not where several of them are
    zero: a view with more features than the other one has directions of which that one tells nothing, and any
    basis of these is as good. Scale counts for nothing: an output may stand on very little variance, so leave
    out first what is but noise.

    References
    ----------
    Ukrainec and Haykin, A modular neural network for enhancement of cross-polar radar targets, Neural
    Networks 9, 1996; Haykin, Neural Networks and Learning Machines, chapter 10.

    Examples
    --------
    >>> from entrolearn import IncoherentFeatures
    >>> from sklearn.datasets import load_linnerud
    >>> exercises, bodies = load_linnerud(return_X_y=True)
    >>> IncoherentFeatures().fit(exercises, bodies).correlations_.round(2)
    array([0.07])
    """

    _parameter_constraints: dict = {"n_components": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, n_components=1):
        self.n_components = n_components

    def _most_components(self, x: _Whitened, y: _Whitened) -> int:
        return min(x.rank, y.rank)

    def _find(self, x: _Whitened, y: _Whitened, cross: np.ndarray) -> None:
        self.components_, self.correlations_ = self._least_told(x, cross)
        self.y_components_, self.y_correlations_ = self._least_told(y, cross.T)
        self.information_, self.y_information_ = map(_information, (self.correlations_, self.y_correlations_))

    def _least_told(self, view: _Whitened, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Components of a view and their correlations with the best of the other one."""
        left, found, _ = svd(cross)
        correlations = np.zeros(len(left))  # of directions beyond the other view's dimensions
        correlations[: len(found)] = found
        components = (view.whitening @ left[:, ::-1][:, : self.n_components]).T
        smallest = correlations[::-1][: self.n_components]
        return signs_of_rows(components) * components, _without_rounding(smallest, cross)


def _as_columns(Y: np.ndarray) -> np.ndarray:
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _without_rounding(correlations: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """One instead of what differs from it by no more than singular values are uncertain."""
    uncertain = 10 * max(cross.shape) * np.finfo(float).eps
    return np.where(correlations > 1 - uncertain, 1.0, correlations)


def _information(correlations: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        return float(-0.5 * np.log1p(-(correlations**2)).sum())
