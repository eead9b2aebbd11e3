"""Make entries of the catalog from users' csv files, which are checked before any job starts.

A study names a file and its label column; task, classes and counts are read from the file. pandas is not
imported, because every job begins with this.
"""

import csv
import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from entrolab.study.sections import ConfigError, shortened
from entrolearn.suggest import did_you_mean

__all__ = ["entry_of"]

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")  # missing values, by default
MOST_CLASSES = 20  # more different whole numbers are values of a regression
MOST_LISTED = 12  # columns or labels in a message
TRUTH = {"true", "false"}  # numbers among features
# Labels that YAML reads as booleans where they are not in quotes.
UNQUOTED = {True: {"yes", "true", "on"}, False: {"no", "false", "off"}}


@dataclass(frozen=True)
class _Source:
    """A csv file, and the data set of a study that names it."""

    study: Path
    key: str
    path: Path

    def wrong_in_study(self, option: str, problem: str) -> ConfigError:
        return ConfigError(f"{self.study}: datasets.{self.key}.{option}: {problem}")

    def wrong_in_file(self, line: int, problem: str) -> ConfigError:
        return ConfigError(f"{self.path}: line {line}: {problem} (datasets.{self.key} of {self.study})")


def entry_of(study: Path, key: str, own: Mapping) -> dict:
    """The catalog's entry of a data set in a user's file.

    Parameters
    ----------
    study : Path
        The study's file; the path of the data is relative to its folder.
    key : str
    own : mapping
        The study's entry: ``file``, ``label``, and options.

    Raises
    ------
    ConfigError
        For the first mistake in the file or in the study's entry.
    """
    source = _Source(study, key, Path(os.path.normpath(study.parent / own["file"])))
    with _text_of(source) as file:
        lines = _lines(file, own.get("delimiter", ","))
        names = _names(source, lines, own.get("delimiter", ","))
        (label,) = _columns(source, names, "label", [own["label"]])
        drop = _columns(source, names, "drop", own.get("drop", ()))
        categorical = _columns(source, names, "categorical", own.get("categorical", ()))
        numbers = [number for number in range(len(names)) if number not in {label, *drop, *categorical}]
        labels = _labels(source, lines, names, label, numbers, own)
    task, classes = _task(source, names[label], labels, own)
    return {
        "title": f"{source.path.name}, by {names[label]}",
        "source": "own",
        "file": str(source.path),
        "format": {
            "name": "csv",
            "delimiter": own.get("delimiter", ","),
            "header": "names",
            "label": label,
            "missing": list(own.get("missing", MISSING)),
            "drop": drop,
            "categorical": categorical,
        },
        "missing_rows": own.get("missing_rows"),
        "task": task,
        "positive": classes.pop("positives", []),
        "expect": {
            "rows": labels.total(),
            "features": len(names) - len({label, *drop}),
            **classes,
        },
        "reference": "",
    }


# ------------------------------------------------------------------------------------------------ the text


@contextmanager
def _text_of(source: _Source) -> Iterator[Iterable[str]]:
    """The open file; any error of reading becomes a `ConfigError`."""
    try:
        with source.path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except FileNotFoundError:
        there = [file.name for file in source.path.parent.glob("*.csv")]
        raise source.wrong_in_study(
            "file",
            f"there is no file {source.path}{did_you_mean(source.path.name, there)}; "
            "accepted: a path from the study's folder",
        ) from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise source.wrong_in_study(
            "file", f"found the byte 0x{byte:02x} in {source.path}; accepted: a csv file in UTF-8"
        ) from None
    except csv.Error as error:
        raise source.wrong_in_study("file", f"{source.path}: {error}; accepted: a csv file") from None
    except OSError as error:
        raise source.wrong_in_study("file", f"{source.path}: {error.strerror}") from None


