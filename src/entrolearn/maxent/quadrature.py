"""The dual function on an interval, by quadrature that is adapted to the density of each iterate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from entrolearn.maxent.dual import Dual, InfeasibleMomentsError

__all__ = ["IntervalDual", "first_panels", "halves"]

#: The Gauss-Legendre rule for each half of a panel; the same rule on the whole panel estimates the error.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)

#: Initial panels between two borders, and the largest total number of panels.
FIRST_PANELS, MOST_PANELS = 16, 2**13

#: A panel is halved if its error is larger, as a share of the mass or in standard deviations of a moment.
SMALL = 1e-11

#: Largest accepted sum of the errors of panels that cannot be halved further.
RESOLVED = 1e-6

#: Least width of a panel to halve, relative to its position: in narrower ones nodes would coincide.
LEAST_WIDTH = 2**11 * np.finfo(np.float64).eps

#: Least width of a panel near zero.
LEAST = 1e-290

#: Errors of weighted sums of the functions and of their moments, relative to the size of the terms.
ROUNDINGS, KNOWN = 16 * np.finfo(np.float64).eps, 1e-12

#: Decrease of the log-density between a plane and the nearest point that :meth:`separates` uses.
STEEPNESS = 20.0

UNRESOLVED = "the quadrature does not resolve the functions, or the density"


@dataclass(frozen=True, eq=False)
class IntervalDual(Dual):
    """The dual function of a problem on an interval, at the nodes of a quadrature.

    Attributes
    ----------
    centred : ndarray, shape (n_panels * 2 * n_nodes, n_functions)
    log_weights : ndarray, shape (n_panels * 2 * n_nodes,)
    evaluate : callable
        Function of points that returns `centred` there, shape (n_points, n_functions).
    terms : ndarray, shape (n_functions,)
        Absolute values of the moments, in the units of `centred`.
    edges : ndarray, shape (n_panels, 2)
    coarse : ndarray, shape (n_panels, n_nodes, n_functions)
        The functions at the nodes of whole panels; `centred` has them at the nodes of the halves.
    """

    evaluate: Callable[[np.ndarray], np.ndarray]
    terms: np.ndarray
    edges: np.ndarray
    coarse: np.ndarray

    @classmethod
    def on_panels(cls, evaluate: Callable, terms: np.ndarray, edges: np.ndarray) -> Self:
        """The dual function on given panels, such as those of :func:`first_panels`."""
        nodes = _nodes(edges)
        coarse = evaluate(nodes.ravel()).reshape(*nodes.shape, len(terms))
        return cls(
            evaluate(halves(edges)), _log_weights(_halved(edges)).ravel(), evaluate, terms, edges, coarse
        )

    @property
    def points(self) -> np.ndarray:
        return halves(self.edges)

    def resolved(self, theta: np.ndarray, most_halvings: float = np.inf) -> Any:
        """The dual function on panels that are halved until they resolve the density for theta.

        None if more than `most_halvings` rounds are needed.

        Raises
        ------
        InfeasibleMomentsError
            If too many panels are needed.
        """
        dual, halvings = self, 0
        while True:
            errors = dual._errors(theta)
            split = (errors > SMALL) & dual._splittable
            if not split.any():
                return dual
            if len(dual.edges) + np.count_nonzero(split) > MOST_PANELS:
                if errors.sum() > RESOLVED:
                    raise InfeasibleMomentsError(UNRESOLVED)
                return dual
            if halvings == most_halvings:
                return None
            dual, halvings = dual._split(split), halvings + 1

    def check_resolved(self, theta: np.ndarray) -> None:
        """Check that the quadrature resolves the density for theta.

        Raises
        ------
        InfeasibleMomentsError
            If floating-point numbers are too coarse where the density has its mass, or if rounding dominates.
        """
        _, probability = self(theta)
        if self._errors(theta).sum() > RESOLVED or ROUNDINGS * probability @ self._terms_of(theta) > 1:
            raise InfeasibleMomentsError(UNRESOLVED)

    def separates(self, direction: np.ndarray) -> bool:
        """Whether all points of the interval lie strictly on one side of a plane through 0.

        Points between the nodes may lie on the other side. A density that decreases steeply with the distance
        from the plane has its mass at the points closest to the plane, so nodes that resolve this density
        find such points.
        """
        dual, highest = self, self._highest(direction)
        while highest < 0:
            with np.errstate(over="ignore"):
                steep = direction * (STEEPNESS / -highest)
            if not np.isfinite(steep).all():
                return False
            dual = dual.resolved(steep)
            nearest = dual._highest(steep)
            if nearest <= -STEEPNESS / 2:
                return True
            if nearest > -1:
                return False
            highest = dual._highest(direction)
        return False

    def _highest(self, direction: np.ndarray) -> float:
        """The largest weighted sum of the functions over the nodes, plus its error."""
        return float((self.centred @ direction + KNOWN * self._terms_of(direction)).max())

    def _terms_of(self, theta: np.ndarray) -> np.ndarray:
        """Sum of the absolute terms of a weighted sum at each node, shape (n_nodes,)."""
        return (np.abs(self.centred) + 2 * self.terms) @ np.abs(theta)

    @property
    def _splittable(self) -> np.ndarray:
        lower, upper = self.edges.T
        least = np.maximum(LEAST_WIDTH * np.maximum(np.abs(lower), np.abs(upper)), LEAST)
        return upper / 2 - lower / 2 > least / 2

    def _errors(self, theta: np.ndarray) -> np.ndarray:
        """Error of each panel's mass, or of a moment in standard deviations if that is larger."""
        log_fine = self.log_weights + self.centred @ theta
        log_partition = logsumexp(log_fine)
        mass = np.exp(log_fine - log_partition)
        log_coarse = _log_weights(self.edges) + self.coarse @ theta - log_partition
        coarse_mass = np.exp(np.minimum(log_coarse, 100.0))  # avoids overflow
        means = mass @ self.centred
        deviations = np.sqrt(mass @ (self.centred - means) ** 2)
        units = np.where(deviations > 0, deviations, 1.0)
        moments = (
            (mass[:, np.newaxis] * ((self.centred - means) / units)).reshape(*self._shape, -1).sum(axis=1)
        )
        moments -= (coarse_mass[:, :, np.newaxis] * ((self.coarse - means) / units)).sum(axis=1)
        mass = mass.reshape(self._shape)
        shares = np.abs(mass.sum(axis=1) - coarse_mass.sum(axis=1))
        errors = np.maximum(shares, np.abs(moments).max(axis=1, initial=0.0))
        roundings = ROUNDINGS * (mass * self._terms_of(theta).reshape(self._shape)).sum(axis=1)
        return np.where(errors > roundings, errors, 0.0)

    @property
    def _shape(self) -> tuple[int, int]:
        """Number of panels, and of nodes in the two halves of each."""
        return len(self.edges), 2 * len(NODES)

    def _split(self, split: np.ndarray) -> Self:
        """The dual function with some panels halved."""
        places = np.repeat(np.arange(len(split)), 1 + split)
        halved = np.repeat(split, 1 + split)
        edges, coarse = self.edges[places], self.coarse[places]
        fine = self.centred.reshape(len(split), 2, len(NODES), -1)
        edges[halved] = _halved(self.edges[split])
        coarse[halved] = fine[split].reshape(-1, *coarse.shape[1:])
        fine = fine[places]
        fine[halved] = self.evaluate(halves(edges[halved])).reshape(-1, *fine.shape[1:])
        centred, log_weights = fine.reshape(-1, fine.shape[-1]), _log_weights(_halved(edges)).ravel()
        return replace(self, centred=centred, log_weights=log_weights, edges=edges, coarse=coarse)


