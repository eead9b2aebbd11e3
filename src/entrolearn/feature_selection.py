"""Selection of features by estimates of their mutual information with a target."""

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from entrolearn.measures import UnreliableEstimateWarning, mixed_mutual_information
from entrolearn.measures.independence import local_blocks, permuted_within
from entrolearn.validation import Interval, RealNotInt, StrOptions, validate_data, validated

__all__ = ["InformationFilter"]

#: Rows in each block within which a test permutes the target.
N_LOCAL = 5

#: Estimator of the mutual information of two variables, optionally conditional on a third.
Estimate = Callable[..., float]


def _no_term(estimate: Estimate, x: np.ndarray, selected: np.ndarray, y: np.ndarray) -> float:
    return 0.0


def _redundancy(estimate: Estimate, x: np.ndarray, selected: np.ndarray, y: np.ndarray) -> float:
    return estimate(x, selected)


def _joint(estimate: Estimate, x: np.ndarray, selected: np.ndarray, y: np.ndarray) -> float:
    return estimate(np.column_stack([x, selected]), y)


def _conditional(estimate: Estimate, x: np.ndarray, selected: np.ndarray, y: np.ndarray) -> float:
    return estimate(x, y, given=selected)


#: Name -> the term of each selected feature, and the criterion of a candidate from its relevance and these
#: terms.
CRITERIA: dict[str, tuple[Callable[..., float], Callable[[float, Sequence[float]], float]]] = {
    "relevance": (_no_term, lambda relevance, terms: relevance),
    "mrmr": (_redundancy, lambda relevance, terms: relevance - float(np.mean(terms)) if terms else relevance),
    "jmi": (_joint, lambda relevance, terms: float(np.mean(terms)) if terms else relevance),
    "cmim": (_conditional, lambda relevance, terms: min(terms, default=relevance)),
}
#: Criteria whose terms depend on the target and, once there is a term, replace the relevance.
OF_TARGET = ("jmi", "cmim")


