"""The lines that a workflow's events become in the terminal."""

import io
import json
import logging
import threading
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from entrolab.jobs.job_logging import tell
from entrolab.jobs.terminal import LogHandler

OPTIONS = ("dryrun", "verbose", "printshellcmds", "debug_dag", "nocolor", "stdout", "show_failed_logs")


class Terminal(io.StringIO):
    tty = False

    def isatty(self):
        return self.tty


@pytest.fixture
def workflow(tmp_path, monkeypatch):
    """A function that sends events to the handler and returns what the terminal shows."""
    monkeypatch.chdir(tmp_path)

    def send(*events, tty=False, **options):
        stream = Terminal()
        stream.tty = tty
        monkeypatch.setattr("sys.stderr", stream)
        settings = SimpleNamespace(quiet=None, **(dict.fromkeys(OPTIONS, False) | options))
        handler = LogHandler(settings, None)
        handler.addFilter(DefaultFilter(None, False, False, settings.dryrun, False))
        handler.setFormatter(DefaultFormatter())
        for level, message, extra in events:
            record = logging.makeLogRecord({"levelno": level, "levelname": logging.getLevelName(level)})
            record.__dict__.update(extra, msg=message)
            if handler.filter(record):
                handler.emit(record)
        handler.close()
        return stream.getvalue()

    return send


@pytest.mark.parametrize("dryrun", [False, True])
def test_closed_streams_are_no_error(monkeypatch, dryrun):
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stderr", None)
    options = dict.fromkeys(OPTIONS, False) | {"dryrun": dryrun, "stdout": dryrun}
    handler = LogHandler(SimpleNamespace(quiet=None, **options), None)
    handler.setFormatter(DefaultFormatter())
    handler.emit(logging.makeLogRecord({"levelno": logging.ERROR, "levelname": "ERROR", "msg": "größer"}))
    handler.close()
    tell("größer")


def message(text, level=logging.INFO):
    return level, text, {}


def event(name, level=logging.INFO, **extra):
    return level, None, {"event": name, **extra}


def started(number, rule, output=(), **wildcards):
    job = {"rule_name": rule, "output": list(output), "wildcards": wildcards, "jobid": number}
    rest = {
        "rule_msg": None,
        "log": [],
        "input": [],
        "local": True,
        "is_checkpoint": False,
        "benchmark": None,
    }
    rest |= {"reason": "", "priority": 0, "threads": 1, "resources": {}}
    return event(LogEvent.JOB_INFO, **job, **rest)


def ended(number):
    return event(LogEvent.JOB_FINISHED, job_id=number)


def a_run(tmp_path, **content):
    """The events of a finished run with a record."""
    record = {"key": "mine/iris/eem", "success": True, "status": "ok", "error": "", "seconds": 1.25}
    file = tmp_path / "results/mine/records/iris/eem.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record | content))
    stats = event(LogEvent.RUN_INFO, stats={"train": 1, "total": 1})
    return stats, started(1, "train", [str(file)], study="mine", dataset="iris", model="eem"), ended(1)


def test_snakemake_finds_the_plugin():
    assert LoggerPluginRegistry().get_plugin("entrolab").log_handler is LogHandler


@pytest.mark.parametrize(
    ("score", "shown"),
    [({"metric": "gmean", "mean": 0.9712}, "GMEAN 97.1"), ({"metric": "rmse", "mean": 0.51}, "RMSE 0.51")],
)
def test_a_finished_run_is_a_line_with_its_score(workflow, tmp_path, score, shown):
    first, *_ = workflow(*a_run(tmp_path, score=score)).splitlines()
    assert first.split("  ") == ["[1/1] mine/iris/eem", shown, "1.2 s"]


def test_a_run_without_a_result_is_a_line_with_its_status_and_reason(workflow, tmp_path):
    failed = {"success": False, "status": "time limit", "error": "time limit of 5 s,\nafter 2 of 9 fits"}
    first, *rest = workflow(*a_run(tmp_path, **failed)).splitlines()
    assert first.endswith("mine/iris/eem  time limit: time limit of 5 s, after 2 of 9 fits")
    assert any("1 run without a result" in line for line in rest)


def test_a_failed_job_is_a_line_that_names_its_log_and_is_counted(workflow):
    job = started(1, "scale", study="mine", dataset="iris")
    error = event(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, rule_name="scale", log=["logs/scale.log"])
    lines = workflow(event(LogEvent.RUN_INFO, stats={"scale": 1, "total": 1}), job, error).splitlines()
    assert lines[0] == "failed: scale mine/iris: see logs/scale.log"
    assert "0 of 1 jobs" in lines[1]
    assert "1 failed" in lines[1]


def test_a_job_that_succeeds_at_its_second_attempt_has_not_failed(workflow):
    job = started(1, "scale", study="mine", dataset="iris")
    error = event(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, rule_name="scale", log=[])
    stats = event(LogEvent.RUN_INFO, stats={"scale": 1, "total": 1})
    last = workflow(stats, job, error, job, ended(1)).splitlines()[-1]
    assert last.startswith("1 jobs done")
    assert "failed" not in last


def error(text):
    return logging.ERROR, text, {"event": LogEvent.ERROR}


FAILURE = [
    error(
        'RuleException:\nCalledProcessError in file "/a/train.smk", line 31:\n'
        "Command 'set -euo pipefail;  python train.py' returned non-zero exit status 1."
    ),
    error("WorkflowError:\nAt least one job did not complete successfully."),
]


