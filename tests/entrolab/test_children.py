"""Jobs in children of the fork server: their exit, what they inherit, and how they end with others."""

import ast
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from entrolab.jobs import children
from entrolab.jobs.children import PRELOADED, JobFailed, run_in_child


def run(function, tmp_path, name="a job", params=None, server="tables"):
    files = {"output": [str(tmp_path / "out")], "log": [str(tmp_path / f"{name}.log")]}
    job = SimpleNamespace(**files, params=params, resources=SimpleNamespace(_cores=1, limit_seconds=5))
    run_in_child(f"jobs_of_children:{function}", name, job, server)


def test_of_many_jobs_in_threads_each_ends_as_its_function_does(tmp_path):
    """Without the lock around start and exit code, some that succeed seem to fail."""

    def one(number):
        try:
            run("nothing" if number % 3 else "fail", tmp_path, f"job {number}", {"says": f"number {number}"})
        except JobFailed:
            return True
        return False

    with ThreadPoolExecutor(4) as pool:
        failed = list(pool.map(one, range(20)))
    assert failed == [number % 3 == 0 for number in range(20)]
    assert "number 3" in (tmp_path / "job 3.log").read_text()


def test_what_servers_import_exists():
    """The fork server is silent about what it cannot import."""
    for name in {name for names in PRELOADED.values() for name in names}:
        assert find_spec(name), name


def test_a_child_has_what_its_server_imports_and_one_thread(tmp_path):
    run("write_modules", tmp_path, server="tables")
    modules, threads, given = ast.literal_eval((tmp_path / "out").read_text())
    assert {*PRELOADED["tables"]} <= {*modules}
    assert "mlflow" not in modules
    assert threads == [1]
    assert given == "1"


def test_servers_of_rules_import_before_their_first_job(monkeypatch):
    started = []
    for name, server in children._SERVERS.items():
        monkeypatch.setattr(server, "ensure_running", lambda name=name: started.append(name))
    children.start_servers(["download", "fit", "refit", "track_study", "track"])
    assert sorted(started) == ["fits", "tables", "tracking"]


def test_a_job_that_reaches_its_limit_of_time_says_so(tmp_path, capsys):
    with pytest.raises(JobFailed):
        run("compute_on", tmp_path)
    assert capsys.readouterr().err == "a job: time limit of 5 s\n"


@pytest.fixture(params=["forkserver", "fork", "spawn"])
def method(request, monkeypatch):
    """The name of a server, or none: of jobs on a cluster, and where Python has no fork server."""
    if request.param == "spawn":
        monkeypatch.setattr(children, "get_all_start_methods", lambda: ["spawn"])
    return None if request.param == "fork" else "tables"


def test_a_job_succeeds_or_is_killed_however_its_process_starts(tmp_path, capsys, method):
    before = {name: os.environ.get(name) for name in children.VARIABLES}
    with ThreadPoolExecutor() as pool:  # as Snakemake runs jobs
        pool.submit(run, "write_modules", tmp_path, server=method).result()
    assert ast.literal_eval((tmp_path / "out").read_text())[2] == "1"
    with pytest.raises(JobFailed):
        run("kill_itself", tmp_path, server=method)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("a job: ")
    assert "SIGKILL" in line
    assert {name: os.environ.get(name) for name in children.VARIABLES} == before


RUN = """
import sys
from pathlib import Path
from entrolab.jobs.children import _SERVERS
from test_children import run
_SERVERS["tables"].set_forkserver_preload(["jobs_of_children"])
if __name__ == "__main__":
    run("write_on", Path(sys.argv[1]))
"""


@pytest.mark.parametrize("which", ["main", "server", "child"])
def test_nothing_is_written_after_a_process_was_killed(tmp_path, which):
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    main = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )
    out = tmp_path / "out"
    while not out.exists() or out.read_text().count("\n") < 3:
        assert main.poll() is None, main.stderr.read()
        time.sleep(0.01)
    child, server = map(int, out.read_text().split()[:2])
    os.kill({"main": main.pid, "server": server, "child": child}[which], signal.SIGKILL)
    assert (main.wait() == 0) is False
    while _lives(child):
        time.sleep(0.001)
    written = out.read_bytes()
    time.sleep(0.1)
    assert out.read_bytes() == written
    while _lives(server):
        time.sleep(0.01)
    if which != "main":
        assert b"JobFailed" in main.stderr.read()
    main.stderr.close()


def _lives(pid):
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
