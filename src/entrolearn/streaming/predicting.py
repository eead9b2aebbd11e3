"""What a fitted machine says of rows that need not fit into memory, nor its answers."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils.validation import check_is_fitted

from entrolearn.streaming.base import Rows
from entrolearn.streaming.columns import listed
from entrolearn.streaming.mapped import file_map, give_back
from entrolearn.streaming.progress import shown
from entrolearn.streaming.sources import rows as rows_from
from entrolearn.suggest import did_you_mean

__all__ = ["predict", "predict_chunks"]


def predict_chunks(
    machine, rows, *, method: str = "predict", progress: bool | Callable = False
) -> Iterator[np.ndarray]:
    """What a machine says of rows, chunk by chunk.

    Parameters
    ----------
    machine : estimator
        Fitted, of any package with scikit-learn's interface; a pipeline too.
    rows : Rows, or what :func:`~entrolearn.streaming.rows` takes for X
        Their targets are passed over.
    method : str, default="predict"
        The name of one of the machine's methods, such as "decision_function", "predict_proba" or "transform".
    progress : bool or callable, default=False
        True shows a bar; a function gets the rows done and the rows in all, or None.

    Returns
    -------
    iterator of ndarray
        Of sparse arrays where the machine gives these.

    Raises
    ------
    AttributeError
        If the machine has no such method.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    ValueError
        If the rows have another number of features than the machine, or other names of them.

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
    asked = _method(machine, method)
    source = rows if isinstance(rows, Rows) else rows_from(rows)
    _check_features(machine, source)
    chunks = shown(source, progress, source.n_rows, f"{type(machine).__name__}.{method}")
    return (_answer(asked, X, source.feature_names) for X, _ in chunks)


def predict(machine, rows, *, method: str = "predict", out=None, progress: bool | Callable = False):
    """What a machine says of rows, all of it.

    Parameters
    ----------
    machine : estimator
        As :func:`predict_chunks` takes it.
    rows : Rows, or what :func:`~entrolearn.streaming.rows` takes for X
        As :func:`predict_chunks` takes them; or a Dask array or frame, whose answers are a Dask array that is
        computed when asked for (:func:`entrolearn.streaming.distributed.predict`).
    method : str, default="predict"
        As :func:`predict_chunks` takes it.
    out : array-like, default=None
        Of the answers' shape; filled with them chunk by chunk: an array, a memory map, a Zarr array.
    progress : bool or callable, default=False
        As :func:`predict_chunks` takes it.

    Returns
    -------
    ndarray of shape (n_rows,) or (n_rows, n_outputs)
        `out` where it is given; CSR where the machine gives sparse answers.

    Raises
    ------
    ValueError
        If `out` has another shape than the answers, or a type that does not hold them; and what
        :func:`predict_chunks` raises.

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
        return _lazily(machine, rows, method, out, progress)
    source = rows if isinstance(rows, Rows) else rows_from(rows)
    if out is not None:
        _check_room(out, source.n_rows)
    answers = predict_chunks(machine, source, method=method, progress=progress)
    return _gathered(answers, source.n_rows) if out is None else _filled(out, answers)


def _lazily(machine, collection, method: str, out, progress: bool | Callable):
    if out is not None or progress is not False:
        raise TypeError(
            "out and progress are not accepted with a Dask collection, whose answers are not computed yet: "
            "they are a Dask array, with a method store."
        )
    from entrolearn.streaming.distributed import predict as predict_collection  # imports Dask, as they have

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
            f"the rows have {source.n_features} features and {type(machine).__name__} has learnt from "
            f"{learnt}; as many are accepted."
        )
    names = getattr(machine, "feature_names_in_", None)
    if names is not None and source.feature_names is not None and list(names) != source.feature_names:
        raise ValueError(
            f"the rows have the features {listed(source.feature_names)}, and {type(machine).__name__} has "
            f"learnt from {listed(names)}; the same are accepted, in its order: name them with features=."
        )


def _answer(asked: Callable, X, names: list[str] | None):
    """An answer as an array; sparse ones stay so."""
    with warnings.catch_warnings():
        if names is not None:  # compared before, where the machine has any
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        answer = asked(X)
    return answer.tocsr() if issparse(answer) else np.asarray(answer)


def _gathered(answers: Iterator, n_rows: int | None):
    """All answers, each written where it belongs as soon as it is there, if that is known."""
    first = next(answers)
    if issparse(first):
        return vstack([first, *answers], format="csr")
    if n_rows is None:
        return np.concatenate([first, *answers])
    whole = np.empty((n_rows, *first.shape[1:]), first.dtype)
    whole[: len(first)] = first
    done = len(first)
    for answer in answers:
        if answer.dtype != whole.dtype:  # words may be longer than those before
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
            f"out has room for {out.shape[0]} rows and there are {n_rows}; as many are accepted."
        )


def _check_fits(out, answer: np.ndarray, done: int) -> None:
    if tuple(out.shape[1:]) != answer.shape[1:] or done + len(answer) > out.shape[0]:
        raise ValueError(
            f"out has shape {tuple(out.shape)} and the answers of {done + len(answer)} rows have "
            f"{(done + len(answer), *answer.shape[1:])}; the same is accepted."
        )
    # A shorter word, or a number without its fraction, would be another one.
    if not np.can_cast(answer.dtype, out.dtype, "safe" if answer.dtype.kind in "US" else "same_kind"):
        raise ValueError(f"out holds {out.dtype} and the answers are {answer.dtype}, which it does not hold.")
