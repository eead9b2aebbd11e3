"""Many concurrent writers to one tracking store: whether all runs are complete and unique, and the time."""

import logging
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks.report import Section
from entrolab.fit.limits import Limits

SCRIPT = Path(__file__).parents[1] / "tools" / "tracking_server.sh"
EXPERIMENT = "load"
# The content of a run: as many parameters as in a run of a study, and a few more values.
N_PARAMS, N_METRICS, N_STEPS, N_TAGS = 25, 8, 10, 4
READERS = 8

os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")


@dataclass(frozen=True)
class Written:
    """The report of one writer on its runs."""

    seconds: list[float]  # of each run that was logged without an error
    failures: list[str]  # the error of each other run
    retries: int  # number of repeated requests
    began: float  # by the monotonic clock
    ended: float


def load(limits: Limits, writers: int = 64, runs: int = 4) -> Section:
    """Log runs from many processes at the same time, to a server with PostgreSQL and to a SQLite file.

    Each run has parameters, metrics with steps, tags and an artifact. Afterwards all of it is read back and
    compared. A server that does not start, as without PostgreSQL, raises a RuntimeError.
    """
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # PostgreSQL's user must be able to enter it
        with server(Path(folder, "server")) as uri:
            rows["server on PostgreSQL"] = measured(uri, writers, runs, limits)
        uri = f"sqlite:///{folder}/mlflow.db"
        rows["SQLite, without a server"] = measured(uri, writers, runs, limits, f"file://{folder}/artifacts")
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("store")
    values = f"{N_METRICS * N_STEPS} values of {N_METRICS} metrics"
    notes = [f"Each run has {N_PARAMS} parameters, {values}, {N_TAGS} tags and an artifact."]
    notes += [f"{name}: {why}" for name, why in table["first failure"].items() if why]
    return Section(f"{writers} writers at once", table.drop(columns="first failure"), notes)


@contextmanager
def server(folder: Path, workers: int = 4) -> Iterator[str]:
    """Run a server on free ports, with its data in a folder, and yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = one.getsockname()[1], other.getsockname()[1]
    settings = {
        "SERVER": str(folder),
        "PORT": str(ports[0]),
        "DATABASE_PORT": str(ports[1]),
        "WORKERS": str(workers),
        "PYTHON": sys.executable,
    }

    def call(verb: str) -> None:
        done = subprocess.run(
            ["sh", SCRIPT, verb],
            env={**os.environ, **settings},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip())

    call("start")
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        call("stop")


def measured(uri: str, writers: int, runs: int, limits: Limits, artifacts: str | None = None) -> dict:
    """The row of one store."""
    import entrolab.tracking.ledger  # noqa: F401  once, for all processes

    fork = multiprocessing.get_context("fork")  # importing MLflow in each process would take minutes
    with ProcessPoolExecutor(1, fork) as before:  # no writer inherits an open store
        experiment = before.submit(_create, uri, artifacts).result()
    start = fork.Barrier(writers)
    with ProcessPoolExecutor(writers, fork, _meet_at, (start,)) as pool:
        work = partial(write, uri, experiment, runs)
        said = list(pool.map(work, range(writers), timeout=limits.seconds))
    elapsed = max(one.ended for one in said) - min(one.began for one in said)
    seconds = [each for one in said for each in one.seconds]
    failures = [each for one in said for each in one.failures]
    found = read(uri, experiment)
    wanted = {(str(writer), str(number)) for writer in range(writers) for number in range(runs)}
    return {
        "runs": writers * runs,
        "seconds": elapsed,
        "runs/s": len(seconds) / elapsed,
        "median s": statistics.median(seconds) if seconds else float("nan"),
        "slowest s": max(seconds, default=float("nan")),
        "retries": sum(one.retries for one in said),
        "failures": len(failures),
        "whole": sum(found[key] == ["whole"] for key in wanted),
        "in part": sum(found[key] == ["in part"] for key in wanted),
        "doubled": sum(len(found[key]) > 1 for key in wanted),
        "first failure": failures[0] if failures else "",
    }


def _create(uri: str, artifacts: str | None) -> str:
    from entrolab.tracking.ledger import mlflow

    return mlflow.MlflowClient(uri, uri).create_experiment(EXPERIMENT, artifacts)


# ---------------------------------------------------------------------------------------------------------
# In a writer's process

_start = None


def _meet_at(start) -> None:
    global _start
    _start = start


def write(uri: str, experiment: str, runs: int, writer: int) -> Written:
    """Log the runs of one writer; a failed run is not tried again."""
    from entrolab.tracking.ledger import mlflow

    client = mlflow.MlflowClient(uri, uri)
    retries = _Retries()
    seconds, failures = [], []
    if _start is not None:
        _start.wait()
    began = time.monotonic()
    for number in range(runs):
        before = time.monotonic()
        try:
            _log(client, experiment, str(writer), str(number))
            seconds.append(time.monotonic() - before)
        except (mlflow.MlflowException, OSError) as error:
            failures.append(next(iter(str(error).splitlines()), type(error).__name__)[:200])
    return Written(seconds, failures, retries.count, began, time.monotonic())


class _Retries(logging.Handler):
    """Logging handler that counts repeated requests, which urllib3 only reports in its log."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.count = 0
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # it warns of each of them
        teller = logging.getLogger("urllib3.util.retry")
        teller.setLevel(logging.DEBUG)
        teller.propagate = False
        teller.handlers = [self]

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.msg.startswith("Incremented Retry")


