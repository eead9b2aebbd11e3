"""The peak memory of jobs, from the benchmark files that Snakemake writes."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from entrolab.study.job_specs import study_runs
from entrolab.tables.types import TABLE_TYPES


class Peak(NamedTuple):
    """The peak memory of a job in MiB, and its name."""

    mib: float
    job: str


def peak_memory(study: Mapping, folder: Path) -> Peak | None:
    """The job of a study with the largest peak memory; None if none was measured.

    Snakemake measures a job twice a second at first, later every half minute, but very short jobs not at all.
    """
    jobs = [f"train/{dataset}/{model}" for dataset, model in study_runs(study)]
    for name, table in study["tables"].items():
        table_type = TABLE_TYPES[table["type"]]
        if table_type.measured_by:
            jobs += [f"measure/{name}/{dataset}" for dataset, _ in table_type.rows_and_models(table, study)]
    peaks = (_peak(folder / "benchmarks" / f"{job}.tsv", job) for job in dict.fromkeys(jobs))
    return max(filter(None, peaks), default=None)


def _peak(file: Path, job: str) -> Peak | None:
    try:
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        return max(Peak(float(row["max_rss"]), job.replace("/", " ")) for row in rows)
    except (OSError, ValueError, KeyError, TypeError):  # missing or truncated, or contains "NA" or "-"
        return None
