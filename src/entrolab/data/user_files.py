"""The files of users' tables: their text, names of columns, and errors that name a file and a line."""

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from entrolab.data.table_formats import COMPRESSED, DELIMITED, FORMATS, MARK, ODD, says_more, suffix_of
from entrolab.schema.sections import ConfigError, shortened
from entrolab.text import one_line
from entrolearn.suggest import did_you_mean

WHITESPACE = r"\s+"
MOST_LISTED = 12  # columns or labels in a message


@dataclass(frozen=True)
class Source:
    """The files of a user's table, and the data set of a study that names them."""

    study: Path
    key: str
    paths: list[Path]
    read: Mapping  # the options of pandas

    @property
    def path(self) -> Path:
        return self.paths[0]

    @property
    def sep(self) -> str:
        return self.read.get("sep", DELIMITED.get(suffix_of(self.path), ","))

    def wrong_in_study(self, option: str, problem: str) -> ConfigError:
        return ConfigError(f"{self.study}: datasets.{self.key}.{option}: {problem}")

    def wrong_in_file(self, path: Path, line: int, problem: str) -> ConfigError:
        return ConfigError(f"{path}: line {line}: {problem} (datasets.{self.key} of {self.study})")


@contextmanager
def errors_of_reading(source: Source, path: Path | None = None) -> Iterator[None]:
    """Turn any error of reading a file, by default the first, into a `ConfigError`."""
    path = path or source.path
    try:
        yield
    except FileNotFoundError as error:
        path = Path(error.filename or path)
        there = [file.name for file in path.parent.glob("*") if file.suffix in (*FORMATS, *COMPRESSED)]
        raise source.wrong_in_study(
            "file",
            f"there is no file {path}{did_you_mean(path.name, there)}; "
            "accepted: a path from the study's folder",
        ) from None
    except UnicodeError as error:
        coding = source.read.get("encoding", "UTF-8")
        found = f"the byte 0x{error.object[error.start]:02x}" if hasattr(error, "start") else str(error)
        raise source.wrong_in_study(
            "read.encoding",
            f"found {found} in {path}; accepted: a text file in {coding}, or another encoding, such "
            f"as {encoding_of(path) or 'cp1252'}",
        ) from None
    except (ConfigError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  whatever the bytes of a file lead a parser to
        problem = getattr(error, "strerror", None) or one_line(error, 200)
        accepted = f"{', '.join(FORMATS)}, the first five also with {', '.join(COMPRESSED)}"
        raise source.wrong_in_study("file", f"cannot read {path}: {problem}; accepted: {accepted}") from None


def _open_zip(path: Path, mode: str, **options) -> io.TextIOWrapper:
    """The one file in a zip file, as pandas reads it."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise OSError(f"found {len(names)} files in it; accepted: a zip file with one")
        return io.TextIOWrapper(archive.open(names[0]), **options)


OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _open_zip}


def opened(path: Path, encoding: str) -> io.TextIOWrapper:
    """A file of text, which may be compressed."""
    return OPENERS.get(path.suffix.lower(), open)(path, "rt", encoding=encoding, newline="")


def encoding_of(path: Path) -> str | None:
    """UTF-16 if a file begins with its mark, else UTF-8 or cp1252 if they fit, else None."""
    with opened(path, "latin-1") as file:
        if file.read(2) in ("\xff\xfe", "\xfe\xff"):
            return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError), opened(path, encoding) as file:
            while file.read(2**20):
                pass
            return encoding
    return None


def values_of(lines: Iterable[str], sep: str, quote: str = '"') -> Iterator[tuple[int, list[str]]]:
    """The values of each line that is not empty, with its number."""
    csv.field_size_limit(2**31 - 1)  # a text may be long
    if sep == WHITESPACE:
        rows = enumerate(map(str.split, lines), start=1)
    else:
        reader = csv.reader(lines, delimiter=sep, quotechar=quote, skipinitialspace=True)
        rows = ((reader.line_num, row) for row in reader)
    return ((number, row) for number, row in rows if row)


def _lines(source: Source, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The values of each line of delimited text that is not empty, with its number."""
    quote, comment = source.read.get("quotechar", '"'), source.read.get("comment")
    skipped = source.read.get("skiprows", 0)
    skipped = range(skipped) if isinstance(skipped, int) else skipped
    with opened(path, source.read.get("encoding", "utf-8-sig")) as file:
        text = ("\n" if number in skipped else line for number, line in enumerate(file))
        if comment:
            text = (_without_comment(line, comment, quote) for line in text)
        yield from values_of(text, source.sep, quote)


def _without_comment(line: str, comment: str, quote: str) -> str:
    """A line up to the first mark of a comment that is not within quotes."""
    place = line.find(comment)
    while place >= 0 and line.count(quote, 0, place) % 2:
        place = line.find(comment, place + 1)
    return line if place < 0 else line[:place].rstrip() + "\n"


def checked_names(source: Source, path: Path) -> tuple[list[str], dict[str, str]]:
    """The names in the first line of a file that is not empty, each of whose lines has as many values.

    A column without a name has that of pandas, such as ``Unnamed: 0``. Also the columns with whole numbers
    whose text says more than their number, with an example.
    """
    lines = _lines(source, path)
    first, names = next(lines, (1, []))
    names = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(names)]
    if not names:
        raise source.wrong_in_study("file", f"there is nothing in {path}")
    if len(names) < 2:
        others = [mark for mark in (";", "\t", "|", ",") if mark in names[0]] or [WHITESPACE]
        raise source.wrong_in_study(
            "read.sep",
            f"{source.sep!r} finds one column in {path}, whose line {first} begins "
            f"{shortened(names[0])}, did you mean {others[0]!r}?; accepted: what stands between its columns",
        )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise source.wrong_in_study(
            "file", f"found several columns {repeated[0]!r} in {path}; accepted: names that differ"
        )
    lossy: dict[str, str] = {}
    for number, row in lines:
        if len(row) != len(names):
            raise source.wrong_in_file(
                path, number, f"found {len(row)} values; accepted: {len(names)}, as line {first} has names"
            )
        if ODD.search(MARK + MARK.join(row)):
            lossy |= {
                name: text.strip()
                for name, text in zip(names, row, strict=True)
                if name not in lossy and says_more(text)
            }
    return names, lossy


def first_place(source: Source, names: Sequence[str], name: str, value: str) -> tuple[Path, int, str]:
    """The file, the line and the text of the first row with a value in a column."""
    for path in source.paths:
        if suffix_of(path) not in DELIMITED:
            continue
        lines = _lines(source, path)
        next(lines)
        for number, row in lines:
            text = row[names.index(name)].strip()
            with suppress(ValueError):
                if text == value or float(text) == float(value):
                    return path, number, text
    return source.path, 1, value


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
