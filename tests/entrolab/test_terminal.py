"""The lines that a workflow's events become in the terminal."""

import io
import logging
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from entrolab.jobs.job_logging import tell
from entrolab.jobs.terminal import LogHandler
from entrolab.text import ERASE_LINE

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


def stats(n):
    return event(LogEvent.RUN_INFO, stats={"scale": n, "total": n})


def progress(done, total):
    return event(LogEvent.PROGRESS, done=done, total=total)


def test_snakemake_finds_the_plugin():
    assert LoggerPluginRegistry().get_plugin("entrolab").log_handler is LogHandler


def test_a_failed_job_is_a_line_that_names_its_log_and_is_counted(workflow):
    job = started(1, "scale", study="mine", dataset="iris")
    failure = event(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, rule_name="scale", log=["logs/scale.log"])
    first, last = workflow(stats(1), job, failure).splitlines()
    assert first == "failed: scale mine/iris: see logs/scale.log"
    assert last.startswith("1 failed: 0 of 1 jobs")


def test_a_job_that_succeeds_at_its_second_attempt_has_not_failed(workflow):
    job = started(1, "scale", study="mine", dataset="iris")
    failure = event(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, rule_name="scale", log=[])
    last = workflow(stats(1), job, failure, job, ended(1), progress(1, 1)).splitlines()[-1]
    assert last.startswith("1 of 1 jobs done")
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


def test_an_interruption_is_one_line(workflow):
    job = started(1, "scale", study="mine", dataset="iris")
    stopped = message("Terminating processes on user request, this might take some time.")
    failure = event(LogEvent.JOB_ERROR, logging.ERROR, jobid=1, rule_name="scale", log=[])
    (line,) = workflow(stats(1), job, stopped, failure, *FAILURE).splitlines()
    assert line.startswith("interrupted: 0 of 1 jobs")


@pytest.mark.parametrize("dryrun", [False, True])
def test_a_locked_folder_is_a_line_with_the_command_that_unlocks_it(workflow, tmp_path, dryrun):
    (tmp_path / "Makefile").touch()  # of another project
    locked = "LockException:\nError: Directory cannot be locked. Please make sure that no other Snakemake ..."
    (line,) = workflow(error(locked), dryrun=dryrun).splitlines()
    assert line.startswith(f"{tmp_path}: locked by another run; ")
    assert "`entrolab unlock`" in line


def test_no_message_has_control_characters(workflow):
    odd = "a\x1b[31mred\x07\x1b]0;title\r\x9b\u202e"
    refused = f'WorkflowError in file "/a/common.smk", line 63:\n{odd}'
    job = started(1, "scale", [odd], study="mine", dataset=odd)
    shown = workflow(job, message(odd, logging.WARNING), error(refused), tty=True, nocolor=True)
    assert shown.count("ared\ufffd") == 3
    assert all(line.isprintable() for line in shown.replace(ERASE_LINE, "\n").splitlines())


def test_snakemakes_own_messages_are_left_out_but_for_warnings_and_answers(workflow):
    wrong = "WorkflowError in file \"/a/common.smk\", line 63:\nmine.yaml: no key 'modles'"
    lines = workflow(
        message("Building DAG of jobs..."),
        message("Select jobs to execute..."),
        message("Nothing to be done (all requested files are present and up to date)."),
        message("mine.yaml: a warning", logging.WARNING),
        event(LogEvent.SHELLCMD, cmd="python"),
        (logging.ERROR, wrong, {"event": LogEvent.ERROR}),
        message("Exiting because a job execution failed. Look below", logging.ERROR),
        *FAILURE,
    ).splitlines()
    assert [line.split()[0] for line in lines] == ["Nothing", "mine.yaml:", "mine.yaml:"]


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


def test_a_dry_run_is_a_table_of_rules_with_their_jobs_and_reasons(workflow):
    reasons = ["Missing output files: a, b", "Missing output files: c", "Code has changed", ""]
    rules = ["fit", "fit", "fit", "select"]
    jobs = [
        (level, text, extra | {"reason": reason})
        for reason, (level, text, extra) in zip(reasons, map(started, range(4), rules), strict=True)
    ]
    rows = [line.split() for line in workflow(*jobs, dryrun=True).splitlines()]
    assert rows[0] == ["rule", "jobs", "because"]
    assert rows[1][:2] == ["fit", "3"]
    assert " ".join(rows[1][2:]) == "missing output files, code has changed"
    assert [row[:2] for row in rows[2:]] == [["select", "1"], ["total", "4"]]
    shown = workflow(jobs[0], dryrun=True, verbose=True)
    assert "rule fit:" in shown


def test_a_terminal_has_a_progress_line_that_every_other_line_replaces(workflow, monkeypatch):
    """After 6 s for 3 of 12 jobs, the other 9 take 18 s."""
    times = iter([0, 6, 6, 8, 10])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    job = started(4, "train", study="mine", dataset="iris", model="eem")
    shown = workflow(progress(3, 12), job, message("mine.yaml: a warning"), tty=True).split(ERASE_LINE)
    line = "3 of 12 jobs done, about 0:00:18 left, train mine/iris/eem"
    assert shown == ["", line, "mine.yaml: a warning\n", "3 of 12 jobs done in 0:00:08\n"]


def test_a_file_has_a_line_of_progress_per_minute(workflow, monkeypatch):
    times = iter([0, 10, 59, 61, 100, 121.5, 130])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    job = started(4, "train", study="mine", dataset="iris", model="eem")
    lines = workflow(job, *[progress(n, 12) for n in (1, 2, 3, 4)]).splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["2", "4"]


def test_a_run_ends_with_the_number_of_jobs_and_the_page_of_the_study(workflow):
    """Or with a table, if no page was made."""
    rules = {"table": "results/mine/tables/a.html", "page": "results/report/mine.html", "claims": "c.html"}
    jobs = {
        rule: started(number, rule, ["mine.csv", file], study="mine")
        for number, (rule, file) in enumerate(rules.items())
    }
    for made, last in (
        (["table"], "table"),
        (["table", "page", "claims"], "page"),
        (["page", "table"], "page"),
    ):
        done = [ended(number) for number, rule in enumerate(rules) if rule in made]
        *_, summary, path = workflow(
            stats(2), *(jobs[rule] for rule in made), *done, progress(2, 2)
        ).splitlines()
        assert summary.startswith("2 of 2 jobs done in 0:00:0")
        assert path.startswith(rules[last])
        assert Path(rules[last]).resolve().as_uri() in path
