"""Write a study's page of the report, those of its data sets and learners, and the front page."""

from pathlib import Path

from entrolab.jobs.checkout import commit_of, lock_digest
from entrolab.jobs.job_logging import job_log
from entrolab.report import build_report, read_results
from entrolab.study.config import load_configuration


def main(home: str, config: dict, study_name: str, folder: Path, results: Path) -> None:
    catalog, studies, _ = load_configuration(home, config)
    done = {name: study for name, study in studies.items() if has_tables(study, results / name)}
    found = [read_results(key, done[key], results / key, with_selection=key == study_name) for key in done]
    build_report(
        found,
        folder,
        catalog=catalog,
        commit=commit_of(home) or "",
        lock=lock_digest(home) or "",
        only=[study_name],
    )


def has_tables(study: dict, folder: Path) -> bool:
    return all((folder / "tables" / f"{table}.csv").exists() for table in study["tables"])


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"page {snakemake.wildcards.study}", snakemake.output):
        page = Path(snakemake.output.page)
        main(
            snakemake.params.home,
            snakemake.config,
            snakemake.wildcards.study,
            page.parent,
            page.parent.parent,
        )
