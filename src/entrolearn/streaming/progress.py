"""How far a pass over the rows is: a bar, or whatever a function does with two numbers."""

from collections.abc import Callable, Iterable, Iterator

from entrolearn.streaming.extras import stream_extra

__all__ = ["shown"]


def shown(chunks: Iterable, progress: bool | Callable, n_rows: int | None, what: str) -> Iterator:
    """The same chunks, while it is shown how many of their rows are done.

    A chunk is done when the next one is asked for.

    Parameters
    ----------
    chunks : iterable
        Of arrays, or of tuples that begin with one.
    progress : bool or callable
        True for tqdm's bar; a function gets the rows done and the rows in all, which is None where it is not
        known.
    n_rows : int or None
        The rows in all.
    what : str
        What is being done, for the bar.

    Returns
    -------
    iterator
        Of the chunks as they are.

    Raises
    ------
    TypeError
        If `progress` is neither.
    ImportError
        If a bar is asked for and tqdm is absent.
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
