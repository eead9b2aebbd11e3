"""Many fits of one estimator: every candidate of a grid, on every training set of a partition.

Model selection fits the same estimator for each fold and each candidate of a grid. :func:`path` is the
function for this. Its default clones and fits the estimator. Estimators whose fits can share work (one pass
of moments, one eigendecomposition, one kernel matrix) register a faster implementation with
``@path.register(ItsClass)``.
"""

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import singledispatch, wraps
from itertools import takewhile
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils import _safe_indexing, check_X_y
from sklearn.utils.validation import _check_method_params

__all__ = ["Partition", "PathPoint", "path"]

# Exceptions that are recorded as a failed candidate; all others propagate.
FAILURES = (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError)
# Methods that implementations which share work replace, besides private ones.
REPLACED = {"fit", "predict", "decision_function", "project", "predict_proba"}
# Number of parts up to which they are compared one by one: for few rows np.isin takes twenty times as long.
FEW_PARTS = 4


@dataclass(frozen=True)
class Partition:
    """A partition of the rows into parts, and the parts that each fit leaves out.

    Cross-validation leaves out one part at a time. Nested cross-validation, with the other outer folds as
    inner folds, leaves out two; the fit without parts i and j is used twice: as an inner fit of fold i and of
    fold j. A fit on all rows leaves out none.

    Parameters
    ----------
    part : ndarray of int, shape (n_samples,)
        The part of each row.
    left_out : sequence of tuples of int
        For each fit, the parts that are not in its training set.
    asked : sequence of tuples of int, optional
        For each fit, the parts whose rows it must predict. Predictions for other rows are then undefined, and
        there may be no projection. None means all parts.
    random : bool, default=False
        Whether the parts are random subsets of the rows, stratified or not, as folds with ``shuffle=True``.
        Training sets may then share landmarks that are drawn from some of their parts.

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
    random: bool = False

    @classmethod
    def whole(cls, n_samples: int) -> "Partition":
        """A partition with one fit, on all rows."""
        return cls(np.zeros(n_samples, dtype=int), ((),))

    @classmethod
    def cross_validation(cls, part: np.ndarray, *, nested: bool = False) -> "Partition":
        """A partition that leaves out each part once; with `nested`, each pair of parts too."""
        names = np.unique(part).tolist()
        left_out: list[tuple[int, ...]] = [(i,) for i in names]
        if nested:
            left_out += [(i, j) for i in names for j in names if i < j]
        return cls(np.asarray(part), tuple(left_out))

    def held_out(self, parts: Sequence[int]) -> np.ndarray:
        """Indices of the rows in `parts`."""
        return np.flatnonzero(self._is_in(parts))

    def training(self, left_out: Sequence[int]) -> np.ndarray:
        """Indices of the rows outside `left_out`."""
        return np.flatnonzero(~self._is_in(left_out))

    def _is_in(self, parts: Sequence[int]) -> np.ndarray:
        if len(parts) > FEW_PARTS:
            return np.isin(self.part, list(parts))
        found = np.zeros(len(self.part), dtype=bool)
        for part in parts:
            found |= self.part == part
        return found

    def predicted(self, left_out: Sequence[int]) -> np.ndarray | None:
        """Indices of the rows that the fit without `left_out` must predict; None for all rows."""
        if self.asked is None:
            return None
        return self.held_out(self.asked[self.left_out.index(tuple(left_out))])

    def only(self, left_outs: Sequence[tuple[int, ...]]) -> "Partition":
        """The partition with only some of its fits."""
        asked = None
        if self.asked is not None:
            asked = tuple(self.asked[self.left_out.index(left_out)] for left_out in left_outs)
        return replace(self, left_out=tuple(left_outs), asked=asked)

    def by_classes(self, codes: np.ndarray) -> tuple["Partition", "Partition"]:
        """The partition with only the fits that have rows of all classes, and that with the others.

        `codes` are the classes of the rows, integers from 0; each class has a row.
        """
        complete: list[tuple[int, ...]] = []
        others: list[tuple[int, ...]] = []
        for left_out in self.left_out:
            has_all = np.bincount(codes[self.training(left_out)], minlength=codes.max() + 1).all()
            (complete if has_all else others).append(left_out)
        return self.only(complete), self.only(others)


@dataclass(frozen=True)
class PathPoint:
    """Result of one fit: a candidate on one training set, with its predictions for all rows of the data.

    Attributes
    ----------
    left_out : tuple of int
        The parts that were not in the training set.
    params : dict
        The candidate.
    prediction : ndarray, shape (n_samples,), or None
        The predicted label (or value) of every row that was requested; None if the fit failed.
    projection : ndarray, shape (n_samples,), or None
        The real number from which a binary classifier decides, for each row; None for other estimators.
    gaussians : tuple of four floats, or None
        Mean and variance of the projected negative class, then of the positive class, if the estimator models
        these densities (EEM, EEKM).
    n_support : int or None
        Number of training rows that are support vectors; None if the estimator has no support vectors,
        regardless of its number of coefficients.
    n_iter : int or None
        Number of iterations (or epochs) of the solver; None if unknown.
    log_odds : ndarray, shape (n_samples,), or None
        The log odds of the second of two classes, in nats, if the decision is not by the projection (EEM,
        EEKM).
    fitted : estimator or None
        The fitted estimator, if fits are made one by one; None if they share work.
    note : str
        A remark on the result, for example that a solver stopped early.
    error : str
        Why the fit failed; empty if it succeeded.
    """

    left_out: tuple[int, ...]
    params: dict = field(default_factory=dict)
    prediction: Any = None
    projection: np.ndarray | None = None
    gaussians: tuple[float, float, float, float] | None = None
    n_support: int | None = None
    n_iter: int | None = None
    log_odds: np.ndarray | None = None
    fitted: BaseEstimator | None = None
    note: str = ""
    error: str = ""


def _one_by_one_if_changed(dispatching: Any) -> Any:
    """Wrapper of the dispatcher that fits one by one with parameters of ``fit`` and changed methods."""

    @wraps(dispatching)
    def path(estimator, X, y, partition, grid, **fit_params):
        kind = type(estimator)
        below = list(takewhile(lambda other: other not in dispatching.registry, kind.__mro__))
        own = fit_params or _changes_methods(below, kind.__mro__[len(below)])
        fits = dispatching.dispatch(object if own else kind)
        return fits(estimator, X, y, partition, grid, **fit_params)

    return path


def _changes_methods(classes: Sequence[type], registered: type) -> bool:
    """Whether a class outside the registered one's package defines a method that its path replaces."""
    package = _package(registered)
    return any(
        name in REPLACED or (name.startswith("_") and not name.startswith("__") and hasattr(value, "__get__"))
        for each in classes
        if _package(each) != package
        for name, value in vars(each).items()
    )


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


