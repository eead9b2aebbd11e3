"""Write a study's page of the report, those of its data sets and learners, and the front page."""

from pathlib import Path

from entrolab.jobs.checkout import commit_of, lock_digest
from entrolab.jobs.job_logging import job_log
from entrolab.report import build_report, read_results
from entrolab.report.memory import recalled, remember, sole_writer
from entrolab.study.config import read_yaml


def main(
    study_name: str, study: dict, catalog: dict, settings: dict, *, folder: Path, results: Path, home: str
) -> None:
    with sole_writer(folder):
        remember(folder, study_name, study, catalog, settings)
        known = recalled(folder)
        found = [
            read_results(
                name,
                one.study,
                results / name,
                settings=one.settings,
                with_selection=name == study_name,
            )
            for name, one in known.items()
        ]
        entries = {key: entry for one in known.values() for key, entry in one.catalog.items()}
        build_report(
            found,
            folder,
            catalog=entries | catalog,
            commit=commit_of(home) or "",
            lock=lock_digest(home) or "",
            only=[study_name],
        )


def changed_settings(config: dict, home: str) -> dict:
    """The settings that differ from the project's own; the study's file says where the study is."""
    own = read_yaml(Path(home, "config", "config.yaml"))
    kept = own.keys() - {"papers", "extra_studies"}
    return {name: value for name, value in config.items() if name in kept and value != own[name]}


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"page {snakemake.wildcards.study}", snakemake.output):
        page = Path(snakemake.output.page)
        main(
            snakemake.wildcards.study,
            snakemake.params.study,
            snakemake.params.catalog,
            changed_settings(snakemake.config, snakemake.params.home),
            folder=page.parent,
            results=page.parent.parent,
            home=snakemake.params.home,
        )
