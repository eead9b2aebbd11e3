"""A table of a study with several seeds: the value of each cell with each seed."""

import pandas as pd

from entrolab.results.reader import Results
from entrolab.seeds.values import values_of
from entrolab.tables.making import make_table, read_published


def seeded_tables(study) -> list[str]:
    """The tables of a study with published scores, correlations or separabilities."""
    published = set(read_published(study.published)["table"])
    return [
        name
        for name, entry in study.tables.items()
        if entry.published in published
        and any(quantity.panel for quantity in study.spec_of_table(name).metrics.values())
    ]


def over_seeds(study, table: str, n_seeds: int) -> pd.DataFrame:
    """The values of a study's table with the seeds 0 to `n_seeds` - 1, as a file of `config/seeds` has them.

    Only cells that a published value judges are kept.
    """
    published, spec = read_published(study.published), study.spec_of_table(table)
    of_seeds = (Results(study.model_copy(update={"seed": seed})) for seed in range(n_seeds))
    return values_of(table, [make_table(results, published, spec) for results in of_seeds])
