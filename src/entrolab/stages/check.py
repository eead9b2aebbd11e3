"""Check the learners of a study before any model is fitted."""

from entrolab.io.records import write_json
from entrolab.jobs.code_digests import versions
from entrolab.jobs.job_logging import tell
from entrolab.study.learners import mistakes, summary
from entrolab.text import Told


def check(job) -> None:
    """Import and check a study's learners; print a line per mistake, or write what was checked."""
    asked, file = job.params.learners, job.params.file
    found = mistakes(asked)
    for line in found:
        tell(f"{file}: {line}")
    if found:
        raise Told(f"{len(found)} mistakes in learners, so no model is fitted")
    write_json(job.output[0], {"checked": summary(asked), "versions": versions()})
