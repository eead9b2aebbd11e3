"""Make entries of the catalog from users' tables, which are checked before any job starts.

A study names a file and its label column; task, classes, kinds of columns and counts are read from the file.
What was found is kept in the folder ``.snakemake`` until the file changes, because every job begins with
this: only the first reads the file, and imports pandas for it.
"""

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import math
import os
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrolab.data.openml_tables import KEYS, facts_of, file_of
from entrolab.data.table_formats import COMPRESSED, DELIMITED, FORMATS, suffix_of
from entrolab.study.sections import ConfigError, shortened
from entrolearn.suggest import did_you_mean

__all__ = ["entry_of", "warning_of"]

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")  # missing values, by default
MOST_CLASSES = 20  # more different whole numbers are values of a regression
MOST_LISTED = 12  # columns or labels in a message
# Labels that YAML reads as booleans where they are not in quotes.
UNQUOTED = {True: {"yes", "true", "on"}, False: {"no", "false", "off"}}
# A text column whose values are numbers in more than this share of the rows has slips among them.
MOSTLY = 0.5
IDENTIFIERS_FROM = 20  # rows: in fewer, values may differ by chance
KEPT_IN = Path(".snakemake", "entrolearn")


@dataclass(frozen=True)
class _Source:
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
    fetched = not own.keys().isdisjoint(KEYS)
    if fetched:
        own = {**own, "file": os.path.relpath(file_of(study, key, own), study.parent)}
    files = own["file"] if isinstance(own["file"], list) else [own["file"]]
    files = [*files, *filter(None, [own.get("test")])]
    paths = [Path(os.path.normpath(study.parent / file)) for file in files]
    by_name = DELIMITED.get(suffix_of(paths[0]), ",")
    source = _Source(study, key, paths, own.get("delimiter", by_name))
    with _errors_of_reading(source):
        kept = _kept_at(source, own)
        try:
            return json.loads(kept.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            entry = _of_openml(source, own) if fetched else _entry(source, own)
            entry = json.loads(json.dumps(entry))
    if KEPT_IN.parent.is_dir():
        with suppress(OSError):  # the next job reads the file again
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(json.dumps(entry), encoding="utf-8")
    return entry


def warning_of(key: str, entry: Mapping, column: str) -> str:
    """The warning of a column that determines the label of a table of one's own."""
    return (
        f"The column {column!r} of {key} alone determines the label {entry['format']['label']!r}: unless it "
        f"is known before the label is, `drop: [{column}]`."
    )


def _kept_at(source: _Source, own: Mapping) -> Path:
    """Where the entry of a table is kept: another file when anything that it depends on changes."""
    seen = [
        (str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in (*source.paths, Path(__file__))
    ]
    said = json.dumps([str(source.study), source.key, dict(own), seen], sort_keys=True)
    return KEPT_IN / f"{hashlib.sha256(said.encode()).hexdigest()}.json"


@contextmanager
def _errors_of_reading(source: _Source) -> Iterator[None]:
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
    except (OSError, zipfile.BadZipFile) as error:
        problem = getattr(error, "strerror", None) or error
        raise source.wrong_in_study("file", f"{source.path}: {problem}") from None


# ------------------------------------------------------------------------------------------- the whole entry


def _of_openml(source: _Source, own: Mapping) -> dict:
    """The entry of a data set of OpenML, whose file says its label, missing values and splits."""
    facts = facts_of(source.path)
    own = {"label": facts["label"], "missing": [], **own, "splits": facts["splits"]}
    if own["label"] is None:
        raise source.wrong_in_study("label", "OpenML names no target of this data set; accepted: a column")
    entry = _entry(source, own)
    return entry | {name: facts[name] for name in ("title", "reference", "licence")}


def _entry(source: _Source, own: Mapping) -> dict:
    missing = list(own.get("missing", MISSING))
    names, frames = _frames(source, missing)
    (label,) = _columns(source, names, "label", [own["label"]])
    drop = _columns(source, names, "drop", own.get("drop", ()))
    categorical = _columns(source, names, "categorical", own.get("categorical", ()))
    keep = _columns(source, names, "keep", own.get("keep", ()))
    beside = {
        option: _columns(source, names, option, [own[option]])[0]
        for option in ("groups", "time", "weight")
        if option in own
    }
    frame = _concatenated(frames)
    if frame.empty:
        raise source.wrong_in_study("file", f"found no rows in {source.path}; accepted: some below its names")
    if "time" in beside:
        _check_times(source, frame[beside["time"]])
    splits = list(own.get("splits", ()))
    apart = {label, *drop, *splits, *(name for option, name in beside.items() if option != "time")}
    features = [name for name in names if name not in apart]
    plain = _plain_numbers(frame, features) - {*categorical}
    described = {
        name: (None, "")
        if name in plain
        else _described(source, name, frame[name], name in categorical, missing)
        for name in features
    }
    left_out = {name: why for name, (_, why) in described.items() if why and name not in keep}
    if left_out.keys() == described.keys():
        left_out = {}
    columns = {name: kind for name, (kind, _) in described.items() if name not in left_out}
    if not columns:
        raise source.wrong_in_study(
            "drop", f"found no column beside {label!r} in {source.path}; accepted: some that are not dropped"
        )
    from entrolab.data.formats.table import labels_of
    from entrolearn.columns import ColumnEncoder

    codes = ColumnEncoder(columns, missing).transform(frame)
    labels = labels_of(frame[label], missing)
    gaps = codes != codes
    kept = labels == labels
    n_unlabelled = int((~kept).sum())
    if own.get("missing_rows") == "drop":
        kept &= ~gaps.any(axis=1)
    if not kept.any():
        raise source.wrong_in_study(
            "missing_rows" if own.get("missing_rows") else "label",
            f"no row of {source.path} is left without the {len(kept)} with missing values; accepted: some",
        )
    tested = {"test_rows": int(kept[-len(frames[-1]) :].sum())} if "test" in own else {}
    if tested and not 0 < tested["test_rows"] < kept.sum():
        raise source.wrong_in_study(
            "test",
            f"found no labelled rows in {source.paths[-1]}, or in the other file; accepted: some in both",
        )
    if "weight" in beside:
        _check_weights(source, frame.loc[kept, beside["weight"]], missing)
    counted = _counted(labels[kept])
    task, classes = _task(source, label, counted, own, _is_nominal(frame[label]))
    return {
        "title": f"{source.path.name}, by {label}",
        "source": "own",
        "paths": list(map(str, source.paths)),
        "format": {
            "name": "table",
            "names": names,
            "delimiter": source.delimiter,
            "label": label,
            "columns": columns,
            "missing": missing,
            **beside,
            **({"splits": splits} if splits else {}),
        },
        "splits": _divided_by(frame[splits][kept]) if splits else {},
        "test": str(source.paths[-1]) if "test" in own else None,
        "groups": _n_groups(source, frame, beside["groups"], kept) if "groups" in beside else 0,
        "missing_rows": own.get("missing_rows"),
        "task": task,
        "positive": classes.pop("positives", []),
        "expect": {"rows": counted.total(), "features": len(columns), **classes, **tested},
        "left_out": left_out,
        "n_missing": _numbers(columns, gaps[kept].sum(axis=0)),
        "n_unlabelled": n_unlabelled,
        "tells_label": _telling(columns, codes[kept], labels[kept], task),
        "reference": "",
    }


def _check_times(source: _Source, column) -> None:
    from entrolab.data.formats.table import order_in_time

    try:
        order_in_time(column)
    except ValueError as error:
        raise source.wrong_in_study("time", str(error)) from None


def _check_weights(source: _Source, column, missing: Sequence[str]) -> None:
    """Refuse weights of the rows that no learner could use."""
    from entrolab.data.formats.table import weights_of

    try:
        weights = weights_of(column, missing)
    except ValueError as error:
        raise source.wrong_in_study("weight", str(error)) from None
    absent, negative = int((weights != weights).sum()), int((weights < 0).sum())
    infinite = weights.max(initial=0) == float("inf")
    if absent or negative or infinite or not weights.any():
        found = (
            f"no value of {column.name!r} in {absent} rows"
            if absent
            else f"{weights.min():g} in the column {column.name!r}, in {negative} rows less than 0"
            if negative
            else f"inf in the column {column.name!r}"
            if infinite
            else f"0 in all rows of {column.name!r}"
        )
        raise source.wrong_in_study("weight", f"found {found}; accepted: numbers from 0, not all of them 0")


def _n_groups(source: _Source, frame, name: str, kept) -> int:
    """The number of groups of the rows that are kept."""
    missing = int(frame.loc[kept, name].isna().sum())
    if missing:
        raise source.wrong_in_study(
            "groups", f"found no value of {name!r} in {missing} rows; accepted: a group for each row"
        )
    return int(frame.loc[kept, name].nunique())


def _divided_by(splits) -> dict[str, int]:
    """What a task's splits are: folds and their repeats, or trials with training and test rows."""
    repeats, n_folds = splits.shape[1], int(splits.to_numpy().max()) + 1
    if n_folds > 1:
        return {"folds": n_folds, "repeats": repeats}
    tested = int((splits.to_numpy()[:, 0] == 0).sum())
    return {"trials": repeats, "train": len(splits) - tested, "test": tested}


def _numbers(columns: Iterable[str], counts: Iterable[int]) -> dict[str, int]:
    return {name: int(count) for name, count in zip(columns, counts, strict=True) if count}


def _frames(source: _Source, missing: Sequence[str]) -> tuple[list[str], list]:
    """The names of the columns, and the table of each file."""
    from entrolab.data.formats.table import frame_of

    names: list[str] = []
    frames = []
    for path in source.paths:
        of_file: list[str] = []
        if suffix_of(path) in DELIMITED:
            of_file = _checked_names(source, path)
        try:
            path.stat()
            frame = frame_of(path, of_file, source.delimiter, missing)
        except (UnicodeDecodeError, OSError):
            raise
        except Exception as error:  # noqa: BLE001  whatever the bytes of a file lead a parser to
            raise source.wrong_in_study(
                "file",
                f"{path} is no {suffix_of(path)} file ({shortened(str(error).splitlines()[0])}); "
                f"accepted: {', '.join(FORMATS)}, the first five also with {', '.join(COMPRESSED)}",
            ) from None
        frame = frame.rename(columns=str)
        of_file = list(frame.columns)
        if names and of_file != names:
            other = next((name for name in of_file if name not in names), "their order")
            raise source.wrong_in_study(
                "file",
                f"{path} has other columns than {source.path} ({other}); accepted: the same, in one order",
            )
        names = of_file
        frames.append(frame)
    if len(names) < 2:
        raise source.wrong_in_study(
            "file", f"found one column in {source.path}; accepted: features and a label"
        )
    return names, frames


def _concatenated(frames: Sequence):
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


# ------------------------------------------------------------------------------------------------ the text


def _open_zip(path: Path, mode: str, **options) -> io.TextIOWrapper:
    """The one file in a zip file, as pandas reads it."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise OSError(f"found {len(names)} files in it; accepted: a zip file with one")
        return io.TextIOWrapper(archive.open(names[0]), **options)


OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _open_zip}


def _lines(source: _Source, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The values of each line of delimited text that is not empty, with its number."""
    opener = OPENERS.get(path.suffix.lower(), open)
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        if source.delimiter == "whitespace":
            rows = enumerate(map(str.split, file), start=1)
        else:
            reader = csv.reader(file, delimiter=source.delimiter, skipinitialspace=True)
            rows = ((reader.line_num, row) for row in reader)
        yield from ((number, row) for number, row in rows if row)


def _checked_names(source: _Source, path: Path) -> list[str]:
    """The names in the first line of a file, each of whose lines has as many values."""
    lines = _lines(source, path)
    number, names = next(lines, (1, []))
    names = [name.strip() for name in names]
    if not names:
        raise source.wrong_in_study("file", f"there is nothing in {path}")
    if len(names) < 2:
        others = [mark for mark in (";", "\t", "|", ",") if mark in names[0]] or ["whitespace"]
        raise source.wrong_in_study(
            "delimiter",
            f"{source.delimiter!r} finds one column in {path}, whose line {number} begins "
            f"{shortened(names[0])}, did you mean {others[0]!r}?; accepted: what stands between its columns",
        )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise source.wrong_in_study(
            "file", f"found several columns {repeated[0]!r} in {path}; accepted: names that differ"
        )
    for number, row in lines:
        if len(row) != len(names):
            raise source.wrong_in_file(
                path, number, f"found {len(row)} values; accepted: {len(names)}, as line 1 has names"
            )
    return names


def _first_place(source: _Source, name: str, value: str) -> tuple[Path, int]:
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


def _columns(source: _Source, names: Sequence[str], option: str, asked: Iterable[str | int]) -> list[str]:
    """The columns that an option names."""
    asked = [str(name) for name in asked]
    for name in asked:
        if name not in names:
            raise source.wrong_in_study(
                option,
                f"found no column {name!r} in {source.path}{did_you_mean(name, names)}; "
                f"accepted: {_listed(names)}, as its first line names them",
            )
    return asked


# --------------------------------------------------------------------------------------------- the columns


def _described(
    source: _Source, name: str, column, is_category: bool, missing: Sequence[str]
) -> tuple[Any, str]:
    """The kind of a column for :class:`~entrolearn.columns.ColumnEncoder`; why it is left out, if it is."""
    from entrolearn.columns import DATE, category_name, days, number

    dtype = column.dtype.kind if hasattr(column.dtype, "kind") else "O"
    is_category |= _is_nominal(column)
    values = column.dropna()
    if dtype in "biuf" and not is_category:
        found = values.to_numpy(dtype=float)
        if not all(map(math.isfinite, (found.min(initial=0.0), found.max(initial=0.0)))):
            wrong = next(value for value in values if math.isinf(value))
            path, line = _first_place(source, name, str(wrong))
            raise source.wrong_in_file(path, line, f"found {str(wrong)!r} in the column {name!r}; {NUMBERS}")
        return None, _numbers_left_out(found, dtype)
    if dtype == "M" and not is_category:
        return DATE, ""
    texts = Counter(values.astype(object).map(category_name).to_list())
    for one in missing:
        texts.pop(one, None)
    if not is_category:
        numeric = {text for text in texts if _is(number, text)}
        n_numbers = sum(texts[text] for text in numeric)
        if len(numeric) == len(texts):
            return None, "" if texts else "it has no values"
        if n_numbers > MOSTLY * texts.total():
            wrong = next(text for text in texts if text not in numeric)
            path, line = _first_place(source, name, wrong)
            raise source.wrong_in_file(
                path,
                line,
                f"found {shortened(wrong)} in the column {name!r}; {NUMBERS}, `categorical: [{name}]`, "
                f"`drop: [{name}]`, or `missing` with it if it stands for a missing value",
            )
        if all(_is(days, text) for text in texts):
            return DATE, ""
        if len(texts) == texts.total() >= IDENTIFIERS_FROM:
            return sorted(texts), "a text that differs in all rows"
    return sorted(texts), ""


def _plain_numbers(frame, names: Sequence[str]) -> set[str]:
    """The columns of finite fractions, of which there is no more to say: a wide table may have very many."""
    import numpy as np

    fractions = [
        name for name, dtype in zip(names, frame.dtypes[names], strict=True) if dtype == np.dtype(float)
    ]
    values = frame[fractions].to_numpy()
    plain = ~np.isinf(values).any(axis=0) & ~np.isnan(values).all(axis=0)
    return {name for name, is_plain in zip(fractions, plain, strict=True) if is_plain}


NUMBERS = "accepted: numbers with a point"


def _numbers_left_out(values, dtype: str) -> str:
    """Why a column of numbers is no feature: without values, or the number of the row."""
    if not len(values):
        return "it has no values"
    steps = values[1:] - values[:-1]
    if dtype in "iu" and len(values) >= IDENTIFIERS_FROM and (steps == 1).all():
        return "the number of the row"
    return ""


def _is(read, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _telling(columns: Mapping, codes, labels, task: str) -> list[str]:
    """The columns of which each alone determines the label: by few values, by a threshold or as a line."""
    import numpy as np

    y = labels.astype(float) if task == "regression" else np.unique(labels, return_inverse=True)[1]
    found = []
    for (name, kind), values in zip(columns.items(), codes.T, strict=True):
        known = values == values
        if known.sum() <= MOSTLY * len(y):
            continue
        x, of = values[known], y[known]
        if task == "regression":
            spread = np.std(x) * np.std(of)
            tells = spread > 0 and abs(np.mean((x - x.mean()) * (of - of.mean()))) > (1 - 1e-9) * spread
        else:
            order = np.lexsort((of, x))
            new_value, new_label = np.diff(x[order]) > 0, np.diff(of[order]) != 0
            n_values, n_runs = new_value.sum() + 1, new_label.sum() + 1
            few = n_values <= min(max(MOST_CLASSES, y.max() + 1), len(of) // 4)
            tells = not (new_label & ~new_value).any() and (few or n_runs == y.max() + 1)
        if tells and not (task == "regression" and isinstance(kind, list)):
            found.append(name)
    return found


# ---------------------------------------------------------------------------------------------- the labels


def _counted(labels) -> Counter:
    """The rows of each class by its name, in the order of its labels."""
    import numpy as np

    from entrolab.data.raw_table import label_name

    values, counts = np.unique(labels, return_counts=True)
    return Counter({label_name(value): int(count) for value, count in zip(values, counts, strict=True)})


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def _task(source: _Source, column: str, classes: Counter, own: Mapping, nominal: bool) -> tuple[str, dict]:
    """The task of some labels, and the counts of their classes for the catalog."""
    task = own.get("task") or ("binary" if "positive" in own else _inferred(classes, nominal))
    if task == "regression":
        if words := [label for label in classes if not _is_number(label)]:
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


def _is_nominal(column) -> bool:
    """Whether a file declares the values of a column as categories, whatever they are."""
    return column.dtype.name == "category"


def _inferred(classes: Collection[str], nominal: bool) -> str:
    """The task by the labels: two, or words, are classes; fractions and many whole numbers are values."""
    if len(classes) <= 2:
        return "binary"
    if nominal or not all(map(_is_number, classes)):
        return "multiclass"
    whole = all(float(name).is_integer() for name in classes)
    return "multiclass" if whole and len(classes) <= MOST_CLASSES else "regression"


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
