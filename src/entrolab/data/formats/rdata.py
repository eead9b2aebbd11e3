"""RData files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rdata

from entrolab.data.raw_table import Table, as_table, stacked


def read(paths: Sequence[Path], *, features: str | None = None, label: str | int = 0) -> Table:
    """Read RData files with one object each.

    The object is a list with a matrix `features` and a vector `label`, or, without `features`, a matrix with
    the labels in column `label`.
    """
    tables = []
    for path in paths:
        (content,) = rdata.read_rda(path).values()
        if features is None:
            tables.append(as_table(np.delete(content, label, axis=1), content[:, label]))
        else:
            tables.append(as_table(content[features], content[label]))
    return stacked(tables)
