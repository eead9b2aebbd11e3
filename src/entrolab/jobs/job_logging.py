"""Logging of jobs: everything to the log file; one line per error, and progress, to the terminal."""

import logging
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from entrolab.text import COLOURS, ERASE_LINE, Told, one_line, printable

logger = logging.getLogger(__name__)


@contextmanager
def job_log(path: str, name: str) -> Iterator[None]:
    """Log to a file; an error ends the job with one line in the terminal and its traceback in the file.

    The line begins with the job's `name`. Signals that end the job let it clean up first, as Ctrl-C does.
    """
    # No traceback for each line that cannot be logged, as on a full disk.
    logging.raiseExceptions = False
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, signal.default_int_handler)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        logging.basicConfig(
            handlers=[logging.FileHandler(path, mode="w", encoding="utf-8")], level=logging.INFO, force=True
        )
        logging.root.handlers[0].setFormatter(Uncoloured("%(asctime)s %(name)s: %(message)s"))
        logging.captureWarnings(True)
        logger.info("%s: begun", name)
        yield
    except KeyboardInterrupt:  # Ctrl-C reaches every job: no line for each
        logger.info("%s: interrupted", name)
        raise SystemExit(1) from None
    except Exception as error:  # traceback to the log, one line to the terminal
        reason = one_line(error, limit=2000) or type(error).__name__
        told = isinstance(error, Told)
        logger.error("%s: failed: %s", name, reason, exc_info=not told)
        tell(f"{name}: {reason}" if told else f"{name}: {reason} (traceback in {path})")
        raise SystemExit(1) from None
    logger.info("%s: done", name)


class Uncoloured(logging.Formatter):
    """Formatter that removes terminal colours from messages."""

    def format(self, record):
        return COLOURS.sub("", super().format(record))


def tell(line: str) -> None:
    """Print a line to the terminal, if it is still open, over its progress line."""
    if sys.stderr is None:
        return
    with suppress(OSError):
        erase = ERASE_LINE if sys.stderr.isatty() else ""
        print(erase + printable(line), file=sys.stderr, flush=True)


class Progress:
    """Reports the progress of a long job: at most one line in the terminal every `every` seconds."""

    def __init__(self, name: str, every: float = 20.0):
        self.name, self.every = name, every
        self._begun = self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last < self.every:
            return
        self._last = now
        left = timedelta(seconds=round((now - self._begun) / max(done, 1) * (total - done)))
        line = f"{self.name}: {done} of {total} fits, {100 * done // total} %, about {left} left"
        logger.info(line)
        tell(line)
