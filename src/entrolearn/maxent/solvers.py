"""The likelihood of the conditional maximum entropy model, and two solvers.

The model is ``P(c | x) = exp(λ'f(x, c) + b_c) / Z(x)``. With a Gaussian prior of variance σ² on each weight,
and no prior on b, the loss is the mean over n rows of ``-ln P(y | x)``, plus ``λ'λ / 2 σ² n``. Without a
prior, its gradient is the difference between the features' means under the model and in the data. If the
gradient is zero, the constraints of the maximum entropy problem hold.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, wrightomega

from entrolearn.maxent.features import Features

__all__ = ["SOLVERS", "Likelihood", "Solution"]

#: If a feature never occurs in the data, its best weight without a prior is -inf. One step of iterative
#: scaling decreases the logarithm of its expected value by at most this number.
MOST = 10.0

#: A smaller precision counts as none in iterative scaling, which divides by it.
LEAST_PRECISION = 1e-120


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The loss as a function of the weights.

    Attributes
    ----------
    features : Features
    truth : ndarray of shape (n_samples, n_classes)
        One-hot encoded classes of the rows.
    biased : bool
        Whether each class has a bias b, the weight of a feature that is always 1; otherwise b is 0.
    alpha : float
        Reciprocal of the variance σ² of the prior; 0 without a prior.
    weights : ndarray of shape (n_samples,), optional
        Positive sample weights; means are then weighted means, and n is the sum of the weights.
    """

    features: Features
    truth: np.ndarray
    biased: bool
    alpha: float
    weights: np.ndarray | None = None

    @cached_property
    def data_means(self) -> np.ndarray:
        """Means of the features of the rows with their own classes."""
        return self._means(self.truth)

    @cached_property
    def precision(self) -> np.ndarray:
        """Precision of the prior of each parameter, divided by n because the loss is a mean over rows."""
        precision = np.zeros(self.n_parameters)
        n = len(self.truth) if self.weights is None else self.weights.sum()
        precision[: self.features.n_features] = self.alpha / n
        return precision

    @property
    def n_parameters(self) -> int:
        return len(self.data_means)

    def split(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split the parameters into the weights and the bias of each class."""
        n_classes = self.truth.shape[1]
        if self.biased:
            return parameters[:-n_classes], parameters[-n_classes:]
        return parameters, np.zeros(n_classes)

    def __call__(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient, and the means of all features under the model."""
        weights, bias = self.split(parameters)
        log_probability = log_softmax(self.features.scores(weights) + bias, axis=1)
        model_means = self._means(np.exp(log_probability))
        pull = parameters * self.precision
        likelihood = float(np.vdot(self.truth, self._weighted(log_probability))) / len(self.truth)
        return 0.5 * float(parameters @ pull) - likelihood, model_means - self.data_means + pull, model_means

    def _weighted(self, values: np.ndarray) -> np.ndarray:
        """Multiply the values of each row by its normalised sample weight."""
        return values if self.weights is None else (self.weights / self.weights.mean())[:, None] * values

    def _means(self, probability: np.ndarray) -> np.ndarray:
        probability = self._weighted(probability)
        means = self.features.means(probability)
        return np.concatenate([means, probability.mean(axis=0)]) if self.biased else means


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver.

    Attributes
    ----------
    parameters : ndarray
    losses : list of float
        The loss before the first iteration and after each iteration.
    violation : float
        Largest absolute component of the gradient, the largest violation of a constraint.
    """

    parameters: np.ndarray
    losses: list[float]
    violation: float


def lbfgs(likelihood: Likelihood, max_iter: int, tol: float) -> Solution:
    """Minimise by L-BFGS until no constraint is violated by more than `tol`."""
    start = np.zeros(likelihood.n_parameters)
    losses = [likelihood(start)[0]]

    def keep_loss(intermediate_result):
        losses.append(float(intermediate_result.fun))

    found = minimize(
        lambda parameters: likelihood(parameters)[:2],
        start,
        jac=True,
        method="L-BFGS-B",
        callback=keep_loss,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0.0, "maxls": 50},
    )
    return Solution(found.x, losses, float(np.abs(found.jac).max(initial=0.0)))


def generalized_iterative_scaling(likelihood: Likelihood, max_iter: int, tol: float) -> Solution:
    r"""Minimise by Darroch and Ratcliff's updates, each of which increases the likelihood.

    With C the largest sum of a row's features with a class, each weight changes by δ such that its constraint
    would hold if the feature's mean under the model were multiplied by :math:`e^{C \delta}`:

    .. math:: e^{C \delta} E_i + \frac{\lambda_i + \delta}{\sigma^2 n} = \tilde E_i

    Without a prior, δ is :math:`\frac{1}{C} \ln (\tilde E_i / E_i)`. With a prior, this is Chen and
    Rosenfeld's equation, which is solved by Wright's ω function.

    Notes
    -----
    The correction feature, which makes every sum equal to C, is omitted. The bound of the updates also holds
    for smaller sums (Curran and Clark 2003), and the model is the same: the correction feature changes the
    scores of all classes in the same way as a change of the other weights.
    """
    total = likelihood.features.greatest_sum() + likelihood.biased
    parameters = np.zeros(likelihood.n_parameters)
    losses = []
    while True:
        loss, gradient, model_means = likelihood(parameters)
        losses.append(loss)
        violation = float(np.abs(gradient).max(initial=0.0))
        if violation <= tol or len(losses) > max_iter:
            return Solution(parameters, losses, violation)
        parameters = parameters + _scaling_step(likelihood, parameters, model_means, total)


def _scaling_step(
    likelihood: Likelihood, parameters: np.ndarray, model_means: np.ndarray, total: float
) -> np.ndarray:
    precision, data_means = likelihood.precision, likelihood.data_means
    step = np.zeros_like(parameters)  # zero for features that are always zero
    occurs = model_means > 0
    free, held = occurs & (precision < LEAST_PRECISION), occurs & (precision >= LEAST_PRECISION)
    with np.errstate(divide="ignore"):
        growth = np.log(data_means[free] / model_means[free])
    step[free] = np.maximum(growth, -MOST) / total
    # Solve a + ln(a) = z, with a / (total * model mean / precision) = exp(total * step).
    log_unit = np.log(total * model_means[held] / precision[held])
    z = log_unit + total * (data_means[held] / precision[held] - parameters[held])
    root = wrightomega(z)
    log_root = np.where(z > 1, np.log(np.maximum(root, 1)), z - root)
    step[held] = (log_root - log_unit) / total
    return step


SOLVERS: dict[str, Callable[[Likelihood, int, float], Solution]] = {
    "lbfgs": lbfgs,
    "gis": generalized_iterative_scaling,
}
