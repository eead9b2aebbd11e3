"""Reduced support vector machines: kernel values with random landmarks, and a smooth support vector machine.

Lee and Mangasarian (2001) for classification; Lee, Hsieh and Huang (2005) for regression.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from entrolearn.kernels import (
    KERNEL_CONSTRAINTS,
    KernelParameters,
    check_memory,
    kernel_params,
    linear_coef,
    n_bytes,
)
from entrolearn.machines.base import OutputClassifier, OutputRegressor, answer, codes_of, path_targets
from entrolearn.machines.layers import LandmarkLayer, project_rows
from entrolearn.machines.smooth import (
    Loss,
    Minimum,
    Objective,
    SmoothHinge,
    SmoothTube,
    Weighted,
    gram_matrix,
    minimise,
    ridge_start,
)
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, describe, path, same_settings
from entrolearn.user_warnings import warn_user
from entrolearn.validation import Interval, StrOptions, times_class_weights

__all__ = ["RSVC", "RSVR"]

# Matrices of all pairs of units that Newton's method needs at once: F'F, the Hessian and its factor.
SQUARES = 3


class _ReducedMachine(KernelParameters, BaseEstimator):
    """Base class of the classifier and the regressor: landmarks, kernel values and Newton's method."""

    _parameter_constraints: dict = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        **KERNEL_CONSTRAINTS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _draw_layer(self, X, weights=None) -> LandmarkLayer:
        rng = check_random_state(self.random_state)
        params = kernel_params(X, self.kernel, self.gamma, self.kernel_params, weights)
        landmarks = X[rng.permutation(X.shape[0])[: self.n_landmarks]]
        return LandmarkLayer(landmarks, self.kernel, params)

    def _fit_outputs(self, X, T, weights=None):
        self._layer = self._draw_layer(X, weights)
        features = bordered_features(self._layer, X)
        minima = _SharedRows(features, T, self._error_weights(T, weights)).minima(self)
        coef = np.column_stack([minimum.coef for minimum in minima])
        one = T.shape[1] == 1
        self.hidden_coef_ = coef[1:, 0] if one else coef[1:]
        self.intercept_ = coef[0]
        self.n_iter_ = max(minimum.n_iter for minimum in minima)
        if note := _note(self, minima):
            warn_user(f"{type(self).__name__} {note}", ConvergenceWarning)

    def _error_weights(self, T: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Weights of the losses, given the sample weights."""
        return weights

    @property
    def landmarks_(self):
        """The landmarks."""
        return self._layer.landmarks

    @property
    def coef_(self) -> np.ndarray:
        """Feature weights for the linear kernel, shape (n_outputs, n_features)."""
        hidden = self.hidden_coef_.reshape(len(self.hidden_coef_), -1)
        return linear_coef(self.kernel, hidden.T, self.landmarks_)

    def _outputs(self, X) -> np.ndarray:
        (output,) = project_rows(self._layer, X, [self.hidden_coef_.reshape(len(self.hidden_coef_), -1)])
        return output + self.intercept_


class RSVC(_ReducedMachine, OutputClassifier):
    """Reduced support vector classifier.

    Minimises ``C / 2 ||p(1 - D (K b + b0))||² + (||b||² + b0²) / 2`` over the coefficients b of random
    landmarks and the intercept b0, where K = K(X, X_L), D holds the targets ±1 and p is the smooth
    approximation ``x + ln(1 + exp(-5 x)) / 5`` of max(x, 0).

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of training rows drawn at random as landmarks; all rows if there are fewer.
    C : float, default=1.0
        Weight of the squared losses relative to the norm; larger is less smooth.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, or a function of two rows.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product; names as in :class:`sklearn.svm.SVC`.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.
    max_iter : int, default=100
        Maximum number of Newton steps for each output.
    tol : float, default=1e-6
        Newton's method stops if a step would decrease the objective by at most this share of it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which are multiplied by the sample weights.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks. A smaller model uses the first landmarks of a larger one with the same seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    hidden_coef_ : ndarray of shape (n_landmarks,), or (n_landmarks, n_classes) for more than two classes
    intercept_ : ndarray of shape (1,), or (n_classes,) for more than two classes
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Feature weights, for ``kernel="linear"``.
    landmarks_ : {ndarray, CSR matrix} of shape (n_landmarks, n_features)
    n_iter_ : int
        Largest number of Newton steps of an output.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    LSSVC : Uses all training rows and squared errors; solves one linear system.
    RSVR : The regressor.

    Notes
    -----
    The kernel need not be positive definite, because its values are used as features. More than two classes
    are one-vs-rest models with the same features. A fit holds n_samples × n_landmarks numbers; a step takes
    n_samples n_landmarks² operations, or fewer if many rows are far beyond the margin.

    References
    ----------
    .. [1] Y.-J. Lee and O. L. Mangasarian (2001). RSVM: Reduced support vector machines. SIAM International
       Conference on Data Mining.
    .. [2] Y.-J. Lee and O. L. Mangasarian (2001). SSVM: A smooth support vector machine for classification.
       Computational Optimization and Applications 20, 5-22.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import RSVC
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> machine = RSVC(n_landmarks=30, C=100.0, gamma=3.0, random_state=0).fit(X[:200], y[:200])
    >>> machine.score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints: dict = {
        **_ReducedMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        n_landmarks=100,
        *,
        C=1.0,
        kernel="rbf",
        gamma="scale",
        kernel_params=None,
        max_iter=100,
        tol=1e-6,
        class_weight=None,
        random_state=None,
    ):
        self.n_landmarks = n_landmarks
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state

    def _error_weights(self, T, weights):
        return times_class_weights(weights, self.class_weight, self.classes_, codes_of(T))

    def _loss(self) -> Loss:
        return SmoothHinge()


class RSVR(_ReducedMachine, OutputRegressor):
    """Reduced support vector regression.

    Minimises ``C / 2 ||p(|K b + b0 - y| - epsilon)||² + (||b||² + b0²) / 2`` over the coefficients b of
    random landmarks and the intercept b0, where ``p(|e| - epsilon)²`` denotes ``p(e - epsilon)² + p(-e -
    epsilon)²`` with p as in :class:`RSVC`.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of training rows drawn at random as landmarks; all rows if there are fewer.
    C : float, default=1.0
        Weight of the squared losses relative to the norm; larger is less smooth.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, or a function of two rows.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product; names as in :class:`sklearn.svm.SVR`.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.
    epsilon : float, default=0.1
        Errors up to this size have a small loss; it is not zero, because p is up to 0.14 there.
    max_iter : int, default=100
        Maximum number of Newton steps for each output.
    tol : float, default=1e-6
        Newton's method stops if a step would decrease the objective by at most this share of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks. A smaller model uses the first landmarks of a larger one with the same seed.

    Attributes
    ----------
    hidden_coef_ : ndarray of shape (n_landmarks,), or (n_landmarks, n_outputs) for more than one output
    intercept_ : ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_outputs, n_features)
        Feature weights, for ``kernel="linear"``.
    landmarks_ : {ndarray, CSR matrix} of shape (n_landmarks, n_features)
    n_iter_ : int
        Largest number of Newton steps of an output.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    LSSVR : Uses all training rows and squared errors; solves one linear system.
    RSVC : The classifier.

    References
    ----------
    .. [1] Y.-J. Lee, W.-F. Hsieh and C.-M. Huang (2005). epsilon-SSVR: A smooth support vector machine for
       epsilon-insensitive regression. IEEE Transactions on Knowledge and Data Engineering 17, 678-685.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import RSVR
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> machine = RSVR(20, C=1e6, gamma=1.0, random_state=0).fit(X[::2], np.sin(X[::2, 0]))
    >>> bool(abs(machine.predict(X) - np.sin(X[:, 0])).max() < 0.02)
    True
    """

    _parameter_constraints: dict = {
        **_ReducedMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0, 1e100, closed="both")],
    }

    def __init__(
        self,
        n_landmarks=100,
        *,
        C=1.0,
        kernel="rbf",
        gamma="scale",
        kernel_params=None,
        epsilon=0.1,
        max_iter=100,
        tol=1e-6,
        random_state=None,
    ):
        self.n_landmarks = n_landmarks
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _loss(self) -> Loss:
        return SmoothTube(self.epsilon)


