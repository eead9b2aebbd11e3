"""Snakemake's logger plugin `entrolab`: a line per finished run, failures, progress and a summary.

The default profile enables it. Dry runs and the options `--verbose`, `--printshellcmds` and `--debug-dag`
show Snakemake's own messages.
"""

import csv
import os
import re
import shlex
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from logging import DEBUG, ERROR, INFO, WARNING, LogRecord
from pathlib import Path

from snakemake.logging import ColorizingTextHandler, get_event, is_quiet_about
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from entrolab.fit.metrics import METRICS
from entrolab.io.records import read_json
from entrolab.jobs.command import is_checkout
from entrolab.jobs.preflight import INTERRUPTED
from entrolab.text import ERASE_LINE, Unreadable, one_line, printable

RED, YELLOW = "\x1b[31m", "\x1b[33m"
# Beginnings of Snakemake's messages that are not shown.
REPLACED = (
    "Assuming unrestricted shared filesystem",
    "At least one job did not complete successfully",
    "Building DAG of jobs",
    "Complete log(s)",
    "Config file ",
    "Conda environments: ignored",
    "Elapsed time",
    "Execute ",
    "Exiting because a job execution failed",
    "host: ",
    "Job rate limit reached",
    "Select jobs to execute",
    "Shutting down, this might",
    "Using shell",
    "WorkflowError:\nAt least one job did not complete successfully",
)
# A failed job is told by itself and by the line with its log.
FAILED = re.compile(r"RuleException:\nCalledProcessError in .*returned non-zero exit status \d+\.", re.DOTALL)
LOCKED = ("LockException:", "Error: Directory cannot be locked")
# Text around the error message of an invalid study.
WHERE = re.compile(r"^WorkflowError in (rule \S+, )?file .*:\n")
CALLED_AT = re.compile(r'\n  File ".*\.smk", line \d+, in <module>\s*$')
MOST_LISTED = 12  # data sets in the summary


class LogHandler(LogHandlerBase):
    """Writes short lines to the terminal in place of Snakemake's messages."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        stream = sys.stdout if settings.stdout else sys.stderr  # None if it is closed
        self.stream = stream or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        plain = any((settings.dryrun, settings.verbose, settings.printshellcmds, settings.debug_dag))
        self._snakemakes = SnakemakeHandler(settings.nocolor, self.stream) if plain else None
        self._tty = self.stream.isatty()
        self._coloured = self._tty and not settings.nocolor
        self._shows_progress = not is_quiet_about(settings.quiet or set(), "progress")
        self._run = WorkflowRun()
        self._closed = False

    def setFormatter(self, fmt) -> None:
        super().setFormatter(fmt)
        if self._snakemakes:
            self._snakemakes.setFormatter(fmt)

    def emit(self, record: LogRecord) -> None:
        try:
            if self._snakemakes and not self._is_short(record):
                self._snakemakes.emit(record)
                return
            lines = [*self._lines(record)]
            if not INTERRUPTED.is_set():  # else jobs fail because they are ended
                for level, line in lines:
                    self._write(level, line)
                self._write_progress()
        except OSError:  # the terminal was closed
            pass

    def close(self) -> None:
        if not self._closed and not self._snakemakes and self._shows_progress:
            self._closed = True
            with suppress(OSError):
                self._erase_progress()
                for line in self._run.summary():
                    self._write(INFO, line)
        super().close()

    def _is_short(self, record: LogRecord) -> bool:
        """Whether a message of a dry run has a line of its own: a refused study, a lock, an interruption."""
        refused = get_event(record) is LogEvent.ERROR and WHERE.match(record.getMessage()) is not None
        short = refused or record.getMessage().startswith(LOCKED) or INTERRUPTED.is_set()
        return short and not self.common_settings.verbose

    def _lines(self, record: LogRecord) -> Iterator[tuple[int, str]]:
        """Yield the lines to write for a message of Snakemake, with their levels."""
        event, run = get_event(record), self._run
        if event is LogEvent.RUN_INFO:
            run.expect(record.stats)
        elif event is LogEvent.JOB_INFO:
            run.start(record)
        elif event is LogEvent.PROGRESS:
            run.done, run.total = record.done, record.total
        elif event is LogEvent.JOB_FINISHED:
            yield from run.finish(record.job_id)
        elif event is LogEvent.JOB_ERROR:
            yield ERROR, run.fail(record)
        elif event in (None, LogEvent.ERROR) and record.levelno > DEBUG:
            text, refusals = WHERE.subn("", record.getMessage())
            text = (CALLED_AT.sub("", text) if refusals else text).strip()
            if text.startswith(LOCKED):
                text = (
                    f"{Path().absolute()}: locked by another run; wait for its end or, if it was killed, run "
                    f"`{'make unlock' if is_checkout('.') else 'entrolab --unlock'}` there, then this command"
                )
            if text not in ("", "None") and not text.startswith(REPLACED) and not FAILED.fullmatch(text):
                yield record.levelno if event else max(record.levelno, INFO), text

    def _write(self, level: int, text: str) -> None:
        self._erase_progress()
        text = printable(text)
        colour = RED if level >= ERROR else YELLOW if level >= WARNING else ""
        print(f"{colour}{text}\x1b[0m" if colour and self._coloured else text, file=self.stream, flush=True)

    def _erase_progress(self) -> None:
        if self._tty:
            print(ERASE_LINE, end="", file=self.stream, flush=True)

    def _write_progress(self) -> None:
        if self._tty and self._shows_progress and self._run.running:
            width = shutil.get_terminal_size().columns - 1
            print(ERASE_LINE + printable(self._run.progress())[:width], end="", file=self.stream, flush=True)


class SnakemakeHandler(ColorizingTextHandler):
    """Snakemake's own handler, for printable messages."""

    def format(self, record: LogRecord) -> str:
        return printable(super().format(record) or "")


