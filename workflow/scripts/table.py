"""Make one table, with our numbers and the published ones, in all formats."""

import pandas as pd

from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import SAYS, winners
from entrolab.jobs.job_logging import job_log, tell_result
from entrolab.seeds.rendering import seeds_of
from entrolab.tables.making import make_table, read_published
from entrolab.tables.rendering import write_table
from entrolab.tables.results import Results
from entrolab.tables.types import table_spec

NOTHING_PUBLISHED = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])


def main(study_name: str, table: str, study: dict, published: str | None, seeds: str | None, outputs: list):
    spec = table_spec(study_name, study, table)
    published = read_published(published) if published else NOTHING_PUBLISHED
    result = make_table(Results(study_name, study), published, spec)
    write_table(result, spec, outputs[0])
    best = winners(Numbers(study_name, study), table, result)
    over_seeds = seeds_of(study_name, {**study, "seeds": seeds}, table, result)
    for output in outputs[1:]:
        write_table(result, spec, output, best, SAYS, over_seeds)
    tell_result(f"{study_name} {table}", result, best)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "table {study} {table}".format(**snakemake.wildcards)):
        main(
            snakemake.wildcards.study,
            snakemake.wildcards.table,
            snakemake.params.study,
            snakemake.input.published[0] if snakemake.input.published else None,
            snakemake.input.seeds[0] if snakemake.input.seeds else None,
            list(snakemake.output),
        )
