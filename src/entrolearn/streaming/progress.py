"""Progress of a pass over the rows: a progress bar or a callback."""

from collections.abc import Callable, Iterable, Iterator

from entrolearn.streaming.extras import stream_extra

__all__ = ["shown"]


def shown(chunks: Iterable, progress: bool | Callable, n_rows: int | None, what: str) -> Iterator:
    """Yield the chunks, and report the number of processed rows.

    A chunk counts as processed when the next one is requested.

    Parameters
    ----------
    chunks : iterable
        Arrays, or tuples whose first element is an array.
    progress : bool or callable
        True shows a tqdm progress bar. A callable receives the number of rows done and the total, None if it
        is not known.
    n_rows : int or None
        Total number of rows.
    what : str
        Description of the progress bar.

    Returns
    -------
    iterator
        The unchanged chunks.

    Raises
    ------
    TypeError
        If `progress` has another type.
    ImportError
        If `progress` is True and tqdm is not installed.
    """
    if callable(progress):
        return _told(chunks, progress, n_rows)
    if progress not in (True, False):
        raise TypeError(
            f"progress={progress!r}; True, False and a function of (rows done, rows in all) are accepted."
        )
    return _drawn(chunks, _bar(n_rows, what)) if progress else iter(chunks)


def _bar(n_rows: int | None, what: str):
    with stream_extra("progress=True", "tqdm"):
        from tqdm.auto import tqdm
    return tqdm(total=n_rows, desc=what, unit=" rows", unit_scale=True)


def _drawn(chunks: Iterable, bar) -> Iterator:
    with bar:
        for chunk in chunks:
            yield chunk
            bar.update(_n_rows(chunk))


def _told(chunks: Iterable, progress: Callable, n_rows: int | None) -> Iterator:
    done = 0
    for chunk in chunks:
        yield chunk
        done += _n_rows(chunk)
        progress(done, n_rows)


def _n_rows(chunk) -> int:
    return (chunk[0] if isinstance(chunk, tuple) else chunk).shape[0]