def bordered_features(layer: LandmarkLayer, X) -> np.ndarray:
    """A column of ones, for the intercept, then the kernel values, shape (n_samples, 1 + n_landmarks)."""
    n_landmarks = layer.landmarks.shape[0]
    n_units = 1 + n_landmarks
    check_memory(
        8 * n_units * (X.shape[0] + SQUARES * n_units) + n_bytes(X) + n_bytes(layer.landmarks),
        f"a kernel matrix of {X.shape[0]} x {n_landmarks} rows",
        "lower n_landmarks, or take RKELM, which goes through the rows in blocks",
    )
    features = np.empty((X.shape[0], n_units))
    features[:, 0] = 1
    layer.units(X, out=features[:, 1:])
    return features


@dataclass(frozen=True)
class _SharedRows:
    """Features and targets of a training set, for one model or for several with the same layer.

    Models with fewer landmarks use the leading columns; their normal equations are a leading block.
    """

    features: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None = None

    @cached_property
    def gram(self) -> np.ndarray:
        """F'F in its lower triangle, shape (n_units, n_units)."""
        return gram_matrix(
            self.features, root_weights=None if self.weights is None else np.sqrt(self.weights)
        )

    @cached_property
    def cross(self) -> np.ndarray:
        """F'T, shape (n_units, n_outputs)."""
        weighted = self.targets if self.weights is None else self.weights[:, None] * self.targets
        return self.features.T @ weighted

    def minima(self, machine: _ReducedMachine, near: np.ndarray | None = None) -> list[Minimum]:
        """Fit the outputs, each from the better of the ridge solution and the optional solution `near`."""
        n_units = min(1 + machine.n_landmarks, self.features.shape[1])
        features = self.features[:, :n_units]
        starts = [ridge_start(self.gram[:n_units, :n_units], self.cross[:n_units], machine.C)]
        starts += [] if near is None else [near]
        loss = machine._loss() if self.weights is None else Weighted(machine._loss(), self.weights)
        minima = []
        for column, targets in enumerate(self.targets.T):
            objective = Objective(features, np.ascontiguousarray(targets), loss, machine.C)
            start = min((start[:, column] for start in starts), key=objective.value)
            minima.append(minimise(objective, start, machine.max_iter, machine.tol))
        return minima