@pytest.mark.parametrize("dryrun", [False, True])
def test_an_interruption_is_one_line(workflow, monkeypatch, dryrun):
    interrupted = threading.Event()
    monkeypatch.setattr("entrolab.jobs.terminal.INTERRUPTED", interrupted)
    events = [started(1, "scale", study="mine", dataset="iris"), *FAILURE, message("Terminating processes")]
    assert "interrupted" not in workflow(*events[:1], dryrun=dryrun)
    interrupted.set()
    lines = workflow(*events, dryrun=dryrun).splitlines()
    assert [line.partition(":")[0] for line in lines] == ([] if dryrun else ["interrupted"])


@pytest.mark.parametrize("dryrun", [False, True])
def test_a_locked_folder_is_a_line_with_the_command_that_unlocks_it(workflow, tmp_path, dryrun):
    (tmp_path / "Makefile").touch()  # of another project
    locked = "LockException:\nError: Directory cannot be locked. Please make sure that no other Snakemake ..."
    (line,) = workflow(error(locked), dryrun=dryrun).splitlines()
    assert line.startswith(f"{tmp_path}: locked by another run; ")
    assert "`entrolab --unlock`" in line


@pytest.mark.parametrize("dryrun", [False, True])
def test_no_message_has_control_characters(workflow, dryrun):
    odd = "a\x1b[31mred\x07\x1b]0;title\r\x9b\u202e"
    refused = f'WorkflowError in file "/a/common.smk", line 63:\n{odd}'
    job = started(1, "scale", [odd], study="mine", dataset=odd)
    shown = workflow(job, message(odd, logging.WARNING), error(refused), dryrun=dryrun)
    assert shown.count("ared\ufffd") >= 2
    assert all(line.isprintable() for line in shown.splitlines())


def test_snakemakes_own_messages_are_left_out_but_for_warnings_and_answers(workflow):
    wrong = "WorkflowError in file \"/a/common.smk\", line 63:\nmine.yaml: no key 'modles'"
    lines = workflow(
        message("Building DAG of jobs..."),
        message("Select jobs to execute..."),
        message("Nothing to be done (all requested files are present and up to date)."),
        message("results/a.csv: changed since it was written", logging.WARNING),
        event(LogEvent.SHELLCMD, cmd="python"),
        (logging.ERROR, wrong, {"event": LogEvent.ERROR}),
        message("Exiting because a job execution failed. Look below", logging.ERROR),
        *FAILURE,
    ).splitlines()
    assert [line.split()[0] for line in lines] == ["Nothing", "results/a.csv:", "mine.yaml:"]


@pytest.mark.parametrize("dryrun", [False, True])
def test_a_refused_study_is_its_line_alone(workflow, dryrun):
    at = '  File "/a/site-packages/entrolab/project/workflow/rules/common.smk", line 67, in <module>'
    text = f"WorkflowError in file \"/a/common.smk\", line 63:\nmine.yaml: unknown key 'modles'\n{at}"
    refused = (logging.ERROR, text, {"event": LogEvent.ERROR})
    assert workflow(refused, dryrun=dryrun).splitlines() == ["mine.yaml: unknown key 'modles'"]
    assert at in workflow(refused, verbose=True)


def test_the_line_that_names_the_configuration_is_left_out(workflow):
    extended = "Config file /a/config.yaml is extended by additional config specified via the command line."
    assert workflow(message(extended)) == ""


def test_a_dry_run_shows_snakemakes_messages(workflow):
    shown = workflow(started(1, "train", study="mine", dataset="iris", model="eem"), dryrun=True)
    assert "rule train:" in shown
    assert "wildcards: study=mine, dataset=iris, model=eem" in shown


def test_a_terminal_has_a_progress_line_that_every_other_line_replaces(workflow, tmp_path):
    stats, job, end = a_run(tmp_path, score={"metric": "gmean", "mean": 1})
    shown = workflow(stats, job, end, tty=True)
    before, after = shown.split("[1/1] mine/iris/eem")
    assert "0 %, train mine/iris/eem" in before
    assert "train mine/iris/eem" not in after
    assert "0 %" not in workflow(stats, job, end)


def test_the_summary_has_the_verdicts_the_best_models_and_where_to_look(workflow, tmp_path):
    table = tmp_path / "results/mine/tables/scores.csv"
    table.parent.mkdir(parents=True)
    rows = ["iris,eem,gmean,95.5,reproduced", "iris,svm,gmean,94,lower", "iris,lda,gmean,90,reproduced"]
    rows += ["wine,eem,gmean,80,ours only", "wine,svm,gmean,80,ours only", "wine,eem,fit_seconds,9,"]
    table.write_text("\n".join(["dataset,model,metric,ours,verdict", *rows]))
    (tmp_path / "results/mine/tracked.json").write_text('{"store": "sqlite:///mlflow.db", "experiment": "7"}')
    page = tmp_path / "results/report/index.html"
    page.parent.mkdir()
    page.touch()
    job = started(1, "table", [str(table)], study="mine", table="scores")
    lines = workflow(event(LogEvent.RUN_INFO, stats={"table": 1, "total": 1}), job, ended(1)).splitlines()
    assert "mine: 1 lower, 2 reproduced" in lines
    assert "  iris    95.5  eem, 1.5 ahead of svm" in lines
    assert "  wine    80.0  eem, as svm" in lines
    assert page.as_uri() in lines[-2]
    assert "python -m entrolab.tracking.ui mlflow.db, then http" in lines[-1]
    assert "/#/experiments/7/runs" in lines[-1]
