"""Predictions for rows that need not fit into memory, chunk by chunk."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils.validation import check_is_fitted

from entrolearn.machines.additive import Additive
from entrolearn.streaming.fitting import on_device
from entrolearn.streaming.sources import Rows, file_map, give_back, listed, shown
from entrolearn.streaming.sources import rows as rows_from
from entrolearn.suggest import did_you_mean
from entrolearn.validation import is_numpy, to_numpy

__all__ = ["predict", "predict_chunks"]


def predict_chunks(
    estimator, rows, *, method: str = "predict", progress: bool | Callable = False
) -> Iterator[np.ndarray]:
    """Predictions of a fitted estimator, chunk by chunk.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator or pipeline with scikit-learn's interface, from any package.
    rows : Rows, or what :func:`~entrolearn.streaming.rows` takes for X
        Rows to predict; targets are ignored. They are moved to where an estimator of this library was fitted.
    method : str, default="predict"
        The method of the estimator to call, such as "decision_function", "predict_proba" or "transform".
    progress : bool or callable, default=False
        True shows a progress bar. A callable receives the number of rows done and the total, None if unknown.

    Returns
    -------
    iterator of ndarray
        The predictions of each chunk; sparse if the method returns sparse arrays.

    Raises
    ------
    AttributeError
        If the estimator has no such method.
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    ValueError
        If the number of features, or their names, differ from those of the training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from entrolearn import EEMClassifier, streaming
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = EEMClassifier(n_hidden=20, random_state=0).fit(X, y)
    >>> source = streaming.rows(X, chunk_rows=100)
    >>> [answer.shape for answer in streaming.predict_chunks(machine, source, method="predict_proba")]
    [(100, 3), (50, 3)]
    """
    asked = _method(estimator, method)
    source = rows if isinstance(rows, Rows) else rows_from(rows)
    _check_features(estimator, source)
    chunks = shown(source, progress, source.n_rows, f"{type(estimator).__name__}.{method}")
    where = estimator._layer.where if isinstance(estimator, Additive) else np.empty(0)
    return (_answer(asked, X, source.feature_names, where) for X, _ in chunks)


def predict(estimator, rows, *, method: str = "predict", out=None, progress: bool | Callable = False):
    """Predictions of a fitted estimator for all rows, as one array.

    Parameters
    ----------
    estimator : estimator
        As in :func:`predict_chunks`.
    rows : Rows, or what :func:`~entrolearn.streaming.rows` takes for X
        As in :func:`predict_chunks`; or a Dask array or data frame, for which the result is a lazy Dask array
        (:func:`entrolearn.streaming.distributed.predict`).
    method : str, default="predict"
        As in :func:`predict_chunks`.
    out : array-like, default=None
        Array, memory map or another array-like of the predictions' shape, filled chunk by chunk.
    progress : bool or callable, default=False
        As in :func:`predict_chunks`.

    Returns
    -------
    ndarray of shape (n_rows,) or (n_rows, n_outputs)
        `out` if it is given; a CSR matrix if the method returns sparse arrays.

    Raises
    ------
    ValueError
        If there are no rows, the shape of `out` differs from that of the predictions or its dtype cannot hold
        them, and for the same reasons as in :func:`predict_chunks`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from entrolearn import EEMClassifier, streaming
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = EEMClassifier(n_hidden=20, random_state=0).fit(X, y)
    >>> bool((streaming.predict(machine, streaming.rows(X, chunk_rows=40)) == machine.predict(X)).all())
    True
    """
    if hasattr(rows, "__dask_graph__"):
        return _lazily(estimator, rows, method, out, progress)
    source = rows if isinstance(rows, Rows) else rows_from(rows)
    if out is not None:
        _check_room(out, source.n_rows)
    answers = predict_chunks(estimator, source, method=method, progress=progress)
    return _gathered(answers, source.n_rows) if out is None else _filled(out, answers)


def _lazily(machine, collection, method: str, out, progress: bool | Callable):
    if out is not None or progress is not False:
        raise TypeError(
            "out and progress are not accepted with a Dask collection: the predictions are a lazy Dask "
            "array, which has a method store."
        )
    from entrolearn.streaming.distributed import predict as predict_collection  # imports Dask

    _method(machine, method)
    return predict_collection(machine, collection, method)


def _method(machine, name: str) -> Callable:
    asked = getattr(machine, name, None)
    if not callable(asked):
        there = [each for each in dir(machine) if not each.startswith("_")]
        raise AttributeError(f"{type(machine).__name__} has no method {name!r}{did_you_mean(name, there)}.")
    check_is_fitted(machine)
    return asked


def _check_features(machine, source: Rows) -> None:
    learnt = getattr(machine, "n_features_in_", None)
    if None not in (learnt, source.n_features) and learnt != source.n_features:
        raise ValueError(
            f"the rows have {source.n_features} features, but {type(machine).__name__} was fitted to "
            f"{learnt}; the numbers must be equal."
        )
    names = getattr(machine, "feature_names_in_", None)
    if names is not None and source.feature_names is not None and list(names) != source.feature_names:
        raise ValueError(
            f"the rows have the features {listed(source.feature_names)}, but {type(machine).__name__} was "
            f"fitted to {listed(names)}; pass the same features in the same order with features=."
        )


def _answer(asked: Callable, X, names: list[str] | None, where):
    """The predictions of one chunk as an ndarray, or as CSR if they are sparse."""
    if not is_numpy(where):
        return to_numpy(asked(on_device(X, where)))
    with warnings.catch_warnings():
        if names is not None:  # _check_features has already compared them
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        answer = asked(X)
    return answer.tocsr() if issparse(answer) else np.asarray(answer)


def _gathered(answers: Iterator, n_rows: int | None):
    """Concatenate the chunks; if the number of rows is known, without holding a second copy."""
    first = next(answers, None)
    if first is None:
        raise ValueError("there are no rows to predict; at least one is accepted.")
    if issparse(first):
        return vstack([first, *answers], format="csr")
    if n_rows is None:
        return np.concatenate([first, *answers])
    whole = np.empty((n_rows, *first.shape[1:]), first.dtype)
    whole[: len(first)] = first
    done = len(first)
    for answer in answers:
        if answer.dtype != whole.dtype:  # later labels may be longer strings
            whole = whole.astype(np.promote_types(whole.dtype, answer.dtype), copy=False)
        whole[done : done + len(answer)] = answer
        done += len(answer)
    return whole


def _filled(out, answers: Iterator):
    done, pages = 0, file_map(out)
    for answer in answers:
        answer = answer.toarray() if issparse(answer) else answer
        _check_fits(out, answer, done)
        out[done : done + len(answer)] = answer
        done += len(answer)
        give_back(pages)
    _check_room(out, done)
    return out


def _check_room(out, n_rows: int | None) -> None:
    if n_rows is not None and out.shape[0] != n_rows:
        raise ValueError(
            f"out has room for {out.shape[0]} rows, but there are {n_rows}; the numbers must be equal."
        )


def _check_fits(out, answer: np.ndarray, done: int) -> None:
    if tuple(out.shape[1:]) != answer.shape[1:] or done + len(answer) > out.shape[0]:
        raise ValueError(
            f"out has shape {tuple(out.shape)}, but the predictions of {done + len(answer)} rows have "
            f"{(done + len(answer), *answer.shape[1:])}; the shapes must be equal."
        )
    # Truncated strings or fractions would change the predictions.
    if not np.can_cast(answer.dtype, out.dtype, "safe" if answer.dtype.kind in "US" else "same_kind"):
        raise ValueError(f"out holds {out.dtype}, but the predictions are {answer.dtype}, which do not fit.")
