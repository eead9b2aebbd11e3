"""Imports of the packages of the extra `stream`."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["stream_extra"]


@contextmanager
def stream_extra(what: str, library: str) -> Iterator[None]:
    """Context in which a package of the extra is imported.

    Raises
    ------
    ImportError
        With the feature that needs the package, and the command to install it.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{what} needs {library}, which is not installed: pip install 'entrolearn[stream]'"
        ) from error
