"""Hidden layers: maps of the features into the space in which a readout is solved in closed form.

The units of a layer are ordered, and its first h units are the layer of h units drawn with the same seed.
What is computed once for the largest layer can therefore be used for every smaller one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import diags_array, issparse
from scipy.special import ndtri

from entrolearn.kernels import (
    ADDITIVE,
    BELOW_ONE,
    INNER,
    Centres,
    Factor,
    apply,
    check_memory,
    inner_products,
    kernel_matrix,
    namespace,
)
from entrolearn.machines.devices import (
    add_to_diagonal,
    cast,
    cholesky,
    copied,
    like,
    solve_lower,
)
from entrolearn.machines.moments import FEWER_UNITS, check_units, hidden_blocks
from entrolearn.path import Partition
from entrolearn.validation import device_of, is_numpy

__all__ = [
    "ACTIVATIONS",
    "UNIT_SCALES",
    "LandmarkLayer",
    "NystromLayer",
    "RandomLayer",
    "in_metric",
    "landmark_sources",
    "project_rows",
]

# Amounts to add to the diagonal of K(X_h, X_h), relative to its mean, as the matrix is numerically singular
# for small gamma. The first is enough for features near [0, 1]; far from the origin kernel values have larger
# rounding errors.
NYSTROM_FLOORS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8)
# Maximum number of outputs of several models in memory at once (256 MiB).
OUTPUT_NUMBERS = 2**25
# Number of matrices of all pairs of landmarks that an entropy machine of two classes holds, including their
# factor.
SQUARES = 5


#: Names of the activations.
ACTIVATIONS = ("sigmoid", "nsigmoid", "rbf", "sine", "hardlimit")

# Squared distances grow with the number of features d: between a random row of [0, 1]^d and a random centre
# the mean is d / 6. Two decades of gamma around 3 / d give both flat and narrow units for any d.
_GAMMA_TIMES_FEATURES = 0.3, 30.0


def _log_uniform(uniform: np.ndarray, n_features: int) -> np.ndarray:
    low, high = _GAMMA_TIMES_FEATURES
    return low * (high / low) ** uniform / n_features


# Name -> function of draws from U[0, 1] and the number of features that returns the gammas of rbf units.
UNIT_SCALES: dict[str, Callable] = {
    "uniform": lambda uniform, n_features: uniform,  # section 7 of the EEM paper
    "log-uniform": _log_uniform,
}


# Variance of the weights of sigmoids, times the number of features. Of the values 1 to 1000, 30 has the best
# mean GMEAN on the half of the catalog that `chosen_on` of benchmarks/feature_learning.py selects: 84.5, and
# 87.7 on the other half. Weights from U[0, 1] have 69.5 and 67.8, rbf units 84.0 and 87.0.
_SIGMOID_VARIANCE = 30.0


def _cross_the_box(units: np.ndarray) -> None:
    """Convert draws from U[0, 1], in place, to weights and biases of sigmoids whose steps are in [0, 1]^d.

    Weights are normal. Biases have the mean and, up to chance, the variance of <w, x> for rows x uniform in
    the box.
    """
    weights, biases = units[:, :-1], units[:, -1]
    ndtri(np.maximum(units, 2.0**-54, out=units), out=units)
    weights *= (_SIGMOID_VARIANCE / weights.shape[1]) ** 0.5
    biases *= (_SIGMOID_VARIANCE / 12) ** 0.5
    biases += weights.sum(axis=1) / 2


def in_metric(rows, root):
    """Rows in the coordinates of a metric: their squared distances are ||R (x - z)||².

    Parameters
    ----------
    rows : {array, CSR}, shape (n_samples, n_features)
    root : array, shape (n_features,) or (n_features, n_features), or None
        The symmetric root R of the metric, or the diagonal of a diagonal one; None leaves the rows unchanged.
    """
    if root is None:
        return rows
    if root.ndim == 2:
        return rows @ root
    return (rows @ diags_array(root)).tocsr() if issparse(rows) else rows * root


class _Layer:
    """Base class of layers. If ``root`` is not None, the units see the rows in this metric.

    Quantities that depend only on the units are computed on first use and cached. They are as large as the
    units, and are not fields, so they are neither copied nor pickled.
    """

    root: np.ndarray | None

    @property
    def where(self):
        """An array on the device of the layer."""
        raise NotImplementedError

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.where.shape[0]

    def beside(self, X):
        """The layer on the device of the rows X, in their precision for arrays of another library."""
        if is_numpy(X) or not is_numpy(self.where):  # landmarks drawn from rows on a device are there already
            return self
        return self.__sklearn_array_api_convert__(lambda units: cast(units, X))

    def in_metric(self, root):
        """The layer for the original coordinates, given one for rows in the coordinates of a metric."""
        return replace(self, root=root)


@dataclass(frozen=True)
class RandomLayer(_Layer):
    """Random hidden units G(x, w, b), as in extreme learning machines.

    Weights and biases are drawn from U[0, 1], unit by unit, as in section 7 of Czarnecki and Tabor, "Extreme
    Entropy Machines". The biases of rbf units, and the parameters of sigmoids, may have other distributions.

    Attributes
    ----------
    weights : ndarray, shape (n_hidden, n_features)
    biases : ndarray, shape (n_hidden,)
    activation : {"sigmoid", "nsigmoid", "rbf", "sine", "hardlimit"} or callable
        The bias is subtracted. ``sigmoid``: 1 / (1 + exp(-<w, x> + b)); ``nsigmoid``: the same with <w, x> /
        n_features; ``rbf``: exp(-b ||w - x||^2); ``sine``: sin(<w, x> - b); ``hardlimit``: 1 where <w, x> >=
        b, else 0. A callable receives the array
        <w, x> - b, shape (n_samples, n_hidden).
    below_one : bool
        Whether sigmoids return G - 1 instead of G, which preserves the digits of saturated units (1 - 1e-30
        is rounded to one, -1e-30 is not).
    origin, scale : ndarray, shape (n_features,), or None
        For rbf units in a box, which see (x - origin) * scale.
    root : ndarray, shape (n_features, n_features), or None
        For rbf units in a metric that is not diagonal, which see the rows times its root.
    """

    weights: np.ndarray
    biases: np.ndarray
    activation: str | Callable = "sigmoid"
    below_one: bool = False
    origin: Any = None
    scale: Any = None
    root: np.ndarray | None = None

    @classmethod
    def draw(
        cls,
        n_features,
        n_hidden,
        activation,
        rng,
        *,
        unit_scale="uniform",
        below_one=False,
        slope=None,
        box=None,
        dtype=np.float64,
    ):
        """Draw the units with `rng`, a :class:`numpy.random.RandomState`.

        They depend on the data only through the number of features and the box.

        Parameters
        ----------
        n_features, n_hidden : int
        activation, below_one
            See the attributes.
        rng : RandomState
        unit_scale : str
            A name in ``UNIT_SCALES``, the distribution of the biases of rbf units; sigmoids use U[0, 1] if it
            is "uniform".
        slope : float, optional
            Units of an ELM: weights from U[-1, 1], and a bias that is added, all times the slope (for rbf
            units only the factor of the distance), for features in [-1, 1]. Default: features in [0, 1].
        box : ndarray, shape (2, n_features), optional
            Bounds of the features, which the units see scaled; features with equal bounds are ignored. For
            units of <w, x> the scaling is included in weights and biases. Rbf units scale their rows, which
            costs little compared with the distances. Default: features are not scaled.
        dtype : dtype
        """
        check_memory(8 * n_hidden * (n_features + 1), f"a layer of {n_hidden} random units", FEWER_UNITS)
        units = rng.uniform(size=(n_hidden, n_features + 1))
        if activation == "sigmoid" and unit_scale != "uniform":
            _cross_the_box(units)
        units = units.astype(dtype, copy=False)
        weights, biases = units[:, :-1], units[:, -1]
        if activation == "rbf":
            biases = UNIT_SCALES[unit_scale](biases, n_features)
        # In place, because the weights for a million features take gigabytes.
        if slope is not None:
            of_weights = 1 if activation == "rbf" else slope
            weights *= 2 * of_weights
            weights -= of_weights
            biases *= slope if activation == "rbf" else -slope
        if box is None:
            return cls(weights, biases, activation, below_one)
        low, width = 0.0 if slope is None else -1.0, box[1] - box[0]
        seen = width > 0
        scale = np.where(seen, (1 - low) / np.where(seen, width, 1.0), 0.0)
        origin = np.where(seen, box[0] - low * width / (1 - low), 0.0)
        if activation == "rbf":
            weights[:, ~seen] = 0.0
            return cls(weights, biases, activation, below_one, origin.astype(dtype), scale.astype(dtype))
        weights *= scale
        shift = weights @ origin
        biases += shift / n_features if activation == "nsigmoid" else shift
        return cls(weights, biases, activation, below_one)

    def in_metric(self, root) -> "RandomLayer":
        """The layer for original coordinates; the weights, or the box of rbf units, include the metric."""
        if self.activation != "rbf":
            return replace(self, weights=in_metric(self.weights, root))
        if root.ndim == 2:
            return replace(self, root=root)
        if self.scale is None:
            return replace(self, origin=0 * root, scale=root)
        return replace(self, origin=self.origin / root, scale=self.scale * root)

    def __call__(self, X, out=None):
        """Activations of the rows of X (dense or CSR), shape (n_samples, n_hidden).

        Allocating a large array takes longer than filling it, so callers that evaluate many blocks pass the
        same `out`.
        """
        if self.root is not None:
            return self._of_metric_rows(in_metric(X, self.root), out)
        if self.activation == "rbf":
            return self._radial(X, out)
        if callable(self.activation):
            return self._activated(self._affine(X), out)
        if self.below_one and "sigmoid" in self.activation and hasattr(namespace(X), "sigmoid"):
            return -namespace(X).sigmoid(self._affine(X, sign=-1))
        return apply((BELOW_ONE if self.below_one else ADDITIVE)[self.activation].value, self._affine(X, out))

    @cached_property
    def _of_metric_rows(self) -> "RandomLayer":
        return replace(self, root=None)

    def _radial(self, X, out):
        """exp(-b ||w - x||^2), for rows scaled to the box if there is one."""
        if self.scale is None:
            return self._centres(X, out)
        if not issparse(X):
            return self._centres((X - self.origin) * self.scale, out)
        X = X.astype(X.dtype)
        X.data *= self.scale[X.indices]
        return self._moved_centres(X, out)

    @cached_property
    def _centres(self) -> Centres:
        return Centres(self.weights, "rbf", {"gamma": self.biases})

    @cached_property
    def _moved_centres(self) -> Centres:
        # The origin is added to the units, so that CSR rows stay sparse.
        if not self.origin.any():
            return self._centres
        return Centres(self.weights + self.origin * self.scale, "rbf", {"gamma": self.biases})

    def _affine(self, X, out=None, sign: int = 1):
        """<w, x> - b, shape (n_samples, n_hidden); torch's times `sign`, without a pass over the units."""
        if issparse(X):
            Z = inner_products(X, self._factor, out)
            Z -= self.biases
            return Z
        xp = namespace(X)
        if hasattr(xp, "addmm"):  # torch's: a copy of the rows beside ones is slower, being of odd width
            return xp.addmm(-sign * self.biases, X, sign * self.slopes.T)
        ones = xp.ones((X.shape[0], 1), dtype=X.dtype, device=device_of(X))
        rows = xp.concat([X, ones], axis=1)
        return rows @ self._columns if out is None else np.matmul(rows, self._columns, out=out)

    @property
    def slopes(self):
        """Derivatives of <w, x> - b with respect to the features, shape (n_hidden, n_features)."""
        return self.weights / self.weights.shape[1] if self.activation == "nsigmoid" else self.weights

    @cached_property
    def _factor(self) -> Factor:
        return Factor(self.slopes)

    @cached_property
    def _columns(self):
        return namespace(self.weights).concat([self.slopes.T, -self.biases[None, :]], axis=0)

    def _activated(self, Z, out):
        """Result of a callable activation, checked to be finite and of the right shape."""
        xp, shape = namespace(Z), tuple(Z.shape)
        units = self.activation(Z)
        units = xp.asarray(units.toarray() if issparse(units) else units)
        found = tuple(units.shape)
        if found != shape or not xp.all(xp.isfinite(units)):
            what = f"shape {found}" if found != shape else "NaN or infinite values"
            raise ValueError(f"the activation gives {what}; it must give finite numbers of shape {shape}.")
        if out is None:
            return units
        out[:] = units
        return out

    units = __call__  # the units of a prediction, see `fold`

    def fold(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of `units` equivalent to `coef` on the layer: unchanged."""
        return coef

    @property
    def where(self):
        """An array on the device of the layer."""
        return self.weights

    def __sklearn_array_api_convert__(self, move: Callable) -> "RandomLayer":
        """Hook of scikit-learn to move an estimator with its attributes to another library or device."""
        moved = {name: getattr(self, name) for name in ("weights", "biases", "origin", "scale", "root")}
        return replace(self, **{name: move(each) for name, each in moved.items() if each is not None})


@dataclass(frozen=True)
class _KernelLayer(_Layer):
    """Base class of layers of kernel values with landmarks.

    Attributes
    ----------
    landmarks : {ndarray, CSR}, shape (n_landmarks, n_features)
    kernel : str or callable
    kernel_params : dict
        See :func:`entrolearn.kernels.kernel_matrix`; gamma may be an array with one value for each landmark.
    root : ndarray, or None
        Root of a metric; the landmarks are in its coordinates.
    """

    landmarks: Any
    kernel: str | Callable
    kernel_params: dict
    root: np.ndarray | None = None

    def units(self, X, out=None):
        """K(X, landmarks) for rows dense or CSR, shape (n_samples, n_landmarks)."""
        return self._centres(in_metric(X, self.root), out)

    @cached_property
    def _centres(self) -> Centres:
        return Centres(self.landmarks, self.kernel, self.kernel_params)

    @property
    def where(self):
        """An array on the device of the layer."""
        return self.landmarks

    def __sklearn_array_api_convert__(self, move: Callable):
        """Hook of scikit-learn to move an estimator with its attributes to another library or device."""
        params = {
            name: value if np.isscalar(value) else move(value) for name, value in self.kernel_params.items()
        }
        root = None if self.root is None else move(self.root)
        return replace(self, landmarks=move(self.landmarks), kernel_params=params, root=root)


@dataclass(frozen=True)
class NystromLayer(_KernelLayer):
    """Low-rank kernel features (Nyström): inner products of two rows approximate their kernel value.

    The map of the paper is K(x, X_h) K(X_h, X_h)^-1/2. The symmetric square root is replaced by the Cholesky
    factor L of K(X_h, X_h): K(x, X_h) L^-T differs from the paper's map by a rotation, under which the model
    is invariant (as are mean, covariance and Ledoit-Wolf shrinkage). The factor costs a tenth of an
    eigendecomposition, and the first h features are the layer of the first h landmarks.
    """

    @classmethod
    def on(cls, landmarks, kernel, kernel_params):
        """The layer of these landmarks, with its factor.

        Raises
        ------
        ValueError
            If the kernel matrix of the landmarks is not positive semi-definite.
        """
        layer = cls(landmarks, kernel, kernel_params)
        layer.factor  # noqa: B018  raises here, instead of at first use, if there is no factor
        return layer

    @cached_property
    def factor(self):
        """Lower triangular L, shape (n_landmarks, n_landmarks); the part above the diagonal is not used."""
        check_units(self.n_units, SQUARES, self.landmarks)
        gram = kernel_matrix(self.landmarks, self.landmarks, self.kernel, self.kernel_params)
        xp = namespace(gram)
        scale = xp.linalg.trace(gram) / gram.shape[0]
        # 1 where the kernel is zero everywhere, and so are the features
        scale = 1.0 if 0 <= scale < xp.finfo(gram.dtype).smallest_normal else scale
        for floor in NYSTROM_FLOORS:
            factor = cholesky(add_to_diagonal(copied(gram, "F"), floor * scale))
            if factor is not None:
                return factor
        raise ValueError(
            f"the {self.kernel!r} kernel with {self.kernel_params} gives landmarks a matrix that is not "
            "positive semi-definite; a Nyström layer needs a Mercer kernel, such as 'rbf'."
        )

    def __call__(self, X, out=None):
        """Features of the rows of X (dense or CSR), shape (n_samples, n_landmarks)."""
        return solve_lower(self.factor, self.units(X, out).T, overwrite=True).T

    def fold(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the units equivalent to `coef` on the first features (section 6 of the paper).

        Raises
        ------
        ValueError
            If the kernel's values are so close to 0 that the coefficients overflow.
        """
        xp, h = namespace(coef), coef.shape[0]
        if is_numpy(coef):
            folded = solve_triangular(self.factor[:h, :h], coef, lower=True, trans="T", check_finite=False)
        else:
            folded = solve_lower(self.factor[:h, :h], coef, transposed=True)
        if not xp.all(xp.isfinite(folded)):
            raise ValueError(
                f"the {self.kernel!r} kernel with {self.kernel_params} has values so close to 0 that the "
                "units' coefficients overflow: scale the features."
            )
        return folded


@dataclass(frozen=True)
class LandmarkLayer(_KernelLayer):
    """Kernel values with landmarks, K(x, X_L): the hidden layer of reduced kernel machines."""

    @classmethod
    def with_widths(cls, landmarks, kernel, kernel_params, spread, rng):
        """The layer of these landmarks, with a random width for each.

        Its 1 / gamma is that of `kernel_params` times a draw from the uniform distribution between the two
        numbers of `spread`.
        """
        widths = rng.uniform(*spread, size=landmarks.shape[0])
        gamma = like(kernel_params["gamma"] / widths, landmarks)
        return cls(landmarks, kernel, {**kernel_params, "gamma": gamma})

    __call__ = _KernelLayer.units

    def in_metric(self, root) -> "LandmarkLayer":
        """The layer for original coordinates; a metric of inner products is included in the landmarks."""
        if self.kernel in INNER:
            return replace(self, landmarks=in_metric(self.landmarks, root))
        return super().in_metric(root)


def landmark_sources(
    n_landmarks: int, partition: Partition
) -> list[tuple[np.ndarray, list[tuple[int, ...]]]]:
    """The rows to draw landmarks from, and the training sets that contain all of them.

    Landmarks are training rows. The parts must be random: training sets can then share a layer if their
    common parts have at least n_landmarks rows, because a random subset of random parts is a random subset of
    the training rows. Each
    training set joins the first group with enough common rows, so that a cross-validation needs two or three
    layers. A training set without a group draws from all its rows.

    Parameters
    ----------
    n_landmarks : int
    partition : Partition

    Returns
    -------
    list of (ndarray of int, list of tuples of int)
        Row indices, and the elements of ``partition.left_out`` that use them.
    """
    names, counts = np.unique(partition.part, return_counts=True)
    size = dict(zip(names.tolist(), counts.tolist(), strict=True))
    groups: list[tuple[set[int], list[tuple[int, ...]]]] = []  # common parts, and left_outs, of each group
    for left_out in partition.left_out:
        for kept, left_outs in groups:
            common = kept.difference(left_out)
            if sum(size[part] for part in common) >= n_landmarks:
                kept.intersection_update(common)
                left_outs.append(left_out)
                break
        else:
            groups.append((set(size).difference(left_out), [left_out]))
    return [(partition.held_out(sorted(kept)), left_outs) for kept, left_outs in groups]


def project_rows(layer, X, coefs: Sequence) -> Iterator:
    """Hidden rows of X times several coefficients, which share passes over the layer, block by block.

    Parameters
    ----------
    layer : RandomLayer, NystromLayer or LandmarkLayer
    X : {array, CSR}, shape (n_samples, n_features)
    coefs : sequence of arrays, shape (n_hidden, n_columns)
        Coefficients of the first n_hidden units each.

    Yields
    ------
    array, shape (n_samples, n_columns)
        Columns of an array in Fortran order, which has at most OUTPUT_NUMBERS numbers or one result.
    """
    step = max(1, OUTPUT_NUMBERS // (X.shape[0] * max((coef.shape[1] for coef in coefs), default=1)))
    for start in range(0, len(coefs), step):
        yield from _project_batch(layer, X, coefs[start : start + step])


def _project_batch(layer, X, coefs: Sequence) -> list:
    """:func:`project_rows` in one pass over the layer."""
    xp, device = namespace(X), device_of(coefs[0])
    edges = np.cumsum([0] + [coef.shape[1] for coef in coefs]).tolist()
    n_units = max(coef.shape[0] for coef in coefs)
    stacked = xp.zeros((n_units, edges[-1]), dtype=xp.result_type(*coefs), device=device)
    for coef, (start, stop) in zip(coefs, pairwise(edges), strict=True):
        stacked[: coef.shape[0], start:stop] = coef
    dtype = xp.result_type(X.dtype, stacked.dtype)
    projected = xp.empty((edges[-1], X.shape[0]), dtype=dtype, device=device).T
    for units, block, _ in hidden_blocks(layer.units, X, layer.n_units, dtype):
        if is_numpy(X):
            np.matmul(units[:, :n_units], stacked, out=projected[block])
        else:
            units = xp.astype(units[:, :n_units], dtype, copy=False)
            projected[block, :] = units @ xp.astype(stacked, dtype, copy=False)
    return [projected[:, start:stop] for start, stop in pairwise(edges)]
