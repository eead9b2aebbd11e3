"""Classification by kernel density estimates of the classes."""

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from entrolearn.axes import unit_of_length
from entrolearn.log_joint import LogJointClassifier
from entrolearn.manifold.densities import (
    BANDWIDTH_SCALES,
    COVARIANCES,
    ClassDensities,
    by_class,
    class_covariance,
)
from entrolearn.measures.density import METHODS, silverman_factor
from entrolearn.validation import (
    StrOptions,
    class_priors,
    encode,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["KDEClassifier"]


class KDEClassifier(LogJointClassifier):
    r"""Bayes' rule with a Gaussian kernel density estimate of each class.

    For a class of n rows in d dimensions the kernel is that of Silverman's rule, scaled. Its covariance is
    :math:`(\gamma h)^2 C` with the covariance C of the class and

    .. math:: h = \left(\frac{4}{(d + 2) n}\right)^{1 / (d + 4)}.

    Density estimates in more than a few dimensions need very many rows: project the data first.

    Parameters
    ----------
    bandwidth_scale : float, default=1.0
        γ of the paper. For γ near 0 the class of the nearest row wins (in units of each class's covariance);
        for large γ each class is a broad Gaussian around its mean.
    covariance : {"ledoit_wolf", "oas", "empirical"}, default="ledoit_wolf"
        Estimate of each class's covariance, see :func:`~entrolearn.manifold.densities.class_covariance`.
    priors : {"uniform", "empirical"}, dict or array-like of shape (n_classes,), default="uniform"
        Weights of the classes, in order or by label, which need not add up to one. Uniform priors optimise
        the balanced accuracy.
    method : {"auto", "exact", "binned"}, default="auto"
        Method of predictions. "exact" visits all pairs of rows and training rows. "binned", for one or two
        features, interpolates the kernels between the nodes of a grid if that is cheaper: log densities then
        have an error of at most 1e-6, and the predicted classes are those of "exact", because rows close to a
        class boundary are computed exactly. "auto" is "binned" if a class has more than a million pairs.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    priors_ : ndarray of shape (n_classes,)
        The priors, which add up to one.
    densities_ : ClassDensities
        The rows of each class, and the covariances of the kernels.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    entrolearn.MELM : Finds the subspace in which such densities differ most, and classifies by them.
    sklearn.neighbors.KernelDensity : A single density with a round kernel.

    Notes
    -----
    With ``covariance="empirical"`` the probabilities do not change under an invertible affine map of the
    features. A class whose rows do not span the space is handled as described in
    :class:`~entrolearn.manifold.densities.ClassDensities`. The other covariance estimates have full rank
    unless all rows of the class are equal.

    References
    ----------
    Silverman, Density Estimation for Statistics and Data Analysis (1986), section 6.1 and eq. (4.14).
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, sections 4 and 5.

    Examples
    --------
    >>> from entrolearn import KDEClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> kde = KDEClassifier().fit(X[:, :2], y)
    >>> kde.predict_proba([[5.0, 3.5], [6.5, 2.5]]).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.43, 0.57]])
    """

    _parameter_constraints: dict = {
        "bandwidth_scale": [BANDWIDTH_SCALES],
        "covariance": [StrOptions(set(COVARIANCES))],
        "priors": [StrOptions({"uniform", "empirical"}), dict, "array-like"],
        "method": [StrOptions({*METHODS})],
    }

    def __init__(self, bandwidth_scale=1.0, *, covariance="ledoit_wolf", priors="uniform", method="auto"):
        self.bandwidth_scale = bandwidth_scale
        self.covariance = covariance
        self.priors = priors
        self.method = method

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Store the rows of each class and estimate its covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows, also in Silverman's rule and in the
            shrinkage of the covariance; a row of weight zero is left out.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y holds only one class, or `priors` does not fit the classes.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, type(self).__name__)
        self.priors_ = class_priors(self.priors, self.classes_, np.bincount(codes, weights))
        points, own = tuple(by_class(X, codes)), tuple(by_class(weights, codes))
        unit = unit_of_length(np.ptp(X, axis=0).max())
        covariances = [self._kernel_covariance(P / unit, w) for P, w in zip(points, own, strict=True)]
        of_points = None if weights is None else own
        self.densities_ = ClassDensities(points, np.array(covariances), unit, of_points)
        return self

    def _kernel_covariance(self, points: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        n, n_features = points.shape
        width = self.bandwidth_scale * silverman_factor(n if weights is None else weights.sum(), n_features)
        return width**2 * class_covariance(points, self.covariance, weights)

    def _log_joint(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.densities_.log_joint(X, self.priors_, method=self.method)
