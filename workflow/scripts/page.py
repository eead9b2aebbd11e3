"""Write a study's page of the report, and the index of all studies whose tables are there."""

from pathlib import Path

from entrolearn.lab.checkout import git
from entrolearn.lab.config import load_configuration
from entrolearn.lab.joblog import job_log
from entrolearn.lab.report import build_report, read_results


def main(home: str, config: dict, folder: Path, results: Path) -> None:
    _, studies, _ = load_configuration(home, config)
    done = {name: study for name, study in studies.items() if has_tables(study, results / name)}
    pages = [read_results(name, study, results / name) for name, study in done.items()]
    build_report(pages, folder, commit=git("describe", "--always", "--dirty", folder=home) or "")


def has_tables(study: dict, folder: Path) -> bool:
    return all((folder / "tables" / f"{table}.csv").exists() for table in study["tables"])


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"page {snakemake.wildcards.paper}", snakemake.output):
        page = Path(snakemake.output.page)
        main(snakemake.params.home, snakemake.config, page.parent, page.parent.parent)
