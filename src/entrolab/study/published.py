"""Checks of the file of a study's published values."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from entrolab.schema.sections import ConfigError, check_known
from entrolab.text import is_number

if TYPE_CHECKING:
    from entrolab.study.study import Study

COLUMNS = ("table", "dataset", "model", "metric", "value", "std")
# Optional: the metric or the value that a misprint is read as.
CORRECTIONS = ("corrected_metric", "corrected_value")
NUMBERS = ("value", "std", "corrected_value")


def check_published(file: Path, study: "Study") -> None:
    """Raise a `ConfigError` for the first row without a cell in a table, or whose value is not a number.

    Both the printed and the corrected metric of a row must have a cell, and no two rows may share one.
    """
    try:
        header, *rows = csv.reader(Path(file).read_text(encoding="utf-8-sig").splitlines() or [""])
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file}: {error}; accepted: comma-separated values in UTF-8") from None
    for column in header:
        check_known(column, (*COLUMNS, *CORRECTIONS), file, "line 1", "column")
    if header != [*COLUMNS, *(column for column in CORRECTIONS if column in header)]:
        accepted = f"{','.join(COLUMNS)}, and optionally {','.join(CORRECTIONS)}"
        raise ConfigError(f"{file}: line 1: found {','.join(header)!r}; accepted: {accepted}")
    cells = {
        (entry.published, *cell)
        for name, entry in study.tables.items()
        for cell in study.published_cells(name)
    }
    printed: dict[tuple[str, ...], int] = {}
    corrected: dict[tuple[str, ...], int] = {}
    for number, fields in enumerate(rows, start=2):
        if not fields:
            continue  # an empty line, as for pandas
        where = f"line {number}"
        if len(fields) != len(header):
            raise ConfigError(f"{file}: {where}: found {len(fields)} fields; accepted: {len(header)}")
        row = dict(zip(header, fields, strict=True))
        *place, metric = (row[part] for part in COLUMNS[:4])
        read_as = row.get("corrected_metric") or metric
        for cell, seen in (((*place, metric), printed), ((*place, read_as), corrected)):
            _check_cell(cell, cells, file, where)
            if cell in seen:
                raise ConfigError(
                    f"{file}: {where}: the cell of line {seen[cell]} again; accepted: each cell once"
                )
            seen[cell] = number
        for column in NUMBERS:
            if row.get(column) and not is_number(row[column]):
                raise ConfigError(
                    f"{file}: {where}: {column}: found {row[column]!r}; accepted: a number, or nothing"
                )


def _check_cell(cell: tuple[str, ...], cells: set[tuple[str, ...]], file: Path, where: str) -> None:
    """Raise a `ConfigError` for the first part of a cell that no table has, given the parts before it."""
    if cell in cells:
        return
    for part, what in enumerate(COLUMNS[:4]):
        known = sorted({other[part] for other in cells if other[:part] == cell[:part]})
        check_known(cell[part], known, file, f"{where}: {what}", f"{what} of this study's tables")
