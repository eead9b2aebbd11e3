"""What jobs have taken, from the files that snakemake writes beside their results."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from entrolab.study.job_specs import study_runs
from entrolab.tables.types import TABLE_TYPES

__all__ = ["Peak", "peak_memory"]


class Peak(NamedTuple):
    """The most memory that a job was seen to hold, and which job that was."""

    mib: float
    job: str


def peak_memory(study: Mapping, folder: Path) -> Peak | None:
    """The job of a study that took most memory; None where nothing is known of any.

    Snakemake looks at a job twice a second for its first quarter of a minute, and every half minute after
    that. A job that was over sooner, or that another system did not let it look at, has no number.
    """
    peaks = (_peak(folder / "benchmarks" / f"{job}.tsv", job) for job in _jobs(study))
    return max(filter(None, peaks), default=None)


def _jobs(study: Mapping) -> Iterable[str]:
    """The jobs of a study whose memory is looked at, as their files are named."""
    yield from (f"train/{dataset}/{model}" for dataset, model in study_runs(study))
    for name, table in study["tables"].items():
        kind = TABLE_TYPES[table["kind"]]
        if kind.measured_by:
            places = dict.fromkeys(dataset for dataset, _ in kind.rows_and_models(table, study))
            yield from (f"measure/{name}/{dataset}" for dataset in places)


def _peak(file: Path, job: str) -> Peak | None:
    try:
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        return max(Peak(float(row["max_rss"]), job.replace("/", " ")) for row in rows)
    except (OSError, ValueError, KeyError, TypeError):  # no file, a file that was cut, or "NA" and "-" in it
        return None
