"""Many fits of one learner: every point of a grid, on every training set of a partition.

Model selection needs the same learner fitted again and again: for each fold, for each point of a grid.
:func:`path` is the one way to ask for that. Its default clones and fits. A learner whose fits share work
(one pass of moments, one eigendecomposition, one kernel matrix) registers something better with
``@path.register(ItsClass)``; who asks need not know.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch, wraps
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils import _safe_indexing, check_X_y
from sklearn.utils.validation import _check_method_params

__all__ = ["Partition", "PathPoint", "path"]

# What a fit may raise and be a failed point for: anything else is a fault of the program.
FAILURES = (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Partition:
    """Disjoint parts of the rows, and the parts that each fit leaves out.

    Cross-validation leaves out one part at a time. Nested cross-validation whose inner folds are the other
    outer folds leaves out two, and the fit without parts i and j serves twice: as an inner fit of fold i and
    as one of fold j. A fit on everything leaves out none.

    Parameters
    ----------
    part : ndarray of int, shape (n_samples,)
        The part of each row.
    left_out : sequence of tuples of int
        For each fit, the parts that it must not see.
    asked : sequence of tuples of int, optional
        For each fit, the parts whose rows it is asked to predict. What a point says about other rows is then
        undefined, and it need have no projection; None asks for everything.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.path import Partition
    >>> nested = Partition.cross_validation(np.array([0, 0, 1, 1, 2]), nested=True)
    >>> nested.left_out
    ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    >>> nested.training((0, 2)).tolist()
    [2, 3]
    """

    part: np.ndarray
    left_out: tuple[tuple[int, ...], ...]
    asked: tuple[tuple[int, ...], ...] | None = None

    @classmethod
    def whole(cls, n_samples: int) -> "Partition":
        """One fit, on all rows."""
        return cls(np.zeros(n_samples, dtype=int), ((),))

    @classmethod
    def cross_validation(cls, part: np.ndarray, *, nested: bool = False) -> "Partition":
        """Each part left out once; with `nested`, each pair of parts too."""
        names = np.unique(part).tolist()
        left_out = [(i,) for i in names]
        if nested:
            left_out += [(i, j) for i in names for j in names if i < j]
        return cls(np.asarray(part), tuple(left_out))

    def held_out(self, parts: Sequence[int]) -> np.ndarray:
        """Indices of the rows in `parts`."""
        return np.flatnonzero(np.isin(self.part, list(parts)))

    def training(self, left_out: Sequence[int]) -> np.ndarray:
        """Indices of the rows outside `left_out`."""
        return np.flatnonzero(~np.isin(self.part, list(left_out)))

    def predicted(self, left_out: Sequence[int]) -> np.ndarray | None:
        """Indices of the rows that the fit without `left_out` is asked to predict; None for all of them."""
        if self.asked is None:
            return None
        return self.held_out(self.asked[self.left_out.index(tuple(left_out))])

    def fit(self, left_out: Sequence[int]) -> "Partition":
        """One of the fits alone."""
        k = self.left_out.index(tuple(left_out))
        return replace(self, left_out=(self.left_out[k],), asked=self.asked and (self.asked[k],))


@dataclass(frozen=True)
class PathPoint:
    """One fitted machine of a path, known by what it says about every row of the path's data.

    Attributes
    ----------
    left_out : tuple of int
        The parts that the fit did not see.
    params : dict
        The grid point.
    prediction : ndarray, shape (n_samples,), or None
        The predicted label (or value) of every row that is asked for, seen or not; None where the fit failed.
    projection : ndarray, shape (n_samples,), or None
        The real number that a binary machine gives each row before it decides; None for other machines.
    gaussians : tuple of four floats, or None
        Mean and variance of the projected negative class, then of the positive class, where the machine has
        a density model of its own (EEM, EEKM).
    n_support : int or None
        How many of the rows that it was fitted on are the machine's support vectors; None where it has none
        to speak of, whatever its number of coefficients.
    n_iter : int or None
        How many iterations (or epochs) its solver took; None where it does not say.
    log_odds : ndarray, shape (n_samples,), or None
        The log odds of the second of two classes, in nats, where not the projection decides (EEM, EEKM).
    fitted : estimator or None
        The fitted machine, where fits are made one by one; None where they share work.
    note : str
        What a reader of the result should know, such as a solver that stopped early.
    error : str
        Why the fit failed; empty where it did not.
    """

    left_out: tuple[int, ...]
    params: dict = field(default_factory=dict)
    prediction: np.ndarray | None = None
    projection: np.ndarray | None = None
    gaussians: tuple[float, float, float, float] | None = None
    n_support: int | None = None
    n_iter: int | None = None
    log_odds: np.ndarray | None = None
    fitted: BaseEstimator | None = None
    note: str = ""
    error: str = ""


def _one_by_one_with_params(dispatching: Callable) -> Callable:
    """The function that dispatches by the estimator, but where parameters of fits are given."""

    @wraps(dispatching)
    def path(estimator, X, y, partition, grid, **fit_params):
        fits = dispatching.dispatch(object if fit_params else type(estimator))
        return fits(estimator, X, y, partition, grid, **fit_params)

    return path


@_one_by_one_with_params
@singledispatch
def path(
    estimator: BaseEstimator, X, y, partition: Partition, grid: Sequence[dict], **fit_params
) -> Iterator[PathPoint]:
    """Fit every point of `grid` on every training set of `partition`.

    Parameters
    ----------
    estimator : estimator
        Cloned, never changed. Its type decides which implementation runs.
    X : {ndarray, CSR matrix}, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        Labels, or values.
    partition : Partition
        The parts of the rows, and those that each fit leaves out.
    grid : sequence of dicts
        Parameters to set, one dict per point. A point of a pipeline may name a step, which it then replaces.
    **fit_params
        Parameters of the estimator's ``fit``, such as ``sample_weight``: of arrays with an entry for each
        row a fit gets those of its rows. Fits with such parameters share no work.

    Yields
    ------
    PathPoint
        In any order; every pair of ``partition.left_out`` and ``grid`` exactly once. A fit that fails is a
        point with an ``error``, so that one bad grid point does not take the others with it.

    Examples
    --------
    Two sizes of a hidden layer, on the three training sets of a cross-validation:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.path import Partition, path
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = Partition.cross_validation(np.arange(len(y)) % 3)
    >>> points = list(path(EEMClassifier(random_state=0), X, y, folds, [{"n_hidden": 10}, {"n_hidden": 20}]))
    >>> sorted((point.left_out, point.params["n_hidden"]) for point in points)
    [((0,), 10), ((0,), 20), ((1,), 10), ((1,), 20), ((2,), 10), ((2,), 20)]
    """
    for left_out in partition.left_out:
        rows, asked = partition.training(left_out), partition.predicted(left_out)
        X_train, y_train = _safe_indexing(X, rows), y[rows]
        given = _check_method_params(X, fit_params, rows)
        for params in grid:
            try:
                machine = clone(estimator).set_params(**clone(params, safe=False))
                fitted = machine.fit(X_train, y_train, **given)
                yield PathPoint(
                    left_out,
                    params,
                    prediction=_predict(fitted, X, asked, len(partition.part)),
                    projection=project(fitted, X) if asked is None else None,
                    gaussians=projected_gaussians(fitted),
                    n_support=n_support_vectors(fitted),
                    n_iter=n_iterations(fitted),
                    fitted=fitted,
                    note=stopped_early(fitted),
                )
            except FAILURES as error:
                yield PathPoint(left_out, params, error=describe(error))


def _predict(fitted: BaseEstimator, X, rows: np.ndarray | None, n_samples: int) -> np.ndarray:
    """Predictions of some rows, or all, in their places."""
    if rows is None:
        return fitted.predict(X)
    return _in_places(fitted.predict(_safe_indexing(X, rows)), rows, n_samples)


def _in_places(found: np.ndarray, rows: np.ndarray, n_samples: int) -> np.ndarray:
    """What is said of some rows, in their places among all; elsewhere zeros, or empty words."""
    values = np.zeros((n_samples, *found.shape[1:]), found.dtype)
    values[rows] = found
    return values


@path.register
def _pipeline_path(
    estimator: Pipeline, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Steps before the last are fitted once per training set and setting; the last then takes its own path.

    Points that replace the last step share the steps before it too.
    """
    # A subclass may do more between its steps, such as draw rows anew.
    if type(estimator) is not Pipeline or any("steps" in params for params in grid):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    for settings, lasts in _by_settings(estimator, grid):
        if len(estimator.steps) == 1:
            for last in lasts:
                yield from last.path(X, y, partition)
            continue
        for left_out in partition.left_out:
            try:
                seen = _Transformed.of(
                    clone(estimator).set_params(**clone(settings, safe=False))[:-1], X, y, partition, left_out
                )
            except FAILURES as error:
                reason = describe(error)
                yield from (
                    PathPoint(left_out, params, error=reason) for last in lasts for params in last.grid
                )
                continue
            for last in lasts:
                if seen is None:
                    yield from path.dispatch(object)(estimator, X, y, partition.fit(left_out), last.grid)
                else:
                    yield from seen.path(last)


