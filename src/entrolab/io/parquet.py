"""Tables of numbers as the stages pass them on: parquet files, whole or named."""

import os

import pandas as pd

from entrolab.io.atomic import replacing
from entrolab.text import Unreadable


def write_frame(path: str | os.PathLike, table: pd.DataFrame) -> None:
    """Write a table; its pages have checksums."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False, write_page_checksum=True)


def read_frame(path: str | os.PathLike) -> pd.DataFrame:
    """A parquet file's table; a file that is not whole is named.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is cut or damaged.
    """
    try:
        return pd.read_parquet(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file raises whatever its bytes lead to
        first_line = str(error).partition("\n")[0]
        raise Unreadable(
            f"{path}: not a whole parquet file ({first_line}); delete it and run again"
        ) from error
