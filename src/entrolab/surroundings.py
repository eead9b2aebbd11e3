"""What a run asks of the place that it is in, told in one line before any job starts."""

import getpass
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from entrolab import LEARNERS_IN
from entrolab.text import one_line

# The workflow's folders in the working folder.
WRITTEN = ("results", "resources", "logs")


class SurroundingsError(Exception):
    """Nothing can be made here."""


def prepare_for_jobs() -> None:
    """Change in this process, and in those that it will start, what would make jobs fail."""
    # Snakemake hands the interpreter's path to a shell as it stands, spaces and all.
    sys.executable = shlex.quote(sys.executable)
    # Jobs draw files, whatever screen a notebook has spoken of to the programs that it starts.
    os.environ["MPLBACKEND"] = "agg"
    # Snakemake asks for the user's name, which a container need not know.
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = str(os.getuid())


def find_learners_in(folders: Iterable[str | os.PathLike]) -> None:
    """Have this process and its jobs find modules in some folders, after all that is found elsewhere."""
    absolute = [os.path.abspath(folder) for folder in folders]
    sys.path.extend(folder for folder in absolute if folder not in sys.path)
    os.environ[LEARNERS_IN] = os.pathsep.join(absolute)


def check_writable(folder: str | os.PathLike) -> None:
    """Refuse a working folder whose results this user may read and not write.

    Raises
    ------
    SurroundingsError
        Naming the first folder in it that cannot be written, or one whose name is no text.
    """
    _check_name(os.path.abspath(folder))
    for one in _written_to(Path(folder)):
        if not os.access(one, os.W_OK | os.X_OK):
            raise SurroundingsError(
                f"{one.resolve()}: this user may not write there: have its owner allow it, or work in a "
                "folder of your own, `snakemake --directory my-folder`"
            )


def _written_to(folder: Path) -> Iterator[Path]:
    """The folder itself, and all in it that jobs or snakemake write to, as far as they are there."""
    yield folder
    kept = folder / ".snakemake"
    if kept.is_dir():
        yield kept
        yield from (one for one in kept.iterdir() if one.is_dir())
    for name in WRITTEN:
        yield from (Path(one) for one, _, _ in os.walk(folder / name))


def check_paths(paths: Iterable[str]) -> None:
    """Refuse paths of inputs that snakemake would take for patterns.

    Raises
    ------
    SurroundingsError
        Naming the first of them.
    """
    for path in paths:
        _check_name(path)
        if "{" in path or "}" in path:
            raise SurroundingsError(
                f"{path}: snakemake takes braces in a path for a wildcard: rename that folder or file"
            )


def _check_name(path: str) -> None:
    """Refuse bytes that are no UTF-8: URIs and JSON files, which results and runs are noted in, have none."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise SurroundingsError(
            f"{one_line(path)}: a name that is not UTF-8: rename that folder or file"
        ) from None