class InformationFilter(SelectorMixin, BaseEstimator):
    r"""Forward selection of features by estimated mutual information with a target.

    The first selected feature has the largest :math:`I(X_j; Y)`. Each further one has the largest criterion
    of the features not yet selected; S is the set of the selected ones:

    ============= ============================================================================
    "relevance"   :math:`I(X_j; Y)`
    "mrmr"        :math:`I(X_j; Y) - \frac{1}{|S|} \sum_{s \in S} I(X_j; X_s)`
    "jmi"         :math:`\frac{1}{|S|} \sum_{s \in S} I(X_j, X_s; Y)`
    "cmim"        :math:`\min_{s \in S} I(X_j; Y \mid X_s)`
    ============= ============================================================================

    Parameters
    ----------
    n_features_to_select : int, float, "test" or None, default=None
        The number of features, or their share; None selects half. With "test" features are added, possibly
        none, as long as the largest criterion is significantly larger than for a permuted target.
    criterion : {"relevance", "mrmr", "jmi", "cmim"}, default="jmi"
        "relevance" scores each feature separately; "mrmr" avoids features that are redundant given the
        selected ones; "jmi" and "cmim" also find features that are informative only together with others.
    target : {"auto", "classes", "values"}, default="auto"
        Whether y holds class labels or numbers. "auto" is "values" if y holds numbers that are not integers,
        else "classes".
    n_neighbors : int, default=3
        Number of neighbours of the estimator, :func:`~entrolearn.measures.mixed_mutual_information`.
    alpha : float, default=0.05
        With "test": significance level, the probability of adding a feature if none of the remaining ones is
        informative given the selected ones.
    n_permutations : int, default=99
        With "test": number of permutations of the target for each added feature.
    random_state : int, RandomState instance or None, default=None
        With "test": seed of the permutations.

    Attributes
    ----------
    ranking_ : ndarray of int, shape (n_selected,)
        Indices of the selected features, in the order of selection.
    scores_ : ndarray, shape (n_selected,)
        Criterion of each feature when it was selected, in nats.
    relevance_ : ndarray, shape (n_features,)
        Mutual information of each feature and the target, in nats.
    p_values_ : ndarray
        With "test": p-values of the selected features, and of the first one that was not significant.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has them.

    See Also
    --------
    sklearn.feature_selection.SelectKBest : With ``mutual_info_classif`` it corresponds to "relevance".
    entrolearn.EntropySearch : Selects parameters by a divergence of the classes.

    Notes
    -----
    `fit` computes about n_features × n_selected estimates, each O(n log n). Features and target may be
    continuous, discrete or mixed. With "test" it computes, for each added feature and each permutation, one
    estimate per remaining feature; with "jmi" and "cmim" this is multiplied by the number of selected
    features.

    The test permutes the target among all rows for the first feature and with "relevance", otherwise within
    blocks of rows that are close in the selected features. The largest criterion of all candidates is
    compared with the largest one for each permutation, so that many uninformative features cause no more
    false selections than one.

    References
    ----------
    .. [1] G. Brown, A. Pocock, M.-J. Zhao and M. Luján (2012). Conditional likelihood maximisation: a
       unifying framework for information theoretic feature selection. JMLR 13.
    .. [2] H. Peng, F. Long and C. Ding (2005). Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27.
    .. [3] H. H. Yang and J. Moody (1999). Data visualization and feature selection: new algorithms for
       nongaussian data. NeurIPS.
    .. [4] F. Fleuret (2004). Fast binary feature selection with conditional mutual information. JMLR 5.

    Examples
    --------
    Two features that are informative of the class only together, and two that are not informative:

    >>> import numpy as np
    >>> from entrolearn.feature_selection import InformationFilter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 4))
    >>> y = X[:, 1] * X[:, 2] > 0
    >>> InformationFilter(2, criterion="jmi").fit(X, y).get_support(indices=True)
    array([1, 2])
    """

    _parameter_constraints: dict = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"test"}),
            None,
        ],
        "criterion": [StrOptions(set(CRITERIA))],
        "target": [StrOptions({"auto", "classes", "values"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        criterion="jmi",
        target="auto",
        n_neighbors=3,
        alpha=0.05,
        n_permutations=99,
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.target = target
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.random_state = random_state

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Numeric features.
        y : array-like, shape (n_samples,)
            Classes or numbers.

        Returns
        -------
        self : InformationFilter
            The fitted selector.

        Raises
        ------
        ValueError
            If X or y is not finite, X has fewer features than are to be selected, there are at most
            `n_neighbors` rows, `n_permutations` is too small for `alpha`, or y does not suit `target`.
        """
        self.__dict__.pop("p_values_", None)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        n_wanted = self._n_wanted(X.shape[1])
        y = self._labels_or_numbers(y)
        order = np.lexsort((*X.T, y))  # so that permutations do not depend on the order of rows
        X, y = X[order], y[order]
        testing = self.n_features_to_select == "test"
        rng = check_random_state(self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreliableEstimateWarning)  # there are very many estimates
            self.relevance_ = np.array([self._estimate(column, y) for column in X.T])
            terms: list[list[float]] = [[] for _ in X.T]  # of each feature: one per selected feature
            self.ranking_ = np.empty(0, dtype=np.intp)
            scores, p_values = [], []
            while len(self.ranking_) < n_wanted:
                left = np.setdiff1d(np.arange(X.shape[1]), self.ranking_)
                values = self._values(left, self.relevance_, terms)
                best = int(left[np.argmax(values)])
                if testing:
                    p_values.append(self._p_value(X, y, left, max(values), terms, rng))
                    if p_values[-1] > self.alpha:
                        break
                scores.append(max(values))
                self.ranking_ = np.append(self.ranking_, best)
                for j in left[left != best]:
                    terms[j].append(self._term(X[:, j], X[:, best], y))
        self.scores_ = np.array(scores)
        if testing:
            self.p_values_ = np.array(p_values)
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.ranking_] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _estimate(self, *variables, **given) -> float:
        return mixed_mutual_information(*variables, n_neighbors=self.n_neighbors, **given)

    def _term(self, x: np.ndarray, selected: np.ndarray, y: np.ndarray) -> float:
        return CRITERIA[self.criterion][0](self._estimate, x, selected, y)

    def _values(self, left: np.ndarray, relevance: np.ndarray, terms: list[list[float]]) -> list[float]:
        return [self._value(relevance[j], terms[j]) for j in left]

    def _value(self, relevance: float, terms: list[float]) -> float:
        return float(CRITERIA[self.criterion][1](relevance, terms))

    def _p_value(
        self, X: np.ndarray, y: np.ndarray, left: np.ndarray, observed: float, terms: list[list[float]], rng
    ) -> float:
        """P-value of the largest criterion; y is permuted among rows close in the selected features."""
        selected: Any = [] if self.criterion == "relevance" else self.ranking_
        blocks = local_blocks(X[:, selected], N_LOCAL) if len(selected) else np.zeros(len(X), dtype=np.intp)

        def value(j: int, y: np.ndarray) -> float:
            if self.criterion in OF_TARGET and len(self.ranking_):
                return self._value(0.0, [self._term(X[:, j], X[:, s], y) for s in self.ranking_])
            return self._value(self._estimate(X[:, j], y), terms[j])

        permutations = (y[permuted_within(blocks, rng)] for _ in range(self.n_permutations))
        as_large = sum(any(value(j, permuted) >= observed for j in left) for permuted in permutations)
        return (1 + as_large) / (1 + self.n_permutations)

    def _n_wanted(self, n_features: int) -> int:
        wanted = self.n_features_to_select
        if wanted == "test":
            least = np.ceil(1 / self.alpha) - 1  # inf for tiny alpha
            if self.n_permutations < least:
                raise ValueError(
                    f"n_permutations is {self.n_permutations}; a test at alpha={self.alpha:g} needs at "
                    f"least {least:.10g}"
                )
            return n_features
        if wanted is None:
            return max(1, n_features // 2)
        if isinstance(wanted, Integral):
            if int(wanted) > n_features:
                raise ValueError(f"n_features_to_select is {wanted}; X has {n_features} features")
            return int(wanted)
        return max(1, int(wanted * n_features))

    def _labels_or_numbers(self, y: np.ndarray) -> np.ndarray:
        """Classes as strings, which the estimator treats as labels, or numbers."""
        classes = self.target == "classes"
        if self.target == "auto":
            classes = not type_of_target(y, input_name="y").startswith("continuous")
        if not classes:
            try:
                return np.asarray(y, dtype=np.float64)
            except ValueError:
                raise ValueError(
                    "target='values' requires a numeric y, but y holds strings: use target='classes'"
                ) from None
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)[1].astype(str)