@dataclass
class _LastStep:
    """The last step of a pipeline, and the points of its grid that differ in that step's parameters alone."""

    estimator: BaseEstimator
    own: list[dict] = field(default_factory=list)  # the parameters of each point as the step knows them
    grid: list[dict] = field(default_factory=list)  # the points themselves

    def path(self, X, y, partition: Partition) -> Iterator[PathPoint]:
        """Its own path, with the pipeline's points; what breaks it off is the error of those left."""
        left = {(left_out, i) for left_out in partition.left_out for i in range(len(self.grid))}
        try:
            for point in path(self.estimator, X, y, partition, self.own):
                i = place(point.params, self.own)
                left.remove((point.left_out, i))
                yield replace(point, params=self.grid[i])
        except FAILURES as error:
            for left_out, i in sorted(left):
                yield PathPoint(left_out, self.grid[i], error=describe(error))


def _by_settings(pipeline: Pipeline, grid: Sequence[dict]) -> list[tuple[dict, list[_LastStep]]]:
    """The points of a pipeline's grid by what they set of the steps before the last, then by the last."""
    name, last = pipeline.steps[-1]
    of_last = f"{name}__"
    groups: dict[tuple, tuple[dict, dict[int, _LastStep]]] = {}
    for params in grid:
        taken = params.get(name, last)
        own = {key.removeprefix(of_last): value for key, value in params.items() if key.startswith(of_last)}
        settings = {
            key: value for key, value in params.items() if key != name and not key.startswith(of_last)
        }
        known = tuple((key, *_identity(value)) for key, value in sorted(settings.items()))
        _, lasts = groups.setdefault(known, (settings, {}))
        step = lasts.setdefault(id(taken), _LastStep(taken))
        step.own.append(own)
        step.grid.append(params)
    return [(settings, list(lasts.values())) for settings, lasts in groups.values()]


