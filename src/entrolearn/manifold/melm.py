"""The maximum entropy linear manifold: the subspace in which the classes are furthest apart."""

import warnings
from numbers import Integral, Real

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from entrolearn.manifold.densities import (
    COVARIANCES,
    ClassDensities,
    DensityClassifier,
    class_priors,
    encode,
)
from entrolearn.manifold.objective import METHODS, ProjectedDivergence
from entrolearn.manifold.solvers import SOLVERS, Climb
from entrolearn.validation import Interval, StrOptions, validate_data, validated

__all__ = ["MELM"]

#: Rows of no more variance count as equal: the gradient divides by it.
LEAST_VARIANCE = 1e-280


class MELM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityClassifier):
    """Maximum entropy linear manifold: a projection onto few dimensions in which the classes are far apart.

    Kernel density estimates of the projected classes are compared by their Cauchy-Schwarz divergence, which
    is maximised over the subspace from several random starts. The densities in the best subspace make a
    classifier: a row belongs to the class whose density is largest there. More than two classes: the
    divergences of all pairs are added up.

    Parameters
    ----------
    n_components : int, default=2
        Dimension k of the subspace.
    bandwidth_scale : float, default=1.0
        γ, by which the widths of Silverman's rule are multiplied: less follows the rows more closely.
    covariance : {"ledoit_wolf", "oas", "empirical"}, default="ledoit_wolf"
        How the covariance of a class, the shape of its kernel, is estimated in the space of the features.
    priors : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        What the classifier multiplies the densities with before it compares them; "uniform", as the paper has
        it, gives both classes of an unbalanced problem the same say. The subspace does not depend on it.
    n_init : int, default=16
        Random starts, of which the best counts.
    solver : {"whitened", "penalty", "stiefel"}, default="whitened"
        "whitened": L-BFGS in coordinates in which the kernels are round, an orthonormal basis taken at the
        end. "penalty": the paper's, L-BFGS with a penalty on bases that are not orthonormal. "stiefel":
        conjugate gradients on the manifold of subspaces, with pymanopt.
    method : {"auto", "exact", "binned"}, default="auto"
        How the divergence is computed: see :func:`entrolearn.manifold.melm_objective`.
    max_iter : int, default=1000
        Iterations of a start.
    tol : float, default=1e-7
        A start ends when an iteration improves the objective by less than this share of it; with "stiefel",
        when the gradient is shorter than its square root.
    n_jobs : int or None, default=None
        Processes that climb; the result does not depend on it.
    verbose : int, default=0
        How much joblib says about the starts' progress.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    priors_ : ndarray of shape (n_classes,)
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows that span the subspace: its principal axes, the one with the most variance first.
    objective_ : float
        The divergence in that subspace, in nats.
    objectives_ : ndarray of shape (n_init,)
        Where each start ended; NaN where it came to a subspace without densities.
    history_ : ndarray of shape (`n_iter_`,)
        What the best start maximised, after each iteration.
    n_iter_ : int
        Iterations of the best start.
    n_evaluations_ : int
        Evaluations of objective and gradient, over all starts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X has names of features that are all strings.

    See Also
    --------
    entrolearn.KDEClassifier : The density classifier alone.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : For classes that are Gaussians of one shape.

    Notes
    -----
    The divergence does not depend on the basis of the subspace, nor on the features' units where the
    covariance is "empirical". The two others shrink towards a multiple of the identity: scale features of
    different units first, or let them stand for themselves on purpose.

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
        "bandwidth_scale": [Interval(Real, 0, None, closed="neither")],
        "covariance": [StrOptions({*COVARIANCES})],
        "priors": [StrOptions({"uniform", "empirical"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({*SOLVERS})],
        "method": [StrOptions({*METHODS})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
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
    def fit(self, X, y) -> "MELM":
        """Find the subspace.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are more components than features, fewer than two classes, or a class has no density:
            its rows are equal, or its empirical covariance is singular.

        Warns
        -----
        ConvergenceWarning
            If the best start used up its iterations.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        self.classes_, codes = encode(y, "MELM")
        self.priors_ = class_priors(self.priors, self.classes_, np.bincount(codes))
        divergence = self._divergence(X, codes)
        draw = check_random_state(self.random_state)
        starts = [draw.normal(size=(X.shape[1], self.n_components)) for _ in range(self.n_init)]
        climbs = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(_climbed)(self.solver, divergence, start, self.max_iter, self.tol) for start in starts
        )
        self.objectives_ = np.array([np.nan if climb is None else climb.objective for climb in climbs])
        if np.isnan(self.objectives_).all():
            empirical = self.covariance == "empirical"
            accepted = "covariance='ledoit_wolf' or 'oas'" if empirical else "like scales, and no outliers"
            raise ValueError(
                "the projected classes have no density in any subspace that was tried: a class's "
                f"{self.covariance} covariance is singular; accepted then: {accepted}"
            )
        best = climbs[np.nanargmax(self.objectives_)]
        if not best.converged:
            warnings.warn(
                f"the best start used up its {self.max_iter} iterations: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.objective_, self.n_iter_ = best.objective, best.n_iter
        self.history_ = np.array(best.history)
        self.n_evaluations_ = sum(climb.n_evaluations for climb in climbs if climb is not None)
        self.components_ = _principal_axes(best.V, X)
        self._densities = ClassDensities(
            tuple(X[codes == c] @ self.components_.T for c in range(len(self.classes_))),
            self.components_ @ divergence.kernels @ self.components_.T,
        )
        return self

    def _divergence(self, X: np.ndarray, codes: np.ndarray) -> ProjectedDivergence:
        """What is maximised, once it is known that it can be."""
        if self.n_components > X.shape[1]:
            raise ValueError(
                f"n_components is {self.n_components}; it must be at most n_features={X.shape[1]}"
            )
        rows = [X[codes == c] for c in range(len(self.classes_))]
        for label, own in zip(self.classes_.tolist(), rows, strict=True):
            if not (np.ptp(own, axis=0).any() and own.var(axis=0).max() > LEAST_VARIANCE):
                found = f"{len(own)} rows that are all equal" if len(own) > 1 else "1 row"
                raise ValueError(f"class {label!r} has {found}; a density needs at least 2 different ones")
        return ProjectedDivergence.of_classes(
            rows,
            self.n_components,
            bandwidth_scale=self.bandwidth_scale,
            covariance=self.covariance,
            method=self.method,
        )

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
        Z = self.transform(X)
        return self._densities.log_density(Z) + np.log(self.priors_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _climbed(
    solver: str, divergence: ProjectedDivergence, start: np.ndarray, max_iter: int, tol: float
) -> Climb | None:
    """One climb; None if it came to a subspace in which a class has no density."""
    try:
        return SOLVERS[solver](divergence, start, max_iter=max_iter, tol=tol)
    except np.linalg.LinAlgError:
        return None


def _principal_axes(V: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The basis of V's subspace that an eye expects: by falling variance, the largest entries positive."""
    _, axes = np.linalg.eigh(np.cov((X @ V).T).reshape(V.shape[1], -1))
    components = axes[:, ::-1].T @ V.T
    largest = np.abs(components).argmax(axis=1)
    return components * np.sign(components[np.arange(len(components)), largest])[:, np.newaxis]
