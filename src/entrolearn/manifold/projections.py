"""Linear projections that know the classes: principal components of theirs, and generalised eigenvectors.

Those that Czarnecki, Jozefowicz and Tabor (2015), "Maximum Entropy Linear Manifold for Learning
Discriminative Low-Dimensional Representation", section 5, compare with their own.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import permutations
from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from entrolearn.axes import signs_of_rows, unit_of_length
from entrolearn.manifold.densities import by_class, class_covariance
from entrolearn.validation import Interval, validate_data, validated, weighted_rows

__all__ = ["GEM", "ClassPCA", "PerClassPCA", "TwoEllipsoidPCA"]

#: What is smaller, in units of the largest number, has no square.
LEAST_SIZE = 1e-150

#: Sums of larger multiples of the mean overflow.
LARGEST_GAMMA = 1e100


class _ClassProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A linear map that is found from the rows of each class.

    A subclass says how many components there can be, in ``_most_components(n_classes, n_features)``, and
    finds them, in ``_find(groups, weights, unit)``, as columns, shape (n_features, n_components).
    """

    _parameter_constraints: dict = {"n_components": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, n_components=2):
        self.n_components = n_components

    @abstractmethod
    def _most_components(self, n_classes: int, n_features: int) -> int:
        """How many components there can be."""

    @abstractmethod
    def _find(self, groups: Sequence[np.ndarray], weights: Sequence, unit: float) -> np.ndarray:
        """The components as columns, from the rows of each class, in a unit of length, and their weights.

        Sets what else is to be known of them.
        """

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows, one of weight zero is left out.

        Returns
        -------
        self : object
            The fitted projection.

        Raises
        ------
        ValueError
            If y does not hold class labels, or there are not so many components.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_classes, n_features = len(self.classes_), X.shape[1]
        most = self._most_components(n_classes, n_features)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is more than {type(self).__name__} finds with "
                f"n_features={n_features} and {n_classes} class{'es' * (n_classes > 1)}: at most {most}."
            )
        unit = unit_of_length(max(-X.min(), X.max()))
        groups = by_class(X, codes)
        for rows in groups:
            rows /= unit
        components = self._find(groups, by_class(weights, codes), unit).T
        self.components_ = np.ascontiguousarray(signs_of_rows(components) * components)
        return self

    def transform(self, X) -> np.ndarray:
        """Project rows, without centring them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            ``X @ components_.T``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _WithinClassPCA(_ClassProjection):
    """Principal components of a weighted mean of the classes' covariances."""

    @abstractmethod
    def _class_weights(self, counts: np.ndarray) -> np.ndarray:
        """Of classes with so many rows."""

    def _most_components(self, n_classes: int, n_features: int) -> int:
        return n_features

    def _find(self, groups: Sequence[np.ndarray], weights: Sequence, unit: float) -> np.ndarray:
        each = list(zip(groups, weights, strict=True))
        covariances = np.array([class_covariance(rows, "empirical", own) for rows, own in each])
        of_classes = self._class_weights(np.array([_count(rows, own) for rows, own in each]))
        within = np.average(covariances, axis=0, weights=of_classes)
        variances, components = _leading(within, self.n_components)
        self.explained_variance_ = variances * unit * unit
        return components


class ClassPCA(_WithinClassPCA):
    """Principal components of the covariance within classes (cPCA).

    The eigenvectors of the mean of the classes' covariances, each weighted by its number of rows. What sets
    the classes apart, the differences of their means, has no part in it.

    Parameters
    ----------
    n_components : int, default=2
        At most as many as there are features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the entry of largest size in each positive.
    explained_variance_ : ndarray of shape (n_components,)
        Their eigenvalues, in descending order; covariances are those of the sample (``ddof=0``).
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    TwoEllipsoidPCA : The same without weights.

    Notes
    -----
    With one class it is principal component analysis. :meth:`transform` does not centre the rows: the map is
    linear, as in the paper, and scikit-learn's PCA differs from it by a translation. Of directions of equal
    variance any basis is as good, and rounding decides which one it is.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5, footnote 6.

    Examples
    --------
    >>> from entrolearn import ClassPCA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ClassPCA(n_components=2).fit(X, y).explained_variance_.round(3)
    array([0.435, 0.084])
    """

    def _class_weights(self, counts: np.ndarray) -> np.ndarray:
        return counts


