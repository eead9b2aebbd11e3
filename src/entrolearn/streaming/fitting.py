"""Out-of-core fits: one pass over the rows for the hidden layer, if needed, and one for the sums."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from entrolearn.feature_learning import RecursiveFeatures
from entrolearn.machines.additive import (
    Additive,
    checked_rows,
    draw_layer,
    empty_sums,
    fit_sums,
    units_of,
)
from entrolearn.machines.base import hidden_layer
from entrolearn.machines.boxes import Survey
from entrolearn.streaming.additive import NO_ROWS, check_additive, check_classes_seen, weighted_chunk
from entrolearn.streaming.base import Rows, TransformedRows, moved
from entrolearn.streaming.progress import shown
from entrolearn.streaming.recursive import check_recursive, fit_recursive
from entrolearn.streaming.sampling import sample_of
from entrolearn.streaming.sources import rows
from entrolearn.validation import (
    check_params,
    checked_weights,
    dispatched_namespace,
    numpy_dtype,
)

__all__ = ["fit"]


def fit(
    estimator, X, y=None, *, sample_weight=None, classes=None, progress: bool | Callable = False, like=None
):
    """Fit an estimator to rows that are read chunk by chunk.

    Up to rounding, the fitted model equals that of ``estimator.fit`` on all rows, including its landmarks.
    Memory is needed for one chunk and for the sums over the rows, (n_hidden, n_hidden) for each class. The
    sums take one pass over the rows. Labels are read in an earlier pass unless `classes` is given. If the
    hidden layer needs landmarks, gamma="scale" or the bounds of the features, there is one more earlier pass
    over the rows.

    Parameters
    ----------
    estimator : estimator or Pipeline
        EEMClassifier, EEKMClassifier, WELMClassifier(solver="cholesky"), ELMClassifier, ELMRegressor,
        RKELMClassifier or RKELMRegressor; a RecursiveFeatureClassifier or RecursiveFeatureRegressor of one,
        which takes two passes more; or a pipeline that ends in one, whose other steps have a ``partial_fit``
        or need no fit: each is one more pass over the rows. It is fitted in place.
    X : Rows, or what :func:`rows` takes
        Arrays, memory maps, files or iterators of chunks; or a Dask array or data frame of shape
        (n_samples, n_features), for which :func:`entrolearn.streaming.distributed.fit` is called.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Targets, if X does not contain them. For a Dask array X, a Dask array; for a Dask data frame X, also a
        data frame, a Series or names of columns of X.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in their order, in memory. A row of weight 2 counts as two rows; a row of weight 0
        is ignored. In a pipeline they apply to the last step. For a Dask X, a Dask array or Series, or the
        name of a column of X.
    classes : array-like of shape (n_classes,), default=None
        All labels, for a classifier. They are required if the rows can be read only once.
    progress : bool or callable, default=False
        True shows a progress bar for each pass. A callable receives the number of rows read in the current
        pass and the total, None if it is not known; callables are not accepted with Dask.
    like : array, default=None
        An array of torch, CuPy or another array API library, of any shape: each chunk of dense rows is moved
        to its library and device, and the sums and the solution are computed there, as ``fit`` does with such
        arrays. Requires scikit-learn's ``array_api_dispatch``; not accepted with Dask, pipelines and
        recursive feature machines.

    Returns
    -------
    estimator : object
        The fitted `estimator`.

    Raises
    ------
    TypeError
        If the estimator's fit is not a sum over the rows, or cannot be computed where `like` is.
    ValueError
        If a parameter needs all rows at once, rows must be read twice but can be read only once, there are no
        rows, targets are missing, a class has no rows, or a chunk is invalid; the message names its rows.

    Notes
    -----
    For rows in single precision, computations are in single precision, as in ``fit``. If this is not accurate
    enough for a class covariance, the rows are read again and computed in double precision. Rows that can be
    read only once are always computed in double precision. If the number of rows is not known in advance, or
    is above 2**27, the landmarks and the rows for outlier detection are a reservoir sample, and not the rows
    that ``fit`` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import ELMClassifier, streaming
    >>> def chunks():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(10):
    ...         X = rng.uniform(size=(100, 3))
    ...         yield X, X.sum(axis=1) > 1.5
    >>> machine = streaming.fit(ELMClassifier(20, C=1e-3, random_state=0), chunks, classes=[False, True])
    >>> X, y = next(chunks())
    >>> machine.score(X, y) > 0.95
    True
    """
    if like is not None:
        _check_place(estimator, X, like)
    if _is_dask(X):
        from entrolearn.streaming.distributed import fit as fit_collection  # imports Dask

        options = {"sample_weight": sample_weight, "classes": classes, "progress": progress}
        return fit_collection(estimator, X, y, **options)
    source = X if isinstance(X, Rows) else rows(X, y)
    if sample_weight is not None:
        sample_weight = np.atleast_1d(sample_weight)
        sample_weight = checked_weights(sample_weight, sample_weight)
    if isinstance(estimator, Pipeline):
        return _fit_pipeline(estimator, source, sample_weight, classes, progress)
    _check(estimator)
    _fit_machine(estimator, source, sample_weight, classes, progress, like)
    return estimator


def _check_place(machine, X, like) -> None:
    """Raise if `like` cannot be used for this fit.

    Raises
    ------
    TypeError, ValueError
    """
    if _is_dask(X) or isinstance(machine, Pipeline | RecursiveFeatures):
        what = "Dask's collections" if _is_dask(X) else type(machine).__name__
        raise TypeError(f"like= is not accepted with {what}; accepted: other sources, a single estimator.")
    if dispatched_namespace(like) is np:
        raise ValueError(
            f"like is {type(like).__name__}, computed by NumPy; accepted: an array of torch, CuPy or another "
            "library of the array API, with sklearn.set_config(array_api_dispatch=True)."
        )


def _check(machine) -> None:
    """Raise if an estimator cannot be fitted chunk by chunk."""
    if isinstance(machine, RecursiveFeatures):
        check_recursive(machine)
    else:
        check_additive(machine)


def _fit_machine(machine, source: Rows, weights: np.ndarray | None, classes, progress, like=None) -> None:
    if not isinstance(machine, RecursiveFeatures):
        _Fit(machine, source, weights, progress, like).run(classes)
        return

    def fit_estimator(estimator: Additive, moved: Rows) -> None:
        _Fit(estimator, moved, weights, progress).run(classes)

    fit_recursive(machine, source, weights, fit_estimator, progress)


def _is_dask(X) -> bool:
    return hasattr(X, "__dask_graph__")


class _Fit:
    """A fit of one estimator: the rows, their weights, the progress report and where sums are computed."""

    def __init__(
        self,
        machine: Additive,
        source: Rows,
        weights: np.ndarray | None,
        progress: bool | Callable,
        like=None,
    ):
        self.machine = machine
        self.name = type(machine).__name__
        self.source = source
        self.weights: Any = weights
        self.n_rows = source.n_rows if weights is None else int(np.count_nonzero(weights))
        self.progress = progress
        self.like = like

    def run(self, classes) -> None:
        """Run all passes."""
        machine = self.machine
        check_params(machine)
        self._refuse_what_is_read_once(machine, classes)
        if is_classifier(machine) and classes is None:
            classes = self._labels()
        # Rows that can be read only once are computed in double precision.
        fit_sums(machine, self._sums, classes, None if self.source.repeatable else [np.float64])
        _keep_names(machine, self.source)

    def _refuse_what_is_read_once(self, machine, classes) -> None:
        if self.source.repeatable:
            return
        if units_of(machine).in_box:
            raise ValueError(
                f"{self.name} computes the bounds of the features before it sums over the rows, and these "
                "can be read only once; accepted: feature_range as a pair, an array of shape "
                "(2, n_features) or None; or arrays, files, a function that returns a new iterator of chunks."
            )
        if units_of(machine).n_sampled:
            raise ValueError(
                f"{self.name} draws its landmarks from the rows before it sums over them, and these can be "
                "read only once; accepted: given landmarks; or arrays, files, a function that returns a new "
                "iterator of chunks."
            )
        if is_classifier(machine) and classes is None:
            raise ValueError(
                f"{self.name} collects the labels before it sums over the rows, and these can be read only "
                "once: pass the labels as classes, or a function that returns a new iterator of chunks."
            )

    def _labels(self) -> np.ndarray:
        """All labels, from one pass over the targets."""
        found: Any = None
        start = 0
        for y in self.source.targets():
            stop = start + len(y)
            some = np.unique(y if self.weights is None else y[self._weights(start, stop) > 0])
            if len(some):
                found = some if found is None else np.union1d(found, some)
            start = stop
        if found is None:
            raise ValueError(NO_ROWS)
        return found

    def _sums(self, dtypes: list) -> tuple:
        """The sums over all rows, and the dtype of the rows."""
        machine, sums, seen = self.machine, None, set()
        rng = check_random_state(machine.random_state)
        survey = self._survey(dtypes, rng)
        for X, y, targets, weights in self._chunks(dtypes, "sums"):
            if sums is None:
                survey = survey or Survey(X.shape[1], numpy_dtype(X))
                draw_layer(machine, X, survey, rng)
                sums = empty_sums(machine, X, targets)
            sums.add_rows(hidden_layer(machine), X, targets, weights)
            if is_classifier(machine):
                seen.update(np.unique(y).tolist())
        if is_classifier(machine):
            check_classes_seen(machine.classes_.tolist(), seen)
        return sums, survey.dtype

    def _survey(self, dtypes: list, rng: np.random.RandomState) -> Any:
        """Statistics of all rows for the hidden layer, from one pass; None if the first chunk is enough."""
        units = units_of(self.machine)
        survey: Any = None
        if not units.n_sampled:
            return None
        sample = sample_of(self.n_rows, units.n_sampled, units.sampler(rng))
        for X, _, _, weights in self._chunks(dtypes, "survey"):
            sample.offer(X, weights if units.in_box else None)
            of_chunk = Survey.of_chunk(X, units, weights)
            survey = of_chunk if survey is None else survey.merge(of_chunk)
        return survey.with_sample(sample.rows, sample.weights)

    def _chunks(self, dtypes: list, purpose: str) -> Iterator[tuple]:
        """Yield validated rows in the first chunk's dtype, their y, targets and weights."""
        start, first = 0, True
        for X, y in shown(self.source, self.progress, self.source.n_rows, f"{self.name}: {purpose}"):
            stop = start + X.shape[0]
            if y is None:
                raise ValueError(f"{self.name} needs targets, but these rows have none; name them or give y.")
            X, y, weights = weighted_chunk(X, y, self._weights(start, stop))
            if X.shape[0]:
                try:
                    if self.like is not None and purpose == "sums":
                        X = moved(X, self.like, dtypes)
                    checked, targets = checked_rows(self.machine, X, y, first=first, dtypes=dtypes)
                except (TypeError, ValueError) as error:
                    raise type(error)(f"rows {start} to {stop - 1}: {error}") from error
                dtypes, first = [numpy_dtype(checked)], False
                yield checked, y, targets, weights
            start = stop
        if self.weights is not None and start != len(self.weights):
            raise self._other_length(start)
        if first:
            raise ValueError(NO_ROWS)

    def _weights(self, start: int, stop: int) -> Any:
        if self.weights is None:
            return None
        if stop > len(self.weights):
            raise self._other_length(self.source.n_rows or f"at least {stop}")
        return self.weights[start:stop]

    def _other_length(self, n_rows) -> ValueError:
        return ValueError(f"sample_weight holds {len(self.weights)} numbers, but there are {n_rows} rows.")


