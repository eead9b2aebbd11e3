"""Mutual information of linear maps of Gaussian variables, with its gradient, as an objective.

All objectives are sums of one term, half the log-determinant of an output covariance. Their maxima have
closed forms, which the learners in :mod:`entrolearn.networks.infomax` and :mod:`entrolearn.networks.views`
compute. Gradient ascent on these objectives converges to the same maxima, as tests show.
"""

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve

__all__ = ["infomax_objective", "views_objective"]


def infomax_objective(W, covariance, noise_variance, *, noise="output") -> tuple[float, np.ndarray]:
    """Information of a noisy linear map about its Gaussian input, and the gradient with respect to the map.

    Parameters
    ----------
    W : array-like, shape (n_components, n_features)
    covariance : array-like, shape (n_features, n_features)
        Covariance of the input x.
    noise_variance : float or array-like of shape (n_components,) or (n_features,)
        Variance of independent noise, one for all outputs (or inputs) or one for each; positive.
    noise : {"output", "input"}, default="output"
        Where the noise n is: Y = W x + n, or Y = W (x + n).

    Returns
    -------
    information : float
        I(Y; x) in nats.
    gradient : ndarray, shape (n_components, n_features)

    Raises
    ------
    ValueError
        If shapes do not match, a noise variance is not positive, or `noise` is unknown.
    numpy.linalg.LinAlgError
        If the noise is at the input and the rows of W are linearly dependent.

    Notes
    -----
    With noise at the output the information grows with the size of W, so that a maximum requires a
    constraint. Noise at the input is scaled by W too, so that the information depends only on the span of the
    rows of W. With orthonormal rows and equal noise variances, both are the same.

    References
    ----------
    Linsker, Self-Organization in a Perceptual Network, Computer 21(3), 1988; Haykin, Neural Networks and
    Learning Machines, chapter 10.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.networks import infomax_objective
    >>> information, _ = infomax_objective([[1.0, 0.0]], np.diag([3.0, 1.0]), 1.0)
    >>> bool(np.isclose(information, np.log(4) / 2))
    True
    """
    W, covariance = np.atleast_2d(np.asarray(W, dtype=float)), np.asarray(covariance, dtype=float)
    _check_covariance(covariance, W.shape[1], "W")
    if noise == "output":
        variances = _noise_variances(noise_variance, W.shape[0], "outputs")
        scaled = W / np.sqrt(variances)[:, np.newaxis]
        value, gradient = _half_log_det(scaled, covariance, np.eye(len(W)))
        return value, gradient / np.sqrt(variances)[:, np.newaxis]
    if noise == "input":
        of_noise = np.diag(_noise_variances(noise_variance, W.shape[1], "inputs"))
        (together, gradient), (alone, of_alone) = (
            _half_log_det(W, each) for each in (covariance + of_noise, of_noise)
        )
        return together - alone, gradient - of_alone
    raise ValueError(f"noise is {noise!r}; accepted: 'output' and 'input'")


def views_objective(W_x, W_y, covariance) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """Mutual information of linear outputs of two Gaussian views, and its gradients.

    Parameters
    ----------
    W_x : array-like, shape (n_outputs, n_features)
        The map of the first view.
    W_y : array-like, shape (n_y_outputs, n_targets)
        The map of the second view; its number of outputs may differ.
    covariance : array-like, shape (n_features + n_targets, n_features + n_targets)
        Joint covariance of both views, the first view first.

    Returns
    -------
    information : float
        I(W_x x; W_y y) in nats.
    gradients : tuple of ndarray
        Gradients with respect to W_x and W_y.

    Raises
    ------
    ValueError
        If shapes do not match.
    numpy.linalg.LinAlgError
        If an output is a linear function of the others: the information is infinite, or not defined.

    Notes
    -----
    The information is invariant under invertible linear maps of the outputs of a view.

    References
    ----------
    Becker and Hinton, Self-organizing neural network that discovers surfaces in random-dot stereograms,
    Nature 355, 1992; Haykin, Neural Networks and Learning Machines, chapter 10.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.networks import views_objective
    >>> information, _ = views_objective([[2.0]], [[-1.0]], [[1.0, 0.6], [0.6, 1.0]])
    >>> bool(np.isclose(information, -np.log(1 - 0.6**2) / 2))
    True
    """
    W_x, W_y = (np.atleast_2d(np.asarray(W, dtype=float)) for W in (W_x, W_y))
    (k, d), covariance = W_x.shape, np.asarray(covariance, dtype=float)
    _check_covariance(covariance, d + W_y.shape[1], "W_x and W_y together")
    of_x, gradient_x = _half_log_det(W_x, covariance[:d, :d])
    of_y, gradient_y = _half_log_det(W_y, covariance[d:, d:])
    of_both, gradient = _half_log_det(block_diag(W_x, W_y), covariance)
    return of_x + of_y - of_both, (gradient_x - gradient[:k, :d], gradient_y - gradient[k:, d:])


def _half_log_det(W: np.ndarray, C: np.ndarray, plus=0.0) -> tuple[float, np.ndarray]:
    """½ log det(W C W' + plus), and its gradient with respect to W."""
    passed = W @ C
    factor = cho_factor(passed @ W.T + plus)
    return float(np.log(np.diag(factor[0])).sum()), cho_solve(factor, passed)


def _check_covariance(covariance: np.ndarray, n_features: int, of: str) -> None:
    if covariance.shape != (n_features, n_features):
        raise ValueError(
            f"covariance has shape {covariance.shape}; the columns of {of} ask for {(n_features, n_features)}"
        )


def _noise_variances(noise_variance, n: int, of: str) -> np.ndarray:
    variances = np.asarray(noise_variance, dtype=float)
    if variances.shape not in {(), (n,)}:
        raise ValueError(
            f"noise_variance has shape {variances.shape}; accepted: one number, or {n} for the {of}"
        )
    if not (variances > 0).all():
        raise ValueError(f"noise_variance is {noise_variance!r}; it must be more than 0")
    return np.broadcast_to(variances, n)