def first_panels(borders: np.ndarray) -> np.ndarray:
    """Equal panels between borders, shape (n_panels, 2)."""
    shares = np.arange(FIRST_PANELS) / FIRST_PANELS
    lower = (borders[:-1, np.newaxis] * (1 - shares) + borders[1:, np.newaxis] * shares).ravel()
    return np.column_stack([lower, np.append(lower[1:], borders[-1])])


def _halved(edges: np.ndarray) -> np.ndarray:
    """Both halves of each panel."""
    lower, upper = edges.T
    middle = lower / 2 + upper / 2
    return np.stack([lower, middle, middle, upper], axis=1).reshape(-1, 2)


def _nodes(edges: np.ndarray) -> np.ndarray:
    """The nodes of each panel, strictly inside it, shape (n_panels, n_nodes)."""
    lower, upper = edges[:, :1], edges[:, 1:]
    nodes = (lower / 2 + upper / 2) + (upper / 2 - lower / 2) * NODES
    return np.clip(nodes, np.nextafter(lower, np.inf), np.nextafter(upper, -np.inf))


def halves(edges: np.ndarray) -> np.ndarray:
    """The nodes of both halves of each panel, in ascending order."""
    return _nodes(_halved(edges)).ravel()


def _log_weights(edges: np.ndarray) -> np.ndarray:
    """Log-weights of the nodes of each panel, shape (n_panels, n_nodes)."""
    lower, upper = edges[:, :1], edges[:, 1:]
    return np.log(upper / 2 - lower / 2) + np.log(WEIGHTS)
