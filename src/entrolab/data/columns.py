"""Columns of a data frame as numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def numeric(features: pd.DataFrame, categorical: Sequence[str]) -> np.ndarray:
    """Features as float64; categories become their rank among the sorted names; NaN if missing."""
    columns = {}
    for name, column in features.items():
        if name in categorical:
            columns[name] = column.astype("category").cat.codes.where(column.notna())
        else:
            try:
                columns[name] = pd.to_numeric(column)
            except ValueError as error:
                raise ValueError(f"column {name}: {error}; list it under categorical if it is one") from None
    return pd.DataFrame(columns).to_numpy(dtype=np.float64, na_value=np.nan)
