"""The CSV files of tables, figures and claims, read as frames."""

from pathlib import Path

import pandas as pd

ADDRESS = ["dataset", "model", "metric"]
# The numbers of a cell of a table, and all columns of its file.
NUMBERS = ["published", "published_std", "ours", "ours_std", "difference", "oracle"]
COLUMNS = [*ADDRESS, *NUMBERS[:-1], "verdict", "oracle", "reason"]
# The columns of a figure's data with names, such as "NA" and "007", or other text.
NAMES = [*ADDRESS, "series", "other", "true", "predicted", "reason"]
NUMBERS_OF_CLAIMS = ["effect", "low", "high", "p", "sets"]


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table, with the columns `COLUMNS` and one row per cell."""
    text = dict.fromkeys([*ADDRESS, "verdict", "reason"], str)
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=dict.fromkeys(NUMBERS, [""]))
    return table[COLUMNS]


def read_figure(path: str | Path) -> pd.DataFrame:
    """Read the data of a figure; columns other than `NAMES` may have numbers."""
    others = pd.read_csv(path, nrows=0).columns.difference(NAMES)
    text, empty = dict.fromkeys(NAMES, str), dict.fromkeys(others, [""])
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=empty)


def read_findings(path: str | Path) -> pd.DataFrame:
    """Read what the checks of a study found, one row per finding."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_claims(path: str | Path) -> pd.DataFrame:
    """Read the outcomes of a study's claims, one row per comparison or test."""
    found = pd.read_csv(path, dtype=str, keep_default_na=False)
    return found.assign(**{name: pd.to_numeric(found[name]) for name in NUMBERS_OF_CLAIMS})
