"""Make tables, test claims, draw figures, and write pages of the report."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from entrolab.checks.running import find, in_lines
from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import Best, best_of_rows, shown, winners
from entrolab.figures.making import make_figure
from entrolab.fit.metrics import METRICS
from entrolab.io.atomic import write_text
from entrolab.jobs.checkout import commit_of, lock_digest
from entrolab.jobs.job_logging import tell
from entrolab.report import build_report, read_results
from entrolab.results.reader import Results
from entrolab.seeds.rendering import seeds_of
from entrolab.study.config import read_yaml
from entrolab.tables.making import counts, make_table, read_published
from entrolab.tables.rendering import write_table
from entrolab.tables.verdicts import JUDGED

NOTHING_PUBLISHED = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])
MOST_LISTED = 3  # data sets in the line on a table


def table(job) -> None:
    """Make one table, with our numbers and the published ones, in all formats."""
    name, key, study = job.wildcards.study, job.wildcards.table, job.params.study[0]
    spec = study.spec_of_table(key)
    published = read_published(job.input.published[0]) if job.input.published else NOTHING_PUBLISHED
    made = make_table(Results(study), published, spec)
    write_table(made, spec, job.output[0])
    bests = best_of_rows(Numbers(study), key, made)
    seeds = job.input.seeds[0] if job.input.seeds else None
    over_seeds = seeds_of(study.model_copy(update={"seeds": seeds}), key, made)
    for output in job.output[1:]:
        write_table(made, spec, output, winners(bests), over_seeds)
    tell_result(f"{name} {key}", made, bests)


def tell_result(name: str, table: pd.DataFrame, bests: Sequence[Best]) -> None:
    """Print a line on a table: its verdicts, or the best model on each data set by the first metric."""
    if table["published"].notna().any():
        found = counts(table)
        tell(f"{name}: {', '.join(f'{found[one]} {one}' for one in JUDGED if found[one])}")
    elif bests:
        first = bests[0].metric
        bests = [one for one in bests if one.metric == first]
        write = shown(first)
        parts = [
            f"{one.datasets[0]} {write(one.score)} {one.model}{'*' if one.is_significant else ''}"
            for one in bests
        ]
        more = f"; and {len(parts) - MOST_LISTED} more" if len(parts) > MOST_LISTED else ""
        significant = " (no difference is significant)"
        if not any(one.n_rivals for one in bests):
            significant = ""
        elif any(one.is_significant for one in bests):
            significant = " (*: significantly ahead)"
        elif any(len(one.not_worse) < one.n_rivals for one in bests):
            significant = " (not significantly ahead of all others)"
        label = METRICS[first].label
        tell(f"{name}: best {label}: {'; '.join(parts[:MOST_LISTED])}{more}{significant}")


def claims(job) -> None:
    """Test a paper's claims on the results of its study."""
    study = job.params.study[0]
    found = evaluate(study.claims, Numbers(study))
    write_text(job.output[0], found.to_csv(index=False, float_format="%.8g", lineterminator="\n"))


def findings(job) -> None:
    """Run the checks of a study; write what they find, and print a line for each finding."""
    study = job.params.study[0]
    found = find(study, Numbers(study))
    write_text(job.output[0], found.to_csv(index=False, lineterminator="\n"))
    for line in in_lines(found):
        tell(line)


def figure(job) -> None:
    """Draw one figure, and write its data as CSV."""
    (spec,) = job.params.spec
    make_figure(spec, list(job.input), list(job.output))


def page(job) -> None:
    """Write a study's page of the report, and the index."""
    name, home, report = job.wildcards.study, job.params.home, Path(job.output.page).parent
    own = read_yaml(Path(home, "config", "config.yaml"))
    # Settings that differ from the defaults, for the command on the page, which names the study's file.
    kept = own.keys() - {"papers", "extra_studies"}
    settings = {key: job.config[key] for key in kept if job.config[key] != own[key]}
    results = read_results(name, job.params.study[0], report.parent / name, settings)
    build_report([results], report, commit=commit_of(home) or "", lock=lock_digest(home) or "")
