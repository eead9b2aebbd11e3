"""NumPy archives."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from entrolab.data.raw_table import Table, as_table, stacked


def read(paths: Sequence[Path], *, features: str = "data", label: str = "label") -> Table:
    """Read NumPy archives with an array of features and an array of labels."""
    tables = []
    for path in paths:
        with np.load(path, allow_pickle=False) as archive:
            tables.append(as_table(archive[features], archive[label]))
    return stacked(tables)
