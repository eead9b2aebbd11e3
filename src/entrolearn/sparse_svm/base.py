"""Base classes of sparse support vector machines."""

from numbers import Real
from typing import Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from entrolearn.kernels import (
    KERNEL_CONSTRAINTS,
    KERNELS,
    KernelParameters,
    check_precomputed,
    kernel_matrix,
    kernel_params,
    linear_coef,
)
from entrolearn.sparse_svm.lp import Margins, check_size, class_margins, value_margins
from entrolearn.validation import (
    Interval,
    StrOptions,
    encode_two,
    times_class_weights,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["SparseClassifier", "SparseRegressor"]


class SparseMachine(KernelParameters, BaseEstimator):
    """An estimator ``f(x) = sum_j dual_coef_j k(x, support_vector_j) + intercept``.

    ``_solve(margins)`` of a subclass returns the coefficients and the intercept, and sets further attributes
    of the solution.
    """

    _parameter_constraints: dict = {
        "C": [Interval(Real, 0, 1e150, closed="right")],
        **KERNEL_CONSTRAINTS,
        "kernel": [StrOptions(KERNELS | {"precomputed"}), callable],
    }

    def _solve(self, margins: Margins) -> tuple[np.ndarray, float]:
        raise NotImplementedError

    def _weighted(self, X, y, sample_weight) -> tuple:
        """Rows of positive weight, their targets and weights, and their indices in X."""
        rows, y, weights = weighted_rows(np.arange(len(y), dtype=np.int32), y, sample_weight)
        if len(rows) < X.shape[0]:
            if self.kernel == "precomputed":
                check_precomputed(X)
                X = X[:, rows]
            X = X[rows]
        return X, y, weights, rows

    def _fit_margins(self, X, margins: Margins, rows: np.ndarray) -> np.ndarray:
        """Solve, store the rows with nonzero coefficients, and return the coefficients of all rows.

        `rows` are the indices of the rows of X in the training data.
        """
        try:
            coef, intercept = self._solve(margins)
        except ArithmeticError as error:
            raise ValueError(str(error)) from error
        self.intercept_ = np.array([intercept])
        used = np.flatnonzero(coef)
        self.support_ = rows[used]
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[used]
        return coef

    def _gram(self, X, n_conditions: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Kernel values of all pairs of training rows."""
        if self.kernel == "precomputed":
            check_precomputed(X)
        check_size(n_conditions, X.shape[0])
        if self.kernel == "precomputed":
            return X.toarray() if issparse(X) else X
        self._kernel_params = kernel_params(X, self.kernel, self.gamma, self.kernel_params, weights)
        return kernel_matrix(X, X, self.kernel, self._kernel_params)

    @property
    def coef_(self) -> np.ndarray:
        """Feature weights for the linear kernel, shape (n_outputs, n_features)."""
        return linear_coef(self.kernel, self.dual_coef_, self.support_vectors_)

    def _outputs(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if not len(self.support_):
            return np.full(X.shape[0], self.intercept_[0])
        if self.kernel == "precomputed":
            return X[:, self.support_] @ self.dual_coef_[0] + self.intercept_[0]
        values = kernel_matrix(X, self.support_vectors_, self.kernel, self._kernel_params)
        return values @ self.dual_coef_[0] + self.intercept_[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class SparseClassifier(ClassifierMixin, SparseMachine):
    """Sparse binary classifier, by the sign of the output."""

    _parameter_constraints: dict = {
        **SparseMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For a precomputed kernel the kernel matrix, shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels of any type, two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored. The
            weight multiplies C both as the weight of the row's loss and as the bound of its coefficient.

        Returns
        -------
        self : object
            The fitted machine.

        Raises
        ------
        ValueError
            If y does not have two classes, a precomputed matrix is not square and symmetric, a kernel value
            is not finite, or HiGHS finds no optimum, which happens for kernel values of very different sizes.
        MemoryError
            If this machine has not the memory for the linear program, which grows with n_samples².
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X, y, weights, rows = self._weighted(X, y, sample_weight)
        self.classes_, codes = encode_two(y, type(self).__name__)
        gram, signs = self._gram(X, len(y), weights), 2.0 * codes - 1
        weights = times_class_weights(weights, self.class_weight, self.classes_, codes)
        margins = class_margins(gram, signs, self.C, weights)
        coef = self._fit_margins(X, margins, rows)
        used = coef != 0
        self.dual_coef_ = (coef * signs)[used][None, :]
        self.n_support_ = np.bincount(codes[used], minlength=2).astype(np.int32)
        return self

    def decision_function(self, X) -> np.ndarray:
        """Decision value of each row; it is 1 and -1 on the margins.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For a precomputed kernel the kernel values with the training rows.

        Returns
        -------
        score : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        return self._outputs(X)

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class SparseRegressor(RegressorMixin, SparseMachine):
    """Sparse regressor with the epsilon-insensitive loss."""

    _parameter_constraints: dict = {
        **SparseMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1e100, closed="both")],
    }

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For a precomputed kernel the kernel matrix, shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored. The
            weight multiplies C both as the weight of the row's loss and as the bound of its coefficient.

        Returns
        -------
        self : object
            The fitted machine.

        Raises
        ------
        ValueError
            If a precomputed matrix is not square and symmetric, a kernel value is not finite, or HiGHS finds
            no optimum, which happens for values of y or the kernel of very different sizes.
        MemoryError
            If this machine has not the memory for the linear program, which grows with n_samples².
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        X, y, weights, rows = self._weighted(X, y, sample_weight)
        margins = value_margins(self._gram(X, 2 * len(y), weights), y, self.epsilon, self.C, weights)
        coef = self._fit_margins(X, margins, rows)
        self.dual_coef_ = coef[coef != 0][None, :]
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        return self

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For a precomputed kernel the kernel values with the training rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._outputs(X)