def _identity(value) -> tuple:
    """What tells a setting from others: of simple values type and value, of all else which object it is."""
    simple = value is None or isinstance(value, (str, Real))
    return (type(value), value) if simple else (id(value),)


@dataclass(frozen=True)
class _Transformed:
    """Rows as the fitted steps before a pipeline's last give them: first to learn from, then to predict.

    A row that is both comes twice, since ``fit_transform`` need not give what ``transform`` does.
    """

    steps: Pipeline
    X: np.ndarray | sparse.spmatrix
    y: np.ndarray
    n_learnt: int
    predicted: np.ndarray  # the rows to predict, in the data of the pipeline
    left_out: tuple[int, ...]
    n_samples: int
    all_asked: bool

    @classmethod
    def of(
        cls, steps: Pipeline, X, y, partition: Partition, left_out: tuple[int, ...]
    ) -> "_Transformed | None":
        """Fit the steps on a training set, and transform it and the rows that are asked for.

        None where the steps make data frames, which the last may know by the names of their columns.
        """
        n_samples = len(partition.part)
        rows, asked = partition.training(left_out), partition.predicted(left_out)
        predicted = np.arange(n_samples) if asked is None else asked
        learnt = steps.fit_transform(_safe_indexing(X, rows), y[rows])
        if not (isinstance(learnt, np.ndarray) or sparse.issparse(learnt)):
            return None
        both = [learnt, steps.transform(_safe_indexing(X, predicted))]
        stacked = sparse.vstack(both, format="csr") if sparse.issparse(learnt) else np.concatenate(both)
        y = np.concatenate([y[rows], y[predicted]])
        return cls(steps, stacked, y, len(rows), predicted, left_out, n_samples, all_asked=asked is None)

    def path(self, last: _LastStep) -> Iterator[PathPoint]:
        """The path of a last step on these rows, told of the rows of the pipeline's data."""
        part = (np.arange(len(self.y)) >= self.n_learnt).astype(int)
        partition = Partition(part, ((1,),), None if self.all_asked else ((1,),))
        for point in last.path(self.X, self.y, partition):
            yield replace(
                point,
                left_out=self.left_out,
                prediction=self._in_places(point.prediction),
                projection=self._in_places(point.projection),
                log_odds=self._in_places(point.log_odds),
                fitted=None
                if point.fitted is None
                else Pipeline([*self.steps.steps, ("last", point.fitted)]),
            )

    def _in_places(self, values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else _in_places(values[self.n_learnt :], self.predicted, self.n_samples)


def place(params: dict, grid: Sequence[dict]) -> int:
    """Where in the grid a point of a path belongs: by identity first, as arrays do not compare."""
    identical = [index for index, other in enumerate(grid) if other is params]
    return identical[0] if identical else grid.index(params)


# Beyond this many rows a matrix of all pairs takes more memory (0.8 GB, and its copy for a training set) than
# it saves time. Measured on 500 to 8000 rows, two gammas by two C: with 100 features it is four to six times
# faster than libsvm's own cache throughout; with 8 features twice at 500 rows, and equal at 8000.
LARGEST_SHARED_KERNEL = 10_000


@path.register
def _svc_path(estimator: SVC, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """One rbf kernel matrix per gamma serves every C and every training set, of two classes."""
    classes = np.unique(y)
    if len(classes) != 2:
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return

    def said(decision: np.ndarray) -> dict:
        return {"prediction": classes[(decision > 0).astype(int)], "projection": decision}

    yield from _shared_kernel_path(estimator, X, y, partition, grid, said)


@path.register
def _svr_path(estimator: SVR, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """One rbf kernel matrix per gamma serves every C, every epsilon and every training set."""
    yield from _shared_kernel_path(estimator, X, y, partition, grid, lambda values: {"prediction": values})


def _shared_kernel_path(estimator: SVC | SVR, X, y, partition, grid, said) -> Iterator[PathPoint]:
    """Outputs come from the dual coefficients and the kernel matrix, not from another pass over the data.

    ``said`` turns the outputs of all rows into what a point says.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    small = len(partition.part) <= LARGEST_SHARED_KERNEL
    if not small or not all(map(acceptable, machines)) or not all(map(_has_numeric_rbf, machines)):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    for gamma in dict.fromkeys(machine.gamma for machine in machines):
        kernel = rbf_kernel(X, gamma=gamma)
        for left_out in partition.left_out:
            rows = partition.training(left_out)
            gram = kernel[np.ix_(rows, rows)]
            for machine, params in zip(machines, grid, strict=True):
                if machine.gamma == gamma:
                    yield _svm_point(machine, params, kernel, gram, rows, y, left_out, said)


def _has_numeric_rbf(machine: SVC | SVR) -> bool:
    return machine.kernel == "rbf" and isinstance(machine.gamma, Real)


def _svm_point(machine, params, kernel, gram, rows, y, left_out, said) -> PathPoint:
    on_gram = clone(machine).set_params(kernel="precomputed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told in the note
            on_gram.fit(gram, y[rows])
    except ValueError as error:
        return PathPoint(left_out, params, error=describe(error))
    outputs = kernel[:, rows[on_gram.support_]] @ on_gram.dual_coef_[0] + on_gram.intercept_[0]
    return PathPoint(
        left_out,
        params,
        **said(outputs),
        n_support=len(on_gram.support_),
        n_iter=n_iterations(on_gram),
        note=stopped_early(on_gram),
    )


def project(fitted: BaseEstimator, X) -> np.ndarray | None:
    """The real number that a fitted binary classifier gives each row, or None if it has none.

    That is the learner's own ``project`` (the projection whose class densities it compares) where it has
    one, its ``decision_function`` otherwise. A pipeline is asked for its last step's.
    """
    if isinstance(fitted, WITH_THRESHOLD):
        return project(fitted.estimator_, X)
    if isinstance(fitted, Pipeline):
        return project(fitted[-1], fitted[:-1].transform(X) if len(fitted) > 1 else X)
    name = next((name for name in ("project", "decision_function") if hasattr(fitted, name)), None)
    values = None if name is None else getattr(fitted, name)(X)
    return values if values is not None and values.ndim == 1 else None


WITH_THRESHOLD = (TunedThresholdClassifierCV, FixedThresholdClassifier)


def _last(fitted: BaseEstimator) -> BaseEstimator:
    """The fitted last step of a pipeline, that of one with a threshold, or the machine itself."""
    fitted = fitted.estimator_ if isinstance(fitted, WITH_THRESHOLD) else fitted
    return fitted[-1] if isinstance(fitted, Pipeline) else fitted


def projected_gaussians(fitted: BaseEstimator) -> tuple[float, float, float, float] | None:
    """Means and variances of the two projected classes, where the fitted learner models them."""
    last = _last(fitted)
    if getattr(last, "projected_variances_", None) is None or len(last.projected_variances_) != 2:
        return None
    (mean_neg, mean_pos), (var_neg, var_pos) = last.projected_means_, last.projected_variances_
    return float(mean_neg), float(var_neg), float(mean_pos), float(var_pos)


def n_support_vectors(fitted: BaseEstimator) -> int | None:
    """How many training rows a fitted machine keeps as support vectors; None if it is not made of them.

    A pipeline is asked for its last step's. A machine tells by scikit-learn's ``n_support_``, one number per
    class or one in all.
    """
    last = _last(fitted)
    return int(np.sum(last.n_support_)) if hasattr(last, "n_support_") else None


def n_iterations(fitted: BaseEstimator) -> int | None:
    """How many iterations (or epochs) a fitted machine's solver took; None if it does not say.

    A pipeline is asked for its last step's. Where a machine solves several problems, the longest counts.
    """
    last = _last(fitted)
    n_iter = getattr(last, "n_iter_", None)
    return None if n_iter is None else int(np.max(n_iter))


def stopped_early(fitted: BaseEstimator) -> str:
    """A note that a machine's solver used up its iterations; empty if it did not, or does not say.

    A pipeline is asked for its last step's.
    """
    last = _last(fitted)
    most, n_iter = getattr(last, "max_iter", None), n_iterations(last)
    if not most or most < 0 or n_iter is None or n_iter < most:
        return ""
    return f"stopped at {most} iterations"


def acceptable(machine: BaseEstimator) -> bool:
    """Whether the machine's ``fit`` would take its parameters.

    A shortcut does not call ``fit``. It leaves a grid with a parameter that is out of range to the default,
    which makes one failed point of it.
    """
    try:
        machine._validate_params()
    except ValueError:
        return False
    return True


def same_settings(machines: Sequence[BaseEstimator], *names: str) -> list[list[int]]:
    """Indices of the machines that agree on the named parameters, group by group, in order."""
    groups: dict[tuple, list[int]] = {}
    for i, machine in enumerate(machines):
        groups.setdefault(tuple(_comparable(getattr(machine, name)) for name in names), []).append(i)
    return list(groups.values())


def _comparable(value):
    """A setting that can be looked up: of an array its numbers."""
    value = value.toarray() if sparse.issparse(value) else value
    try:
        hash(value)
    except TypeError:
        return repr(np.asarray(value).tolist())
    return value


def describe(error: BaseException) -> str:
    """An error in one line: its type, then the first line of its text."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
