"""The formats of users' tables, by file suffix."""

from pathlib import Path

DELIMITED = {".csv": ",", ".txt": ",", ".data": ",", ".tsv": "\t", ".tab": "\t"}  # suffix -> delimiter
ARROW = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
FORMATS = (*DELIMITED, *ARROW)
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")  # whose sheets are to be saved as csv
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
# pandas' names of types that a study may give to a column -> what the column is read as.
DTYPES = dict.fromkeys(("str", "string", "object", "category"), "text")
DTYPES |= dict.fromkeys(("float", "float64", "int", "int64", "Int64", "Float64", "bool", "boolean"), "number")
DTYPES |= dict.fromkeys(("timedelta64", "timedelta64[ns]"), "duration")


def suffix_of(path: Path) -> str:
    """The file suffix that determines the format, without ``.gz`` etc.; ``.csv`` if it is unknown.

    Examples
    --------
    >>> suffix_of(Path("shop.TSV.gz")), suffix_of(Path("shop.parquet")), suffix_of(Path("shop.dat"))
    ('.tsv', '.parquet', '.csv')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes and suffixes[-1] in FORMATS else ".csv"
