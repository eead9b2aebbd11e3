"""Read and write the file of a study's values with several seeds: one row per cell, one column per seed."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from entrolab.io.atomic import replacing
from entrolab.study.seeds import CELL
from entrolab.tables.making import ADDRESS
from entrolab.tables.verdicts import JUDGED


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


def values_of(name: str, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The values of a table made with the seeds 0, 1, ..., in the table's order.

    Only cells that a published value judges are kept, if they have a number with any seed.
    """
    judged = (table[table["verdict"].isin(JUDGED) & table["ours"].notna()] for table in tables)
    numbers = [table.set_index(ADDRESS)["ours"].rename(str(seed)) for seed, table in enumerate(judged)]
    values = pd.concat(numbers, axis=1)
    cells = tables[0].set_index(ADDRESS).index
    values = values.reindex(cells[cells.isin(values.index)]).reset_index()
    values.insert(0, "table", name)
    return values