class TwoEllipsoidPCA(_WithinClassPCA):
    """Principal components of the covariance within classes, all of which weigh alike (2ePCA).

    The eigenvectors of the mean of the classes' covariances, however many rows each class has. The name is
    the paper's, which has two classes; there may be more.

    Parameters
    ----------
    n_components : int, default=2
        At most as many as there are features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the entry of largest size in each positive.
    explained_variance_ : ndarray of shape (n_components,)
        Their eigenvalues, in descending order; covariances are those of the sample (``ddof=0``).
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    ClassPCA : The same with weights.

    Notes
    -----
    :meth:`transform` does not centre the rows, as that of :class:`ClassPCA`.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5, footnote 7.

    Examples
    --------
    >>> from entrolearn import TwoEllipsoidPCA
    >>> TwoEllipsoidPCA(n_components=1).fit([[0, 0], [2, 0], [0, 1], [0, 5]], [0, 0, 1, 1]).components_
    array([[0., 1.]])
    """

    def _class_weights(self, counts: np.ndarray) -> np.ndarray:
        return np.ones(len(counts))


class PerClassPCA(_ClassProjection):
    """The first principal component of each class in turn (pPCA).

    Components go round the classes, in the order of ``classes_``: first each class's first one, then each
    class's second, until there are as many as asked for.

    Parameters
    ----------
    n_components : int, default=2
        With fewer than there are classes, the last classes have none. At most all of all classes.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Rows of length one, the entry of largest size in each positive. Those of different classes are not
        orthogonal, and are even the same where the classes spread in one direction.
    explained_variance_ : ndarray of shape (n_components,)
        Variance (``ddof=0``) of each component's class along it.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    Notes
    -----
    :meth:`transform` does not centre the rows, as that of :class:`ClassPCA`.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5, footnote 8.

    Examples
    --------
    >>> from entrolearn import PerClassPCA
    >>> PerClassPCA(n_components=2).fit([[0, 0], [2, 0], [0, 1], [0, 5]], [0, 0, 1, 1]).components_
    array([[1., 0.],
           [0., 1.]])
    """

    def _most_components(self, n_classes: int, n_features: int) -> int:
        return n_classes * n_features

    def _find(self, groups: Sequence[np.ndarray], weights: Sequence, unit: float) -> np.ndarray:
        rounds = -(-self.n_components // len(groups))
        each = zip(groups, weights, strict=True)
        found = [_leading(class_covariance(rows, "empirical", own), rounds) for rows, own in each]
        variances = np.stack([variances for variances, _ in found], axis=1)  # (rounds, n_classes)
        components = np.stack([components for _, components in found], axis=2)  # (d, rounds, n_classes)
        self.explained_variance_ = variances.reshape(-1)[: self.n_components] * unit * unit
        return components.reshape(len(components), -1)[:, : self.n_components]


class GEM(_ClassProjection):
    r"""Generalised eigenvectors for discriminative features.

    For each ordered pair of classes, the directions in which class i has much energy and class j little:

    .. math:: C_i v = \lambda \left(C_j + \frac{\gamma}{d} \mathrm{tr}(C_j) I\right) v,
              \quad C_c = \frac{1}{n_c} \sum_{x \in c} x x^T.

    The eigenvectors of the largest eigenvalues of all pairs are the components.

    Parameters
    ----------
    n_components : int, default=2
        At most one for each feature and pair.
    gamma : float, default=0.1
        What is added to the second moments of class j, in units of their mean. Zero where these are of full
        rank.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Eigenvectors as rows, the entry of largest size in each positive. They are neither orthogonal nor of
        length one: along each, class j has mean square one (with what was added).
    eigenvalues_ : ndarray of shape (n_components,)
        λ in descending order: how much more energy class i has than class j.
    pairs_ : ndarray of shape (n_components, 2)
        The labels of i and j.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    Notes
    -----
    Second moments are about the origin, not about the means: as in Karampatziakis and Mineiro, the components
    change when the data are moved. :meth:`transform` does not centre the rows either.

    The linear part of their method is what is here, which is what the linear manifold paper compares: they go
    on with rectified powers of the projections, join these to the inputs, and keep all eigenvectors above a
    threshold instead of the first few. The length of an eigenvector is as theirs, so that with ``gamma=0``
    the projections do not change, but for signs, under an invertible linear map of the features.

    References
    ----------
    Karampatziakis and Mineiro, Discriminative Features via Generalized Eigenvectors, ICML 2014, section 2.
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5.

    Examples
    --------
    Class 0 spreads along the first feature, class 1 along the second.

    >>> from entrolearn import GEM
    >>> gem = GEM(gamma=0).fit([[2, 1], [2, -1], [1, 3], [1, -3]], [0, 0, 1, 1])
    >>> gem.eigenvalues_
    array([9., 4.])
    >>> gem.pairs_
    array([[1, 0],
           [0, 1]])
    >>> gem.components_
    array([[0., 1.],
           [1., 0.]])
    """

    _parameter_constraints: dict = {
        **_ClassProjection._parameter_constraints,
        "gamma": [Interval(Real, 0, LARGEST_GAMMA, closed="both")],
    }

    def __init__(self, n_components=2, *, gamma=0.1):
        super().__init__(n_components)
        self.gamma = gamma

    def _most_components(self, n_classes: int, n_features: int) -> int:
        return n_classes * (n_classes - 1) * n_features

    def _find(self, groups: Sequence[np.ndarray], weights: Sequence, unit: float) -> np.ndarray:
        moments = [
            (rows if own is None else own[:, np.newaxis] * rows).T @ rows / _count(rows, own)
            for rows, own in zip(groups, weights, strict=True)
        ]
        pairs = list(permutations(range(len(groups)), 2))
        labels = self.classes_.tolist()
        each = min(self.n_components, len(moments[0]))
        found = [_leading(moments[i], each, self._regularised(moments[j], labels[j])) for i, j in pairs]
        eigenvalues = np.concatenate([values for values, _ in found])
        best = np.argsort(-eigenvalues, kind="stable")[: self.n_components]
        self.eigenvalues_ = eigenvalues[best]
        self.pairs_ = self.classes_[np.repeat(pairs, each, axis=0)[best]]
        with np.errstate(over="ignore"):
            components = np.hstack([components for _, components in found])[:, best] / unit
        if not np.isfinite(components).all():
            raise ValueError(f"the components overflow, as no number of X is above {2 * unit:.1g}: scale X.")
        return components

    def _regularised(self, moment: np.ndarray, label) -> np.ndarray:
        """What the eigenvalues of the class are relative to, checked to be of full rank."""
        d = len(moment)
        total = moment + self.gamma * np.trace(moment) / d * np.eye(d)
        # The correlations', so that the features' units do not matter.
        size = np.sqrt(np.diag(total))
        if size.min() < LEAST_SIZE or eigh(total / np.outer(size, size), eigvals_only=True)[0] <= d * 1e-15:
            raise ValueError(
                f"the second moments of class {label!r} are singular with gamma={self.gamma:g}; "
                "a larger gamma makes them regular, unless all rows of the class are zero, or all but."
            )
        return total


def _count(rows: np.ndarray, weights: np.ndarray | None) -> float:
    """The number of rows, or the sum of their weights."""
    return len(rows) if weights is None else weights.sum()


def _leading(matrix: np.ndarray, n: int, against: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The n largest eigenvalues of a symmetric matrix, descending, and their eigenvectors as columns."""
    d = len(matrix)
    values, vectors = eigh(matrix, against, subset_by_index=[d - n, d - 1])
    return values[::-1], vectors[:, ::-1]
