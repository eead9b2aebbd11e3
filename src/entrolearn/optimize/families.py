"""Families of distributions for the cross-entropy method.

Each is a natural exponential family, for which the maximum of the elite's log-likelihood, eq. (4), has a
closed form in the moments of the elite.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from scipy.linalg import eigh, eigvalsh

__all__ = ["Bernoulli", "Family", "Gaussian", "MultivariateGaussian"]


@runtime_checkable
class Family(Protocol):
    """Interface of a distribution for the method; any class with these members can be used.

    Attributes
    ----------
    discrete : bool
        Whether the same point can be drawn twice, so that values are cached.
    min_elite : int
        The least number of points to which the distribution can be fitted.
    """

    discrete: ClassVar[bool]
    min_elite: ClassVar[int]

    @property
    def n_variables(self) -> int:
        """Length of a point."""

    @property
    def degenerate(self) -> bool:
        """Whether all samples are practically the same point."""

    def sample(self, n: int, rng: np.random.Generator | np.random.RandomState) -> np.ndarray:
        """Independent points, shape (n, n_variables)."""

    def check(self, points) -> np.ndarray:
        """Validated points, in the form in which :meth:`sample` draws them.

        Parameters
        ----------
        points : array-like, shape (n, n_variables)
            Points returned by an objective that repairs points.

        Returns
        -------
        ndarray, shape (n, n_variables)

        Raises
        ------
        ValueError
            If they are not points of this family.
        """

    def fit(self, elite: np.ndarray) -> Self:
        """The maximum-likelihood distribution for points of shape (n_elite, n_variables), equation (4)."""

    def smooth(self, fit: Self, smoothing: float) -> Self:
        """The mixture of this distribution and `fit` with weight `smoothing` of `fit`, equation (5)."""


@dataclass(frozen=True, eq=False)
class Bernoulli(Family):
    r"""Independent binary variables, for searches over subsets.

    Parameters
    ----------
    p : array-like, shape (n_variables,)
        Probability of a one, for each variable.
    tolerance : float, default=1e-6
        The distribution counts as degenerate if every probability is this close to 0 or to 1.

    Raises
    ------
    ValueError
        If p is not one-dimensional, or holds numbers outside of [0, 1].

    Notes
    -----
    Points are boolean arrays: masks of the selected subset. The fit is the frequency of each variable in the
    elite, and smoothing is :math:`\beta \tilde p + (1 - \beta) p`. With :math:`\beta < 1` no probability
    reaches 0 or 1 except by rounding, so every subset stays possible.

    References
    ----------
    Mannor, Peleg and Rubinstein, The cross entropy method for classification, eqs. (4) and (5).

    Examples
    --------
    >>> from entrolearn.optimize import Bernoulli
    >>> half = Bernoulli([0.5, 0.5])
    >>> fit = half.fit([[True, False], [True, True], [True, False], [True, False]])
    >>> fit.p
    array([1.  , 0.25])
    >>> half.smooth(fit, 0.6).p
    array([0.8 , 0.35])
    """

    p: np.ndarray
    tolerance: float = 1e-6

    discrete: ClassVar[bool] = True
    min_elite: ClassVar[int] = 1

    def __post_init__(self):
        p = _finite_array(self.p, "p", ndim=1)
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError(f"p holds numbers from {p.min():g} to {p.max():g}; probabilities are in [0, 1]")
        _keep(self, p=p, tolerance=_checked_tolerance(self.tolerance))

    @property
    def n_variables(self) -> int:
        return len(self.p)

    @property
    def degenerate(self) -> bool:
        return bool((np.minimum(self.p, 1 - self.p) <= self.tolerance).all())

    def sample(self, n: int, rng) -> np.ndarray:
        return rng.random((n, self.n_variables)) < self.p

    def check(self, points) -> np.ndarray:
        points = np.asarray(points)
        if points.dtype == bool:
            return points
        if not np.isin(points, (0, 1)).all():
            raise ValueError(
                f"points of a Bernoulli distribution hold zeros and ones, got {_example(points)}"
            )
        return points.astype(bool)

    def fit(self, elite) -> Self:
        return replace(self, p=np.mean(elite, axis=0))

    def smooth(self, fit: Self, smoothing: float) -> Self:
        return replace(self, p=np.clip(_between(self.p, fit.p, smoothing), 0, 1))


class _Normal(Family):
    """What the normal distributions have in common."""

    mean: np.ndarray
    discrete: ClassVar[bool] = False
    min_elite: ClassVar[int] = 2

    @property
    def n_variables(self) -> int:
        return len(self.mean)

    def check(self, points) -> np.ndarray:
        return _finite_array(points, "points of a Gaussian distribution")


@dataclass(frozen=True, eq=False)
class Gaussian(_Normal):
    r"""Independent normal variables, for continuous searches.

    Parameters
    ----------
    mean : array-like, shape (n_variables,)
        Initial mean, in the units of the points.
    std : array-like, shape (n_variables,), or float
        Initial standard deviation, in the same units: one number for all variables, or one for each.
    tolerance : float, default=1e-8
        The distribution counts as degenerate if no standard deviation exceeds this, in the units of the
        points, or the resolution of doubles at its mean.

    Raises
    ------
    ValueError
        If the shapes do not agree, or a standard deviation is negative.

    See Also
    --------
    MultivariateGaussian : Also learns the correlations of the variables.

    Notes
    -----
    The fit is the mean and the standard deviation (``ddof=0``) of the elite. Smoothing is applied to both, to
    the standard deviation instead of the variance. A constant smoothing shrinks the standard deviation
    geometrically, possibly before the mean has moved far enough. Kroese, Porotsky and Rubinstein (2006)
    therefore increase the smoothing of the standard deviation during the search. With a constant, use a small
    value (for example 0.3) if the optimum is far from the initial mean.

    References
    ----------
    Rubinstein and Kroese (2004), The Cross-Entropy Method, chapter 5.

    Kroese, Porotsky and Rubinstein (2006), The cross-entropy method for continuous multi-extremal
    optimization, Methodology and Computing in Applied Probability 8, 383-407.

    Examples
    --------
    >>> from entrolearn.optimize import Gaussian
    >>> start = Gaussian([0.0, 0.0], 2.0)
    >>> fit = start.fit([[1.0, 4.0], [3.0, 4.0]])
    >>> fit.mean, fit.std
    (array([2., 4.]), array([1., 0.]))
    >>> start.smooth(fit, 0.5).std
    array([1.5, 1. ])
    """

    mean: np.ndarray
    std: np.ndarray
    tolerance: float = 1e-8

    def __post_init__(self):
        mean = _finite_array(self.mean, "mean", ndim=1)
        std = _finite_array(self.std, "std")
        if std.ndim and std.shape != mean.shape:
            raise ValueError(
                f"std has shape {std.shape}; accepted: a number or the shape of mean, {mean.shape}"
            )
        if (std < 0).any():
            raise ValueError(f"std holds {std.min():g}; standard deviations must not be negative")
        std = np.broadcast_to(std, mean.shape).copy()
        _keep(self, mean=mean, std=std, tolerance=_checked_tolerance(self.tolerance))

    @property
    def degenerate(self) -> bool:
        return bool((self.std <= np.maximum(self.tolerance, _resolution(self.mean))).all())

    def sample(self, n: int, rng) -> np.ndarray:
        points = rng.standard_normal((n, self.n_variables))
        points *= self.std
        points += self.mean
        return points

    def fit(self, elite) -> Self:
        return replace(self, mean=np.mean(elite, axis=0), std=np.std(elite, axis=0))

    def smooth(self, fit: Self, smoothing: float) -> Self:
        return replace(
            self,
            mean=_between(self.mean, fit.mean, smoothing),
            std=_between(self.std, fit.std, smoothing),
        )


@dataclass(frozen=True, eq=False)
class MultivariateGaussian(_Normal):
    r"""Multivariate normal distribution with a full covariance, for continuous searches along valleys.

    Parameters
    ----------
    mean : array-like, shape (n_variables,)
        Initial mean, in the units of the points.
    cov : array-like, shape (n_variables, n_variables)
        Initial covariance, in squares of these units; positive semidefinite.
    tolerance : float, default=1e-8
        The distribution counts as degenerate if the standard deviation in no direction exceeds this, in the
        units of the points, or the resolution of doubles.

    Raises
    ------
    ValueError
        If the shapes do not agree, or `cov` is not symmetric and positive semidefinite.

    Notes
    -----
    The fit is the mean and the covariance (``ddof=0``) of the elite. Both are smoothed; with a smoothing
    below 1 the covariance keeps all directions. An elite with at most as many points as variables has a
    singular covariance: make the elite several times as large.

    References
    ----------
    Mannor, Peleg and Rubinstein, The cross entropy method for classification, eqs. (4) and (5).

    Rubinstein and Kroese (2004), The Cross-Entropy Method, chapter 5.

    Examples
    --------
    >>> from entrolearn.optimize import MultivariateGaussian
    >>> start = MultivariateGaussian([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    >>> start.fit([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.0]]).cov.round(3)
    array([[0.667, 0.667],
           [0.667, 0.667]])
    """

    mean: np.ndarray
    cov: np.ndarray
    tolerance: float = 1e-8

    def __post_init__(self):
        mean = _finite_array(self.mean, "mean", ndim=1)
        cov = _finite_array(self.cov, "cov", ndim=2)
        square = (len(mean), len(mean))
        if cov.shape != square:
            raise ValueError(
                f"cov has shape {cov.shape}; with a mean of shape {mean.shape} it must be {square}"
            )
        scale = np.abs(cov).max()
        if np.abs(cov - cov.T).max() > 1e-8 * scale:
            raise ValueError("cov is not symmetric")
        lowest = eigvalsh(cov, subset_by_index=[0, 0])[0]
        if lowest < -1e-8 * scale:
            raise ValueError(f"cov has the eigenvalue {lowest:g}; it must be positive semidefinite")
        _keep(self, mean=mean, cov=(cov + cov.T) / 2, tolerance=_checked_tolerance(self.tolerance))

    @property
    def degenerate(self) -> bool:
        last = self.n_variables - 1
        variance = eigvalsh(self.cov, subset_by_index=[last, last])[0]
        return bool(variance <= max(self.tolerance, _resolution(self.mean).max()) ** 2)

    def sample(self, n: int, rng) -> np.ndarray:
        # Eigenvectors instead of a Cholesky factor, because the covariance of a small elite is singular.
        variances, directions = eigh(self.cov)
        root = directions * np.sqrt(np.maximum(variances, 0))
        return self.mean + rng.standard_normal((n, self.n_variables)) @ root.T

    def fit(self, elite) -> Self:
        elite = np.asarray(elite)
        centred = elite - elite.mean(axis=0)
        return replace(self, mean=elite.mean(axis=0), cov=centred.T @ centred / len(elite))

    def smooth(self, fit: Self, smoothing: float) -> Self:
        return replace(
            self,
            mean=_between(self.mean, fit.mean, smoothing),
            cov=_between(self.cov, fit.cov, smoothing),
        )


def _between(old: np.ndarray, new: np.ndarray, smoothing: float) -> np.ndarray:
    """Eq. (5); exactly `new` if the smoothing is 1."""
    return smoothing * new + (1 - smoothing) * old


def _resolution(mean: np.ndarray) -> np.ndarray:
    """Spacing of doubles at the mean."""
    return np.finfo(float).eps * np.abs(mean)


def _finite_array(values, name: str, ndim: int | None = None) -> np.ndarray:
    array = np.array(values, dtype=float)
    if ndim is not None and (array.ndim != ndim or array.size == 0):
        raise ValueError(f"{name} has shape {array.shape}; it must have {ndim} dimension(s) and not be empty")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {_example(array[~np.isfinite(array)])}")
    return array


def _example(values: np.ndarray) -> str:
    """The values, abbreviated if there are many."""
    return np.array2string(values, threshold=8, edgeitems=2).replace("\n", "")


def _checked_tolerance(tolerance: float) -> float:
    if not tolerance >= 0:
        raise ValueError(f"tolerance is {tolerance!r}; it must be a number that is not negative")
    return float(tolerance)


def _keep(family, **values) -> None:
    """Set fields of a frozen dataclass during construction; arrays become read-only."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(family, name, value)
