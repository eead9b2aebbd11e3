"""Rows and targets of Dask collections, as blocks that are computed in the tasks that use them.

The rows of a block and their targets come from one evaluation, because Dask may compute the rows of a
shuffle, a merge or a random function in a different order each time.
"""

from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.utils import is_dataframe_like, is_series_like

from entrolearn.streaming.additive import weighted_chunk
from entrolearn.streaming.blocks import Block, blocks_of
from entrolearn.suggest import did_you_mean

__all__ = ["Chunks", "check_rows", "chunks_of", "delayed_chunks", "is_frame"]

ACCEPTED = "a dask.array of shape (n_samples, n_features), or a dask.dataframe"
# Prefix of target columns that are added to X, so that names may be the same.
TARGET = "entrolearn's target {}"
WEIGHT = "entrolearn's weight"


@dataclass(frozen=True)
class Chunks:
    """Blocks whose tasks receive X, y, the weights or None, and the name of the rows in error messages.

    Attributes
    ----------
    blocks : list of Block
    targets : list of Block
        The same blocks with y in place of X, so that X is not computed.
    lengths : tuple of int, or None
        Number of rows of each block; None if it is not known without computing them or their weights.
    paired : bool
        Whether X and y are known to belong to the same rows, as in a data frame.
    """

    blocks: list[Block]
    targets: list[Block]
    lengths: tuple[int, ...] | None
    paired: bool


def chunks_of(X, y, weights, name: str) -> Chunks:
    """The rows of positive weight with their targets and weights.

    Parameters
    ----------
    X : dask.array of shape (n_samples, n_features), or dask.dataframe
    y : dask.array, dask.dataframe or its Series; or names of columns of X
        Rechunked to the chunks of X if necessary.
    weights : dask.array, dask.dataframe.Series, name of a column of X, or None
    name : str
        Name of the caller in error messages.

    Raises
    ------
    TypeError, ValueError
        If they are not collections of rows, y is missing, or X and y do not match.
    """
    check_rows(X, name)
    if weights is not None:
        X, weights = _weighted_frame(X, weights, name)
    X, y, columns = _one_frame(X, y, name)
    lengths = _lengths(X) or _lengths(y)
    chunks, targets = delayed_chunks(X), delayed_chunks(y)
    parts, alone = [chunks], [targets, targets]
    if columns is None:
        _check_as_many(len(chunks), len(targets))
        parts.append(targets)
    if isinstance(weights, da.Array):
        beside = delayed_chunks(_cut_alike(X, weights, "sample_weight"))
        _check_as_many(len(chunks), len(beside), "sample_weight")
        parts.append(beside)
        alone.append(beside)
        weights = True
    where = _names(len(chunks), lengths)
    blocks = _blocks(parts, columns, weights, where)
    # Weights that are a column are computed in one evaluation with y.
    of_y = blocks if isinstance(weights, str) else _blocks(alone, None, weights, where)
    paired = columns is not None and weights is not True
    return Chunks(blocks, of_y, lengths if weights is None else None, paired)


def _blocks(parts: list[list[Delayed]], columns, weights, where: list[str]) -> list[Block]:
    """Blocks of adjacent chunks, with the arguments of :func:`_apart`."""
    prepare = [partial(_apart, columns, weights, each) for each in where]
    return blocks_of(list(zip(*parts, strict=True)), prepare)


def delayed_chunks(collection) -> list[Delayed]:
    """The chunks in order.

    Their keys are those of the collection, so that shared inputs are computed once for all collections.
    """
    if is_frame(collection):
        collection = collection.simplify()  # so that unused columns are not read
    return np.ravel(collection.to_delayed(optimize_graph=False)).tolist()


def check_rows(X, name: str) -> None:
    """Raise unless X is a collection of whole rows.

    Raises
    ------
    TypeError, ValueError
    """
    if is_frame(X) and is_dataframe_like(X):
        return
    if not isinstance(X, da.Array):
        raise TypeError(f"X is {_kind(X)}; {name} accepts {ACCEPTED}.")
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; {name} accepts {ACCEPTED}.")
    if X.numblocks[1] > 1:
        raise ValueError(
            f"X is cut into {X.numblocks[1]} chunks along its features; accepted: whole rows, as "
            "X.rechunk({1: -1}) gives them."
        )
    if X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}: there are no rows.")


def is_frame(X) -> bool:
    """Whether X is a dask.dataframe or one of its Series."""
    return hasattr(X, "__dask_graph__") and (is_dataframe_like(X) or is_series_like(X))


