"""Hidden layers: maps of the inputs into the space in which a readout is solved in closed form.

A layer knows its units in a fixed order, and the first h units of a layer are the layer of h units that the
same seed draws. What is computed once for the largest layer therefore serves every smaller one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.extmath import row_norms, safe_sparse_dot

__all__ = ["ACTIVATIONS", "KERNELS", "NystromLayer", "RandomLayer", "kernel_matrix", "kernel_params"]

KERNELS = frozenset(PAIRWISE_KERNEL_FUNCTIONS) - {"precomputed"}

# Added to the diagonal of K(X_h, X_h), relative to its mean, which is numerically singular at small gamma.
# The first does for features near [0, 1]; kernel values of features far from the origin carry more rounding.
NYSTROM_FLOORS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8)


def _sigmoid(X, weights, biases):
    return expit(_preactivation(X, weights, biases))


def _sigmoid_below_one(X, weights, biases):
    Z = _preactivation(X, weights, biases)
    np.negative(Z, out=Z)
    expit(Z, out=Z)
    return np.negative(Z, out=Z)


def _normalised_sigmoid(X, weights, biases):
    return expit(_preactivation(X, weights / X.shape[1], biases))


def _normalised_sigmoid_below_one(X, weights, biases):
    return _sigmoid_below_one(X, weights / X.shape[1], biases)


def _rbf(X, weights, biases):
    # -b ||x - w||^2 = 2b <x, w> - b ||x||^2 - b ||w||^2: one matrix product, then in place.
    Z = _dense(safe_sparse_dot(X, (2 * biases[:, None] * weights).T))
    Z -= row_norms(X, squared=True)[:, None] * biases
    Z -= biases * row_norms(weights, squared=True)
    np.minimum(Z, 0, out=Z)  # rounding where x is close to w
    return np.exp(Z, out=Z)


def _preactivation(X, weights, biases):
    Z = _dense(safe_sparse_dot(X, weights.T))
    Z -= biases
    return Z


def _dense(Z):
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)


# name -> G(X, weights, biases), section 7 of the EEM paper
ACTIVATIONS: dict[str, Callable] = {
    "sigmoid": _sigmoid,
    "nsigmoid": _normalised_sigmoid,
    "rbf": _rbf,
}
# The same minus one, without ever forming a number that rounds to one. A readout that does not care for a
# constant (the entropy discriminant) still sees what distinguishes saturated units.
_BELOW_ONE: dict[str, Callable] = {
    "sigmoid": _sigmoid_below_one,
    "nsigmoid": _normalised_sigmoid_below_one,
}


@dataclass(frozen=True)
class RandomLayer:
    """Random hidden units G(x, w, b), the layer of extreme learning machines.

    Weights and biases are drawn from U[0, 1], unit by unit, as in section 7 of Czarnecki and Tabor,
    "Extreme Entropy Machines".

    Attributes
    ----------
    weights : ndarray, shape (n_hidden, n_features)
    biases : ndarray, shape (n_hidden,)
    activation : {"sigmoid", "nsigmoid", "rbf"} or callable
        ``sigmoid``: 1 / (1 + exp(-<w, x> + b)); ``nsigmoid``: the same with <w, x> / n_features; ``rbf``:
        exp(-b ||w - x||^2). A callable gets the array <w, x> - b, shape (n_samples, n_hidden).
    below_one : bool
        Give G - 1 instead of G for the sigmoids: the same up to a constant, but saturated units keep their
        digits (1 - 1e-30 is one in floating point, -1e-30 is not).
    """

    weights: np.ndarray
    biases: np.ndarray
    activation: str | Callable = "sigmoid"
    below_one: bool = False

    @classmethod
    def draw(cls, n_features, n_hidden, activation, rng, *, below_one=False, dtype=np.float64):
        """Draw the units with `rng`, a :class:`numpy.random.RandomState`."""
        units = rng.uniform(size=(n_hidden, n_features + 1)).astype(dtype, copy=False)
        return cls(units[:, :-1], units[:, -1], activation, below_one)

    def __call__(self, X) -> np.ndarray:
        """Activations of the rows of X (dense or CSR), shape (n_samples, n_hidden)."""
        if callable(self.activation):
            return self.activation(_preactivation(X, self.weights, self.biases))
        table = {**ACTIVATIONS, **_BELOW_ONE} if self.below_one else ACTIVATIONS
        return table[self.activation](X, self.weights, self.biases)

    units = __call__  # what a prediction computes before its linear part

    def fold(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the units that equal `coef` on the layer: the same."""
        return coef


