"""Fits and predictions on Dask arrays and data frames, computed where their chunks are.

A fit consists of a survey of the rows, if the hidden layer needs one, and the sums over the rows. Each is a
tree of tasks: one task for each chunk, then one for every few adjacent results. The order of summation does
not depend on the order in which workers finish, or on lost workers. Functions of chunks do not modify their
arguments, because Dask may need them again if a worker is lost.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial, reduce, wraps
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from entrolearn.feature_learning import RecursiveFeatures
from entrolearn.machines.additive import (
    Additive,
    check_additive,
    fit_sums,
)
from entrolearn.machines.boxes import Survey
from entrolearn.streaming.recursive import check_recursive, moved, summed_squares
from entrolearn.streaming.sampling import Chosen, sample_of
from entrolearn.streaming.sources import NO_ROWS, name_rows, optional, positive_rows
from entrolearn.suggest import did_you_mean
from entrolearn.validation import check_params

with optional("a fit to Dask's collections", "Dask", "dask"):
    import dask
    import dask.array as da
    from dask.delayed import Delayed
    from dask.diagnostics import ProgressBar
    from dask.utils import is_dataframe_like, is_series_like

__all__ = ["fit", "predict"]

# Number of results that one task merges. A larger number gives fewer tasks but needs more memory for sums.
FAN_IN = 4
# Number of rows of the first chunk from which the shifts of the sums are computed.
FIRST_ROWS = 1024
# Columns that are added to a frame.
TARGET, WEIGHT = "entrolearn's target", "entrolearn's weight"


def fit(estimator, X, y=None, *, sample_weight=None, classes=None, progress: bool = False):
    """Fit an estimator to the rows of a Dask collection, with the current scheduler.

    Up to rounding, the fitted model equals that of ``estimator.fit`` on all rows, including its landmarks.
    Chunks stay on their workers; only landmarks and sums over rows, (n_hidden, n_hidden) for each class, are
    transferred. A worker needs memory for its current chunks and a few sums. The chunks are computed once for
    the sums. The chunks of y are computed once before, unless `classes` is given, and all chunks once before
    if the layer needs landmarks or the bounds of the features. Use ``persist`` if the collection fits into
    the workers' memory.

    Parameters
    ----------
    estimator : estimator
        EEMClassifier, EEKMClassifier, WELMClassifier(solver="cholesky"), ELMClassifier, ELMRegressor,
        RKELMClassifier or RKELMRegressor; or a RecursiveFeatureClassifier or RecursiveFeatureRegressor of
        one, for which a sample of the rows is sent to the caller. It is fitted in place.
    X : dask.array of shape (n_samples, n_features), or dask.dataframe
        Chunks of an array must contain whole rows; their lengths need not be known. Chunks are dense, CSR or
        data frames, and should have about ten thousand rows or more.
    y : dask.array of shape (n_samples,) or (n_samples, n_outputs), str, list of str or dask.dataframe.Series
        For an array X an array, which is rechunked to the chunks of X. For a data frame X the name of its
        column of y, or several names; or a Series that ``X.assign`` accepts.
    sample_weight : dask.array of shape (n_samples,), str or dask.dataframe.Series, default=None
        Weights of the rows, in the same way as y. A row of weight 2 counts as two rows; a row of weight 0 is
        ignored. The rows are then counted in an extra pass, as for chunks of unknown length.
    classes : array-like of shape (n_classes,), default=None
        All labels, for a classifier.
    progress : bool, default=False
        Whether to show Dask's progress bar for each pass.

    Returns
    -------
    estimator : object
        The fitted `estimator`.

    Raises
    ------
    TypeError
        If the estimator's fit is not a sum over the rows, or X or y is not a Dask collection.
    ValueError
        If a parameter needs all rows at once, X has chunks along its features, X and y do not match, there
        are no rows, a class has no rows, or a chunk is invalid; the message names its rows.

    Notes
    -----
    Dask may compute the rows of a shuffle or a merge in a different order each time. Columns of one frame
    stay together. Arrays do if both are made of one array, but not if they were separately made of one frame,
    as by ``to_dask_array``: persist these with one call ``dask.persist(X, y)``.

    The hidden layer is drawn by the caller and sent to each worker once. Up to 2**27 rows, landmarks and the
    rows for outlier detection are those that ``estimator.fit`` draws; for more rows they are a reservoir
    sample. Rows in single precision are computed as in ``estimator.fit``; if this is not accurate enough for
    a class covariance, they are summed again in double precision.

    Examples
    --------
    >>> import dask.array as da
    >>> from entrolearn import ELMClassifier
    >>> from entrolearn.streaming import distributed
    >>> X = da.random.default_rng(0).uniform(size=(1000, 3), chunks=(250, 3))
    >>> y = X.sum(axis=1) > 1.5
    >>> machine = distributed.fit(ELMClassifier(20, alpha=1e-3, random_state=0), X, y)
    >>> bool((distributed.predict(machine, X) == y).mean() > 0.95)
    True
    """
    if isinstance(estimator, Pipeline):
        raise TypeError(
            "a Pipeline cannot be fitted to a Dask collection; accepted: its last step, for rows that Dask "
            "has scaled, such as (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)); or the pipeline, for "
            "files that entrolearn.streaming reads chunk by chunk."
        )
    recursive = isinstance(estimator, RecursiveFeatures)
    (check_recursive if recursive else check_additive)(estimator)
    if not isinstance(progress, bool):
        raise TypeError(f"progress={progress!r}; accepted with Dask's collections: True or False.")
    check_params(estimator)
    chunks = _chunks_of(X, y, sample_weight, type(estimator).__name__, progress)
    if recursive:
        estimator._fit_in_passes(_Passes(estimator, chunks, classes))
    else:
        _fit(estimator, chunks, classes)
    return estimator


def predict(estimator, X, method: str = "predict"):
    """Lazy predictions of a fitted estimator for a Dask collection, chunk by chunk.

    Parameters
    ----------
    estimator : estimator
        Any fitted estimator; it is sent to each worker once.
    X : dask.array of shape (n_samples, n_features), or dask.dataframe
    method : str, default="predict"
        The method to call, such as ``"decision_function"``, ``"predict_proba"`` or ``"transform"``.

    Returns
    -------
    dask.array of shape (n_samples,) or (n_samples, n_columns)
        Predictions with the chunks of X, in the order of the rows at the time of computation.

    Raises
    ------
    TypeError, ValueError
        If X is not a collection of whole rows, or the estimator does not accept it.
    AttributeError
        If the estimator has no such method.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.streaming import distributed
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = EEMClassifier(n_hidden=20, random_state=0).fit(X, y)
    >>> distributed.predict(machine, da.from_array(X, chunks=(50, 4)), "predict_proba").compute().shape
    (150, 3)
    """
    check_is_fitted(estimator)
    _check_rows(X, type(estimator).__name__)
    one_row = np.ones((1, X.shape[1]), dtype=X.dtype) if isinstance(X, da.Array) else _row_like(X)
    nothing = getattr(estimator, method)(one_row)[:0]
    sent = dask.delayed(partial(_answers, estimator, method, nothing), pure=False, traverse=False)
    if _is_frame(X):
        answers = [dask.delayed(_called)(part, sent) for part in X.to_delayed()]
        shape = (np.nan, *nothing.shape[1:])
        return da.concatenate([da.from_delayed(each, shape, meta=nothing) for each in answers])
    columns = {"drop_axis": 1} if nothing.ndim == 1 else {"chunks": (X.chunks[0], nothing.shape[1:])}
    return X.map_blocks(_called, sent, dtype=nothing.dtype, meta=nothing, name=None, **columns)


def _row_like(frame):
    from dask.dataframe.dispatch import make_meta, meta_nonempty  # imports much

    return meta_nonempty(make_meta(frame)).head(1)


def _called(X, function: Callable):
    return function(X)


def _answers(estimator, method: str, nothing, X):
    answers = getattr(estimator, method)(X) if X.shape[0] else nothing
    return answers if issparse(answers) else np.asarray(answers)


# --- rows, targets and weights ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """A function of the rows of positive weight of one chunk, whose errors name the rows."""

    function: Callable
    shared: tuple
    transform: Callable | None
    starts: np.ndarray | None

    def __call__(self, X, y, weights, number: int):
        with name_rows(_name(number, self.starts)):
            if X.shape[0] != y.shape[0]:
                raise ValueError(f"X has {X.shape[0]} rows and y has {y.shape[0]}; they must be equal.")
            X, y, weights = positive_rows(X, y, weights)
            X = self.transform(X) if self.transform and X.shape[0] else X
            return self.function(X, y, weights, number, *self.shared)


@dataclass(frozen=True)
class _Chunks:
    """The chunks of a collection with their y and weights.

    Attributes
    ----------
    X : dask.array or dask.dataframe
    y : dask.array with the chunks of X; or the name of a column of X, or several
    weights : dask.array with the chunks of X, name of a column of X, or None
    progress : bool
    transform : callable or None
        Function of the rows of a chunk, for the coordinates of a metric.
    """

    X: Any
    y: Any
    weights: Any
    progress: bool
    transform: Callable | None = None

    @property
    def starts(self) -> np.ndarray | None:
        """Number of the first row of each chunk, and of all rows; None if they are not known."""
        if _is_frame(self.X) or np.isnan(self.X.shape[0]):
            return None
        return np.cumsum([0, *self.X.chunks[0]])

    def map(self, function: Callable, *shared, features: bool = True) -> list[Delayed]:
        """Delayed results ``function(X, y, weights, number, *shared)`` of each chunk.

        Each is one task; for arrays, Dask computes the chunk in it too if it can, so that none waits in
        memory. What is shared is sent to each worker once. Without `features`, X is not computed.
        """
        task = _Task(function, shared, self.transform, self.starts)
        sent = dask.delayed(task, pure=False, traverse=False)
        if _is_frame(self.X):
            X = self.X if features else self.X[_columns(self.y, self.weights)]
            of_partition = dask.delayed(_of_partition, pure=False)
            parts = enumerate(X.to_delayed())
            return [of_partition(part, sent, self.y, self.weights, number) for number, part in parts]
        numbers = da.from_array(np.arange(self.X.numblocks[0])[:, None], chunks=1)
        arrays = [self.X if features else self.y, self.y, self.weights, numbers]
        pairs = [(each, None if each is None else "ij"[: each.ndim]) for each in arrays]
        options = {"token": function.__name__, "align_arrays": False, "dtype": object}
        options |= {"meta": np.empty((0, 0), object)}
        blocks = da.blockwise(_of_blocks, "ij", sent, None, *sum(pairs, ()), **options)
        return np.ravel(blocks.to_delayed()).tolist()

    def merged(self, merge: Callable, parts: list[Delayed]):
        """Merge the results of chunks and compute them."""
        return _computed(_tree(merge, parts), self.progress)

    def first_rows(self, check: Callable) -> tuple:
        """``check(X, y)`` of the first rows."""
        for number, part in enumerate(self.map(_first_rows)):
            X, y = part.compute()
            if X.shape[0]:
                with name_rows(_name(number, self.starts)):
                    return check(X, y)
        raise ValueError(NO_ROWS)


def _of_blocks(task: _Task, X, y, weights, number: np.ndarray):
    return task(X, y, weights, int(number[0, 0]))


def _of_partition(frame, task: _Task, y, weights, number: int):
    X = frame.drop(columns=_columns(y, weights))
    return task(X, frame[y], None if weights is None else frame[weights], number)


def _name(number: int, starts: np.ndarray | None) -> str:
    """Name of the rows of a chunk in error messages."""
    return f"chunk {number}" if starts is None else f"rows {starts[number]} to {starts[number + 1] - 1}"


def _columns(y: str | list[str], weights: str | None) -> list[str]:
    return [*([y] if isinstance(y, str) else y), *([] if weights is None else [weights])]


def _chunks_of(X, y, weights, name: str, progress: bool) -> _Chunks:
    """Match X, y and the weights of the rows; `name` is that of the learner in error messages.

    Raises
    ------
    TypeError, ValueError
        If they are not collections of rows, y is missing, or X and y do not match.
    """
    _check_rows(X, name)
    if y is None:
        named = ", or the name of a column of X" if _is_frame(X) else ""
        raise ValueError(f"{name} needs targets: give y, a Dask collection{named}.")
    if _is_frame(X):
        X, y = _as_column(X, y, "y", TARGET, name)
        if weights is not None:
            X, weights = _as_column(X, weights, "sample_weight", WEIGHT, name)
    else:
        y = _cut_alike(X, y, "y", name)
        weights = None if weights is None else _cut_alike(X, weights, "sample_weight", name)
    return _Chunks(X, y, weights, progress)


def _as_column(X, given, what: str, column: str, name: str) -> tuple:
    """The frame X with the given Series as a column, and its name; or with columns that are named."""
    if _is_frame(given) and is_series_like(given):
        return X.assign(**{column: given}), column
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise TypeError(
            f"{what} is {_kind(given)}; {name} accepts for a frame X names of columns or a Series."
        )
    columns = list(X.columns)
    for each in names:
        if each not in columns:
            raise ValueError(
                f"{what} names the column {each!r}, which is not in X{did_you_mean(each, columns)}; its "
                f"columns: {', '.join(map(str, columns))}."
            )
    return X, given


def _cut_alike(X: da.Array, given, what: str, name: str) -> da.Array:
    """The array with the chunks of X."""
    if not isinstance(given, da.Array):
        raise TypeError(
            f"{what} is {_kind(given)}; {name} accepts for a Dask array X another one, such as "
            "dask.array.from_array(y, chunks=X.chunks[0]) of an array y."
        )
    given = given.rechunk({1: -1}) if given.ndim == 2 else given
    if not np.isnan([X.shape[0], given.shape[0]]).any():
        if X.shape[0] != given.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {what} has {given.shape[0]}.")
        return given.rechunk({0: X.chunks[0]})
    if X.numblocks[0] != given.numblocks[0]:
        raise ValueError(
            f"X has {X.numblocks[0]} chunks and {what} has {given.numblocks[0]}, and not all their lengths "
            "are known; accepted: equal numbers of chunks, or lengths found by compute_chunk_sizes()."
        )
    return given


def _check_rows(X, name: str) -> None:
    """Raise unless X is a collection of whole rows.

    Raises
    ------
    TypeError, ValueError
    """
    if _is_frame(X) and is_dataframe_like(X):
        return
    accepted = f"{name} accepts a dask.array of shape (n_samples, n_features), or a dask.dataframe"
    if not isinstance(X, da.Array):
        raise TypeError(f"X is {_kind(X)}; {accepted}.")
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; {accepted}.")
    if X.numblocks[1] > 1:
        raise ValueError(
            f"X is cut into {X.numblocks[1]} chunks along its features; accepted: whole rows, as "
            "X.rechunk({1: -1}) gives them."
        )
    if X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}: there are no rows.")


def _is_frame(X) -> bool:
    """Whether X is a dask.dataframe or one of its Series."""
    return hasattr(X, "__dask_graph__") and (is_dataframe_like(X) or is_series_like(X))


def _kind(thing) -> str:
    return f"{type(thing).__module__.partition('.')[0]}'s {type(thing).__name__}"


# --- the passes of a fit ------------------------------------------------------------------------------------


def _fit(machine: Additive, chunks: _Chunks, classes) -> None:
    starts = chunks.starts if chunks.weights is None else None
    count = starts is None and machine._units().n_sampled > 0
    if count or (is_classifier(machine) and classes is None):
        starts, labels = _targets(chunks, is_classifier(machine), count)
        classes = labels if classes is None else classes
    fit_sums(machine, partial(_sums, machine, chunks, starts), classes)


def _targets(chunks: _Chunks, labels: bool, count: bool) -> tuple[np.ndarray, np.ndarray]:
    """Number of the first row of each chunk, and of all rows, if they are counted; the labels if wanted."""
    # Dask may cut a frame of fewer columns into other partitions.
    features = count and _is_frame(chunks.X)
    parts = replace(chunks, transform=None).map(_targets_of_chunk, labels, features=features)
    lengths, found = chunks.merged(_merged_targets, parts)
    if not sum(lengths):
        raise ValueError(NO_ROWS)
    return np.cumsum([0, *lengths]), found


def _sums(machine: Additive, chunks: _Chunks, starts: np.ndarray | None, dtypes: list) -> tuple:
    """The sums over all rows, the dtype of the rows, and their labels for a classifier."""
    rng = check_random_state(machine.random_state)
    X, targets = chunks.first_rows(partial(machine._checked, first=True, dtypes=dtypes))
    survey, units = Survey(X.shape[1], X.dtype), machine._units()
    if units.n_sampled and starts is not None:
        sample = sample_of(int(starts[-1]), units.n_sampled, units.sampler(rng))
        parts = chunks.map(_survey_of_chunk, machine, X.dtype, sample, starts)
        sample, survey = chunks.merged(_merged_surveys, parts)
        survey = survey.with_sample(*sample.rows())
    machine._layer = machine._layer_from_survey(X, survey, rng)
    parts = chunks.map(sums_of_chunk, machine, machine._no_sums(X, targets), X.dtype)
    sums, labels = chunks.merged(merged_sums, parts)
    return sums, X.dtype, labels


@dataclass
class _Passes:
    """Passes of the fit of a recursive feature machine, which gathers a sample of the rows."""

    machine: RecursiveFeatures
    chunks: _Chunks
    classes: Any

    def n_rows(self) -> int:
        known = self.chunks.starts if self.chunks.weights is None else None
        self.starts = _targets(self.chunks, labels=False, count=True)[0] if known is None else known
        return int(self.starts[-1])

    def sample(self, places: np.ndarray) -> tuple:
        check = partial(self.machine._checked, first=True)
        self.chunks.first_rows(check)
        parts = self.chunks.map(_sample_of_chunk, self.machine, Chosen(places), self.starts)
        return self.chunks.merged(_merged_samples, parts).rows()

    def fit(self, estimator, transform: Callable) -> None:
        _fit(estimator, self._moved(transform), self.classes)

    def squares(self, estimator) -> np.ndarray:
        chunks = self._moved(None)
        return chunks.merged(sum, chunks.map(_squares_of_chunk, estimator))

    def _moved(self, transform: Callable | None) -> _Chunks:
        return replace(self.chunks, transform=partial(moved, self.machine, transform))


# --- results of chunks, and how they merge ------------------------------------------------------------------


def _first_rows(X, y, weights, number: int) -> tuple:
    return X[:FIRST_ROWS], y[:FIRST_ROWS]


def _targets_of_chunk(X, y, weights, number: int, labels: bool) -> tuple:
    """Number of rows, as a tuple, and labels if they are wanted."""
    y = np.asarray(y)
    if not (labels and len(y)):
        return (len(y),), y[:0]
    check_classification_targets(y)
    return (len(y),), np.unique(y)


def _merged_targets(parts: Sequence[tuple]) -> tuple:
    labels = [found for _, found in parts if len(found)] or [parts[0][1]]
    return sum((lengths for lengths, _ in parts), ()), reduce(np.union1d, labels)


def _check_count(X, number: int, starts: np.ndarray) -> None:
    counted = starts[number + 1] - starts[number]
    if X.shape[0] != counted:
        raise ValueError(
            f"{X.shape[0]} rows, but {counted} when they were counted; accepted: the same number each time "
            "that they are computed, as after persist()."
        )


def _survey_of_chunk(X, y, weights, number: int, machine, dtype, sample, starts: np.ndarray) -> tuple | None:
    """A sample of the rows, and their statistics for the hidden layer."""
    _check_count(X, number, starts)
    if not X.shape[0]:
        return None
    X, _ = machine._checked(X, y, dtypes=[dtype])
    units, sample = machine._units(), sample.part(number, starts[number])
    sample.offer(X, weights if units.in_box else None)
    return sample, Survey.of_chunk(X, units, weights)


def _merged_surveys(parts: Sequence[tuple | None]) -> tuple | None:
    found = [part for part in parts if part is not None]
    if not found:
        return None
    samples, surveys = zip(*found, strict=True)
    return _merged_samples(samples), reduce(Survey.merge, surveys)


def _merged_samples(samples: Sequence):
    return reduce(lambda sample, other: sample.merge(other), samples)


def sums_of_chunk(X, y, weights, number: int, machine: Additive, no_sums, dtype) -> tuple | None:
    """Sums over the rows, and their labels for a classifier; `no_sums` has the common shifts."""
    if not X.shape[0]:
        return None
    rows, targets = machine._checked(X, y, dtypes=[dtype])
    sums = no_sums.copy().add_rows(machine._layer, rows, targets, weights)
    return sums, np.unique(np.asarray(y)) if is_classifier(machine) else np.empty(0)


def merged_sums(parts: Sequence[tuple | None]) -> tuple | None:
    """The total of sums over rows, and all labels."""
    found = [part for part in parts if part is not None]
    if len(found) < 2:
        return found[0] if found else None
    total = found[0][0] + found[1][0]
    for other, _ in found[2:]:
        total += other
    return total, reduce(np.union1d, [labels for _, labels in found])


def _sample_of_chunk(X, y, weights, number: int, machine, sample: Chosen, starts: np.ndarray) -> Chosen:
    _check_count(X, number, starts)
    sample = sample.part(number, starts[number])
    if X.shape[0]:
        X, y = machine._checked(X, y, first=False)
        sample.offer(X, y, weights)
    return sample


def _squares_of_chunk(X, y, weights, number: int, estimator) -> np.ndarray:
    return summed_squares(estimator, X, weights) if X.shape[0] else np.zeros(())


# --- trees of tasks -----------------------------------------------------------------------------------------


def merge_delayed(merged: Callable, parts: list[Delayed]):
    """Merge delayed estimators by `merged`, a few at a time."""
    return _computed(_tree(merged, parts), progress=False)


def _computed(result: Delayed, progress: bool):
    client = getattr(dask.base.get_scheduler(), "__self__", None)  # the Client, if there is one
    if client is None:
        with ProgressBar() if progress else nullcontext():
            return result.compute()
    future = client.compute(result)
    if progress:
        from distributed import progress as show

        show(future)
    return future.result()


def _tree(merged: Callable, parts: list[Delayed]) -> Delayed:
    """Merge the parts in a tree, FAN_IN adjacent parts at a time."""

    @wraps(merged)  # Dask names the tasks after it
    def of_arguments(*parts):
        return merged(parts)

    # Separate arguments, because Dask would traverse the graph of a list each time.
    merge = dask.delayed(of_arguments, pure=False)
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        parts = [merge(*group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]