def _one_frame(X, y, name: str) -> tuple:
    """X, y and the columns of y in X; the columns are None if X or y is an array."""
    if y is None:
        named = ", or the name of a column of X" if is_frame(X) else ""
        raise ValueError(f"{name} needs targets: give y, a Dask collection{named}.")
    if isinstance(y, str) or (isinstance(y, list) and all(isinstance(each, str) for each in y)):
        _check_columns(X, y, "y")
        return X, X[y], y
    if not (isinstance(y, da.Array) or is_frame(y)):
        raise TypeError(
            f"y is {_kind(y)}; accepted for a Dask collection X: a Dask array or Series, such as "
            "dask.array.from_array(y, chunks=X.chunks[0]) for an array y."
        )
    if isinstance(y, da.Array):
        y = y.rechunk({1: -1}) if y.ndim == 2 else y
        return X, _cut_alike(X, y, "y"), None
    if isinstance(X, da.Array):
        return X, y, None
    columns = [TARGET.format(i) for i in range(len(y.columns))] if is_dataframe_like(y) else TARGET.format("")
    return *_joined(X, y, columns), columns


def _weighted_frame(X, weights, name: str) -> tuple:
    """X, and the weights as an array or as the name of a column of X."""
    if isinstance(weights, str):
        _check_columns(X, weights, "sample_weight")
    elif is_frame(weights) and is_series_like(weights):
        if is_frame(X):
            return _joined(X, weights, WEIGHT)[0], WEIGHT
        return X, weights.to_dask_array()
    elif not isinstance(weights, da.Array) or weights.ndim != 1:
        raise TypeError(
            f"sample_weight is {_kind(weights)}; {name} accepts for a Dask collection X a Dask array of "
            "shape (n_samples,), a Series, or the name of a column of a frame X."
        )
    return X, weights


def _joined(X, y, columns: str | list[str]) -> tuple:
    """The frame X with y, a frame or a Series, as its last columns; and y with the partitions of X."""
    if X.known_divisions and y.known_divisions and X.divisions != y.divisions:
        y = y.repartition(divisions=X.divisions)
    _check_as_many(X.npartitions, y.npartitions)
    meta = _with_targets(X._meta, y._meta, columns)
    how = {"align_dataframes": False, "enforce_metadata": False, "meta": meta}
    return X.map_partitions(_beside, y, columns, **how), y


def _check_columns(X, names: str | list[str], what: str) -> None:
    columns = list(X.columns) if is_frame(X) else []
    for column in [names] if isinstance(names, str) else names:
        if column not in columns:
            raise ValueError(
                f"{what} names the column {column!r}, which is not in X{did_you_mean(column, columns)}; "
                f"its columns: {', '.join(map(str, columns)) or 'none, it is an array'}."
            )


def _beside(X, y, columns: str | list[str]):
    """Rows joined with their targets; ValueError if their indices differ."""
    if X is None and y is None:
        return None
    if not X.index.equals(y.index):
        raise ValueError(
            "X and y have different indices in a partition, from different rows or two shuffles; accepted: a "
            "frame and the names of its columns of y, or X and y persisted by one dask.persist(X, y)."
        )
    return _with_targets(X, y, columns)


def _with_targets(X, y, columns: str | list[str]):
    if isinstance(columns, str):
        return X.assign(**{columns: y})
    return X.assign(**{column: y.iloc[:, i] for i, column in enumerate(columns)})


def _apart(columns, weights: str | bool | None, where: str, X, *others) -> tuple:
    """Rows of positive weight, their y and weights, and the name of the chunk, from one or several chunks.

    X is a frame with y in `columns`, or y is the next chunk; `weights` is a column of X, or True if the
    weights are the last chunk. A partition may be None in Dask; it then has no rows.
    """
    if X is None:
        return np.empty((0, 0)), np.empty(0), None, where
    of_rows = others[-1] if weights is True else None
    if isinstance(weights, str):
        X, of_rows = X.drop(columns=weights), X[weights]
    X, y = (X, others[0]) if columns is None else (X.drop(columns=columns), X[columns])
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"{where}: X has {X.shape[0]} rows and y has {y.shape[0]}; they must be equal.")
    try:
        return *weighted_chunk(X, y, of_rows), where
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _cut_alike(X, y: da.Array, what: str) -> da.Array:
    if is_frame(X) or np.isnan(X.shape[0]) or np.isnan(y.shape[0]):
        return y
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and {what} has {y.shape[0]}.")
    return y.rechunk({0: X.chunks[0]})


def _check_as_many(chunks: int, targets: int, what: str = "y") -> None:
    if chunks != targets:
        raise ValueError(
            f"X has {chunks} chunks and {what} has {targets}, and not all their lengths are known; "
            f"accepted: equal numbers of chunks, or lengths found by compute_chunk_sizes()."
        )


def _lengths(collection) -> tuple[int, ...] | None:
    if not isinstance(collection, da.Array) or np.isnan(collection.shape[0]):
        return None
    return collection.chunks[0]


def _names(n_blocks: int, lengths: tuple[int, ...] | None) -> list[str]:
    if lengths is None:
        return [f"chunk {i} of {n_blocks}" for i in range(n_blocks)]
    ends = [0, *accumulate(lengths)]
    return [f"rows {start} to {stop - 1}" for start, stop in zip(ends, ends[1:], strict=False)]


def _kind(thing) -> str:
    if isinstance(thing, da.Array):
        return f"a dask.array of shape {thing.shape}"
    return f"{type(thing).__module__.partition('.')[0]}'s {type(thing).__name__}"
