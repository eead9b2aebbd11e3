"""Run jobs in children forked from a process that has imported what they need.

Starting Python and importing scikit-learn takes longer than most jobs. A fork server of `multiprocessing`
imports `PRELOADED` once; a child of it starts within a few hundredths of a second. A child ends when the
process of the workflow or the server ends, whatever ends them.
"""

import atexit
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from multiprocessing import forkserver, get_context, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import parent_process
from types import SimpleNamespace

from threadpoolctl import threadpool_limits

from entrolab.jobs.job_logging import job_log, tell
from entrolab.text import OneLine

# Server -> what it imports. A child imports the script that started the workflow again, hence Snakemake.
# MLflow has a server of its own, so that fits inherit neither it nor its memory.
PRELOADED = {
    "learners": [
        "snakemake.cli",
        *(f"entrolab.stages.{name}" for name in ("check", "data", "fit", "tables")),
    ],
    "tracking": ["snakemake.cli", "mlflow.sklearn", "entrolab.stages.tracking"],
}
# Set to 1 while a server starts: numerical libraries read their numbers of threads when they are imported,
# and PYTHONSAFEPATH keeps files of the working folder from taking the place of modules.
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH")
_SERVERS = {name: forkserver.ForkServer() for name in PRELOADED}
for _name, _server in _SERVERS.items():
    _server.set_forkserver_preload(PRELOADED[_name])
# `Process.start` polls the children of other threads: without a lock, their exit codes are lost.
_LOCK = threading.Lock()
PR_SET_PDEATHSIG = 1
SERVER_ENDED = 255  # the exit code of a child whose server ended before it could say another
# Ctrl-C and the end of the terminal: they end the workflow and its jobs, and with these their servers.
INTERRUPTIONS = {signal.SIGINT, signal.SIGHUP}


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


def runner(config: Mapping, *, forks: bool) -> Callable[..., None]:
    """A function for rules that runs a job, in a child if `forks` is true, else in this process.

    It is called with the name of a function of `entrolab.stages`, such as "data:scale", and what Snakemake
    gives to a rule; the argument of that function is a namespace of these and of `config`.
    """

    def run_job(function: str, input, output, params, wildcards, resources, log) -> None:
        job = SimpleNamespace(
            input=input,
            output=output,
            params=params,
            wildcards=wildcards,
            resources=resources,
            log=log,
            config=config,
        )
        rule = function.partition(":")[2]
        name = " ".join([rule, *wildcards])
        if forks:
            run_in_child(
                f"entrolab.stages.{function}", name, job, "tracking" if "track" in rule else "learners"
            )
            return
        try:
            _call(f"entrolab.stages.{function}", name, job)
        except SystemExit:  # which would end a thread of Snakemake without a word
            raise JobFailed(f"{name}: failed") from None

    return run_job


def run_in_child(function: str, name: str, job: SimpleNamespace, server: str) -> None:
    """Call ``function(job)`` in a child and wait until it ends; raise `JobFailed` unless it succeeds.

    `name` is the job's in messages and `server`, of `PRELOADED`, the one that forks the child.
    """
    context = get_context("forkserver")
    child = context.Process(target=_run, args=(function, name, job), name=name)
    with _LOCK:
        _start(child, server)
    wait([child.sentinel])
    with _LOCK:
        code = child.exitcode
        child.close()
    if code == 0:
        return
    if code != 1:  # with 1, the child has said why
        if code == SERVER_ENDED:
            how = "its server ended"
        else:
            how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        memory = ", perhaps because the system ran out of memory" if code == -signal.SIGKILL else ""
        tell(f"{name}: {how}{memory}: run again")
    raise JobFailed(f"{name}: failed")


def _start(child, server: str) -> None:
    """Start a child of one of the servers, and the server if it does not run."""
    given = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    forkserver.connect_to_new_process = _SERVERS[server].connect_to_new_process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        child.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for name, value in given.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _run(function: str, name: str, job: SimpleNamespace) -> None:
    """Call a job's function in a child."""
    _end_with_others()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)
    _call(function, name, job)


def _call(function: str, name: str, job: SimpleNamespace) -> None:
    """Call a job's function; if it fails, say why in one line and raise SystemExit."""
    module, _, attribute = function.partition(":")
    with job_log(job.log[0], name):
        work = getattr(import_module(module), attribute)
        with threadpool_limits(job.resources._cores):  # of what has been imported by now
            work(job)


def _end_with_others() -> None:
    """Let this child be killed when the server ends, and let the server end when the workflow does.

    The kernel does both on Linux, at once and whatever the child computes; elsewhere a thread waits.
    """
    # A server ends when nobody holds this descriptor any more: only the process of the workflow may.
    os.close(forkserver._forkserver._forkserver_alive_fd)
    forkserver._forkserver._forkserver_alive_fd = None
    if sys.platform == "linux":
        server = os.getppid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:
            os.kill(os.getpid(), signal.SIGKILL)
    else:
        threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent_process().join()
    os.kill(os.getpid(), signal.SIGKILL)
