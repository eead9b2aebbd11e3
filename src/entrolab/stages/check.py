"""Check the learners of a study before any model is fitted."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from entrolab.io.records import read_json, write_json
from entrolab.jobs.children import JobFailed
from entrolab.jobs.code_digests import code_digest, versions
from entrolab.jobs.job_logging import tell
from entrolab.study.learners import Asked, learners_asked, mistakes
from entrolab.study.study import Study

logger = logging.getLogger(__name__)


def passes(run_job: Callable, name: str, study: Study) -> bool:
    """Whether a study's learners have no mistake: as an earlier check of the same says, or a job now.

    `run_job` is a function of :func:`entrolab.jobs.children.runner`.
    """
    output, asked = f"results/{name}/checked.json", learners_asked(study)
    try:
        if read_json(output)["digest"] == _digest(asked):
            return True
    except (OSError, ValueError, KeyError):  # no file, or a damaged one
        pass
    try:
        params = SimpleNamespace(learners=asked, file=study.file)
        resources = SimpleNamespace(_cores=1)
        run_job("check:check", [], [output], params, [name], resources, [f"logs/{name}/check.log"])
    except JobFailed:
        return False
    return True


def check(job) -> None:
    """Import and check learners; print a line per mistake, or write what was checked."""
    asked = job.params.learners
    found = mistakes(asked)
    for line in found:
        tell(f"{job.params.file}: {line}")
        logger.error(line)
    if found:
        raise SystemExit(1)
    write_json(job.output[0], {"versions": versions(), "digest": _digest(asked)})


def _digest(asked: Sequence[Asked]) -> str:
    code = code_digest("check", *sorted({one.learner for one in asked}))
    return hashlib.sha256(f"{code} {asked!r}".encode()).hexdigest()[:16]
