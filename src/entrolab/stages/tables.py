"""Make tables, test claims, draw figures, and write pages of the report."""

from pathlib import Path

import pandas as pd

from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.claims.rendering import write_claims
from entrolab.claims.winners import SAYS, winners
from entrolab.figure_types.making import make_figure, make_page_to_hover
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.jobs.checkout import commit_of, lock_digest
from entrolab.jobs.job_logging import tell_result
from entrolab.report import build_report, read_results
from entrolab.seeds.rendering import seeds_of
from entrolab.study.config import read_yaml
from entrolab.tables.making import make_table, read_published
from entrolab.tables.rendering import write_table
from entrolab.tables.results import Results

NOTHING_PUBLISHED = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])


def table(job) -> None:
    """Make one table, with our numbers and the published ones, in all formats."""
    name, key, study = job.wildcards.study, job.wildcards.table, job.params.study["study"]
    spec = study.spec_of_table(key)
    published = read_published(job.input.published[0]) if job.input.published else NOTHING_PUBLISHED
    made = make_table(Results(study), published, spec)
    write_table(made, spec, job.output[0])
    best = winners(Numbers(study), key, made)
    seeds = job.input.seeds[0] if job.input.seeds else None
    over_seeds = seeds_of(study.model_copy(update={"seeds": seeds}), key, made)
    for output in job.output[1:]:
        write_table(made, spec, output, best, SAYS, over_seeds)
    tell_result(f"{name} {key}", made, best)


def claims(job) -> None:
    """Test a paper's claims on the results of its study."""
    study, by_tests = job.params.study["study"], job.params.study["by_tests"]
    found = evaluate(study.claims, Numbers(study), by_tests)
    for output in job.output:
        write_claims(found, job.params.title, output)


def figure(job) -> None:
    """Draw one figure, and write its data as CSV."""
    spec = job.params.spec
    make_figure(FIGURE_TYPES[spec["type"]], spec, job.input.sources, job.input.records, list(job.output))


def page_to_hover(job) -> None:
    """Write the interactive page of a figure, with a tooltip per row."""
    spec, files = job.params.spec, job.input
    make_page_to_hover(FIGURE_TYPES[spec["type"]], spec, files.drawn, list(files.sources), job.output[0])


def page(job) -> None:
    """Write a study's page of the report, and the index."""
    name, home, report = job.wildcards.study, job.params.home, Path(job.output.page).parent
    own = read_yaml(Path(home, "config", "config.yaml"))
    # Settings that differ from the defaults, for the command on the page, which names the study's file.
    kept = own.keys() - {"papers", "extra_studies"}
    settings = {key: job.config[key] for key in kept if job.config[key] != own[key]}
    results = read_results(name, job.params.study[0], report.parent / name, settings)
    build_report([results], report, commit=commit_of(home) or "", lock=lock_digest(home) or "")
