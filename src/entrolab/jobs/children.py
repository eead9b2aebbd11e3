"""Run jobs in children forked from a process that has imported what they need.

Starting Python and importing scikit-learn takes longer than most jobs. A fork server of `multiprocessing`
imports `PRELOADED` once; a child of it starts within a few hundredths of a second. A child ends when the
process of the workflow or the server ends, whatever ends them.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import forkserver, get_all_start_methods, get_context, resource_tracker, util
from multiprocessing.connection import wait
from types import SimpleNamespace

from threadpoolctl import threadpool_limits

from entrolab.io.limits import end_with, ending
from entrolab.jobs.job_logging import job_log, tell
from entrolab.text import OneLine

# Server -> what it imports. A child imports the script that started the workflow again, hence Snakemake.
# Fits do not inherit MLflow and its memory; tables do not wait for skops, which imports all of scikit-learn.
PRELOADED = {
    "tables": ["snakemake.cli", "entrolab.stages.data", "entrolab.stages.tables"],
    "fits": ["snakemake.cli", "skops.io", "entrolab.stages.fit", "entrolab.stages.check"],
    "tracking": [
        *("snakemake.cli", "skops.io", "entrolab.tracking.preload", "entrolab.stages.tracking"),
        # Imported late by MLflow, pandas and the models.
        *("alembic.command", "git", "pyarrow.dataset", "pyarrow.parquet", "entrolearn.machines.eem"),
    ],
}
# Set to 1 while a process starts: numerical libraries read numbers of threads when they are imported, and
# PYTHONSAFEPATH keeps files of the working folder from taking the place of modules.
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH")
_SERVERS = {name: forkserver.ForkServer() for name in PRELOADED}
for _name, _server in _SERVERS.items():
    _server.set_forkserver_preload(PRELOADED[_name])
# `Process.start` polls the children of other threads: without a lock, their exit codes are lost.
_LOCK = threading.Lock()
# Ctrl-C and the end of the terminal: they end the workflow and its jobs, and with these their servers.
INTERRUPTIONS = {signal.SIGINT, signal.SIGHUP}
GIVEN = ("input", "output", "params", "wildcards", "resources", "log")  # what Snakemake gives to a rule


class JobFailed(OneLine, RuntimeError):
    """Raised if a job failed, after a line that says why has been printed."""


@atexit.register
def _stop_servers() -> None:
    """End the servers and their children, so that no process is left when this one has ended."""
    for server in _SERVERS.values():
        if server._forkserver_pid is not None:
            os.kill(server._forkserver_pid, signal.SIGKILL)  # it may still be importing
            server._stop()
    resource_tracker._resource_tracker._stop()


def start_servers(rules: Iterable[str]) -> None:
    """Start the servers of some rules' jobs, so that they import while other jobs run."""
    with _LOCK, _variables():
        for name in {_server_of(rule) for rule in rules}:
            _SERVERS[name].ensure_running()


def _server_of(rule: str) -> str:
    if "track" in rule:
        return "tracking"
    return "fits" if any(word in rule for word in ("fit", "select", "measure", "check")) else "tables"


def runner(config: Mapping, *, forks: bool) -> Callable[..., None]:
    """A function for rules that runs a job in a child: of a fork server if `forks`, else of this process.

    It is called with the name of a function of `entrolab.stages`, such as "data:scale", and what Snakemake
    gives to a rule; the argument of that function is a namespace of these and of `config`.
    """

    def run_job(function: str, *given) -> None:
        job = SimpleNamespace(**dict(zip(GIVEN, given, strict=True)), config=config)
        rule = function.partition(":")[2]
        server = _server_of(rule) if forks else None
        run_in_child(f"entrolab.stages.{function}", " ".join([rule, *job.wildcards]), job, server)

    return run_job


def run_in_child(function: str, name: str, job: SimpleNamespace, server: str | None) -> None:
    """Call ``function(job)`` in a child and wait until it ends; raise `JobFailed` unless it succeeds.

    `name` is the job's in messages. `server`, of `PRELOADED`, forks the child; None: this process does.
    """
    with _LOCK, _variables():
        child = _started(function, name, job, server)
    wait([child.sentinel])
    with _LOCK:
        child.join()  # a fork of this process has closed its end of a pipe before it ends
        code = child.exitcode
        child.close()
    if code not in (0, 1):  # with 1, the child has said why
        code = -signal.SIGKILL if code == 255 else code  # 255: killed with its server
        tell(f"{name}: {ending(code, getattr(job.resources, 'limit_seconds', 0))}")
    if code != 0:
        raise JobFailed(f"{name}: failed")


def _started(function: str, name: str, job: SimpleNamespace, server: str | None):
    """Start a child, and its server if that does not run."""
    parent, method = os.getpid(), "forkserver" if server else "fork"
    if method not in get_all_start_methods() or (method == "fork" and sys.platform != "linux"):
        method = "spawn"  # a child that imports all itself
    elif server:
        _SERVERS[server].ensure_running()
        parent = _SERVERS[server]._forkserver_pid
        forkserver.connect_to_new_process = _SERVERS[server].connect_to_new_process
    child = get_context(method).Process(target=_run, args=(parent, function, name, job), name=name)
    child.start()
    return child


@contextmanager
def _variables() -> Iterator[None]:
    """The environment and blocked signals that a process inherits when it starts."""
    given = {variable: os.environ.get(variable) for variable in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for variable, value in given.items():
            os.environ.pop(variable) if value is None else os.environ.__setitem__(variable, value)


def _run(parent: int, function: str, name: str, job: SimpleNamespace) -> None:
    """Call a job's function in a child; if it fails, say why in one line and end with status 1."""
    if (alive := forkserver._forkserver._forkserver_alive_fd) is not None:
        # A server ends when nobody holds this descriptor any more: only the workflow may.
        os.close(alive)
        forkserver._forkserver._forkserver_alive_fd = None
    end_with(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)
    module, _, attribute = function.partition(":")
    with job_log(job.log[0], name):
        work = getattr(import_module(module), attribute)
        with threadpool_limits(job.resources._cores):  # of what has been imported by now
            work(job)
    util._flush_std_streams()
    os._exit(0)  # at its end, a fork of a thread of a pool would wait for itself
