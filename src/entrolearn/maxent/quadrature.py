"""The dual on an interval, by a quadrature that adapts to each density that the search comes to."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import logsumexp

from entrolearn.maxent.dual import Dual, InfeasibleMomentsError

__all__ = ["IntervalDual", "first_panels", "halves"]

#: The Gauss-Legendre rule for each half of a panel; what it says of the whole one tells the error.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)

#: Panels between two borders at first, and in all at most.
FIRST_PANELS, MOST_PANELS = 16, 2**13

#: The error of a panel, in shares of the mass and in standard deviations of the moments, that may stay.
SMALL = 1e-11

#: What the errors of panels that cannot be halved any more may add up to.
RESOLVED = 1e-6

#: A panel can be halved where it is so many roundings wide; nodes would coincide otherwise.
LEAST_WIDTH = 2**11 * np.finfo(np.float64).eps

#: Panels are no narrower than that beside zero.
LEAST = 1e-290

#: How far weighted sums of the functions are off, and their moments may be, in the size of the terms.
ROUNDINGS, KNOWN = 16 * np.finfo(np.float64).eps, 1e-12

#: Where all points lie behind a plane, the density falls off from it by this logarithm at least.
PARTED = 20.0

UNRESOLVED = "the quadrature does not resolve the functions, or the density"


@dataclass(frozen=True, eq=False)
class IntervalDual(Dual):
    """The dual function of a problem on an interval, at nodes that resolve the density of some multipliers.

    Attributes
    ----------
    centred : ndarray, shape (n_panels * 2 * n_nodes, n_functions)
    log_weights : ndarray, shape (n_panels * 2 * n_nodes,)
    evaluate : callable
        Gives the functions less their moments at points, shape (n_points, n_functions).
    terms : ndarray, shape (n_functions,)
        The size of the moments, in the units of `centred`.
    edges : ndarray, shape (n_panels, 2)
    coarse : ndarray, shape (n_panels, n_nodes, n_functions)
        As `centred`, at the nodes of whole panels.
    """

    evaluate: Callable[[np.ndarray], np.ndarray]
    terms: np.ndarray
    edges: np.ndarray
    coarse: np.ndarray

    @classmethod
    def on_panels(cls, evaluate: Callable, terms: np.ndarray, edges: np.ndarray) -> Self:
        """On given panels, such as those of :func:`first_panels`."""
        nodes = _nodes(edges)
        coarse = evaluate(nodes.ravel()).reshape(*nodes.shape, len(terms))
        return cls(
            evaluate(halves(edges)), _log_weights(_halved(edges)).ravel(), evaluate, terms, edges, coarse
        )

    @property
    def points(self) -> np.ndarray:
        return halves(self.edges)

    def resolved(self, theta: np.ndarray, most_halvings: float = np.inf) -> Self | None:
        """The dual at more nodes, as many as the density of some multipliers takes.

        None where panels would have to be halved more often than given.

        Raises
        ------
        InfeasibleMomentsError
            If that takes too many nodes.
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
        """Refuse a density whose mass lies where doubles are too far apart, or that is made of roundings.

        Raises
        ------
        InfeasibleMomentsError
        """
        _, probability = self(theta)
        if self._errors(theta).sum() > RESOLVED or ROUNDINGS * probability @ self._terms_of(theta) > 1:
            raise InfeasibleMomentsError(UNRESOLVED)

    def parts(self, direction: np.ndarray) -> bool:
        """Whether all points of the interval lie on one side: then every mean of G does, and none is zero.

        Between the nodes may be points that lie on the other side. Where the density falls off from the plane
        steeply it has its mass at the points next to it, and nodes that resolve it are there.
        """
        dual, highest = self, self._highest(direction)
        while highest < 0:
            with np.errstate(over="ignore"):
                steep = direction * (PARTED / -highest)
            if not np.isfinite(steep).all():
                return False
            dual = dual.resolved(steep)
            nearest = dual._highest(steep)
            if nearest <= -PARTED / 2:
                return True
            if nearest > -1:
                return False
            highest = dual._highest(direction)
        return False

    def _highest(self, direction: np.ndarray) -> float:
        """The largest value of a weighted sum of the functions that their moments leave open."""
        return float((self.centred @ direction + KNOWN * self._terms_of(direction)).max())

    def _terms_of(self, theta: np.ndarray) -> np.ndarray:
        """The size of the terms of a weighted sum at each node, shape (n_nodes,)."""
        return (np.abs(self.centred) + 2 * self.terms) @ np.abs(theta)

    @property
    def _splittable(self) -> np.ndarray:
        lower, upper = self.edges.T
        least = np.maximum(LEAST_WIDTH * np.maximum(np.abs(lower), np.abs(upper)), LEAST)
        return upper / 2 - lower / 2 > least / 2

    def _errors(self, theta: np.ndarray) -> np.ndarray:
        """What each panel adds to the error of the mass, or to that of a moment in standard deviations."""
        log_fine = self.log_weights + self.centred @ theta
        log_partition = logsumexp(log_fine)
        mass = np.exp(log_fine - log_partition)
        log_coarse = _log_weights(self.edges) + self.coarse @ theta - log_partition
        coarse_mass = np.exp(np.minimum(log_coarse, 100.0))  # which is off by far
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
        """Panels, and nodes of the two halves of each."""
        return len(self.edges), 2 * len(NODES)

    def _split(self, split: np.ndarray) -> Self:
        """The same, with some panels halved."""
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
    """Of each panel, inside of it, shape (n_panels, n_nodes)."""
    lower, upper = edges[:, :1], edges[:, 1:]
    nodes = (lower / 2 + upper / 2) + (upper / 2 - lower / 2) * NODES
    return np.clip(nodes, np.nextafter(lower, np.inf), np.nextafter(upper, -np.inf))


def halves(edges: np.ndarray) -> np.ndarray:
    """The nodes of both halves of each panel, in ascending order."""
    return _nodes(_halved(edges)).ravel()


def _log_weights(edges: np.ndarray) -> np.ndarray:
    """Of the nodes of each panel, shape (n_panels, n_nodes)."""
    lower, upper = edges[:, :1], edges[:, 1:]
    return np.log(upper / 2 - lower / 2) + np.log(WEIGHTS)
