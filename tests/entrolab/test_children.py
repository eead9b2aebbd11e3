"""Jobs in children of the fork server: their exit, what they inherit, and how they end with others."""

import ast
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from entrolab.jobs.children import PRELOADED, JobFailed, run_in_child


def run(function, tmp_path, name="a job", params=None, server="learners"):
    files = {"output": [str(tmp_path / "out")], "log": [str(tmp_path / f"{name}.log")]}
    job = SimpleNamespace(**files, params=params, resources=SimpleNamespace(_cores=1))
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
        failed = list(pool.map(one, range(40)))
    assert failed == [number % 3 == 0 for number in range(40)]
    assert "number 3" in (tmp_path / "job 3.log").read_text()


@pytest.mark.parametrize("server", PRELOADED)
def test_a_child_has_what_its_server_imports_and_one_thread(tmp_path, server):
    """The fork server is silent about what it cannot import."""
    run("write_modules", tmp_path, server=server)
    modules, threads, given = ast.literal_eval((tmp_path / "out").read_text())
    assert {*PRELOADED[server]} <= {*modules}
    assert ("mlflow" in modules) == (server == "tracking")
    assert threads == [1]
    assert given == "1"


def test_a_killed_child_is_a_failed_job_that_says_so(tmp_path, capsys):
    with pytest.raises(JobFailed):
        run("kill_itself", tmp_path)
    assert "SIGKILL" in capsys.readouterr().err
    run("nothing", tmp_path)


RUN = """
import sys
from pathlib import Path
from test_children import run
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
