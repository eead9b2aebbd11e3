"""The maximum entropy linear manifold: the subspace in which the class densities diverge most."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from entrolearn.axes import signs_of_rows
from entrolearn.log_joint import LogJointClassifier
from entrolearn.manifold.densities import (
    BANDWIDTH_SCALES,
    COVARIANCES,
    ClassDensities,
    by_class,
)
from entrolearn.manifold.objective import ProjectedDivergence
from entrolearn.manifold.solvers import SOLVERS
from entrolearn.measures.density import METHODS
from entrolearn.user_warnings import warn_user
from entrolearn.validation import (
    Interval,
    StrOptions,
    class_priors,
    encode,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["MELM"]

#: Ranges below this, relative to the largest number, count as zero, because the gradient divides by their
#: square.
LEAST_RANGE = 1e-140


class MELM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LogJointClassifier):
    """Maximum entropy linear manifold: a supervised projection onto few dimensions that separates classes.

    The objective is the Cauchy-Schwarz divergence of kernel density estimates of the projected classes,
    summed over all pairs of classes. It is maximised over the subspace from several random starts. The
    densities in the best subspace also give a classifier: the predicted class is the one with the largest
    density.

    Parameters
    ----------
    n_components : int, default=2
        Dimension k of the subspace.
    bandwidth_scale : float, default=1.0
        γ, a factor of the widths of Silverman's rule. Smaller values follow the rows more closely.
    covariance : {"ledoit_wolf", "oas", "empirical"}, default="ledoit_wolf"
        Estimate of the covariance of each class, which is the shape of its kernel, in the feature space.
    priors : {"uniform", "empirical"}, dict or array-like of shape (n_classes,), default="uniform"
        Factors of the densities in predictions. "uniform", as in the paper, gives all classes of an
        unbalanced problem the same weight. A dict holds the prior of each class by label. The subspace does
        not depend on the priors.
    n_init : int, default=16
        Number of random starts, of which the best is kept.
    solver : {"whitened", "penalty", "stiefel"}, default="whitened"
        "whitened": L-BFGS in coordinates in which the kernels are round; the basis is orthonormalised at the
        end. "penalty": the method of the paper, L-BFGS with a penalty on bases that are not orthonormal.
        "stiefel": conjugate gradients on the manifold of subspaces, with pymanopt.
    method : {"auto", "exact", "binned"}, default="auto"
        Computation of the divergence, see :func:`entrolearn.manifold.melm_objective`, and of the densities in
        predictions, see :class:`KDEClassifier`.
    max_iter : int, default=1000
        Maximum number of iterations of a start.
    tol : float, default=1e-7
        A start ends when an iteration improves the objective by less than this share of it; with "stiefel",
        when the norm of the gradient is below the square root of `tol`.
    n_jobs : int or None, default=None
        Number of processes; the result does not depend on it.
    verbose : int, default=0
        Verbosity of joblib's progress messages.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    priors_ : ndarray of shape (n_classes,)
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows that span the subspace: its principal axes, by descending variance.
    objective_ : float
        The divergence in that subspace, in nats.
    objectives_ : ndarray of shape (n_init,)
        Final divergence of each start.
    history_ : ndarray of shape (`n_iter_`,)
        Objective of the best start after each iteration.
    n_iter_ : int
        Iterations of the best start.
    n_evaluations_ : int
        Evaluations of objective and gradient, over all starts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    entrolearn.KDEClassifier : The density classifier without a projection.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : For Gaussian classes with a common covariance.

    Notes
    -----
    The divergence does not depend on the basis of the subspace. With the covariance "empirical" it does not
    depend on the units of the features either; the other two estimates shrink towards a multiple of the
    identity, so scale features of different units first. The result is bitwise independent of the order of
    the rows.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold for Learning Discriminative
    Low-Dimensional Representation, ECML PKDD 2015, equation (2) and section 4.

    Examples
    --------
    >>> from entrolearn import MELM
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> melm = MELM(n_init=4, random_state=0).fit(X, y)
    >>> melm.transform(X).shape, round(melm.score(X, y), 2)
    ((178, 2), 1.0)
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "bandwidth_scale": [BANDWIDTH_SCALES],
        "covariance": [StrOptions({*COVARIANCES})],
        "priors": [StrOptions({"uniform", "empirical"}), dict, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({*SOLVERS})],
        "method": [StrOptions({*METHODS})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=2,
        *,
        bandwidth_scale=1.0,
        covariance="ledoit_wolf",
        priors="uniform",
        n_init=16,
        solver="whitened",
        method="auto",
        max_iter=1000,
        tol=1e-7,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.n_components = n_components
        self.bandwidth_scale = bandwidth_scale
        self.covariance = covariance
        self.priors = priors
        self.n_init = n_init
        self.solver = solver
        self.method = method
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> "MELM":
        """Find the subspace of maximum divergence.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows, also in Silverman's rule and in the
            shrinkage of the covariance; a row of weight zero is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are more components than features, fewer than two classes, or a class has no density,
            because its rows are equal or its empirical covariance is singular.

        Warns
        -----
        ConvergenceWarning
            If the best start reached `max_iter`.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, "MELM")
        self.priors_ = class_priors(self.priors, self.classes_, np.bincount(codes, weights))
        # Sort the rows, so that rounding errors, and hence every step of the search, do not depend on their
        # order.
        order = np.lexsort((*X.T, codes))
        X, codes = X[order], codes[order]
        groups, own = by_class(X, codes), None
        if weights is not None:
            own = tuple(by_class(weights[order], codes))
        divergence = self._divergence(groups, own)
        draw = check_random_state(self.random_state)
        starts = [draw.normal(size=(X.shape[1], self.n_components)) for _ in range(self.n_init)]
        solve = delayed(SOLVERS[self.solver])
        try:
            climbs = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
                solve(divergence, start, max_iter=self.max_iter, tol=self.tol) for start in starts
            )
        except np.linalg.LinAlgError:
            empirical = self.covariance == "empirical"
            other = "covariance='ledoit_wolf' or 'oas'" if empirical else "similar scales, no outliers"
            raise ValueError(
                f"the kernel densities vanish in a random subspace: with bandwidth_scale="
                f"{self.bandwidth_scale:g}, the {self.covariance} covariance of a class is singular compared "
                f"with the distances of its rows; accepted: {other}, or a larger bandwidth_scale"
            ) from None
        self.objectives_ = np.array([climb.objective for climb in climbs])
        best = climbs[self.objectives_.argmax()]
        if not best.converged:
            warn_user(
                f"the best start did not converge in {self.max_iter} iterations: raise max_iter or tol",
                ConvergenceWarning,
            )
        self.objective_, self.n_iter_ = best.objective, best.n_iter
        self.history_ = np.array(best.history)
        self.n_evaluations_ = sum(climb.n_evaluations for climb in climbs)
        together = None if own is None else np.concatenate(own)
        self.components_ = _principal_axes(best.V, np.concatenate(divergence.rows), together)
        self._origin = divergence.origin
        self._densities = ClassDensities(
            tuple((own - self._origin) @ self.components_.T for own in groups),
            self.components_ @ divergence.kernels @ self.components_.T,
            divergence.unit,
            own,
        )
        return self

    def _divergence(
        self, groups: Sequence[np.ndarray], weights: Sequence[np.ndarray] | None
    ) -> ProjectedDivergence:
        """The objective, after validation of the classes and parameters."""
        n_features = groups[0].shape[1]
        if self.n_components > n_features:
            raise ValueError(
                f"n_components is {self.n_components}; it must be at most n_features={n_features}"
            )
        divergence = ProjectedDivergence.of_classes(
            groups,
            self.n_components,
            bandwidth_scale=self.bandwidth_scale,
            covariance=self.covariance,
            method=self.method,
            row_weights=weights,
        )
        for label, own in zip(self.classes_.tolist(), groups, strict=True):
            if not np.ptp(own, axis=0).max() > LEAST_RANGE * divergence.unit:
                found = f"{len(own)} rows that are all equal" if len(own) > 1 else "1 row"
                raise ValueError(f"class {label!r} has {found}; a density needs at least 2 different ones")
        return divergence

    def transform(self, X) -> np.ndarray:
        """Project rows onto the subspace.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, n_components)
            ``X @ components_.T``.
        """
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.components_.T

    def _log_joint(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        # Relative to an origin among the rows, so that a large common number costs no digits.
        projected = (X - self._origin) @ self.components_.T
        return self._densities.log_joint(projected, self.priors_, method=self.method)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _principal_axes(V: np.ndarray, X: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Principal axes of the subspace of V, by descending variance, with a positive largest entry each."""
    _, axes = np.linalg.eigh(np.cov((X @ V).T, aweights=weights).reshape(V.shape[1], -1))
    components = axes[:, ::-1].T @ V.T
    return components * signs_of_rows(components)
