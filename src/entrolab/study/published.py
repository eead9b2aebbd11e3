"""The file of a study's printed numbers, checked against the study before they are compared with ours."""

import csv
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from entrolab.study.job_specs import printed_cells
from entrolab.study.sections import ConfigError, check_known

__all__ = ["check_printed"]

COLUMNS = ("table", "dataset", "model", "metric", "value", "std")


def check_printed(file: Path, study: Mapping) -> None:
    """Refuse the first row that has no place in a table of its study, or whose number is none.

    Raises
    ------
    ConfigError
    """
    try:
        rows = list(csv.reader(Path(file).read_text(encoding="utf-8-sig").splitlines()))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file}: {error}; accepted: comma-separated values in UTF-8") from None
    _check_columns(file, rows[0] if rows else [])
    places = _places(study)
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS):
            raise ConfigError(f"{file}: line {number}: found {len(row)} fields; accepted: {len(COLUMNS)}")
        *place, value, std = row
        if tuple(place) not in places:
            _refuse_place(file, f"line {number}", tuple(place), places)
        if tuple(place) in seen:
            raise ConfigError(
                f"{file}: line {number}: another number for the place of line {seen[tuple(place)]}"
            )
        seen[tuple(place)] = number
        for column, text in (("value", value), ("std", std)):
            if not _is_number(text):
                raise ConfigError(
                    f"{file}: line {number}: {column}: found {text!r}; accepted: a number, or nothing"
                )


def _check_columns(file: Path, found: list[str]) -> None:
    for column in found:
        check_known(column, COLUMNS, file, "line 1", "column")
    if found != list(COLUMNS):
        raise ConfigError(f"{file}: line 1: found {','.join(found)!r}; accepted: {','.join(COLUMNS)}")


def _places(study: Mapping) -> set[tuple[str, ...]]:
    """Where a printed number can stand: table, data set, model, metric."""
    return {
        (entry["printed"], *cell)
        for name, entry in study["tables"].items()
        for cell in printed_cells(study, name)
    }


def _refuse_place(file: Path, where: str, place: tuple[str, ...], places: Iterable[tuple[str, ...]]) -> None:
    """Say which part of a place is the first that no table has beside those before it."""
    for part, what in enumerate(COLUMNS[: len(place)]):
        known = {other[part] for other in places if other[:part] == place[:part]}
        check_known(place[part], sorted(known), file, f"{where}: {what}", f"{what} of this study's tables")


def _is_number(text: str) -> bool:
    try:
        return not text or math.isfinite(float(text))
    except ValueError:
        return False
