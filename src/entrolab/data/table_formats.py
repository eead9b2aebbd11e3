"""The formats of users' tables, by the end of a file's name."""

from pathlib import Path

__all__ = ["COMPRESSED", "DELIMITED", "FORMATS", "suffix_of"]

DELIMITED = {".csv": ",", ".txt": ",", ".data": ",", ".tsv": "\t", ".tab": "\t"}  # with the delimiter
FORMATS = (*DELIMITED, ".parquet", ".pq", ".feather", ".arrow")
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format, which stands before ``.gz``; else ``.csv``.

    Examples
    --------
    >>> suffix_of(Path("shop.TSV.gz")), suffix_of(Path("shop.parquet")), suffix_of(Path("shop.dat"))
    ('.tsv', '.parquet', '.csv')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes and suffixes[-1] in FORMATS else ".csv"
