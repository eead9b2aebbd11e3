"""A perceptron with one hidden layer: parameters in one array, and backpropagation with reused buffers.

The products of a batch are written to preallocated buffers, and BLAS adds the gradient directly to the
weights. A step therefore allocates no array of the size of the weights.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs
from sklearn.utils import gen_batches

from entrolearn.kernels import check_memory

__all__ = ["ACTIVATIONS", "INITS", "LARGEST_INIT", "Parameters", "Perceptron", "outputs"]

INITS = {"glorot"}
#: Largest bound of initial weights, by itemsize; with larger weights squares of outputs overflow.
LARGEST_INIT = {4: 1e15, 8: 1e100}

#: Rows per block when only outputs are computed.
BLOCK_ROWS = 4096


def _logistic(Z: np.ndarray) -> None:
    np.negative(Z, out=Z)
    with np.errstate(over="ignore"):  # if exp overflows, the result is zero, as it should be
        np.exp(Z, out=Z)
    Z += 1
    np.reciprocal(Z, out=Z)


def _times_logistic_slope(slopes: np.ndarray, values: np.ndarray) -> None:
    slopes *= values
    slopes -= slopes * values


def _tanh(Z: np.ndarray) -> None:
    np.tanh(Z, out=Z)


def _times_tanh_slope(slopes: np.ndarray, values: np.ndarray) -> None:
    squares = values * values
    squares *= slopes
    slopes -= squares


def _identity(Z: np.ndarray) -> None:
    pass


def _times_one(slopes: np.ndarray, values: np.ndarray) -> None:
    pass


class Activation(NamedTuple):
    """Activation function of a unit.

    Attributes
    ----------
    apply : callable
        Replaces an array of weighted sums by activations, in place.
    times_slope : callable
        Multiplies derivatives by the slope of the activation, in place, given the activations.
    gain : float
        Glorot's bound is sqrt(gain / (number of inputs + number of units)) of a layer.
    """

    apply: Callable[[np.ndarray], None]
    times_slope: Callable[[np.ndarray, np.ndarray], None]
    gain: float


ACTIVATIONS = {
    "logistic": Activation(_logistic, _times_logistic_slope, 2.0),
    "tanh": Activation(_tanh, _times_tanh_slope, 6.0),
    "identity": Activation(_identity, _times_one, 6.0),
}


class Parameters:
    """Weights and intercepts of both layers, as views of one array.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of features, hidden units and outputs.
    dtype : dtype

    Attributes
    ----------
    flat : ndarray
        All parameters, in the order of the layers, each layer's weights before its intercepts.
    coefs : list of ndarray, shapes (n_features, n_hidden) and (n_hidden, n_outputs)
    intercepts : list of ndarray, shapes (n_hidden,) and (n_outputs,)
    """

    def __init__(self, sizes: tuple[int, int, int], dtype):
        shapes = [shape for fan in zip(sizes[:-1], sizes[1:], strict=True) for shape in (fan, fan[1:])]
        numbers = [math.prod(shape) for shape in shapes]
        check_memory(
            np.dtype(dtype).itemsize * sum(numbers), f"a layer of {sizes[1]} hidden units", "take fewer units"
        )
        ends = np.cumsum(numbers)
        self.flat = np.zeros(ends[-1], dtype)
        parts = np.split(self.flat, ends[:-1])
        views = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        self.coefs, self.intercepts = views[::2], views[1::2]

    @classmethod
    def drawn(
        cls,
        sizes: tuple[int, int, int],
        init: float | Literal["glorot"],
        hidden: str,
        rng: np.random.RandomState,
        dtype,
    ) -> "Parameters":
        """Draw uniform parameters within ±`init`, or within Glorot's bound for each layer.

        Raises
        ------
        ValueError
            If the bound is too large for the precision.
        """
        found = cls(sizes, dtype)
        largest = LARGEST_INIT[found.flat.itemsize]
        if init != "glorot" and init > largest:
            raise ValueError(f"init is {init:g}; it must be at most {largest:g} for rows in {dtype}")
        for coef, intercept in zip(found.coefs, found.intercepts, strict=True):
            bound = math.sqrt(ACTIVATIONS[hidden].gain / sum(coef.shape)) if init == "glorot" else init
            coef[...] = rng.uniform(-bound, bound, coef.shape)
            intercept[...] = rng.uniform(-bound, bound, intercept.shape)
        return found

    def have_products(self) -> bool:
        """Whether products of parameters with each other or with the largest accepted rows are finite."""
        largest = math.sqrt(np.finfo(self.flat.dtype).max)
        return bool(-largest < self.flat.min() and self.flat.max() < largest)


class Perceptron:
    """Forward and backward passes of a perceptron on batches of rows.

    Parameters
    ----------
    parameters : Parameters
        Parameters of the network; a step changes them in place.
    hidden, output : str
        Names in ``ACTIVATIONS``.
    n_rows : int
        Maximum number of rows of a batch.
    """

    def __init__(self, parameters: Parameters, hidden: str, output: str, n_rows: int):
        self.parameters = parameters
        self._activations = ACTIVATIONS[hidden], ACTIVATIONS[output]
        dtype = parameters.flat.dtype
        self._values = [np.empty((n_rows, coef.shape[1]), dtype) for coef in parameters.coefs]
        self._hidden_slopes = np.empty_like(self._values[0])
        self._gemm = get_blas_funcs("gemm", dtype=dtype)

    def forward(self, X: np.ndarray) -> np.ndarray:
        """Outputs of rows, shape (n, n_outputs), in a buffer that the next call overwrites."""
        values = X
        for layer in (0, 1):
            values = np.dot(values, self.parameters.coefs[layer], out=self._values[layer][: len(X)])
            values += self.parameters.intercepts[layer]
            self._activations[layer].apply(values)
        return values

    def backward(
        self,
        X: np.ndarray,
        slopes: np.ndarray,
        into: Parameters,
        *,
        scales: Sequence[float] = (1.0, 1.0),
        kept: float = 0.0,
    ) -> None:
        """Set `into` to `kept` times `into` plus `scales` times the gradient of a loss.

        Parameters
        ----------
        X : ndarray, shape (n, n_features)
            The rows of the last call of :meth:`forward`.
        slopes : ndarray, shape (n, n_outputs)
            Derivatives of the loss with respect to the outputs; overwritten.
        into : Parameters
            The parameters of the network to take a step, or others to store the gradient.
        scales : pair of float
            Factors of the hidden layer's and the output layer's gradient.
        kept : float
        """
        hidden, output = (values[: len(X)] for values in self._values)
        self._activations[1].times_slope(slopes, output)
        # Compute this before the step may change the output weights.
        hidden_slopes = np.dot(slopes, self.parameters.coefs[1].T, out=self._hidden_slopes[: len(X)])
        self._activations[0].times_slope(hidden_slopes, hidden)
        self._add(into, 1, hidden, slopes, scales[1], kept)
        self._add(into, 0, X, hidden_slopes, scales[0], kept)

    def _add(self, into: Parameters, layer: int, inputs, slopes, scale: float, kept: float) -> None:
        # The transpose is in Fortran order, so that BLAS updates the target in place.
        target = into.coefs[layer].T
        self._gemm(scale, slopes.T, inputs.T, kept, target, trans_b=True, overwrite_c=True)
        intercept = into.intercepts[layer]
        intercept *= kept
        intercept += scale * slopes.sum(axis=0)


def outputs(
    X: np.ndarray, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], hidden: str, output: str
) -> np.ndarray:
    """Outputs of rows, shape (n, n_outputs), from fitted weights."""
    found = np.empty((len(X), len(intercepts[1])), coefs[0].dtype)
    for block in gen_batches(len(X), BLOCK_ROWS):
        values = X[block] @ coefs[0]
        values += intercepts[0]
        ACTIVATIONS[hidden].apply(values)
        np.dot(values, coefs[1], out=found[block])
    found += intercepts[1]
    ACTIVATIONS[output].apply(found)
    return found
