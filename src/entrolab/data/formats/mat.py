"""MATLAB files."""

from collections.abc import Sequence
from pathlib import Path

from scipy.io import loadmat

from entrolab.data.raw_table import Table, as_table, stacked


def read(paths: Sequence[Path], *, features: str, label: str) -> Table:
    """Read MATLAB files (up to version 7) with a matrix of features and a vector of labels."""
    contents = (loadmat(path, variable_names=[features, label]) for path in paths)
    return stacked([as_table(content[features], content[label]) for content in contents])
