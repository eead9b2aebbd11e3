"""Read and write the file of a study's values with several seeds: one row per cell, one column per seed."""

from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.io.atomic import replacing
from entrolab.study.seeds import CELL
from entrolab.tables.making import ADDRESS
from entrolab.tables.verdicts import JUDGED

# Relative tolerance within which two values are equal: files have six digits.
DIGITS = 1e-5


def read_seeds(path: str | Path) -> pd.DataFrame:
    """Read a file of values; an empty frame if the file does not exist.

    The columns are `CELL`, and one of floats for each seed, named by the seed as text; NaN where a cell has
    no value.
    """
    if not Path(path).is_file():
        return pd.DataFrame(columns=[*CELL]).astype(str)
    found = pd.read_csv(path, dtype=dict.fromkeys(CELL, str), keep_default_na=False)
    seeds = [name for name in found if name not in CELL]
    return found.assign(**{name: pd.to_numeric(found[name]) for name in seeds})


def write_seeds(values: pd.DataFrame, path: str | Path) -> None:
    """Write values with six digits, atomically."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        values.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")


def of_table(values: pd.DataFrame, table: str) -> pd.DataFrame:
    """The rows of a table, with the columns of the seeds that it was made with."""
    rows = values[values["table"] == table].drop(columns="table")
    return rows.drop(columns=[name for name in rows if name not in CELL and rows[name].isna().all()])


def with_table(values: pd.DataFrame, name: str, seed: int, table: pd.DataFrame) -> pd.DataFrame:
    """The values extended by those of a table made with a seed; its rows are in the table's order.

    Only cells of `table` that are judged by a published value are stored.
    """
    table = table[table["verdict"].isin(JUDGED)]
    numbers = table[table["ours"].notna()].set_index(ADDRESS)["ours"].rename(str(seed))
    before = of_table(values, name).drop(columns=str(seed), errors="ignore").set_index(ADDRESS)
    order = table.set_index(ADDRESS).index
    made = before.join(numbers, how="outer")
    made = made.reindex([cell for cell in order if cell in made.index]).reset_index()
    made.insert(0, "table", name)
    others = values[values["table"] != name]
    every = pd.concat([others, made], ignore_index=True) if len(others) else made
    seeds = sorted((column for column in every if column not in CELL), key=int)
    return every[[*CELL, *seeds]]


def same(first: pd.Series, second: pd.Series) -> pd.Series:
    """Whether the values of two series are equal within `DIGITS`; two missing values are equal."""
    return pd.Series(np.isclose(first, second, rtol=DIGITS, atol=0, equal_nan=True), first.index)
