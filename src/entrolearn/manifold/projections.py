"""Supervised linear projections: principal components of the classes and generalised eigenvectors.

These are the methods with which Czarnecki, Jozefowicz and Tabor (2015), "Maximum Entropy Linear Manifold for
Learning Discriminative Low-Dimensional Representation", section 5, compare theirs.
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

#: Numbers below this, relative to the largest one, have squares that underflow.
LEAST_SIZE = 1e-150

#: Largest multiple of the mean that can be added without overflow.
LARGEST_ALPHA = 1e100


class _ClassProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of linear maps that are computed from the rows of each class.

    Subclasses implement ``_most_components(n_classes, n_features)``, the largest number of components, and
    ``_find(groups, weights, unit)``, which returns them as columns, shape (n_features, n_components).
    """

    _parameter_constraints: dict = {"n_components": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, n_components=2):
        self.n_components = n_components

    @abstractmethod
    def _most_components(self, n_classes: int, n_features: int) -> int:
        """Largest possible number of components."""

    @abstractmethod
    def _find(self, groups: Sequence[np.ndarray], weights: Sequence, unit: float) -> np.ndarray:
        """The components as columns, from the rows and weights of each class in a unit of length.

        Sets the other fitted attributes.
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
            Weights of the rows: a row of weight two counts as two rows, a row of weight zero is left out.

        Returns
        -------
        self : object
            The fitted projection.

        Raises
        ------
        ValueError
            If y does not hold class labels, or `n_components` is too large.
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
        """Project rows without centring them.

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
    """Base class: principal components of a weighted mean of the classes' covariances."""

    @abstractmethod
    def _class_weights(self, counts: np.ndarray) -> np.ndarray:
        """Weights of the classes, from their numbers of rows."""

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

    The components are eigenvectors of the mean of the class covariances, weighted by the numbers of rows. The
    differences of the class means have no influence.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most that of the features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows; the entry with the largest absolute value of each is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Eigenvalues in descending order, from covariances with ``ddof=0``.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    TwoEllipsoidPCA : The same with equal weights of the classes.

    Notes
    -----
    With one class this is principal component analysis. :meth:`transform` does not centre the rows: the map
    is linear, as in the paper, and scikit-learn's PCA differs from it by a translation. For directions of
    equal variance the basis is arbitrary and depends on rounding errors.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5, footnote 6.

    Examples
    --------
    >>> from entrolearn.manifold import ClassPCA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ClassPCA(n_components=2).fit(X, y).explained_variance_.round(3)
    array([0.435, 0.084])
    """

    def _class_weights(self, counts: np.ndarray) -> np.ndarray:
        return counts


class TwoEllipsoidPCA(_WithinClassPCA):
    """Principal components of the covariance within classes, with equal weights of the classes (2ePCA).

    The components are eigenvectors of the unweighted mean of the class covariances. The name is that of the
    paper, which has two classes; more are accepted.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most that of the features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows; the entry with the largest absolute value of each is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Eigenvalues in descending order, from covariances with ``ddof=0``.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    ClassPCA : The same with classes weighted by their numbers of rows.

    Notes
    -----
    Like that of :class:`ClassPCA`, :meth:`transform` does not centre the rows.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5, footnote 7.

    Examples
    --------
    >>> from entrolearn.manifold import TwoEllipsoidPCA
    >>> TwoEllipsoidPCA(n_components=1).fit([[0, 0], [2, 0], [0, 1], [0, 5]], [0, 0, 1, 1]).components_
    array([[0., 1.]])
    """

    def _class_weights(self, counts: np.ndarray) -> np.ndarray:
        return np.ones(len(counts))


class PerClassPCA(_ClassProjection):
    """The first principal component of each class in turn (pPCA).

    Components alternate between the classes, in the order of ``classes_``: first the first component of each
    class, then the second one of each, until there are `n_components`.

    Parameters
    ----------
    n_components : int, default=2
        Number of components. If it is below the number of classes, the last classes have none.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Rows of length one; the entry with the largest absolute value of each is positive. Components of
        different classes are not orthogonal, and may be equal.
    explained_variance_ : ndarray of shape (n_components,)
        Variance (``ddof=0``) of each component's class in its direction.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    Notes
    -----
    Like that of :class:`ClassPCA`, :meth:`transform` does not centre the rows.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5, footnote 8.

    Examples
    --------
    >>> from entrolearn.manifold import PerClassPCA
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

    For each ordered pair of classes, finds the directions in which class i has large and class j small second
    moments:

    .. math:: C_i v = \lambda \left(C_j + \frac{\alpha}{d} \mathrm{tr}(C_j) I\right) v,
              \quad C_c = \frac{1}{n_c} \sum_{x \in c} x x^T.

    The components are the eigenvectors with the largest eigenvalues of all pairs.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most one for each feature and pair.
    alpha : float, default=0.1
        Ridge of the second moments of class j, relative to their mean. Use 0 if these have full
        rank.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Eigenvectors as rows; the entry with the largest absolute value of each is positive. They are neither
        orthogonal nor of length one: along each, the regularised second moment of class j is one.
    eigenvalues_ : ndarray of shape (n_components,)
        λ in descending order: the ratio of the second moments of class i and class j.
    pairs_ : ndarray of shape (n_components, 2)
        Labels of i and j for each component.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    Notes
    -----
    Second moments are about the origin, not about the means: as in Karampatziakis and Mineiro, the components
    change under translations of the data. :meth:`transform` does not centre the rows either.

    This is the linear part of their method, with which the paper on linear manifolds compares. They continue
    with rectified powers of the projections, append these to the inputs, and keep all eigenvectors above a
    threshold instead of the first few. The lengths of the eigenvectors are theirs, so that with ``alpha=0``
    the projections are invariant, up to signs, under an invertible linear map of the features.

    References
    ----------
    Karampatziakis and Mineiro, Discriminative Features via Generalized Eigenvectors, ICML 2014, section 2.
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5.

    Examples
    --------
    Class 0 spreads along the first feature, class 1 along the second.

    >>> from entrolearn.manifold import GEM
    >>> gem = GEM(alpha=0).fit([[2, 1], [2, -1], [1, 3], [1, -3]], [0, 0, 1, 1])
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
        "alpha": [Interval(Real, 0, LARGEST_ALPHA, closed="both")],
    }

    def __init__(self, n_components=2, *, alpha=0.1):
        super().__init__(n_components)
        self.alpha = alpha

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
            raise ValueError(f"the components overflow: no number of X exceeds {2 * unit:.1g}; scale X.")
        return components

    def _regularised(self, moment: np.ndarray, label) -> np.ndarray:
        """The regularised second moments of a class, checked to have full rank."""
        d = len(moment)
        total = moment + self.alpha * np.trace(moment) / d * np.eye(d)
        # The rank of the correlations does not depend on the units of the features.
        size = np.sqrt(np.diag(total))
        if size.min() < LEAST_SIZE or eigh(total / np.outer(size, size), eigvals_only=True)[0] <= d * 1e-15:
            raise ValueError(
                f"the second moments of class {label!r} are singular with alpha={self.alpha:g}; "
                "accepted: a larger alpha, unless all rows of the class, or all but one, are zero."
            )
        return total


def _count(rows: np.ndarray, weights: np.ndarray | None) -> float:
    """The number of rows, or the sum of their weights."""
    return len(rows) if weights is None else weights.sum()


def _leading(matrix: np.ndarray, n: int, against: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The n largest eigenvalues of a symmetric matrix, descending, and the eigenvectors as columns."""
    d = len(matrix)
    values, vectors = eigh(matrix, against, subset_by_index=[d - n, d - 1])
    return values[::-1], vectors[:, ::-1]
