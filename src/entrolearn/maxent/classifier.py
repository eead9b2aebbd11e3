"""Maximum entropy classifier."""

from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from entrolearn.log_joint import LogJointClassifier
from entrolearn.maxent.features import Features, PerClassFeatures, evaluated
from entrolearn.maxent.solvers import SOLVERS, Likelihood
from entrolearn.user_warnings import warn_user
from entrolearn.validation import Interval, StrOptions, encode, validate_data, validated, weighted_rows

__all__ = ["MaxEntClassifier"]


class MaxEntClassifier(LogJointClassifier):
    r"""Maximum entropy classifier; without `feature_functions`, ``LogisticRegression(C=1 / alpha)``.

    At the defaults of both, the probabilities of more than two classes agree to 1e-10; for two classes, C is
    twice as large.

    The conditional distribution is constrained such that the features of rows and classes have the same means
    as in the training data,

    .. math:: \frac{1}{n} \sum_x \sum_c P(c \mid x) f_i(x, c) = \frac{1}{n} \sum_x f_i(x, c(x)),

    The model is the distribution with maximum entropy under these constraints, :math:`P(c \mid x) =
    \exp(\sum_i \lambda_i f_i(x, c)) / Z(x)`. Its weights maximise the likelihood. Unlike naive Bayes it does
    not assume that features are independent, so correlated features are not counted twice.

    Parameters
    ----------
    feature_functions : callable or sequence of callable, optional
        Each function takes X and a class label, and returns its features of all rows with that class, of
        shape (n_samples,) or (n_samples, n_features_of_it), dense or sparse. The weights are shared by all
        classes. By default, each column of X has a separate weight for each class, which is multinomial
        logistic regression.
    fit_intercept : bool, default=True
        Whether each class has an intercept, which has no prior.
    alpha : float, default=1.0
        Ridge on the weights, the reciprocal of the variance of their Gaussian prior with mean zero; at most
        1e100. With 0, weights diverge if a feature never occurs with some class in the training data.
    solver : {"lbfgs", "gis"}, default="lbfgs"
        "gis" is generalised iterative scaling, the method of the first maximum entropy classifiers. It
        requires non-negative features and many more iterations.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when no constraint is violated by more than this, in the units of the features' means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_classes, n_features), or (n_weights,) with `feature_functions`
        The weights λ.
    intercept_ : ndarray of shape (n_classes,)
        Zero without `fit_intercept`.
    n_iter_ : int
    loss_curve_ : list of float
        Mean of :math:`-\ln P(y \mid x)` over the training rows plus the penalty of the prior, before the
        first iteration and after each iteration.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    MaximumEntropyDistribution : The maximum entropy distribution with given moments.
    sklearn.linear_model.LogisticRegression : The default case, with more solvers.

    Notes
    -----
    Without `feature_functions` the model equals ``LogisticRegression(C=1 / alpha)`` for three or more
    classes, and ``LogisticRegression(C=2 / alpha)`` for two classes, where scikit-learn uses one
    weight vector instead of two opposite ones.

    The dual of the maximum entropy problem is the likelihood, which is concave and has no local maxima. A
    prior is equivalent to relaxed constraints.

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
    >>> from entrolearn.maxent import MaxEntClassifier
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
        "alpha": [Interval(Real, 0, 1e100, closed="both")],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        feature_functions=None,
        *,
        fit_intercept=True,
        alpha=1.0,
        solver="lbfgs",
        max_iter=1000,
        tol=1e-4,
    ):
        self.feature_functions = feature_functions
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y has only one class, a feature function does not return finite features for each row, or the
            solver is "gis" and a feature is negative.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` is reached.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, type(self).__name__)
        features = self._features(X)
        if self.solver == "gis" and (least := features.least()) < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__} with solver='gis': a feature is "
                f"{least:g}. Shift it, or take solver='lbfgs'."
            )
        truth = np.eye(len(self.classes_))[codes]
        likelihood = Likelihood(features, truth, bool(self.fit_intercept), self.alpha, weights)
        solution = SOLVERS[self.solver](likelihood, self.max_iter, self.tol)
        self.weights_, self.intercept_ = likelihood.split(solution.parameters)
        if self.feature_functions is None:
            self.weights_ = self.weights_.reshape(len(self.classes_), -1)
        self.loss_curve_ = solution.losses
        self.n_iter_ = len(solution.losses) - 1
        if solution.violation > self.tol:
            warn_user(
                f"{type(self).__name__}: after {self.n_iter_} iterations a constraint is off by "
                f"{solution.violation:.2g}, more than tol={self.tol:g}; raise max_iter or scale the features",
                ConvergenceWarning,
            )
        return self

    def _log_joint(self, X) -> np.ndarray:
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
