"""Snakemake's logger plugin `entrolab`: a line of progress, failures, warnings, and where to look.

The default profile enables it. A dry run is a table of rules; the options `--verbose`, `--printshellcmds` and
`--debug-dag` show Snakemake's own messages. Jobs tell their results themselves (see
:mod:`entrolab.jobs.job_logging`).
"""

import os
import re
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from logging import ERROR, INFO, WARNING, LogRecord
from pathlib import Path

from snakemake.logging import ColorizingTextHandler, get_event
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from entrolab.io.commands import is_checkout
from entrolab.text import ERASE_LINE, printable

# Messages that are not shown. A failed job has a line of its own, and one with the path of its log.
HIDDEN = re.compile(
    r"None$|Assuming unrestricted|Building DAG|Complete log|Conda environments: ignored|Config file |Elapsed"
    r"|Execute |Exiting because|host: |Job rate limit|RuleException:\n(CalledProcessError|JobFailed)"
    r"|Select jobs|Shutting down|Terminating|Using shell|(WorkflowError:\n)?At least one job|Reasons:"
    r"|This was a dry-run|Rules with provenance"
)
REPORT = "results/report/"
UNSEEN = ("claims",)  # rules whose pages are parts of others
LOCKED = ("LockException:", "Error: Directory cannot be locked")
# A mistake in a study, inside Snakemake's description of the place in a rule that raised it.
REFUSED = re.compile(r'WorkflowError in (?:rule \S+, )?file .*?:\n(.*?)(?:\n  File ".*)?', re.DOTALL)


class LogHandler(LogHandlerBase):
    """Writes short lines to the terminal in place of Snakemake's messages."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        stream = sys.stdout if settings.stdout else sys.stderr  # None if it is closed
        self._snakemakes = ColorizingTextHandler(settings.nocolor, stream or open(os.devnull, "w"))  # noqa: SIM115
        self._is_plain = any((settings.verbose, settings.printshellcmds, settings.debug_dag))
        self._planned: dict[str, Counter] = defaultdict(Counter)  # rule -> reasons of its jobs, in a dry run
        self._begun = self._shown = time.monotonic()
        self._done = self._total = 0
        self._running: dict[int, str] = {}
        self._outputs: dict[int, list[str]] = {}
        self._made = ""  # the page of the study, or else the last table or figure
        self._failed: set[int] = set()
        self._interrupted = False

    def emit(self, record: LogRecord) -> None:
        event, text = get_event(record), record.getMessage()
        refused = REFUSED.fullmatch(text) if event is LogEvent.ERROR else None
        self._interrupted |= text.startswith("Terminating processes on user request")
        with suppress(OSError):  # the terminal was closed
            if text.startswith(LOCKED):
                unlock = "make unlock" if is_checkout(".") else "entrolab unlock"
                wait = f"wait for its end or, if it was killed, run `{unlock}` there, then this command"
                self._write(f"{Path().absolute()}: locked by another run; {wait}", ERROR)
            elif refused and not self.common_settings.verbose:
                self._write(refused[1], ERROR)
            elif self.common_settings.dryrun and event is LogEvent.JOB_INFO and not self._is_plain:
                self._planned[record.rule_name][record.reason.partition(":")[0].lower()] += 1
            elif self._is_plain:
                self._snakemakes.setFormatter(self.formatter)
                self._snakemakes.emit(record)
            elif event in (None, LogEvent.ERROR):
                if not HIDDEN.match(text) and not self._interrupted:
                    self._write(text.strip(), record.levelno)
            else:
                self._follow(event, record)

    def _follow(self, event: LogEvent, record) -> None:
        if event is LogEvent.PROGRESS:
            self._done, self._total = record.done, record.total
        elif event is LogEvent.RUN_INFO:
            self._total, self._begun = int(record.stats["total"]), time.monotonic()
        elif event is LogEvent.JOB_INFO:
            self._running[record.jobid] = f"{record.rule_name} {'/'.join(record.wildcards.values())}".rstrip()
            self._outputs[record.jobid] = [] if record.rule_name in UNSEEN else list(record.output)
        elif event is LogEvent.JOB_FINISHED:
            self._running.pop(record.job_id, None)
            pages = [file for file in self._outputs.pop(record.job_id, []) if file.endswith(".html")]
            if pages and not self._made.startswith(REPORT):
                self._made = pages[0]
            self._failed.discard(record.job_id)  # at an earlier attempt
        elif event is LogEvent.JOB_ERROR and not self._interrupted:
            job, log = self._running.pop(record.jobid, record.rule_name), ", ".join(record.log)
            self._failed.add(record.jobid)
            self._write(f"failed: {job}" + (f": see {log}" if log else ""), ERROR)
        now, is_tty = time.monotonic(), self._snakemakes.is_tty
        if self._running and (is_tty or now - self._shown > 60):  # in a file, a line per minute
            seconds = (now - self._begun) / max(self._done, 1) * (self._total - self._done)
            left = f"about {timedelta(seconds=round(seconds))} left, " if self._done else ""
            text = f"{self._done} of {self._total} jobs done, {left}{', '.join(self._running.values())}"
            self._shown, width = now, shutil.get_terminal_size().columns - 1
            self._write(text[:width] if is_tty else text, end="" if is_tty else "\n")

    def _write(self, text: str, level: int = INFO, end: str = "\n") -> None:
        text = printable(text)
        if level >= WARNING and not self._snakemakes.nocolor:
            text = f"\x1b[{31 if level >= ERROR else 33}m{text}\x1b[0m"
        erase = ERASE_LINE if self._snakemakes.is_tty else ""
        print(erase + text, end=end, file=self._snakemakes.stream, flush=True)

    def close(self) -> None:
        planned, self._planned = self._planned, {}  # Snakemake closes a handler twice
        done, total, self._total = self._done, self._total, 0
        with suppress(OSError):
            if planned:
                self._write(_as_table(planned))
            elif total and not (self._is_plain or self.common_settings.dryrun):
                self._write_summary(done, total)
        super().close()

    def _write_summary(self, done: int, total: int) -> None:
        text = f"{done} of {total} jobs done in {timedelta(seconds=round(time.monotonic() - self._begun))}"
        if self._interrupted or self._failed:
            cause = "interrupted" if self._interrupted else f"{len(self._failed)} failed"
            text = f"{cause}: {text}; the same command does the rest"
        self._write(text)
        if self._made:
            self._write(f"{self._made}  ({Path(self._made).resolve().as_uri()})")


def _as_table(planned: Mapping[str, Counter]) -> str:
    """A line for each rule: its name, its number of jobs, and why they are run."""
    rows = [("rule", "jobs", "because")]
    rows += [
        (rule, str(reasons.total()), ", ".join(reason for reason, _ in reasons.most_common(2)))
        for rule, reasons in planned.items()
    ]
    rows += [("total", str(sum(reasons.total() for reasons in planned.values())), "")]
    width = max(len(rule) for rule, *_ in rows)
    return "\n".join(f"{rule:{width}}  {jobs:>5}  {reasons}".rstrip() for rule, jobs, reasons in rows)