@_one_by_one_if_changed
@singledispatch
def path(
    estimator: BaseEstimator, X, y, partition: Partition, grid: Sequence[dict], **fit_params
) -> Iterator[PathPoint]:
    """Fit every candidate of `grid` on every training set of `partition`.

    Parameters
    ----------
    estimator : estimator
        Cloned, never changed. Its type selects the implementation. A subclass in another package that
        overrides ``fit``, a method for predictions or a private method is fitted by the default.
    X : {ndarray, CSR matrix}, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        Labels, or values.
    partition : Partition
        The parts of the rows, and those that each fit leaves out.
    grid : sequence of dicts
        Candidates: parameters to set, one dict each. A candidate of a pipeline may name a step, which it then
        replaces.
    **fit_params
        Parameters of the estimator's ``fit``, such as ``sample_weight``. Of arrays with one entry per row,
        each fit gets the entries of its rows. Fits with such parameters share no work.

    Yields
    ------
    PathPoint
        In any order, exactly one for every pair of ``partition.left_out`` and ``grid``. A fit that fails
        gives a result with an ``error``, so that one candidate does not stop the others.

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
    """Predictions of some or all rows, in an array for all rows."""
    if rows is None:
        return fitted.predict(X)
    return _in_places(fitted.predict(_safe_indexing(X, rows)), rows, n_samples)


def _in_places(found: np.ndarray, rows: np.ndarray, n_samples: int) -> np.ndarray:
    """Values of some rows in an array for all rows; zeros, or empty strings, elsewhere."""
    values = np.zeros((n_samples, *found.shape[1:]), found.dtype)
    values[rows] = found
    return values


@path.register
def _pipeline_path(
    estimator: Pipeline, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Fit the steps before the last once per training set and setting; the last step then uses its own path.

    Candidates that replace the last step share the previous steps, too.
    """
    # A subclass may do more between its steps, for example resample rows.
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
                    yield from path.dispatch(object)(estimator, X, y, partition.only([left_out]), last.grid)
                else:
                    yield from seen.path(last)


