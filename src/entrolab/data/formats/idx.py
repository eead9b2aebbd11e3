"""Reader of gzipped IDX files."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from entrolab.data.raw_table import Table, as_table, stacked


def read(paths: Sequence[Path]) -> Table:
    """Read gzipped IDX files, each file of images followed by its file of labels; each image is a row."""
    arrays = [_idx_array(path) for path in paths]
    table = stacked(
        [
            as_table(images.reshape(len(images), -1), labels)
            for images, labels in zip(arrays[0::2], arrays[1::2], strict=True)
        ]
    )
    # A file of labels adds no rows.
    rows = [count for images in arrays[0::2] for count in (len(images), 0)]
    return Table(table.X, table.labels, table.feature_names, rows)


def _idx_array(path: Path) -> np.ndarray:
    """Read an array of bytes: two zero bytes, type (8 = unsigned byte), rank, shape, values."""
    content = gzip.decompress(path.read_bytes())
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} is not an IDX file of bytes")
    n_dimensions = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=n_dimensions, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)
