"""Out-of-core learning: sources of rows, fits and predictions, chunk by chunk.

A source of rows is an array, a memory map, a file, a dataset of pyarrow, or a function or an iterator that
returns chunks. :func:`rows` converts each of them to :class:`Rows`, which is iterated chunk by chunk. Parquet
and the progress bar need ``pip install 'entrolearn[stream]'``, Dask's collections
``pip install 'entrolearn[dask]'``; these packages are imported only when needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

_MODULES = {
    "Rows": "entrolearn.streaming.sources",
    "SlidingWindow": "entrolearn.streaming.window",
    "bounds": "entrolearn.streaming.merging",
    "fit": "entrolearn.streaming.fitting",
    "load_sums": "entrolearn.streaming.sums_file",
    "merge": "entrolearn.streaming.merging",
    "merge_bounds": "entrolearn.streaming.merging",
    "predict": "entrolearn.streaming.predicting",
    "predict_chunks": "entrolearn.streaming.predicting",
    "rows": "entrolearn.streaming.sources",
    "save_sums": "entrolearn.streaming.sums_file",
}

if TYPE_CHECKING:
    from entrolearn.streaming.fitting import fit as fit
    from entrolearn.streaming.merging import bounds as bounds
    from entrolearn.streaming.merging import merge as merge
    from entrolearn.streaming.merging import merge_bounds as merge_bounds
    from entrolearn.streaming.predicting import predict as predict
    from entrolearn.streaming.predicting import predict_chunks as predict_chunks
    from entrolearn.streaming.sources import Rows as Rows
    from entrolearn.streaming.sources import rows as rows
    from entrolearn.streaming.sums_file import load_sums as load_sums
    from entrolearn.streaming.sums_file import save_sums as save_sums
    from entrolearn.streaming.window import SlidingWindow as SlidingWindow

__all__ = [*_MODULES]


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
