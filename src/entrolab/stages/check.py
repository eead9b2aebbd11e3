"""Check the learners of a study before any model is fitted."""

import hashlib
import logging
from collections.abc import Iterable, Mapping

from entrolab.io.records import read_json, write_json
from entrolab.jobs.code_digests import code_digest, versions
from entrolab.jobs.job_logging import tell
from entrolab.study.learners import mistakes, summary

logger = logging.getLogger(__name__)


def check(job) -> None:
    """Import and check a study's learners; print a line per mistake, or write what was checked."""
    asked = job.params.learners
    found = mistakes(asked)
    for line in found:
        tell(f"{job.params.file}: {line}")
        logger.error(line)
    if found:
        raise SystemExit(1)
    write_json(job.output[0], {"checked": summary(asked), "versions": versions(), "digest": _digest(asked)})


def is_checked(file: str, asked: Iterable[Mapping]) -> bool:
    """Whether a file of an earlier check says that the same was asked of the same code."""
    try:
        return read_json(file)["digest"] == _digest(asked)
    except (OSError, ValueError, KeyError):  # no file, or a damaged one
        return False


def _digest(asked: Iterable[Mapping]) -> str:
    code = code_digest("check", *sorted({one["learner"] for one in asked}))
    return hashlib.sha256(f"{code} {asked!r}".encode()).hexdigest()[:16]