@dataclass
class _LastStep:
    """The last step of a pipeline, and the candidates that differ only in parameters of this step."""

    estimator: BaseEstimator
    own: list[dict] = field(default_factory=list)  # the candidates with the parameter names of the step
    grid: list[dict] = field(default_factory=list)  # the candidates of the pipeline

    def path(self, X, y, partition: Partition) -> Iterator[PathPoint]:
        """Path of the step with the pipeline's candidates; an exception is the error of those that remain."""
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
    """Candidates of a pipeline by the settings of the steps before the last, then by the last step."""
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
    """Key that identifies a setting: type and value of simple values, else the object's identity."""
    simple = value is None or isinstance(value, (str, Real))
    return (type(value), value) if simple else (id(value),)


@dataclass(frozen=True)
class _Transformed:
    """Rows transformed by the fitted steps before the last: training rows first, then rows to predict.

    A row that is both occurs twice, because ``fit_transform`` may differ from ``transform``.
    """

    steps: Pipeline
    X: np.ndarray | sparse.spmatrix
    y: np.ndarray
    n_learnt: int
    predicted: np.ndarray  # indices of the rows to predict, in the data of the pipeline
    left_out: tuple[int, ...]
    n_samples: int
    all_asked: bool

    @classmethod
    def of(
        cls, steps: Pipeline, X, y, partition: Partition, left_out: tuple[int, ...]
    ) -> "_Transformed | None":
        """Fit the steps on a training set; transform it and the rows to predict.

        Returns None if the steps return data frames, because the last step may select columns by name.
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
        """Path of a last step on these rows, with results for the rows of the pipeline's data."""
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
    """Index in the grid of a result's candidate, found by identity first, as arrays do not compare."""
    identical = [index for index, other in enumerate(grid) if other is params]
    return identical[0] if identical else grid.index(params)


# Number of rows above which a matrix of all pairs is not worth its memory (0.8 GB, and its copy for a
# training set). Measured on 500 to 8000 rows with two gammas and two C: with 100 features it is four to six
# times as fast as libsvm's cache for all sizes; with 8 features twice as fast for 500 rows, and equal for
# 8000.
LARGEST_SHARED_KERNEL = 10_000


