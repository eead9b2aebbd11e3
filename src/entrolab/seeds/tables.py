"""A table of a study with several seeds: the value of each cell with each seed."""

import pandas as pd

from entrolab.results.reader import Results
from entrolab.seeds.values import read_seeds, with_table
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


def over_seeds(study, table: str, published: str, n_seeds: int) -> pd.DataFrame:
    """The values of a study's table with the seeds 0 to `n_seeds` - 1, as a file of `config/seeds` has them.

    `published` is the file of published values: only cells that one of them judges are kept.
    """
    values, printed = read_seeds(""), read_published(published)
    for seed in range(n_seeds):
        results = Results(study.model_copy(update={"seed": seed}))
        values = with_table(values, table, seed, make_table(results, printed, study.spec_of_table(table)))
    return values


def stored(values: pd.DataFrame, made: pd.DataFrame) -> pd.DataFrame:
    """The values of a study's file, with those of the tables that were made in place of the earlier ones."""
    kept = values[~values["table"].isin(made["table"])]
    every = pd.concat([kept, made], ignore_index=True) if len(kept) else made
    seeds = sorted((column for column in every if str(column).isdecimal()), key=int)
    return every[[*(column for column in every if column not in seeds), *seeds]]
