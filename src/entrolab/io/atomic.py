"""Atomic writes and checksums of files."""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from entrolab.text import Told

NO_ROOM = {
    errno.ENOSPC: "the disk is full: no room for {}; free some space and run again",
    errno.EDQUOT: "your disk quota is used up: no room for {}; delete some files and run again",
    errno.EFBIG: "`ulimit -f` allows no larger file: no room for {}; raise the limit and run again",
}


class DiskFull(Told, OSError):
    """Raised if the disk, the quota or `ulimit -f` leaves no room for a file; the message names it."""


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path next to `path`, and move the file written there to `path` on success.

    `path` is never incomplete, not even after a power failure: the bytes are flushed to the disk before the
    rename, and after an error the earlier file is unchanged. Without room for it, `DiskFull` is raised.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "table.csv")
    ...     with replacing(target) as temporary:
    ...         _ = temporary.write_text("a,b")
    ...     target.read_text()
    'a,b'
    """
    path = Path(path)
    # The suffix is kept, because numpy, pandas and pyarrow depend on it.
    temporary = path.with_name(f".{path.stem}-{token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFull(error.errno, NO_ROOM[error.errno].format(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text to a file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sha256_of(path: str | os.PathLike) -> str:
    """The sha256 of a file."""
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