@path.register
def _svc_path(estimator: SVC, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """Path that shares one rbf kernel matrix per gamma between all C and training sets, for two classes."""
    classes = np.unique(y)
    if len(classes) != 2:
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return

    def said(decision: np.ndarray) -> dict:
        return {"prediction": classes[(decision > 0).astype(int)], "projection": decision}

    yield from _shared_kernel_path(estimator, X, y, partition, grid, said)


@path.register
def _svr_path(estimator: SVR, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """Path that shares one rbf kernel matrix per gamma between all C, epsilon and training sets."""
    yield from _shared_kernel_path(estimator, X, y, partition, grid, lambda values: {"prediction": values})


def _shared_kernel_path(estimator: SVC | SVR, X, y, partition, grid, said) -> Iterator[PathPoint]:
    """Compute outputs from the dual coefficients and the kernel matrix instead of another pass over the data.

    ``said`` converts the outputs of all rows into fields of a :class:`PathPoint`.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    small = len(partition.part) <= LARGEST_SHARED_KERNEL
    if not small or not all(map(acceptable, machines)) or not all(map(_has_numeric_rbf, machines)):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    on_gram = [clone(machine).set_params(kernel="precomputed") for machine in machines]
    for gamma in dict.fromkeys(machine.gamma for machine in machines):
        kernel = rbf_kernel(X, gamma=gamma)
        for left_out in partition.left_out:
            rows = partition.training(left_out)
            gram = kernel[np.ix_(rows, rows)]
            for machine, params in zip(on_gram, grid, strict=True):
                if machine.gamma == gamma:
                    yield _svm_point(machine, params, kernel, gram, rows, y, left_out, said)


def _has_numeric_rbf(machine: SVC | SVR) -> bool:
    return machine.kernel == "rbf" and isinstance(machine.gamma, Real)


def _svm_point(machine, params, kernel, gram, rows, y, left_out, said) -> PathPoint:
    on_gram, labels = machine, y[rows]
    if getattr(machine, "class_weight", None) == "balanced":
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) == 2:  # libsvm raises otherwise
            on_gram, labels = copy(machine), codes
            on_gram.class_weight = dict(enumerate(len(codes) / (2 * np.bincount(codes))))
    try:
        # Parameters are validated before the path; for few rows scikit-learn's checks take longer than the
        # fit.
        with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
            warnings.simplefilter("ignore", ConvergenceWarning)  # recorded in the note
            on_gram.fit(gram, labels)
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
    """The real number from which a fitted binary classifier decides, for each row; None if it has none.

    This is the result of ``project`` (the projection whose class densities are compared) if the estimator has
    this method, otherwise of ``decision_function``. For a pipeline it is that of the last step.
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
    """The fitted last step of a pipeline, also inside a threshold classifier, or the estimator itself."""
    fitted = fitted.estimator_ if isinstance(fitted, WITH_THRESHOLD) else fitted
    return fitted[-1] if isinstance(fitted, Pipeline) else fitted


def projected_gaussians(fitted: BaseEstimator) -> tuple[float, float, float, float] | None:
    """Means and variances of the two projected classes, if the fitted estimator models them."""
    last = _last(fitted)
    if getattr(last, "projected_variances_", None) is None or len(last.projected_variances_) != 2:
        return None
    (mean_neg, mean_pos), (var_neg, var_pos) = last.projected_means_, last.projected_variances_
    return float(mean_neg), float(var_neg), float(mean_pos), float(var_pos)


def n_support_vectors(fitted: BaseEstimator) -> int | None:
    """Number of training rows that are support vectors of a fitted estimator; None if it has none.

    For a pipeline it is that of the last step. The estimator must have scikit-learn's ``n_support_``, one
    number per class or in total.
    """
    last = _last(fitted)
    return int(np.sum(last.n_support_)) if hasattr(last, "n_support_") else None


def n_iterations(fitted: BaseEstimator) -> int | None:
    """Number of iterations (or epochs) of a fitted estimator's solver; None if unknown.

    For a pipeline it is that of the last step. If an estimator solves several problems, it is the largest
    number.
    """
    last = _last(fitted)
    n_iter = getattr(last, "n_iter_", None)
    return None if n_iter is None else int(np.max(n_iter))


def stopped_early(fitted: BaseEstimator) -> str:
    """Note that a fitted estimator's solver reached its maximum of iterations; otherwise empty.

    For a pipeline it is that of the last step.
    """
    last = _last(fitted)
    most, n_iter = getattr(last, "max_iter", None), n_iterations(last)
    if not most or most < 0 or n_iter is None or n_iter < most:
        return ""
    return f"stopped at {most} iterations"


def acceptable(machine: BaseEstimator) -> bool:
    """Whether the estimator's ``fit`` would accept its parameters.

    Implementations that share work do not call ``fit``. If a parameter of a grid is out of range, they leave
    the grid to the default, which records it as a failed candidate.
    """
    try:
        machine._validate_params()
    except ValueError:
        return False
    return True


def same_settings(machines: Sequence[BaseEstimator], *names: str) -> list[list[int]]:
    """Indices of the estimators with equal values of the named parameters, grouped, in order."""
    groups: dict[tuple, list[int]] = {}
    for i, machine in enumerate(machines):
        groups.setdefault(tuple(_comparable(getattr(machine, name)) for name in names), []).append(i)
    return list(groups.values())


def _comparable(value):
    """A hashable form of a setting; for an array its numbers."""
    value = value.toarray() if sparse.issparse(value) else value
    try:
        hash(value)
    except TypeError:
        return repr(np.asarray(value).tolist())
    return value


def describe(error: BaseException) -> str:
    """One-line description of an error: its type, then the first line of its message."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