class WorkflowRun:
    """The jobs of one call of Snakemake: their states, durations and files."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.running: dict[int, LogRecord] = {}
        self._begun = time.monotonic()
        self._expected: Counter[str] = Counter()
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._started: dict[int, float] = {}
        self._tables: dict[str, list[str]] = defaultdict(list)  # study -> CSV files
        self._unsuccessful = 0
        self._failed: set[int] = set()

    def expect(self, stats: Mapping[str, int]) -> None:
        """Set the expected number of jobs of each rule."""
        self._expected = Counter({rule: int(n) for rule, n in stats.items() if rule != "total"})
        self.total = sum(self._expected.values())

    def start(self, job: LogRecord) -> None:
        self.running[job.jobid] = job
        self._started[job.jobid] = time.monotonic()

    def finish(self, number: int) -> Iterator[tuple[int, str]]:
        """Count a job as done; yield the line of a run with its score, or with the reason why it has none."""
        job = self.running.pop(number, None)
        if job is None:
            return
        self.done += 1
        self._failed.discard(number)  # failed at an earlier attempt
        self._seconds[job.rule_name].append(time.monotonic() - self._started[number])
        if job.rule_name == "table":
            self._tables[job.wildcards["study"]] += [file for file in job.output if file.endswith(".csv")]
        records = [file for file in job.output if "/records/" in file]
        if job.rule_name == "train" and records:
            with suppress(OSError, Unreadable):
                record = read_json(records[0])
                self._unsuccessful += not record["success"]
                yield WARNING if not record["success"] else INFO, self._place() + _line_of_run(record)

    def fail(self, job: LogRecord) -> str:
        """Count a job as failed; return its line."""
        started = self.running.pop(job.jobid, None)
        self._failed.add(job.jobid)
        of = "/".join(started.wildcards.values()) if started else ""
        log = f": see {', '.join(job.log)}" if job.log else ""
        return f"failed: {job.rule_name} {of}".rstrip() + log

    def progress(self) -> str:
        """The progress line: percentage, running jobs, and estimated time left."""
        running = [f"{job.rule_name} {'/'.join(job.wildcards.values())}" for job in self.running.values()]
        share = f"{100 * self.done // max(self.total, 1)} %"
        left = self._seconds_left()
        about = "" if left is None else f"about {_duration(left)} left, "
        return f"{self._place()}{share}, {about}{', '.join(running)}"

    def summary(self) -> Iterator[str]:
        """Yield the summary: what was done, verdicts, best models, and where to find the results."""
        if not self._started:
            return
        ended = f"{self.done} of {self.total} jobs" if self.done < self.total else f"{self.total} jobs"
        ended += f" done in {_duration(time.monotonic() - self._begun)}"
        if INTERRUPTED.is_set():
            yield f"interrupted: {ended}; the same command does the rest"
            return
        if self._failed:
            ended += f", {len(self._failed)} failed: the same command tries them again"
        yield ended
        if self._unsuccessful:
            runs = "run" if self._unsuccessful == 1 else "runs"
            yield f"{self._unsuccessful} {runs} without a result: the tables give the reasons"
        for study, files in self._tables.items():
            yield from _summary_of_study(study, files)
        page = Path("results/report/index.html")
        if page.exists():
            yield f"report: {page}  ({page.resolve().as_uri()})"
        if (store := _store(self._tables)) is not None:
            yield f"runs:   {store}"

    def _place(self) -> str:
        return f"[{self.done:{len(str(self.total))}}/{self.total}] "

    def _seconds_left(self) -> float | None:
        """Time left, from the mean duration of each rule's jobs and the number of jobs now running."""
        spent = [seconds for of_rule in self._seconds.values() for seconds in of_rule]
        if len(spent) < 5:
            return None
        mean = sum(spent) / len(spent)
        work = sum(
            (expected - len(of_rule)) * (sum(of_rule) / len(of_rule) if of_rule else mean)
            for rule, expected in self._expected.items()
            for of_rule in [self._seconds[rule]]
        )
        return max(work, 0) / max(len(self.running), 1)


