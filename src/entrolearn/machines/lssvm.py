"""Least squares support vector machines: a kernel on all training points and one linear system."""

from collections.abc import Iterator, Sequence
from numbers import Real

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.base import clone
from sklearn.utils import check_X_y
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from entrolearn.machines.base import Machine, class_targets, decide, encode
from entrolearn.machines.layers import KERNELS, kernel_matrix, kernel_params
from entrolearn.machines.readouts import bordered_solve
from entrolearn.path import Partition, PathPoint, acceptable, describe, path, same_settings
from entrolearn.validation import Interval, StrOptions, validated

__all__ = ["LSSVC"]


class LSSVC(Machine):
    """Least squares support vector classifier.

    Solves the bordered linear system of Suykens and Vandewalle, ``[[0, 1'], [1, K + Q / C]] [b; alpha] =
    [0; T]`` with targets ±1. Every training row keeps a coefficient.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared errors against the norm.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed": X is then the kernel
        matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        Of rbf, poly and sigmoid, as in :class:`EEKMClassifier`.
    degree : float, default=3
        Of the poly kernel.
    coef0 : float, default=1
        Of poly and sigmoid.
    class_weight : dict, "balanced" or None, default=None
        Weights of the squared errors; Q holds their reciprocals. (The EEM paper has Q inversely
        proportional to the class size, which taken to the letter reverses the balance.)

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
    intercept_ : float, or ndarray of shape (n_classes,)
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows, which a prediction needs; absent for a precomputed kernel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had string column names.

    See Also
    --------
    sklearn.svm.SVC : Sparse in the training rows.

    Notes
    -----
    More than two classes are machines of one class against the rest, solved together.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle (1999). Least squares support vector machine classifiers.
       Neural Processing Letters 9, 293-300.
    .. [2] J. A. K. Suykens, J. De Brabanter, L. Lukas and J. Vandewalle (2002). Weighted least squares
       support vector machines. Neurocomputing 48, 85-105.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import LSSVC
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> LSSVC(C=10.0, gamma=5.0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints: dict = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions(KERNELS | {"precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=1, class_weight=None):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit the machine by one Cholesky factorisation.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For a precomputed kernel the kernel matrix, shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.

        Returns
        -------
        self : object
            The fitted machine.

        Raises
        ------
        ValueError
            If y holds one class only, a precomputed matrix is not square, or the kernel matrix is so far
            from positive semi-definite that the system cannot be solved.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.classes_, codes = encode(y, "LSSVC")
        targets = class_targets(len(self.classes_))[codes]
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"a precomputed kernel matrix must be square, got shape {X.shape}.")
            gram = np.array(X, dtype=np.float64)
        else:
            self.X_fit_ = X
            self._kernel_params = kernel_params(X, self.kernel, self.gamma, self.degree, self.coef0)
            gram = kernel_matrix(X, X, self.kernel, self._kernel_params)
        gram.flat[:: len(gram) + 1] += 1 / (self.C * compute_sample_weight(self.class_weight, y))
        try:
            factor = cho_factor(gram, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"the {self.kernel!r} kernel matrix plus Q / C is not positive definite at C={self.C:g}; "
                "use a Mercer kernel such as 'rbf', or a smaller C."
            ) from None
        dual, intercept = bordered_solve(lambda right: cho_solve(factor, right, check_finite=False), targets)
        binary = len(self.classes_) == 2
        self.dual_coef_ = dual[:, 0] if binary else dual
        self.intercept_ = float(intercept[0]) if binary else intercept
        return self

    def decision_function(self, X):
        """Signed score of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For a precomputed kernel the kernel values with the training rows.

        Returns
        -------
        score : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if self.kernel != "precomputed":
            X = kernel_matrix(X, self.X_fit_, self.kernel, self._kernel_params)
        return X @ self.dual_coef_ + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _shares_kernel(machine: LSSVC) -> bool:
    """Whether the kernel of two rows is the same in every training set."""
    return acceptable(machine) and not isinstance(machine.gamma, str) and machine.kernel != "precomputed"


@path.register
def _lssvc_path(estimator: LSSVC, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """One kernel matrix per kernel, one eigendecomposition per training set: it serves every C.

    With S the diagonal root of the weights, (K + Q / C)^-1 = S (S K S + I / C)^-1 S.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    if not all(_shares_kernel(machine) for machine in machines):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
    for members in same_settings(machines, "kernel", "gamma", "degree", "coef0"):
        first = machines[members[0]]
        params = kernel_params(X, first.kernel, first.gamma, first.degree, first.coef0)
        kernel = kernel_matrix(X, X, first.kernel, params)
        for left_out in partition.left_out:
            rows = partition.training(left_out)
            for sharing in same_settings([machines[i] for i in members], "class_weight"):
                alike = [members[j] for j in sharing]
                try:
                    classes, codes = encode(y[rows], "LSSVC")
                    targets = class_targets(len(classes))[codes]
                    weight = machines[alike[0]].class_weight
                    root = np.sqrt(compute_sample_weight(weight, y[rows]))[:, None]
                    values, vectors = eigh(
                        root * kernel[np.ix_(rows, rows)] * root.T, overwrite_a=True, check_finite=False
                    )
                except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                    yield from (PathPoint(left_out, grid[i], error=describe(error)) for i in alike)
                    continue
                for i in alike:
                    damped = values + 1 / machines[i].C

                    def solve(right, damped=damped, vectors=vectors, root=root):
                        return root * (vectors @ ((vectors.T @ (root * right)) / damped[:, None]))

                    dual, intercept = bordered_solve(solve, targets)
                    score = kernel[:, rows] @ dual + intercept
                    score = score[:, 0] if len(classes) == 2 else score
                    yield PathPoint(
                        left_out,
                        grid[i],
                        prediction=decide(score, classes),
                        projection=score if len(classes) == 2 else None,
                    )
