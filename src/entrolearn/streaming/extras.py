"""Libraries that come with the extra `stream`, and what is said where one of them is absent."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["stream_extra"]


@contextmanager
def stream_extra(what: str, library: str) -> Iterator[None]:
    """A block that imports a library of the extra.

    Raises
    ------
    ImportError
        In one line that says what needs the library, and how it is installed.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{what} needs {library}, which is not installed: pip install 'entrolearn[stream]'"
        ) from error
