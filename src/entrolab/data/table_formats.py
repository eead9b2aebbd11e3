"""The formats of users' tables by file suffix, and the numbers in them that are codes."""

import re
from pathlib import Path

DELIMITED = {".csv": ",", ".txt": ",", ".data": ",", ".tsv": "\t", ".tab": "\t"}  # suffix -> delimiter
ARROW = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
FORMATS = (*DELIMITED, *ARROW)
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")  # whose sheets are to be saved as csv
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
DURATION = "duration"  # that of `entrolearn.columns`, whose import takes a second
# pandas' names of types that a study may give to a column -> what the column is read as.
DTYPES = dict.fromkeys(("str", "string", "object", "category"), "text")
DTYPES |= dict.fromkeys(("float", "float64", "int", "int64", "Int64", "Float64", "bool", "boolean"), "number")
DTYPES |= dict.fromkeys(("timedelta64", "timedelta64[ns]"), DURATION)
EXACT = 2**53  # whole numbers up to it have a float each
MARK = "\x1f"  # between the values of a line in which `ODD` is searched
# Whole numbers that may say more than their number; R writes 100000 as 1e+05, while 3E7 is a code.
ODD = re.compile(MARK + r"\s*[+-]?(?:0\d+(?:\.0*)?|\d+(?:\.0*)?[eE]\d+|\d{16,})\s*(?![^\x1f])")


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


def says_more(text: str) -> bool:
    """Whether the text of a whole number says more than its number: 007, 3E7, and ids above 2**53.

    Examples
    --------
    >>> [says_more(text) for text in ("007", "3E7", "9007199254740993", "1e+05", "-1.0")]
    [True, True, True, False, False]
    """
    digits = text.strip().lstrip("+-")
    is_exact = digits.isdigit() and digits[0] != "0" and int(digits) <= EXACT
    return ODD.fullmatch(MARK + text) is not None and not is_exact
