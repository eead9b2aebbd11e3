"""Checks of the file of a study's values with several seeds, which `make seeds` writes."""

import csv
from pathlib import Path

from entrolab.schema.sections import ConfigError, shortened
from entrolab.text import is_number

# The columns before those of the seeds.
CELL = ("table", "dataset", "model", "metric")


def check_seeds(file: str | Path) -> None:
    """Raise a `ConfigError` for a file that `make seeds` cannot have written."""
    try:
        header, *rows = csv.reader(Path(file).read_text(encoding="utf-8").splitlines() or [""])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file}: {error}; accepted: a file of `make seeds`") from None
    seeds = header[len(CELL) :]
    if tuple(header[: len(CELL)]) != CELL or not seeds or not all(map(str.isdecimal, seeds)):
        accepted = f"{','.join(CELL)} and the numbers of seeds"
        raise ConfigError(f"{file}: line 1: found {shortened(','.join(header))}; accepted: {accepted}")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ConfigError(f"{file}: line {number}: found {len(row)} fields; accepted: {len(header)}")
        for text in row[len(CELL) :]:
            if text and not is_number(text):
                raise ConfigError(f"{file}: line {number}: found {text!r}; accepted: a number, or nothing")