def _fit_pipeline(
    pipeline: Pipeline, source: Rows, weights: np.ndarray | None, classes, progress: bool | Callable
) -> Pipeline:
    """Fit the steps one after the other, on the rows transformed by the previous steps."""
    *steps, (_, machine) = pipeline.steps
    _check(machine)
    for name, step in steps:
        _refuse_step(name, step, source)
    rows_of_step = source
    for i, (name, step) in enumerate(steps):
        if step is None or step == "passthrough":
            continue
        fitted = clone(step)
        for X, _ in shown(rows_of_step, progress, source.n_rows, name):
            if not hasattr(fitted, "partial_fit"):
                fitted.fit(X)  # only checks the columns
                break
            fitted.partial_fit(X)
        pipeline.steps[i] = name, fitted
        rows_of_step = TransformedRows(rows_of_step, fitted)
    _fit_machine(machine, rows_of_step, weights, classes, progress)
    _keep_names(next(step for _, step in pipeline.steps if step not in (None, "passthrough")), source)
    return pipeline


def _keep_names(fitted, source: Rows) -> None:
    """Set ``feature_names_in_`` for sources whose chunks are arrays with named columns."""
    names = source.feature_names
    if names is not None and not hasattr(fitted, "feature_names_in_"):
        fitted.feature_names_in_ = np.asarray(names, dtype=object)


def _refuse_step(name: str, step, source: Rows) -> None:
    if step is None or step == "passthrough":
        return
    if not hasattr(step, "partial_fit") and get_tags(step).requires_fit:
        raise TypeError(
            f"the pipeline's step {name!r}, {type(step).__name__}, needs all rows at once; accepted: steps "
            "with a partial_fit, such as MinMaxScaler and StandardScaler, and steps that need no fit."
        )
    if not source.repeatable:
        raise ValueError(
            f"the pipeline's step {name!r} reads the rows before the last step, and these can be read "
            "only once; accepted: arrays, files, or a function that returns a new iterator of chunks."
        )
