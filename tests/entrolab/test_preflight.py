"""What a run changes in its process, and in those that it starts."""

import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from entrolab import LEARNERS_IN
from entrolab.jobs.preflight import (
    SurroundingsError,
    check_limits,
    check_paths,
    check_writable,
    find_learners_in,
    limits_behind,
)


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


@pytest.mark.fault("Surroundings", "a folder or file whose name is not UTF-8", "one line before any job")
def test_names_that_are_no_text_are_refused(tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    os.mkdir(folder)
    for check in (check_writable, lambda folder: check_paths([f"{folder}/mine.csv"])):
        with pytest.raises(SurroundingsError, match="caf\ufffd.*: the name is not UTF-8; rename") as caught:
            check(folder)
        assert str(caught.value).isprintable()


@pytest.mark.fault("Surroundings", "a ulimit too low for any run", "named, before any job")
@pytest.mark.parametrize(
    ("limit", "line"),
    [
        (resource.RLIMIT_AS, "`ulimit -v` allows 600 MiB, a run needs 3,072 MiB: raise it"),
        (resource.RLIMIT_FSIZE, "`ulimit -f` allows 1 MiB, a run needs 16 MiB: raise it"),
    ],
)
def test_limits_that_are_too_low_are_refused(monkeypatch, limit, line):
    real = resource.getrlimit
    low = {resource.RLIMIT_AS: 600 << 20, resource.RLIMIT_FSIZE: 1 << 20}[limit]
    monkeypatch.setattr(resource, "getrlimit", lambda one: (low, low) if one == limit else real(one))
    with pytest.raises(SurroundingsError, match=line):
        check_limits()


@pytest.mark.fault("Surroundings", "a folder of temporary files with little room", "named, before any job")
def test_a_folder_of_temporary_files_without_room_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usage = shutil.disk_usage(tmp_path)._replace(free=3 << 20)
    monkeypatch.setattr(shutil, "disk_usage", {str(tmp_path): usage}.get)
    with pytest.raises(SurroundingsError, match=rf"^{tmp_path}: 3 MiB free .* another folder in TMPDIR$"):
        check_limits()


def test_an_error_at_a_limit_names_it_and_no_other_error_does(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (5 << 30, -1))
    assert limits_behind("OSError: [Errno 27] File too large") == " (`ulimit -f` allows 5,120 MiB)"
    assert limits_behind("KeyError: 'x'") == ""


SIGNALLED = """
import os, signal, sys, time

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
from entrolab.jobs.preflight import end_at_signals

end_at_signals()

def expand_resources():
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0.001)
    except BaseException:
        print("taken for an error of the resources")

expand_resources()
time.sleep(60)
"""


@pytest.mark.fault("Killed", "Ctrl-C or a closed terminal while Snakemake builds the graph", "it ends")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_not_lost_where_snakemake_would_swallow_it(number):
    program = [sys.executable, "-c", SIGNALLED, str(int(number))]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "interrupted\n")
