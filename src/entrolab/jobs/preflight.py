"""Pre-flight checks of the working directory and the environment, each told in one line."""

import getpass
import os
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from entrolab import LEARNERS_IN
from entrolab.text import one_line

# The workflow's folders in the working folder.
WRITTEN = ("results", "resources", "logs")
# MiB that the folder of temporary files must have room for.
ROOM = 16
# Limits of the system: for `resource`, for `ulimit`, what an error at the limit says, bytes that a run needs.
# Measured: the tracker, the largest job, takes 2.2 GB of addresses, 1.5 of them data; a new store is 1 MB.
OF_SYSTEM = (
    (resource.RLIMIT_AS, "-v", ("MemoryError", "allocate"), 3 << 30),
    (resource.RLIMIT_DATA, "-d", ("MemoryError", "allocate"), 2 << 30),
    (resource.RLIMIT_FSIZE, "-f", ("File too large", "disk I/O error"), 16 << 20),
)


class SurroundingsError(Exception):
    """Nothing can be made here."""


def prepare_for_jobs() -> None:
    """Change in this process, and in those that it will start, what would make jobs fail."""
    # Snakemake hands the interpreter's path to a shell as it stands, spaces and all.
    sys.executable = shlex.quote(sys.executable)
    # Jobs draw files, whatever screen a notebook has spoken of to the programs that it starts.
    os.environ["MPLBACKEND"] = "agg"
    # A full folder of temporary files is passed over by Python, and not by all that is started.
    os.environ["TMPDIR"] = tempfile.gettempdir()
    # Libraries warn while they are imported, which must not end a job.
    if "error" in os.environ.get("PYTHONWARNINGS", ""):
        del os.environ["PYTHONWARNINGS"]
        warnings.simplefilter("ignore")
    # Snakemake asks for the user's name, which a container need not know.
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = str(os.getuid())


def end_at_signals() -> None:
    """Have Ctrl-C end this process whatever it does, and the end of its terminal do the same."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _end)


def _end(number, frame) -> None:
    # Snakemake takes whatever is raised while it evaluates a job's resources for an error of theirs, and may
    # go on: wait until that is done.
    if any(one.f_code.co_name == "expand_resources" for one, _ in traceback.walk_stack(frame)):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    else:
        raise SystemExit("interrupted")


def find_learners_in(folders: Iterable[str | os.PathLike]) -> None:
    """Have this process and its jobs find modules in some folders, after all that is found elsewhere."""
    absolute = [os.path.abspath(folder) for folder in folders]
    sys.path.extend(folder for folder in absolute if folder not in sys.path)
    os.environ[LEARNERS_IN] = os.pathsep.join(absolute)


def check_limits() -> None:
    """Refuse limits of the system, and a folder of temporary files, with which no run comes to its end.

    Raises
    ------
    SurroundingsError
        Naming the limit or the folder.
    """
    for limit, option, _, needed in OF_SYSTEM:
        allowed, _ = resource.getrlimit(limit)
        if resource.RLIM_INFINITY != allowed < needed:
            raise SurroundingsError(
                f"`ulimit {option}` allows {_mebibytes(allowed)}, a run needs {_mebibytes(needed)}: raise it"
            )
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free >> 20
    if free < ROOM:
        raise SurroundingsError(
            f"{folder}: {free} MiB free for temporary files, a run needs {ROOM}: make room there, or name "
            "another folder in TMPDIR"
        )


def limits_behind(said: str) -> str:
    """The limits of the system that an error may be due to, as the end of its message."""
    allowed = {
        option: resource.getrlimit(limit)[0]
        for limit, option, signs, _ in OF_SYSTEM
        if any(sign in said for sign in signs)
    }
    return "".join(
        f" (`ulimit {option}` allows {_mebibytes(most)})"
        for option, most in allowed.items()
        if most != resource.RLIM_INFINITY
    )


def _mebibytes(number: int) -> str:
    return f"{number / 2**20:,.0f} MiB"


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
