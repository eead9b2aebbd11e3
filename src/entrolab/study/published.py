"""Checks of the file of a study's published values."""

import csv
from collections.abc import Mapping
from pathlib import Path

from entrolab.study.job_specs import published_cells
from entrolab.study.sections import ConfigError, check_known
from entrolab.study.seeds import is_number

COLUMNS = ("table", "dataset", "model", "metric", "value", "std")


def check_published(file: Path, study: Mapping) -> None:
    """Raise a `ConfigError` for the first row without a cell in a table, or whose value is not a number."""
    try:
        header, *rows = csv.reader(Path(file).read_text(encoding="utf-8-sig").splitlines() or [""])
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file}: {error}; accepted: comma-separated values in UTF-8") from None
    for column in header:
        check_known(column, COLUMNS, file, "line 1", "column")
    if header != list(COLUMNS):
        raise ConfigError(f"{file}: line 1: found {','.join(header)!r}; accepted: {','.join(COLUMNS)}")
    cells = {
        (entry["published"], *cell)
        for name, entry in study["tables"].items()
        for cell in published_cells(study, name)
    }
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows, start=2):
        where = f"line {number}"
        if len(row) != len(COLUMNS):
            raise ConfigError(f"{file}: {where}: found {len(row)} fields; accepted: {len(COLUMNS)}")
        cell = tuple(row[:4])
        if cell not in cells:
            # The first part that no table has, given the parts before it.
            for part, what in enumerate(COLUMNS[:4]):
                known = sorted({other[part] for other in cells if other[:part] == cell[:part]})
                check_known(cell[part], known, file, f"{where}: {what}", f"{what} of this study's tables")
        if cell in seen:
            raise ConfigError(
                f"{file}: {where}: the cell of line {seen[cell]} again; accepted: each cell once"
            )
        seen[cell] = number
        for column, text in zip(COLUMNS[4:], row[4:], strict=True):
            if not is_number(text):
                raise ConfigError(
                    f"{file}: {where}: {column}: found {text!r}; accepted: a number, or nothing"
                )
