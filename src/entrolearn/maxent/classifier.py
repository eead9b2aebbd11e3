"""Classification by the conditional model of greatest entropy."""

import warnings
from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from entrolearn.maxent.features import Features, PerClassFeatures, evaluated
from entrolearn.maxent.solvers import SOLVERS, Likelihood
from entrolearn.validation import Interval, StrOptions, validate_data, validated, weighted_rows

__all__ = ["MaxEntClassifier"]


class MaxEntClassifier(ClassifierMixin, BaseEstimator):
    r"""Maximum entropy classifier.

    Of all conditional distributions under which features of rows and classes have the means that they have on
    the training rows,

    .. math:: \frac{1}{n} \sum_x \sum_c P(c \mid x) f_i(x, c) = \frac{1}{n} \sum_x f_i(x, c(x)),

    it is the one of greatest entropy, :math:`P(c \mid x) = \exp(\sum_i \lambda_i f_i(x, c)) / Z(x)`, and its
    weights are those of greatest likelihood. Nothing is assumed of how features depend on each other: what
    two features say together is not counted twice, as naive Bayes does.

    Parameters
    ----------
    feature_functions : callable or sequence of callable, optional
        Each takes X and a class label and returns its features of all rows with that class, of shape
        (n_samples,) or (n_samples, n_features_of_it), dense or sparse; their weights are shared by all
        classes. Unless given, each column of X is a feature of each class, with a weight for each:
        multinomial logistic regression.
    fit_intercept : bool, default=True
        Give each class a feature that is always 1, without prior.
    prior_variance : float or None, default=1.0
        Variance of the Gaussian prior, of mean zero, on each weight, from 1e-100 to 1e100; None for no prior.
        Without one, a feature that some class never has in training makes weights grow without bound.
    solver : {"lbfgs", "gis"}, default="lbfgs"
        "gis" is generalised iterative scaling, the method of the first maximum entropy classifiers. It takes
        features that are not negative, and very many more iterations.
    max_iter : int, default=1000
        Iterations of the solver.
    tol : float, default=1e-4
        The fit ends where no constraint is off by more than this, in the units of the features' means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_classes, n_features), or (n_weights,) with `feature_functions`
        The λ.
    intercept_ : ndarray of shape (n_classes,)
        0 without `fit_intercept`.
    n_iter_ : int
    loss_curve_ : list of float
        Mean of :math:`-\ln P(y \mid x)` over the training rows, plus the prior's share, before the first
        iteration and after each.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    MaximumEntropyDistribution : Greatest entropy without rows: a distribution with given moments.
    sklearn.linear_model.LogisticRegression : The plain case by more solvers.

    Notes
    -----
    Without `feature_functions` it is ``LogisticRegression(C=prior_variance)`` for three classes or more, and
    ``LogisticRegression(C=2 * prior_variance)`` for two, to which scikit-learn gives one weight vector
    instead of two opposite ones.

    The dual of the maximum entropy problem is the likelihood; it is concave, so that there are no local
    maxima. A prior is the same as constraints that need not hold exactly.

    References
    ----------
    .. [1] K. Nigam, J. Lafferty and A. McCallum (1999). Using maximum entropy for text classification. IJCAI
       workshop on machine learning for information filtering.
    .. [2] J. N. Darroch and D. Ratcliff (1972). Generalized iterative scaling for log-linear models. Annals
       of Mathematical Statistics 43.
    .. [3] S. F. Chen and R. Rosenfeld (2000). A survey of smoothing techniques for ME models. IEEE
       Transactions on Speech and Audio Processing 8.
    .. [4] J. R. Curran and S. Clark (2003). Investigating GIS and smoothing for maximum entropy taggers.
       EACL.
    .. [5] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       section "Maximum Entropy Distribution", Algorithm.

    Examples
    --------
    >>> from entrolearn import MaxEntClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(MaxEntClassifier().fit(X, y).score(X, y), 2)
    0.97

    One feature whose weight all classes share, the agreement of the first column with the class's mean there:

    >>> import numpy as np
    >>> mean = [X[y == c, 0].mean() for c in range(3)]
    >>> near = MaxEntClassifier(lambda X, c: -np.abs(X[:, 0] - mean[c])).fit(X, y)
    >>> near.weights_.shape
    (1,)
    """

    _parameter_constraints: dict = {
        "feature_functions": [None, callable, list, tuple],
        "fit_intercept": ["boolean"],
        "prior_variance": [None, Interval(Real, 1e-100, 1e100, closed="both")],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        feature_functions=None,
        *,
        fit_intercept=True,
        prior_variance=1.0,
        solver="lbfgs",
        max_iter=1000,
        tol=1e-4,
    ):
        self.feature_functions = feature_functions
        self.fit_intercept = fit_intercept
        self.prior_variance = prior_variance
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows, one of weight zero is left out.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y holds one class only, a feature function gives what is no feature of each row, or the solver
            is "gis" and a feature is negative.

        Warns
        -----
        ConvergenceWarning
            If the iterations were not enough.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, "
                f"but the data contains only one class: {self.classes_.tolist()[0]!r}."
            )
        features = self._features(X)
        if self.solver == "gis" and (least := features.least()) < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__} with solver='gis': a feature is "
                f"{least:g}. Shift it, or take solver='lbfgs'."
            )
        variance = np.inf if self.prior_variance is None else self.prior_variance
        truth = np.eye(len(self.classes_))[codes]
        likelihood = Likelihood(features, truth, bool(self.fit_intercept), variance, weights)
        solution = SOLVERS[self.solver](likelihood, self.max_iter, self.tol)
        self.weights_, self.intercept_ = likelihood.split(solution.parameters)
        if self.feature_functions is None:
            self.weights_ = self.weights_.reshape(len(self.classes_), -1)
        self.loss_curve_ = solution.losses
        self.n_iter_ = len(solution.losses) - 1
        if solution.violation > self.tol:
            warnings.warn(
                f"{type(self).__name__}: after {self.n_iter_} iterations a constraint is off by "
                f"{solution.violation:.2g}, more than tol={self.tol:g}; raise max_iter or scale the features",
                ConvergenceWarning,
                stacklevel=4,  # past the wrapper that checks parameters
            )
        return self

    def decision_function(self, X) -> np.ndarray:
        """How far a row is from a change of its class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        score : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            The logarithm of the odds of ``classes_[1]``; or each class's weighted sum of features.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        return softmax(self._scores(X), axis=1)

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return log_softmax(self._scores(X), axis=1)

    def _scores(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._features(X).scores(self.weights_.ravel()) + self.intercept_

    def _features(self, X) -> Features:
        if self.feature_functions is None:
            return PerClassFeatures(X, len(self.classes_))
        functions = self.feature_functions
        return evaluated([functions] if callable(functions) else functions, X, self.classes_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.solver == "gis" and self.feature_functions is None
        return tags
