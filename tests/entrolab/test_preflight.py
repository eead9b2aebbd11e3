"""What a run changes in its process, and in those that it starts."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import nullcontext

import pytest

from entrolab import LEARNERS_IN, find_learners_in
from entrolab.jobs.preflight import SurroundingsError, check_folder, check_memory


def test_modules_beside_studies_are_found_last_by_the_run_and_its_jobs(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv(LEARNERS_IN, "")
    (tmp_path / "learners_of_mine.py").write_text("")
    (tmp_path / "yaml.py").write_text("")  # must not hide PyYAML
    find_learners_in([tmp_path])
    assert sys.path[-1] == str(tmp_path)
    job = "import entrolab, learners_of_mine, yaml; print(learners_of_mine.__file__, yaml.__version__)"
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "learners_of_mine.py"))


@pytest.mark.fault("Surroundings", "a data file whose name has braces", "one line before any job")
def test_braces_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_folder(["mine.csv"])
    with pytest.raises(SurroundingsError, match=r"^mine\{1\}.csv: "):
        check_folder(["mine{1}.csv"])


@pytest.mark.fault("Surroundings", "results that this user may not write", "one line before any job")
def test_a_folder_that_may_not_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = tmp_path / "results"
    results.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != "results")  # root may write anywhere
    with pytest.raises(SurroundingsError, match=f"^{results}: "):
        check_folder([])


@pytest.mark.fault("Surroundings", "a ulimit of memory too low for any run", "named, before any job")
@pytest.mark.parametrize(("limit", "option"), [(resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")])
def test_limits_that_are_too_low_are_refused(monkeypatch, limit, option):
    for gib, refused in ((-1 / 2**30, False), (4, False), (0.6, True)):
        allowed = int(gib * 2**30)  # unlimited is -1
        monkeypatch.setattr(resource, "getrlimit", lambda one: (allowed if one == limit else -1, -1))  # noqa: B023
        with pytest.raises(SurroundingsError, match=f"ulimit {option}") if refused else nullcontext():
            check_memory()


SIGNALLED = """
import os, signal, sys, time

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
from entrolab.jobs.preflight import end_at_signals

end_at_signals()
os.kill(os.getpid(), int(sys.argv[1]))
time.sleep(60)
"""


@pytest.mark.fault("Killed", "Ctrl-C or a closed terminal while Snakemake builds the graph", "it ends")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_process_in_one_line(number):
    program = [sys.executable, "-c", SIGNALLED, str(int(number))]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "interrupted\n")