@dataclass(frozen=True)
class NystromLayer:
    """Low-rank kernel features: inner products of two rows approximate their kernel value.

    The paper's map is K(x, X_h) K(X_h, X_h)^-1/2. With the Cholesky factor L of K(X_h, X_h) in the place of
    the symmetric square root, K(x, X_h) L^-T differs from it by a rotation, to which mean, covariance,
    Ledoit-Wolf shrinkage and hence the machine are blind. The factor costs a tenth of an
    eigendecomposition, and the first h features are the layer of the first h landmarks.

    Attributes
    ----------
    landmarks : {ndarray, CSR}, shape (n_landmarks, n_features)
    factor : ndarray, shape (n_landmarks, n_landmarks)
        Lower triangular L.
    kernel : str or callable
    kernel_params : dict
    """

    landmarks: object
    factor: np.ndarray
    kernel: str | Callable
    kernel_params: dict

    @classmethod
    def draw(cls, X, n_landmarks, kernel, kernel_params, rng):
        """Choose landmarks among the rows of X with `rng`; at most all of them.

        Raises
        ------
        ValueError
            If the kernel matrix of the landmarks is not positive semi-definite.
        """
        chosen = rng.permutation(X.shape[0])[:n_landmarks]
        landmarks = X[chosen]
        gram = kernel_matrix(landmarks, landmarks, kernel, kernel_params)
        return cls(landmarks, _floored_cholesky(gram, kernel, kernel_params), kernel, kernel_params)

    def __call__(self, X) -> np.ndarray:
        """Features of the rows of X (dense or CSR), shape (n_samples, n_landmarks)."""
        return solve_triangular(self.factor, self.units(X).T, lower=True, check_finite=False).T

    def units(self, X) -> np.ndarray:
        """K(X, landmarks), shape (n_samples, n_landmarks): what a prediction needs of a row."""
        return kernel_matrix(X, self.landmarks, self.kernel, self.kernel_params)

    def fold(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the units that equal `coef` on the first features (section 6 of the paper)."""
        h = len(coef)
        return solve_triangular(self.factor[:h, :h], coef, lower=True, trans="T", check_finite=False)


def _floored_cholesky(gram: np.ndarray, kernel, kernel_params: dict) -> np.ndarray:
    scale = np.trace(gram) / len(gram)
    for floor in NYSTROM_FLOORS:
        floored = gram + floor * scale * np.eye(len(gram))
        try:
            return cholesky(floored, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
    raise ValueError(
        f"the {kernel!r} kernel with {kernel_params} gives landmarks a matrix that is not positive "
        "semi-definite; a Nyström layer needs a Mercer kernel, such as 'rbf'."
    )


def kernel_matrix(X, Y, kernel, kernel_params) -> np.ndarray:
    """Kernel values of all pairs of rows, shape (n_samples_X, n_samples_Y)."""
    if callable(kernel):
        return np.asarray(pairwise_kernels(X, Y, metric=kernel, **kernel_params))
    return _dense(pairwise_kernels(X, Y, metric=kernel, filter_params=True, **kernel_params))


def kernel_params(X, kernel, gamma, degree, coef0) -> dict:
    """Parameters of a kernel on data like X, with gamma's names resolved as scikit-learn's SVC does."""
    if callable(kernel):
        return {}
    if gamma == "auto":
        gamma = 1 / X.shape[1]
    elif gamma == "scale":
        variance = X.multiply(X).mean() - X.mean() ** 2 if issparse(X) else X.var()
        gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    return {"gamma": float(gamma), "degree": degree, "coef0": coef0}
