"""Fits to the rows of Dask's arrays and frames, and predictions of them, where their chunks are.

A fit is a survey of the rows, where the hidden layer needs one, and a sum over them. Each is a tree of tasks:
one for each chunk, then one for every few results that lie side by side. How results are added up does not
depend on which worker was first, nor on one that was lost. A chunk is computed in the task that sums over it
(:mod:`entrolearn.streaming.blocks`).
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise

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
from entrolearn.machines.additive import Additive, Survey
from entrolearn.machines.base import encode
from entrolearn.streaming.additive import check_additive, check_classes_seen
from entrolearn.streaming.blocks import blocks_of
from entrolearn.streaming.chunkwise import (
    Looking,
    Summing,
    Targets,
    checked_rows,
    first_rows_of_chunk,
    merged_squares,
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

__all__ = ["fit", "predict"]

# Results that one task merges. More make fewer tasks, and more sums that a worker holds at once.
FAN_IN = 4


def fit(machine, X, y=None, *, sample_weight=None, classes=None, progress: bool = False):
    """Fit a machine to the rows of a Dask collection, on whatever scheduler is in use.

    The fitted machine is that of ``machine.fit`` on all rows at once, landmarks included, up to rounding.
    Chunks stay where they are; sums over rows travel, (n_hidden, n_hidden) for each class, and landmarks. A
    worker holds the chunks that it works on and a few sums. The chunks are computed once for the sums, those
    of y once before unless `classes` names the labels, and all once before where a layer needs landmarks
    or the bounds of the features: ``persist`` them where the workers' memory holds them.

    Parameters
    ----------
    machine : estimator
        EEMClassifier, EEKMClassifier, WELMClassifier(solver="cholesky"), ELMClassifier, ELMRegressor,
        RKELMClassifier or RKELMRegressor; or a RecursiveFeatureClassifier or RecursiveFeatureRegressor of
        one, to whose caller a sample of the rows travels. It is fitted in place.
    X : dask.array of shape (n_samples, n_features), or dask.dataframe
        An array is cut along its rows only; the numbers of rows need not be known. Chunks are dense, CSR or
        frames, and large enough to keep a worker busy: some ten thousand rows.
    y : dask.array of shape (n_samples,) or (n_samples, n_outputs), dask.dataframe or its Series, or names
        A string or a list of strings names columns of the frame X. An array that is cut otherwise than X is
        cut anew; a frame or a Series needs the index of the frame X.
    sample_weight : dask.array of shape (n_samples,), dask.dataframe.Series or str, default=None
        Weights of the rows, or the name of their column in the frame X: a row of weight two counts as two
        rows, one of weight zero is left out. The number of rows is then counted, as it is of chunks of
        unknown length.
    classes : array-like of shape (n_classes,), default=None
        The labels, for a classifier.
    progress : bool, default=False
        Whether Dask shows how far each pass is.

    Returns
    -------
    machine : object
        The same, fitted.

    Raises
    ------
    TypeError
        If the machine's fit is no sum over the rows, or X or y is no Dask collection.
    ValueError
        If a setting needs all rows at once, X is cut along its features, X and y do not fit together, there
        are no rows, a class has none, or a chunk is refused: the error says which rows.

    Notes
    -----
    Dask may give the rows of a shuffle or a merge in another order each time that it computes them. Rows and
    their y come from one evaluation if y is named, if X and y are frames that were made of one frame, or
    arrays that were made of one array. Arrays that were made of one frame by themselves, as ``to_dask_array``
    makes them, are two evaluations: persist them by one ``dask.persist(X, y)``.

    The hidden layer is drawn by the caller and goes to each worker once. Landmarks are the rows that
    ``machine.fit`` draws, up to 2**27 rows; of more they are a reservoir sample. So are the rows that tell
    which bounds of the features are far out. Rows in single precision are computed as ``machine.fit``
    computes them; where that leaves no digits of a class's covariance, they are summed once more in double
    precision.

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
    if isinstance(machine, Pipeline):
        raise TypeError(
            "a Pipeline cannot be fitted to a Dask collection; accepted: its last step, on rows that Dask "
            "has scaled, such as (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)); or the pipeline, on "
            "files that entrolearn.streaming reads chunk by chunk."
        )
    recursive = isinstance(machine, RecursiveFeatures)
    (check_recursive if recursive else check_additive)(machine)
    if not isinstance(progress, bool):
        raise TypeError(f"progress={progress!r}; accepted with Dask's collections: True or False.")
    machine._validate_params()
    chunks = chunks_of(X, y, sample_weight, type(machine).__name__)
    if recursive:
        _fit_recursive(machine, chunks, classes, progress)
    else:
        _Fit(machine, chunks, progress).run(classes)
    return machine