def _note(machine: _ReducedMachine, minima: Sequence[Minimum]) -> str:
    """Note that Newton's method did not converge; empty if it did."""
    sound = all(minimum.converged for minimum in minima)
    return "" if sound else f"stopped at {machine.max_iter} iterations"


@path.register
def _reduced_path(
    estimator: _ReducedMachine, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Path with one kernel matrix per kernel and training set, for all C and numbers of landmarks.

    The landmarks are those that a fit on the training set draws. Newton's method for each C starts from the
    solution for the previous one. Candidates whose kernel matrix cannot be computed are fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    shared = all(
        acceptable(machine)
        and isinstance(machine.random_state, Integral)
        and getattr(machine, "class_weight", None) is None
        for machine in machines
    )
    given = path_targets(estimator, X, y, partition) if shared else None
    if given is None:
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    one_by_one = partial(path.dispatch(object), estimator, X, y)
    X, targets, classes = given
    for left_out in partition.left_out:
        rows = partition.training(left_out)
        order = np.concatenate(
            [rows, np.setdiff1d(np.arange(len(targets)), rows)]
        )  # the training set is a slice
        back = np.argsort(order)
        for members in same_settings(machines, "kernel", "gamma", "kernel_params", "random_state"):
            alike = [(machines[i], grid[i]) for i in members]
            largest, _ = max(alike, key=lambda pair: pair[0].n_landmarks)
            try:
                features = bordered_features(largest._draw_layer(X[rows]), X[order])
            except FAILURES:
                yield from one_by_one(partition.only([left_out]), [params for _, params in alike])
                continue
            for params, output, said in _solutions(alike, features, targets[rows]):
                answered = {} if output is None else answer(output[back], classes)
                yield PathPoint(left_out, params, **answered, **said)


def _solutions(
    machines: Sequence[tuple[_ReducedMachine, dict]], features: np.ndarray, targets: np.ndarray
) -> Iterator[tuple[dict, np.ndarray | None, dict]]:
    """Outputs for all rows by models with the same kernel, with their parameters and a note or an error.

    The targets are those of the first rows, which are the training rows. There is no output with an error.
    """
    shared = _SharedRows(features[: len(targets)], targets)
    near: dict[int, np.ndarray] = {}  # number of landmarks -> the solution for the previous C
    for machine, params in sorted(machines, key=lambda pair: pair[0].C):
        try:
            minima = shared.minima(machine, near.get(machine.n_landmarks))
        except FAILURES as error:
            yield params, None, {"error": describe(error)}
            continue
        coef = near[machine.n_landmarks] = np.column_stack([minimum.coef for minimum in minima])
        yield params, features[:, : len(coef)] @ coef, {"note": _note(machine, minima)}
