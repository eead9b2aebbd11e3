"""The files of users' tables: their text, names of columns, and errors that name a file and a line."""

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from entrolab.data.table_formats import COMPRESSED, DELIMITED, FORMATS, suffix_of
from entrolab.io.damaged import DAMAGED
from entrolab.schema.sections import ConfigError, shortened
from entrolearn.suggest import did_you_mean

MOST_LISTED = 12  # columns or labels in a message


@dataclass(frozen=True)
class Source:
    """The files of a user's table, and the data set of a study that names them."""

    study: Path
    key: str
    paths: list[Path]
    delimiter: str

    @property
    def path(self) -> Path:
        return self.paths[0]

    def wrong_in_study(self, option: str, problem: str) -> ConfigError:
        return ConfigError(f"{self.study}: datasets.{self.key}.{option}: {problem}")

    def wrong_in_file(self, path: Path, line: int, problem: str) -> ConfigError:
        return ConfigError(f"{path}: line {line}: {problem} (datasets.{self.key} of {self.study})")


@contextmanager
def errors_of_reading(source: Source) -> Iterator[None]:
    """Turn any error of reading the files into a `ConfigError`."""
    try:
        yield
    except FileNotFoundError as error:
        path = Path(error.filename)
        there = [file.name for file in path.parent.glob("*") if file.suffix in (*FORMATS, *COMPRESSED)]
        raise source.wrong_in_study(
            "file",
            f"there is no file {path}{did_you_mean(path.name, there)}; "
            "accepted: a path from the study's folder",
        ) from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise source.wrong_in_study(
            "file", f"found the byte 0x{byte:02x} in {source.path}; accepted: a text file in UTF-8"
        ) from None
    except csv.Error as error:
        raise source.wrong_in_study("file", f"{source.path}: {error}; accepted: a csv file") from None
    except DAMAGED as error:
        problem = getattr(error, "strerror", None) or error
        raise source.wrong_in_study("file", f"{source.path}: {problem}") from None


def _open_zip(path: Path, mode: str, **options) -> io.TextIOWrapper:
    """The one file in a zip file, as pandas reads it."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise OSError(f"found {len(names)} files in it; accepted: a zip file with one")
        return io.TextIOWrapper(archive.open(names[0]), **options)


OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _open_zip}


def _lines(source: Source, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The values of each line of delimited text that is not empty, with its number."""
    opener = OPENERS.get(path.suffix.lower(), open)
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        if source.delimiter == "whitespace":
            rows = enumerate(map(str.split, file), start=1)
        else:
            reader = csv.reader(file, delimiter=source.delimiter, skipinitialspace=True)
            rows = ((reader.line_num, row) for row in reader)
        yield from ((number, row) for number, row in rows if row)


def checked_names(source: Source, path: Path) -> list[str]:
    """The names in the first line of a file that is not empty, each of whose lines has as many values."""
    lines = _lines(source, path)
    first, names = next(lines, (1, []))
    names = [name.strip() for name in names]
    if not names:
        raise source.wrong_in_study("file", f"there is nothing in {path}")
    if len(names) < 2:
        others = [mark for mark in (";", "\t", "|", ",") if mark in names[0]] or ["whitespace"]
        raise source.wrong_in_study(
            "delimiter",
            f"{source.delimiter!r} finds one column in {path}, whose line {first} begins "
            f"{shortened(names[0])}, did you mean {others[0]!r}?; accepted: what stands between its columns",
        )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise source.wrong_in_study(
            "file", f"found several columns {repeated[0]!r} in {path}; accepted: names that differ"
        )
    for number, row in lines:
        if len(row) != len(names):
            raise source.wrong_in_file(
                path, number, f"found {len(row)} values; accepted: {len(names)}, as line {first} has names"
            )
    return names


def first_place(source: Source, name: str, value: str) -> tuple[Path, int]:
    """The file and the line of the first row with a value in a column."""
    for path in source.paths:
        if suffix_of(path) not in DELIMITED:
            continue
        lines = _lines(source, path)
        column = [one.strip() for one in next(lines)[1]].index(name)
        for number, row in lines:
            if row[column].strip() == value:
                return path, number
    return source.path, 1


def columns_asked(source: Source, names: Sequence[str], option: str, asked: Iterable[str | int]) -> list[str]:
    """The columns that an option names."""
    asked = [str(name) for name in asked]
    for name in asked:
        if name not in names:
            raise source.wrong_in_study(
                option,
                f"found no column {name!r} in {source.path}{did_you_mean(name, names)}; "
                f"accepted: {listed(names)}, as its first line names them",
            )
    return asked


def listed(names: Collection[str]) -> str:
    shown = ", ".join(map(repr, [*names][:MOST_LISTED]))
    return f"{shown} … ({len(names)} in all)" if len(names) > MOST_LISTED else shown
