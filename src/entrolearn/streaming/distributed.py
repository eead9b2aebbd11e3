"""Fits and predictions on Dask arrays and data frames, computed where their chunks are.

A fit consists of a survey of the rows, if the hidden layer needs one, and the sums over the rows. Each is a
tree of tasks: one task for each chunk, then one for every few adjacent results. The order of summation does
not depend on the order in which workers finish, or on lost workers. A chunk is computed in the task that sums
over it (:mod:`entrolearn.streaming.blocks`).
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

try:
    import dask
    import dask.array as da
    from dask.delayed import Delayed
    from dask.diagnostics import ProgressBar
except ImportError as error:
    raise ImportError(
        "a fit to Dask's collections needs Dask, which is not installed: pip install 'entrolearn[dask]'"
    ) from error

from entrolearn.feature_learning import RecursiveFeatures
from entrolearn.machines.additive import (
    Additive,
    checked_rows,
    draw_layer,
    empty_sums,
    fit_sums,
    units_of,
)
from entrolearn.machines.boxes import Survey
from entrolearn.streaming.additive import NO_ROWS, check_additive, check_classes_seen
from entrolearn.streaming.blocks import blocks_of
from entrolearn.streaming.chunkwise import (
    Looking,
    Summing,
    Targets,
    first_rows_of_chunk,
    merged_sums,
    merged_surveys,
    merged_targets,
    moved_chunk,
    picks_of,
    rows_of_chunk,
    squares_of_chunk,
    sums_of_chunk,
    survey_of_chunk,
    targets_of_chunk,
)
from entrolearn.streaming.dask_chunks import Chunks, check_rows, chunks_of, delayed_chunks, is_frame
from entrolearn.streaming.recursive import Moved, check_recursive, checked_chunk, keep, stacked
from entrolearn.validation import check_params

__all__ = ["fit", "predict"]

# Number of results that one task merges. A larger number gives fewer tasks but needs more memory for sums.
FAN_IN = 4


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
    y : dask.array of shape (n_samples,) or (n_samples, n_outputs), dask.dataframe or its Series, or names
        A string or a list of strings names columns of the data frame X. An array with other chunks than X is
        rechunked; a data frame or a Series must have the index of the data frame X.
    sample_weight : dask.array of shape (n_samples,), dask.dataframe.Series or str, default=None
        Weights of the rows, or the name of their column in the data frame X. A row of weight 2 counts as two
        rows; a row of weight 0 is ignored. The rows are then counted in an extra pass, as for chunks of
        unknown length.
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
    Dask may compute the rows of a shuffle or a merge in a different order each time. X and y are computed in
    one evaluation if y is given by column names, or if X and y are data frames derived from one data frame,
    or arrays derived from one array. Arrays that were separately derived from one data frame, for example by
    ``to_dask_array``, are computed in two evaluations: persist them with one call ``dask.persist(X, y)``.

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
    >>> machine = distributed.fit(ELMClassifier(20, C=1e-3, random_state=0), X, y)
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
    chunks = chunks_of(X, y, sample_weight, type(estimator).__name__)
    if recursive:
        _fit_recursive(estimator, chunks, classes, progress)
    else:
        _Fit(estimator, chunks, progress).run(classes)
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
    check_rows(X, type(estimator).__name__)
    nothing = getattr(estimator, method)(_one_row_like(X))[:0]
    whole = dask.delayed(estimator, pure=False, traverse=False)
    if is_frame(X):
        # Some versions of Dask cannot compute an array that map_partitions returns for a frame.
        blocks = blocks_of([(chunk,) for chunk in delayed_chunks(X)])
        shape = (np.nan, *nothing.shape[1:])
        parts = [block.apply(_answers, whole, method, nothing) for block in blocks]
        return da.concatenate([da.from_delayed(part, shape, meta=nothing) for part in parts])
    columns = {"drop_axis": 1} if nothing.ndim == 1 else {"chunks": (X.chunks[0], nothing.shape[1:])}
    return X.map_blocks(
        _answers, whole, method, nothing, dtype=nothing.dtype, meta=nothing, name=None, **columns
    )


def _one_row_like(X):
    return X._meta_nonempty.head(1) if is_frame(X) else np.ones((1, X.shape[1]), dtype=X.dtype)


def _answers(X, machine, method: str, nothing):
    answers = getattr(machine, method)(X) if X is not None and X.shape[0] else nothing
    return answers if issparse(answers) else np.asarray(answers)


# --- the passes of a fit ----------------------------------------------------------------------------------


class _Fit:
    """A fit of one estimator to chunks."""

    def __init__(self, machine: Additive, chunks: Chunks, progress: bool):
        self.machine = machine
        self.name = type(machine).__name__
        self.chunks = chunks
        self.progress = progress

    def run(self, classes) -> None:
        """Run all passes."""
        machine = self.machine
        lengths = self.chunks.lengths
        count = lengths is None and units_of(machine).n_sampled > 0
        if count or (is_classifier(machine) and classes is None):
            seen = self.look_at_targets()
            lengths = seen.lengths
            classes = seen.labels if classes is None else classes
        fit_sums(machine, partial(self._sums, lengths), classes)

    def look_at_targets(self) -> Targets:
        """Lengths of the chunks, and the labels of a classifier."""
        try:
            seen = self._targets_of(self.chunks.targets)
        except (AttributeError, TypeError):
            # Dask cannot select a column of a partition that is None; other errors are raised again below.
            seen = self._targets_of(self.chunks.blocks)
        if not sum(seen.lengths):
            raise ValueError(NO_ROWS)
        return seen

    def _targets_of(self, blocks: list) -> Targets:
        labels = is_classifier(self.machine)
        return self._merged(merged_targets, [block.apply(targets_of_chunk, labels) for block in blocks])

    @cached_property
    def _first_rows(self) -> tuple:
        """The number of the first chunk with rows, and the result of first_rows_of_chunk for it."""
        for number, block in enumerate(self.chunks.blocks):
            first = block.apply(first_rows_of_chunk).compute()
            if first[0].shape[0]:
                return number, *first
        raise ValueError(NO_ROWS)

    def _sums(self, lengths: tuple[int, ...] | None, dtypes: list) -> tuple:
        """The sums over all rows, and the dtype of the rows."""
        machine = self.machine
        rng = check_random_state(machine.random_state)
        first, *first_rows, pairing = self._first_rows
        X, targets = checked_rows(machine, *first_rows, first=True, dtypes=dtypes)
        draw_layer(machine, X, self._survey(X, lengths, rng), rng)
        work = _ship(Summing(machine, empty_sums(machine, X, targets), X.dtype))
        parts = [
            block.apply(sums_of_chunk, work, pairing if number == first and not self.chunks.paired else None)
            for number, block in enumerate(self.chunks.blocks)
        ]
        total = self._merged(merged_sums, parts)
        if is_classifier(machine):
            check_classes_seen(machine.classes_.tolist(), total.labels.tolist())
        return total.sums, X.dtype

    def _survey(self, X, lengths: Any, rng: np.random.RandomState) -> Survey:
        """Statistics of all rows for the layer; X has their number of features and dtype."""
        units = units_of(self.machine)
        if not units.n_sampled:
            return Survey(X.shape[1], X.dtype)
        work = _ship(Looking(self.machine, X.dtype))
        picks = picks_of(lengths, units.n_sampled, units.sampler(rng))
        parts = [
            block.apply(survey_of_chunk, work, pick)
            for block, pick in zip(self.chunks.blocks, picks, strict=True)
            if units.scaled or units.in_box or pick
        ]
        found = self._merged(merged_surveys, parts)
        return found.seen.with_sample(found.sample.rows, found.sample.weights)

    def _merged(self, merged: Callable, parts: list[Delayed]):
        """Merge the parts and compute the result."""
        return _computed(_tree(merged, parts), self.progress)


def _fit_recursive(machine: RecursiveFeatures, chunks: Chunks, classes, progress: bool) -> None:
    """Learn from a sample of the rows, fit to all rows in the metric, and compute their gradients."""
    lengths = chunks.lengths or _Fit(machine._base(), chunks, progress).look_at_targets().lengths
    places = machine._selection_places(sum(lengths))
    starts = np.cumsum([0, *lengths])
    picks = [None if places is None else _between(places, *ends) for ends in pairwise(starts)]
    parts = [
        block.apply(rows_of_chunk, pick)
        for block, pick in zip(chunks.blocks, picks, strict=True)
        if pick is None or len(pick)
    ]
    found = [part for part in _computed(dask.delayed(_listed)(*parts), progress) if part[0].shape[0]]
    rows = [
        (*checked_chunk(machine, X, y, first=number == 0), weights)
        for number, (X, y, weights) in enumerate(found)
    ]
    selected = machine._learn(*stacked(rows))
    move = partial(moved_chunk, Moved(machine, selected))
    moved = replace(chunks, blocks=[block.then(move) for block in chunks.blocks])
    _Fit(selected.estimator, moved, progress).run(classes)
    work = _ship(selected.to_original_coordinates(selected.estimator))
    plain = partial(moved_chunk, Moved(machine))
    squares = [block.then(plain).apply(squares_of_chunk, work) for block in chunks.blocks]
    keep(machine, selected, _computed(_tree(sum, squares), progress))


def _between(places: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The ascending places from start up to stop, relative to start."""
    first, last = np.searchsorted(places, [start, stop])
    return places[first:last] - start


def _listed(*parts) -> list:
    return list(parts)


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


def _ship(work) -> Delayed:
    """Wrap an object that all tasks need in one key, so that it is sent to each worker once."""
    return dask.delayed(work, pure=False, traverse=False)


def _tree(merged: Callable, parts: list[Delayed]) -> Delayed:
    """Merge the parts in a tree, FAN_IN adjacent parts at a time."""
    merge = dask.delayed(_Merge(merged), pure=False)
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        # Separate arguments, because Dask would traverse the graph of a list each time.
        parts = [merge(*group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


class _Merge:
    """Call a function of a list with separate arguments, under the same name."""

    def __init__(self, merged: Callable):
        self.__name__ = merged.__name__  # Dask names the tasks after it
        self._merged = merged

    def __call__(self, *parts):
        return self._merged(parts)