def predict(machine, X, method: str = "predict"):
    """What a fitted estimator says of the rows of a Dask collection, computed chunk by chunk when asked for.

    Parameters
    ----------
    machine : estimator
        Any that is fitted; it goes to each worker once.
    X : dask.array of shape (n_samples, n_features), or dask.dataframe
    method : str, default="predict"
        Which of its methods, such as ``"decision_function"``, ``"predict_proba"`` or ``"transform"``.

    Returns
    -------
    dask.array of shape (n_samples,) or (n_samples, n_columns)
        With the chunks of X, in the order that the rows have when it is computed.

    Raises
    ------
    TypeError, ValueError
        If X is no collection of whole rows, or one the machine refuses.
    AttributeError
        If the machine has no such method.

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
    check_is_fitted(machine)
    check_rows(X, type(machine).__name__)
    nothing = getattr(machine, method)(_one_row_like(X))[:0]
    whole = dask.delayed(machine, pure=False, traverse=False)
    if is_frame(X):
        # Some versions of Dask do not compute an array that map_partitions makes of a frame.
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
    """One machine, the chunks it is fitted to, and whether to show how far it is."""

    def __init__(self, machine: Additive, chunks: Chunks, progress: bool):
        self.machine = machine
        self.name = type(machine).__name__
        self.chunks = chunks
        self.progress = progress

    def run(self, classes) -> None:
        """The passes in turn."""
        machine = self.machine
        lengths = self.chunks.lengths
        count = lengths is None and machine._needs().n_sampled > 0
        if count or (is_classifier(machine) and classes is None):
            seen = self.look_at_targets()
            lengths = seen.lengths
            classes = seen.labels if classes is None else classes
        if is_classifier(machine):
            machine.classes_, _ = encode(np.asarray(classes), self.name)
        machine._refuse_sums()
        machine._forget()
        first_rows = self._first_rows()
        if not self._sum_and_solve(first_rows, lengths, machine._accepted_dtypes()):
            self._sum_and_solve(first_rows, lengths, [np.float64])

    def look_at_targets(self) -> Targets:
        """Lengths of the chunks, and the labels of a classifier."""
        try:
            seen = self._targets_of(self.chunks.targets)
        except (AttributeError, TypeError):
            # Dask takes no column from a partition that is None; any other error comes again.
            seen = self._targets_of(self.chunks.blocks)
        if not sum(seen.lengths):
            raise ValueError("there are no rows to fit to.")
        return seen

    def _targets_of(self, blocks: list) -> Targets:
        labels = is_classifier(self.machine)
        return self._merged(merged_targets, [block.apply(targets_of_chunk, labels) for block in blocks])

    def _first_rows(self) -> tuple:
        """The number of the first chunk that has any, and what first_rows_of_chunk returns."""
        for number, block in enumerate(self.chunks.blocks):
            first = block.apply(first_rows_of_chunk).compute()
            if first[0].shape[0]:
                return number, *first
        raise ValueError("there are no rows to fit to.")

    def _sum_and_solve(self, first_rows: tuple, lengths: tuple[int, ...] | None, dtypes: list) -> bool:
        machine = self.machine
        rng = check_random_state(machine.random_state)
        first, *first_rows, pairing = first_rows
        X, targets = checked_rows(machine, *first_rows, first=True, dtypes=dtypes)
        machine._layer = machine._layer_on(self._survey(X, lengths, rng), rng)
        work = _ship(Summing(machine, machine._no_sums(X, targets), X.dtype))
        parts = [
            block.apply(sums_of_chunk, work, pairing if number == first and not self.chunks.paired else None)
            for number, block in enumerate(self.chunks.blocks)
        ]
        total = self._merged(merged_sums, parts)
        if is_classifier(machine):
            check_classes_seen(machine.classes_.tolist(), total.labels.tolist())
        return machine._finish(total.sums, X.dtype)

    def _survey(self, X, lengths: tuple[int, ...] | None, rng: np.random.RandomState) -> Survey:
        """What the layer has to know of all rows; of their number of features and precision X tells."""
        needs = self.machine._needs()
        if not needs.n_sampled:
            return Survey(X.shape[1], X.dtype)
        work = _ship(Looking(self.machine, needs, X.dtype))
        picks = picks_of(lengths, needs.n_sampled, needs.sampler(rng))
        parts = [
            block.apply(survey_of_chunk, work, pick)
            for block, pick in zip(self.chunks.blocks, picks, strict=True)
            if needs.scale or needs.box or pick
        ]
        found = self._merged(merged_surveys, parts)
        return Survey.of_passes(X, needs, found.sample.rows, found.seen)

    def _merged(self, merged: Callable, parts: list[Delayed]):
        """What comes of the parts."""
        return _computed(_tree(merged, parts), self.progress)


def _fit_recursive(machine: RecursiveFeatures, chunks: Chunks, classes, progress: bool) -> None:
    """Learn from a sample of the rows, fit to all of them in the metric, and go through their gradients."""
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
    learnt = machine._learn(*stacked(rows))
    move = partial(moved_chunk, Moved(machine, learnt))
    moved = replace(chunks, blocks=[block.then(move) for block in chunks.blocks])
    _Fit(learnt.estimator, moved, progress).run(classes)
    work = _ship(learnt.taken_in(learnt.estimator))
    plain = partial(moved_chunk, Moved(machine))
    squares = [block.then(plain).apply(squares_of_chunk, work) for block in chunks.blocks]
    total, weight = _computed(_tree(merged_squares, squares), progress)
    keep(machine, learnt, total / weight)


def _between(places: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Those from start up to stop, counted from start; they ascend."""
    first, last = np.searchsorted(places, [start, stop])
    return places[first:last] - start