def _line_of_run(record: Mapping) -> str:
    seconds = f"{record['seconds']:.1f} s"
    if not record["success"]:
        return f"{record['key']}  {record['status']}: {one_line(record['error'], limit=150)}"
    if not (score := record.get("score")):
        return f"{record['key']}  {seconds}"
    what = METRICS[score["metric"]]
    value = _number(score["metric"], score["mean"] * (100 if what.percent else 1))
    return f"{record['key']}  {what.label} {value}  {seconds}"


def _number(metric: str, value: float) -> str:
    """A value formatted as in tables, with fractions as percentages."""
    return f"{value:.1f}" if METRICS[metric].percent else f"{value:.4g}"


def _duration(seconds: float) -> str:
    minutes = round(seconds) // 60
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {round(seconds) % 60} s" if minutes else f"{round(seconds)} s"


def _summary_of_study(study: str, files: Sequence[str]) -> Iterator[str]:
    """Yield the verdicts of a study's tables, and the best model per data set in the first score table."""
    rows = {Path(file).stem: _rows(file) for file in sorted(files)}
    verdicts = Counter(row["verdict"] for table in rows.values() for row in table)
    judged = {name: n for name, n in verdicts.items() if name not in ("", "ours only", "known")}
    if judged:
        yield f"{study}: " + ", ".join(f"{n:,} {name}" for name, n in sorted(judged.items()))
    for table, of_table in rows.items():
        numbers = [row for row in of_table if row["ours"] and row["verdict"] != "known"]
        scored = [row for row in numbers if row["metric"] in METRICS and row["model"]]
        if not scored:
            continue
        metric = scored[0]["metric"]
        by_dataset = defaultdict(list)
        for row in scored:
            if row["metric"] == metric:
                by_dataset[row["dataset"]].append(row)
        yield f"{study}, {table}: the best {METRICS[metric].label} of each data set"
        listed = list(by_dataset.items())[:MOST_LISTED]
        width = max(len(dataset) for dataset, _ in listed)
        for dataset, of_dataset in listed:
            yield f"  {dataset:{width}}  {_best(metric, of_dataset)}"
        if len(by_dataset) > MOST_LISTED:
            yield f"  and {len(by_dataset) - MOST_LISTED} more in results/{study}/tables/{table}.html"
        return


def _best(metric: str, rows: Sequence[Mapping]) -> str:
    """The best model on a data set and its margin to the next one."""
    sign = -1 if METRICS[metric].greater_is_better else 1
    first, *others = sorted(rows, key=lambda row: sign * float(row["ours"]))
    value = float(first["ours"])
    said = f"{_number(metric, value):>6}  {first['model']}"
    if not others:
        return said
    margin = abs(value - float(others[0]["ours"]))
    if not margin:
        return f"{said}, as {others[0]['model']}"
    ahead = f"{margin:.2g}" if margin < 99.5 else f"{margin:.0f}"
    return f"{said}, {ahead} ahead of {others[0]['model']}"


def _rows(file: str) -> list[dict]:
    with suppress(OSError), open(file, encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))
    return []


def _store(studies: Iterable[str]) -> str | None:
    """The command and address that show the tracked runs of the first study that has some."""
    for study in studies:
        with suppress(OSError, Unreadable, KeyError):
            receipt = read_json(f"results/{study}/tracked.json")
            store = receipt["store"]
            page = f"#/experiments/{receipt['experiment']}/runs"
            if not store.startswith("sqlite"):
                return f"{store.rstrip('/')}/{page}" if store.startswith("http") else store
            served = is_checkout(".") and store == "sqlite:///mlflow.db"
            file = store.removeprefix("sqlite:///")
            command = "make ui" if served else f"python -m entrolab.tracking.ui {shlex.quote(file)}"
            return f"{command}, then http://127.0.0.1:5000/{page}"
    return None
