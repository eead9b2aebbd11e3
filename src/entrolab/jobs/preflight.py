"""Pre-flight checks of the working directory and the environment, each with an error of one line."""

import getpass
import os
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from entrolab import LEARNERS_IN
from entrolab.text import OneLine

WRITTEN = ("results", "resources", "logs")  # the workflow's folders in the working folder
ROOM = 16  # MiB that the folder of temporary files needs
# System limits: name for `resource`, option of `ulimit`, texts of errors at the limit, bytes a run needs.
# Measured: tracking, the largest job, takes 2.2 GB of address space, 1.5 of it data; a new store takes 1 MB.
OF_SYSTEM = (
    (resource.RLIMIT_AS, "-v", ("MemoryError", "allocate"), 3 << 30),
    (resource.RLIMIT_DATA, "-d", ("MemoryError", "allocate"), 2 << 30),
    (resource.RLIMIT_FSIZE, "-f", ("File too large", "disk I/O error"), 16 << 20),
)


INTERRUPTED = threading.Event()  # set by Ctrl-C and the end of the terminal


class SurroundingsError(OneLine):
    """Raised if the working directory or the environment does not allow a run."""


def prepare_for_jobs() -> None:
    """Change settings of this process and its children that would make jobs fail."""
    # Snakemake passes the interpreter's path to a shell unquoted.
    sys.executable = shlex.quote(sys.executable)
    # Jobs draw to files, even if a notebook sets another backend for its children.
    os.environ["MPLBACKEND"] = "agg"
    # Python avoids a full folder of temporary files, other programs do not.
    os.environ["TMPDIR"] = tempfile.gettempdir()
    # Warnings of imported libraries must not end a job.
    if "error" in os.environ.get("PYTHONWARNINGS", ""):
        del os.environ["PYTHONWARNINGS"]
        warnings.simplefilter("ignore")
    # Snakemake needs a user name, which a container may lack.
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = str(os.getuid())


def quoted_for_jobs(settings: Iterable[str]) -> list[str]:
    """The arguments of ``--config``, quoted for the shell that starts jobs.

    Snakemake quotes them as Python does, if they do not begin with a quote; a shell reads some differently.
    """
    return [shlex.quote(one) for one in settings]


def end_at_signals() -> None:
    """Let Ctrl-C and the end of the terminal end this process at any point."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _end)


def _end(number, frame) -> None:
    INTERRUPTED.set()
    # While Snakemake evaluates resources, it treats any exception as an error in them and may continue: wait
    # until that is done.
    if any(one.f_code.co_name == "expand_resources" for one, _ in traceback.walk_stack(frame)):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    else:
        raise SystemExit("interrupted")


def find_learners_in(folders: Iterable[str | os.PathLike]) -> None:
    """Add folders to the end of the module path of this process and its jobs."""
    absolute = [os.path.abspath(folder) for folder in folders]
    sys.path.extend(folder for folder in absolute if folder not in sys.path)
    os.environ[LEARNERS_IN] = os.pathsep.join(absolute)


def check_limits() -> None:
    """Raise `SurroundingsError` for a system limit or a folder of temporary files that is too small."""
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
    """The system limits that may have caused an error, as the end of the error's message."""
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
    """Raise `SurroundingsError` for the first folder of the workflow that this user may not write."""
    _check_name(os.path.abspath(folder))
    for one in _written_to(Path(folder)):
        if not os.access(one, os.W_OK | os.X_OK):
            raise SurroundingsError(
                f"{one.resolve()}: no permission to write: ask the owner, or use a folder of your own, "
                "`snakemake --directory my-folder`"
            )


def _written_to(folder: Path) -> Iterator[Path]:
    """The working folder and the existing folders in it that jobs or snakemake write to."""
    yield folder
    kept = folder / ".snakemake"
    if kept.is_dir():
        yield kept
        yield from (one for one in kept.iterdir() if one.is_dir())
    for name in WRITTEN:
        yield from (Path(one) for one, _, _ in os.walk(folder / name))


def check_paths(paths: Iterable[str]) -> None:
    """Raise `SurroundingsError` for the first input path that snakemake would take for a pattern."""
    for path in paths:
        _check_name(path)
        if "{" in path or "}" in path:
            raise SurroundingsError(
                f"{path}: found braces, which Snakemake takes for a wildcard: rename that folder or file"
            )


def _check_name(path: str) -> None:
    """Raise an error for a name that is not UTF-8, which URIs and JSON files cannot contain."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise SurroundingsError(f"{path}: the name is not UTF-8; rename that folder or file") from None