def _lines(file: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The values of each line that is not empty, with its number."""
    if delimiter == "whitespace":
        rows = enumerate(map(str.split, file), start=1)
    else:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
        rows = ((reader.line_num, row) for row in reader)
    return ((number, [value.strip() for value in row]) for number, row in rows if row)


def _names(source: _Source, lines: Iterator[tuple[int, list[str]]], delimiter: str) -> list[str]:
    """The names of the columns, in the first line."""
    number, names = next(lines, (1, []))
    if not names:
        raise source.wrong_in_study("file", f"there is nothing in {source.path}")
    if len(names) < 2:
        others = [mark for mark in (";", "\t", "|") if mark in names[0]] or ["whitespace"]
        raise source.wrong_in_study(
            "delimiter",
            f"{delimiter!r} finds one column in {source.path}, whose line {number} begins "
            f"{shortened(names[0])}, did you mean {others[0]!r}?; accepted: what stands between its columns",
        )
    return names


def _columns(source: _Source, names: Sequence[str], option: str, asked: Iterable[str | int]) -> list[int]:
    """The numbers of columns that an option names."""
    numbers = []
    for name in map(str, asked):
        if names.count(name) != 1:
            what = f"several columns {name!r}" if name in names else f"no column {name!r}"
            raise source.wrong_in_study(
                option,
                f"found {what} in {source.path}{did_you_mean(name, names)}; accepted: {_listed(names)}, "
                "as its first line names them",
            )
        numbers.append(names.index(name))
    return numbers


# ------------------------------------------------------------------------------------------------ the rows


def _labels(
    source: _Source,
    lines: Iterator[tuple[int, list[str]]],
    names: Sequence[str],
    label: int,
    numbers: Sequence[int],
    own: Mapping,
) -> Counter:
    """How often each label occurs in the rows without missing values."""
    missing = {*own.get("missing", MISSING)}
    labels: Counter[str] = Counter()
    lacking, lacks = 0, (0, "")
    for number, row in lines:
        if len(row) != len(names):
            raise source.wrong_in_file(
                number, f"found {len(row)} values; accepted: {len(names)}, as line 1 has names"
            )
        absent = [column for column in (*numbers, label) if row[column] in missing]
        for column in numbers:
            if not (column in absent or _is_number(row[column]) or row[column].lower() in TRUTH):
                raise source.wrong_in_file(
                    number,
                    f"found {shortened(row[column])} in the column {names[column]!r}; accepted: numbers with "
                    f"a point, else `categorical: [{names[column]}]` or `drop: [{names[column]}]`",
                )
        if absent:
            lacks = (number, names[absent[0]]) if not lacking else lacks
            lacking += 1
        else:
            labels[row[label]] += 1
    if lacking and own.get("missing_rows") != "drop":
        raise source.wrong_in_file(
            lacks[0],
            f"no value in the column {lacks[1]!r}, and gaps in {lacking} of {lacking + labels.total()} rows; "
            "accepted: rows without gaps, or `missing_rows: drop`, which leaves the others out",
        )
    if not labels:
        raise source.wrong_in_study("file", f"found no rows in {source.path}; accepted: some below its names")
    return labels


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


# ---------------------------------------------------------------------------------------------- the labels


def _task(source: _Source, column: str, labels: Counter, own: Mapping) -> tuple[str, dict]:
    """The task of some labels, and the counts of their classes for the catalog."""
    classes = _classes(labels)
    task = own.get("task") or ("binary" if "positive" in own else _inferred(classes))
    if task == "regression":
        if words := [label for label in labels if not _is_number(label)]:
            raise source.wrong_in_study(
                "task",
                f"found regression, and {shortened(words[0])} in the column {column!r}; accepted: numbers",
            )
        return task, {}
    if len(classes) == 1:
        raise source.wrong_in_study(
            "label",
            f"found {column!r}, which is {_listed(classes)} in all rows; accepted: several classes",
        )
    smallest = min(classes, key=classes.__getitem__)
    if task == "multiclass" and classes[smallest] == 1:
        raise source.wrong_in_study(
            "task",
            f"found multiclass, and of {len(classes)} classes in the column {column!r} {smallest!r} has one "
            "row; accepted: several rows of each class, or regression",
        )
    if task == "multiclass":
        return task, {"classes": len(classes), "smallest": classes[smallest]}
    positives = _positives(source, column, classes, own)
    n_positive = sum(classes[name] for name in positives)
    counts = {"negative": classes.total() - n_positive, "positive": n_positive}
    return task, {"positives": positives, **counts}


def _inferred(classes: Collection[str]) -> str:
    """The task by the labels: two, or words, are classes; fractions and many whole numbers are values."""
    if len(classes) <= 2:
        return "binary"
    if not all(map(_is_number, classes)):
        return "multiclass"
    whole = all(float(name).is_integer() for name in classes)
    return "multiclass" if whole and len(classes) <= MOST_CLASSES else "regression"


def _classes(labels: Counter) -> Counter:
    """Rows of each class, by the name that :func:`entrolab.data.prepare.prepare` gives it, in its order."""
    if {label.lower() for label in labels} <= TRUTH:
        named = [(label.capitalize(), label) for label in sorted(labels, key=str.lower)]
    elif all(map(_is_number, labels)):
        named = [(f"{float(label):.15g}", label) for label in sorted(labels, key=float)]
    else:
        named = [(label, label) for label in sorted(labels)]
    classes: Counter[str] = Counter()
    for name, label in named:
        classes[name] += labels[label]
    return classes


def _positives(source: _Source, column: str, classes: Counter, own: Mapping) -> list[str]:
    """The labels of the positive class: the study's, or the last of two, as in scikit-learn."""
    if "positive" not in own:
        if len(classes) > 2:
            raise source.wrong_in_study(
                "task",
                f"found binary, and {len(classes)} labels in the column {column!r}: {_listed(classes)}; "
                "accepted: multiclass, regression, or `positive` with some of them",
            )
        return [[*classes][-1]]
    asked = own["positive"] if isinstance(own["positive"], list) else [own["positive"]]
    found = [_positive(source, column, classes, one) for one in asked]
    if len({*found}) == len(classes):
        raise source.wrong_in_study("positive", f"found all labels, {_listed(classes)}; accepted: some")
    return found


def _positive(source: _Source, column: str, classes: Collection[str], asked: str | float | bool) -> str:
    # YAML takes a plain yes for true.
    meant = [name for name in classes if isinstance(asked, bool) and name.lower() in UNQUOTED[asked]]
    name = meant[0] if meant else f"{asked:.15g}" if isinstance(asked, float) else str(asked)
    if name not in classes:
        raise source.wrong_in_study(
            "positive",
            f"found {asked!r}{did_you_mean(asked, classes)}; accepted: a label of the column {column!r}, "
            f"{_listed(classes)}",
        )
    return name


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(map(repr, [*names][:MOST_LISTED]))
    return f"{shown} … ({len(names)} in all)" if len(names) > MOST_LISTED else shown