def contents(writer: str, number: str) -> dict:
    """The content of a run, in which every value identifies its writer."""
    return {
        "params": {f"p{i}": f"{writer}.{number}.{i}" for i in range(N_PARAMS)},
        "tags": {
            "writer": writer,
            "number": number,
            **{f"t{i}": f"{writer}.{number}.{i}" for i in range(N_TAGS - 2)},
        },
        "metrics": {
            f"m{i}": [(step, int(writer) + int(number) / 8 + i * step) for step in range(N_STEPS)]
            for i in range(N_METRICS)
        },
        "artifact": f"run {number} of writer {writer}\n" * 100,
    }


def _log(client, experiment: str, writer: str, number: str) -> None:
    from mlflow.entities import Metric, Param

    holds = contents(writer, number)
    run = client.create_run(experiment, tags=holds["tags"]).info.run_id
    metrics = [
        Metric(name, value, step, step) for name, series in holds["metrics"].items() for step, value in series
    ]
    client.log_batch(run, metrics, [Param(*each) for each in holds["params"].items()])
    client.log_text(run, holds["artifact"], "about.txt")
    client.set_terminated(run)


# ---------------------------------------------------------------------------------------------------------
# Afterwards


def read(uri: str, experiment: str) -> Mapping[tuple[str, str], list[str]]:
    """For each writer and number, whether its runs are complete or partial."""
    from entrolab.tracking.ledger import mlflow

    client = mlflow.MlflowClient(uri, uri)
    page = client.search_runs([experiment], max_results=1000)
    runs = list(page)
    while page.token:
        page = client.search_runs([experiment], max_results=1000, page_token=page.token)
        runs += page
    found = defaultdict(list)
    with ThreadPoolExecutor(READERS) as readers:
        for run, whole in zip(runs, readers.map(partial(_is_whole, client), runs), strict=True):
            key = run.data.tags.get("writer"), run.data.tags.get("number")
            found[key].append("whole" if whole else "in part")
    return found


def _is_whole(client, run) -> bool:
    """Whether a run is finished and contains every value exactly once, and nothing else."""
    tags = {name: value for name, value in run.data.tags.items() if not name.startswith("mlflow.")}
    holds = contents(tags["writer"], tags["number"])
    histories = {name: client.get_metric_history(run.info.run_id, name) for name in run.data.metrics}
    values = {name: Counter((one.step, one.value) for one in history) for name, history in histories.items()}
    if run.info.status != "FINISHED" or (tags, run.data.params) != (holds["tags"], holds["params"]):
        return False
    if values != {name: Counter(series) for name, series in holds["metrics"].items()}:
        return False
    artifacts = [file.path for file in client.list_artifacts(run.info.run_id)]
    with tempfile.TemporaryDirectory() as folder:
        return artifacts == ["about.txt"] and (
            Path(client.download_artifacts(run.info.run_id, "about.txt", folder)).read_text()
            == holds["artifact"]
        )
