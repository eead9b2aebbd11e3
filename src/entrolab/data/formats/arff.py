"""Reader of ARFF files (WEKA's format and KEEL's dialect)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import arff

from entrolab.data.columns import numeric
from entrolab.data.raw_table import Table


def read(paths: Sequence[Path], *, label: str | None = None) -> Table:
    """Read ARFF files; the label is the last attribute unless it is named.

    Nominal attributes whose values are all numbers become those numbers.
    """
    frames = [pd.DataFrame(arff.loadarff(path)[0]) for path in paths]
    frame = pd.concat(frames, ignore_index=True)
    for name in frame.select_dtypes(object):
        frame[name] = frame[name].str.decode("utf-8").replace("?", np.nan)
    target = label or frame.columns[-1]
    features = frame.drop(columns=target)
    rows = [len(part) for part in frames]
    return Table(numeric(features, ()), frame[target].to_numpy(), list(features.columns), rows)
