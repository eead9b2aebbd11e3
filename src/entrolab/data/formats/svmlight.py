"""Reader of SVMlight / LIBSVM files."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_files

from entrolab.data.raw_table import Table, numbered


def read(
    paths: Sequence[Path],
    *,
    n_features: int | None = None,
    sparse_features: bool = False,
    drop_duplicate_lines: bool = False,
) -> Table:
    """Read SVMlight / LIBSVM text, optionally compressed as .gz or .bz2.

    A file that never sets the last features is padded to `n_features`. With `drop_duplicate_lines`, only the
    first of equal lines (label and features) is kept.
    """
    sources = [_distinct_lines(path) if drop_duplicate_lines else str(path) for path in paths]
    loaded = load_svmlight_files(sources, n_features=n_features)
    X = sparse.csr_array(sparse.vstack(loaded[0::2], format="csr"))
    rows = [len(labels) for labels in loaded[1::2]]
    return Table(
        X if sparse_features else X.toarray(), np.concatenate(loaded[1::2]), numbered(X.shape[1]), rows
    )


def _distinct_lines(path: Path) -> BytesIO:
    return BytesIO(b"\n".join(dict.fromkeys(path.read_bytes().splitlines())) + b"\n")
