"""What a job says, and to whom."""

import logging
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from entrolab import LEARNERS_IN
from entrolab.claims.winners import Best
from entrolab.io.atomic import DiskFull
from entrolab.jobs.job_logging import job_log
from entrolab.stages.tables import tell_result


@pytest.mark.fault("Surroundings", "a terminal that is closed while a job reports", "the job goes on")
def test_a_job_whose_terminal_is_gone_goes_on(tmp_path):
    program = (
        "from entrolab.jobs.job_logging import Progress, job_log\n"
        "with job_log('job.log', 'train'):\n"
        "    Progress('train', every=0)(1, 2)\n"
        "    open('result', 'w').close()"
    )
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stderr=writer, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert (tmp_path / "result").exists()
    assert "train: 1 of 2 fits, 50 %" in (tmp_path / "job.log").read_text(encoding="utf-8")


IMPORTS = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may ignore in the background
import entrolab
"""
INTERRUPTED = "os.kill(os.getpid(), signal.SIGINT)"
AT_WORK = f"from entrolab.jobs.job_logging import job_log\nwith job_log('job.log', 'train'): {INTERRUPTED}"


@pytest.mark.parametrize(("work", "code"), [(INTERRUPTED, -signal.SIGINT), (AT_WORK, 1)])
def test_a_job_that_is_interrupted_says_nothing(tmp_path, work, code):
    job = [sys.executable, "-c", IMPORTS + work]
    environment = {**os.environ, LEARNERS_IN: str(tmp_path)}
    done = subprocess.run(job, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.fixture
def own_handlers(monkeypatch):
    """No handler of a job's log, or of signals, stays behind."""
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = before, level


@pytest.mark.fault("Disk", "an error that one line explains", "no traceback, in the terminal or in the log")
@pytest.mark.parametrize(
    ("error", "traced"),
    [
        (DiskFull(28, "the disk is full: no room for results/x"), False),
        (ValueError("\x1b[1;33mx\x1b[0m"), True),
    ],
)
def test_what_one_line_explains_has_no_traceback(tmp_path, capsys, own_handlers, error, traced):
    log = tmp_path / "job.log"
    with pytest.raises(SystemExit), job_log(str(log), "train"):
        raise error
    said, logged = capsys.readouterr().err, log.read_text(encoding="utf-8")
    assert said.startswith("train: ")
    assert said.count("\n") == 1
    assert (f"(traceback in {log})" in said) == ("Traceback" in logged) == traced
    assert "\x1b" not in said + logged
    assert "[1;33m" not in said + logged


def frame(*rows):
    return pd.DataFrame(rows, columns=["dataset", "model", "metric", "ours", "verdict", "published"])


NAN = float("nan")


def best_of(dataset, model, score, metric, close):
    return Best(metric, (dataset,), model, score, 1.0, "svm", 1.0, close, 1, "t-test")


@pytest.mark.parametrize(
    ("metric", "close", "line"),
    [
        ("gmean", (), "GMEAN: iris 97.5 eem*; wine 80.0 elm (*: significantly ahead)"),
        ("rmse", (), "RMSE: iris 97.5 eem*; wine 80 elm (*: significantly ahead)"),
        ("gmean", ("svm",), "GMEAN: iris 97.5 eem; wine 80.0 elm (no difference is significant)"),
    ],
)
def test_a_table_of_scores_is_a_line_with_the_best_model_of_each_data_set(capsys, metric, close, line):
    bests = [best_of("iris", "eem", 97.5, metric, close), best_of("wine", "elm", 80.0, metric, ("svm",))]
    tell_result("mine scores", frame(("iris", "eem", metric, 97.5, "ours only", NAN)), bests)
    assert capsys.readouterr().err == f"mine scores: best {line}\n"


def test_a_table_with_published_values_is_a_line_with_its_verdicts(capsys):
    verdicts = ["lower", "reproduced", "reproduced", "published only"]
    tell_result("eem table4", frame(*[("iris", "eem", "gmean", 95.0, one, 90.0) for one in verdicts]), ())
    assert capsys.readouterr().err == "eem table4: 2 reproduced, 1 lower\n"


def test_a_table_without_scores_is_no_line(capsys):
    tell_result("mine times", frame(("iris", "eem", "fit_seconds", 1.5, "ours only", NAN)), ())
    assert capsys.readouterr().err == ""
