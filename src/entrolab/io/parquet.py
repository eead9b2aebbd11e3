"""Read and write Parquet files with checksums."""

import os

import pandas as pd

from entrolab.io.atomic import replacing
from entrolab.text import damaged


def write_frame(path: str | os.PathLike, table: pd.DataFrame) -> None:
    """Write a table as a Parquet file with checksums of its pages."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False, write_page_checksum=True)


def read_frame(path: str | os.PathLike) -> pd.DataFrame:
    """Read a table from a Parquet file; raise `Unreadable` for a damaged file."""
    try:
        return pd.read_parquet(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file may raise any exception
        raise damaged(path, "parquet", error) from error
