"""Settings of Snakemake's process, and checks of the working folder before any job starts."""

import gc
import getpass
import logging
import multiprocessing
import os
import resource
import shlex
import signal
import sys
from collections.abc import Iterable

from entrolab.text import OneLine


class SurroundingsError(OneLine):
    """Raised if the environment or the working folder does not allow a run."""


def prepare_process() -> None:
    """Change settings of this process and its children that would make jobs fail."""
    gc.set_threshold(100_000)  # nearly all objects live to the end: to look at them takes a tenth of a start
    multiprocessing.set_executable(sys.executable)
    sys.executable = shlex.quote(sys.executable)  # Snakemake passes it to a shell unquoted
    logging.raiseExceptions = False  # no traceback for a line that cannot be logged, as on a full disk
    os.environ["MPLBACKEND"] = "agg"  # a notebook sets another backend for its children
    try:
        getpass.getuser()
    except (KeyError, OSError):  # Snakemake needs a user name, which a container may lack
        os.environ["LOGNAME"] = str(os.getuid())


def end_at_signals() -> None:
    """Let Ctrl-C and the end of the terminal end this process without a traceback."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, lambda number, frame: sys.exit("interrupted"))


def check_memory() -> None:
    """Raise `SurroundingsError` if ``ulimit -v`` allows less memory than a run needs."""
    gib = resource.getrlimit(resource.RLIMIT_AS)[0] / 2**30  # negative if it is unlimited
    if 0 <= gib < 3:  # tracking, the largest job without a limit of its own, takes 2.2
        raise SurroundingsError(f"`ulimit -v` allows {gib:.1f} GiB; a run needs 3: raise it")


def check_folder(inputs: Iterable[str]) -> None:
    """Raise `SurroundingsError` for a folder that this user may not write, and for an input with braces."""
    for folder in filter(os.path.exists, (".", ".snakemake", "results", "resources", "logs")):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SurroundingsError(f"{os.path.abspath(folder)}: no permission to write: use another folder")
    for path in inputs:
        if {"{", "}"} & {*path}:
            raise SurroundingsError(f"{path}: found braces, which Snakemake takes for a wildcard: rename it")