def _listed(*parts) -> list:
    return list(parts)


def merge_delayed(merged: Callable, parts: list[Delayed]):
    """What `merged` makes of estimators that Dask holds or has yet to fit, a few at a time."""
    return _computed(_tree(merged, parts), progress=False)


def _computed(result: Delayed, progress: bool):
    client = getattr(dask.base.get_scheduler(), "__self__", None)  # of a Client's get, where there is one
    if client is None:
        with ProgressBar() if progress else nullcontext():
            return result.compute()
    future = client.compute(result)
    if progress:
        from distributed import progress as show

        show(future)
    return future.result()


def _ship(work) -> Delayed:
    """One key for what all tasks need: it goes to each worker once."""
    return dask.delayed(work, pure=False, traverse=False)


def _tree(merged: Callable, parts: list[Delayed]) -> Delayed:
    """The parts merged, neighbours first, FAN_IN at a time."""
    merge = dask.delayed(_Merge(merged), pure=False)
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        # Not as a list, whose graph Dask would go through for each.
        parts = [merge(*group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


class _Merge:
    """A function of a list of parts as one of the parts, by the same name."""

    def __init__(self, merged: Callable):
        self.__name__ = merged.__name__  # Dask names the tasks after it
        self._merged = merged

    def __call__(self, *parts):
        return self._merged(parts)
