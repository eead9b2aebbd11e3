"""``entrolab init``: write a first study of a user's table, with comments on what was found in the table."""

import argparse
import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from entrolab.data.formats.table import frame_of
from entrolab.data.guessing import RAGGED, guess_options, oddities, read_delimited
from entrolab.data.table_formats import DELIMITED, WORKBOOKS, says_more, suffix_of
from entrolab.data.user_columns import MOST_CLASSES, reads
from entrolab.data.user_tables import columns_by_kind, entry_of, shortlist
from entrolab.io.damaged import DAMAGED
from entrolab.schema.sections import ConfigError, check
from entrolab.study.config import RULES, in_one_line
from entrolab.study.definition import Read
from entrolab.text import one_line
from entrolearn.columns import category_name, number

MANY_ROWS = 20_000  # with more rows, kernel methods take too long for a first look
LEARNERS = {
    "classes": {
        "forest": "sklearn.ensemble.RandomForestClassifier",
        "svm": {"estimator": "sklearn.svm.SVC", "grid": {"C": [1, 10, 100]}},
        "eem": {"estimator": "entrolearn.EEMClassifier", "grid": {"n_hidden": [50, 100, 200]}},
    },
    "values": {
        "forest": "sklearn.ensemble.RandomForestRegressor",
        "ridge": {"estimator": "sklearn.linear_model.Ridge", "grid": {"alpha": [0.01, 1, 100]}},
        "elm": {"estimator": "entrolearn.ELMRegressor", "grid": {"n_hidden": [50, 100, 200]}},
    },
}
FOLDS = 5
LONGEST = 1000  # characters of a comment, which may quote names in the table
LONGEST_NAME = 90
# Words for what a shell does not pass easily.
SEPARATORS = {"tab": "\t", r"\t": "\t", "whitespace": r"\s+"}


def main(arguments: Sequence[str], studies: Collection[str] = ()) -> None:
    """Write a study as the command line asks, and print what was found in the table.

    `studies` are names that the study must not have, besides those of rules.
    """
    parser = argparse.ArgumentParser(
        "entrolab init",
        description="Write a study of a table. How pandas reads the file is guessed unless it is given.",
    )
    parser.add_argument("table", type=Path, help="a csv, tsv, Parquet or Feather file")
    parser.add_argument("--label", required=True, help="the column to predict")
    parser.add_argument("--output", type=Path, help="the study's file (default: the table's name with .yaml)")
    options = parser.add_argument_group("options of pandas.read_csv")
    options.add_argument("--sep", help="what stands between columns: a character, `tab` or `whitespace`")
    options.add_argument("--decimal", help="the decimal mark, such as ','")
    options.add_argument("--thousands", help="the mark between thousands, such as '.'")
    options.add_argument("--encoding", help="such as utf-8, utf-16 or cp1252")
    formats = "the format of a column's dates, such as day=%%d/%%m/%%Y; may be repeated"
    options.add_argument("--dates", action="append", default=[], metavar="COLUMN=FORMAT", help=formats)
    given = parser.parse_args(arguments)
    name = _name(given.table)
    name = f"{name}_study" if name in RULES or name in studies else name
    output = given.output or Path(f"{name}.yaml")
    if output.exists():
        raise ConfigError(f"{output}: exists already; accepted: another name by --output")
    text = first_study(given.table, given.label, output, _given_options(given))
    output.write_text(text, encoding="utf-8")
    print(text.partition("datasets:")[0], end="")
    print(one_line(f"Wrote {output}: `entrolab {output}` makes its tables, report and models.", LONGEST))


def _given_options(given: argparse.Namespace) -> dict:
    options: dict = {name: getattr(given, name) for name in ("sep", "decimal", "thousands", "encoding")}
    options = {name: SEPARATORS.get(one, one) for name, one in options.items() if one is not None}
    for dates in given.dates:
        column, _, form = dates.rpartition("=")
        if not column or "%" not in form:
            raise ConfigError(f"--dates: found {dates!r}; accepted: a column and a format, day=%d/%m/%Y")
        options.setdefault("date_format", {})[column] = form
    check(Read, options, "init")
    return options


def first_study(table: Path, label: str, output: Path, options: Mapping | None = None) -> str:
    """The text of a study of a table, with comments that say what was found.

    The path of the table in the text is relative to the study's file, `output`; `options` are some of pandas'
    that are known. A table that cannot be read or has no column `label` raises a `ConfigError`.
    """
    if table.suffix.lower() in WORKBOOKS:
        raise ConfigError(f"{table}: found a workbook; accepted: one of its sheets, saved as a csv file")
    name = _name(table)
    read = _options(table, label, options or {})
    own: dict = {"file": table.name, "label": label} | ({"read": read} if read else {})
    frame = _frame(table, read, label)
    labels = Counter(frame[label].dropna().map(category_name) if label in frame else ())
    rare = _of_one_row(table, label, labels)
    if rare and all(map(_is_number, labels)):
        own["task"] = "regression"
    elif rare:
        own["read"] = read | {"na_values": [*read.get("na_values", ()), *rare]}
    entry = _entry(table, name, own)
    format = entry["format"]
    if rare and "task" not in own and frame[[*format["columns"]]].isin(rare).any(axis=None):
        raise ConfigError(f"{table}: label: {_one_row(label, rare)}; accepted: several rows of each class")
    if format["text"]:  # codes such as 00501
        codes = {"dtype": dict.fromkeys(format["text"], "str")}
        own["read"], frame = own.get("read", {}) | codes, _frame(table, read | codes, label)
    own["file"] = os.path.relpath(table, output.parent)
    own |= _positive(entry, [one for one in labels if one not in rare])
    dropped, groups, n_repeated = oddities(frame, format["columns"], label)
    dropped |= dict.fromkeys(entry["tells_label"], f"alone determines {label}")
    if len(dropped) == len(format["columns"]):
        dropped = {}
    own |= {"drop": list(dropped)} if dropped else {}
    lines = [*_found(table, entry, own, labels, rare), *_columns(entry, dropped)]
    if n_repeated:
        lines.append(f"rows that repeat earlier ones, which may be training and test rows: {n_repeated}")
    lines += _options_of_folds(entry, dropped, groups) + entry["hints"]
    dataset = f"  {in_one_line(name)}: {in_one_line(own)}"
    return "\n".join([*map(_comment, lines), "datasets:", dataset, *_rest(entry)])


def _name(table: Path) -> str:
    """The name of a study and its data set, derived from the name of the table's file."""
    plain = re.sub(r"[^a-z0-9]+", "_", table.name.partition(".")[0].lower()).strip("_")[:LONGEST_NAME]
    return plain if plain[:1].isalpha() else f"table_{plain}".rstrip("_")


def _options(table: Path, label: str, given: Mapping) -> dict:
    """The options of pandas with which a table is read."""
    if not table.is_file() or suffix_of(table) not in DELIMITED:
        return dict(given)
    try:
        return guess_options(table, given, label)
    except (*DAMAGED, ValueError, LookupError) as error:
        raise ConfigError(f"{table}: {getattr(error, 'strerror', None) or error}") from None


def _frame(table: Path, read: Mapping, label: str) -> pd.DataFrame:
    """The table with its labels as written; nothing if it cannot be read, which the reader of tables says."""
    try:
        layout = {name: read[name] for name in ("sep", "encoding", "skiprows") if name in read}
        is_text = suffix_of(table) in DELIMITED
        names = read_delimited(table, **layout, nrows=0).columns.str.strip() if is_text else ()
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
            return frame_of(table, names, read, {label})
    except (*DAMAGED, *RAGGED, ValueError, LookupError):
        return pd.DataFrame()


def _of_one_row(table: Path, label: str, labels: Counter) -> list[str]:
    """The classes with one row, which no two folds can share; none of a regression."""
    rare = sorted(name for name, count in labels.items() if count == 1)
    if len(rare) > len(labels) / 2 or (len(labels) > MOST_CLASSES and all(map(_is_number, labels))):
        return []
    if rare and len(labels) == 2:
        raise ConfigError(f"{table}: label: {_one_row(label, rare)}; accepted: several rows of each class")
    return rare


def _is_number(text: str) -> bool:
    return reads(number, text) and not says_more(text)


def _one_row(label: str, rare: Sequence[str]) -> str:
    return f"found {label} {shortlist(rare)} in one row"


def _entry(table: Path, name: str, own: Mapping) -> dict:
    """The catalog's entry of a table; errors name it, not a study and a data set, which are to be written."""
    try:
        return entry_of(table, name, own)
    except ConfigError as error:
        message = str(error).replace(f" (datasets.{name} of {table})", "").replace(f"datasets.{name}.", "")
        raise ConfigError(message) from None


def _positive(entry: dict, labels: Collection[str]) -> dict:
    """The rarer class as the positive one if the larger one would be it; the entry's counts are swapped."""
    expect, (usual, *_) = entry["expect"], [*entry["positive"], None]
    others = [name for name in labels if name != usual]
    if entry["task"] != "binary" or expect["negative"] >= expect["positive"] or len(others) != 1:
        return {}
    expect["negative"], expect["positive"] = expect["positive"], expect["negative"]
    entry["positive"] = others
    return {"positive": others[0]}


def _found(table: Path, entry: Mapping, own: Mapping, labels: Counter, rare: Sequence[str]) -> Iterator[str]:
    """Lines on the rows, the label and the options of pandas."""
    task = {
        "binary": "two classes, {negative} negative and {positive} positive rows ({names})",
        "multiclass": "{classes} classes, the smallest of {smallest} rows",
        "regression": "numbers, so this is a regression",
    }[entry["task"]]
    label, expect = own["label"], entry["expect"]
    task = task.format(
        **expect, names=", ".join(entry["positive"]) + (", the rarer class" if "positive" in own else "")
    )
    if entry["task"] == "regression" and not rare and max(labels.values(), default=1) > 1:
        task += f"; for classes, add `task: multiclass` ({len(labels)} different values)"
    yield f"{table.name}: {expect['rows']} rows; {label}: {task}"
    if "read" in own:
        yield f"options of pandas.read_csv that fit: {in_one_line(own['read'])}"
    if numeric := [name for name in entry["format"]["names"] if _is_number(name)]:
        yield f"names that are numbers, unless the line of names is missing: {shortlist(numeric)}"
    if rare:
        said = "so this is a regression" if "task" in own else "so these rows are left out"
        yield f"{_one_row(label, rare)}, too few for a class, {said}"
    if unlabelled := entry["n_unlabelled"] - (0 if "task" in own else len(rare)):
        yield f"rows without {label}, left out: {unlabelled}"


def _columns(entry: Mapping, dropped: Mapping[str, str]) -> Iterator[str]:
    """Lines on the columns."""
    yield from (f"{what}: {shortlist(names)}" for what, names in columns_by_kind(entry, dropped).items())
    if dropped:
        named = [f"{name} ({why})" for name, why in dropped.items()]
        yield f"dropped (delete it from `drop` to use it): {shortlist(named)}"


def _options_of_folds(entry: Mapping, dropped: Collection[str], groups: Mapping[str, int]) -> list[str]:
    """Lines on columns that may divide the folds."""
    said = [
        f"{name} has {n_values} values: `groups: {name}` would keep the rows of each in one fold"
        for name, n_values in [*groups.items()][:3]
    ]
    dates = columns_by_kind(entry, dropped).get("dates, taken as days", [])
    return said + [f"`time: {name}` would train on earlier rows and test on later ones" for name in dates[:1]]


def _comment(text: str) -> str:
    """A YAML comment; line breaks in names are removed."""
    return f"# {one_line(text, LONGEST)}"


def _rest(entry: Mapping) -> Iterable[str]:
    values, rows = entry["task"] == "regression", entry["expect"]["rows"]
    smallest = min(entry["expect"].get(key, rows) for key in ("negative", "positive", "smallest"))
    models = dict(LEARNERS["values" if values else "classes"])
    if rows >= MANY_ROWS:
        models.pop("svm", None)
        of_values = "Regressor" if values else "Classifier"
        models["forest"] = f"sklearn.ensemble.HistGradientBoosting{of_values}"
    if smallest <= 2:  # no rows would remain for the inner folds of a grid
        models = {name: one if isinstance(one, str) else one["estimator"] for name, one in models.items()}
    yield "models:"
    yield from (f"  {name}: {in_one_line(model)}" for name, model in models.items())
    if smallest < FOLDS:
        yield f"protocol: {{folds: {max(2, smallest)}}}   # the smallest class has {smallest} rows"
    yield "# protocol: {folds: 10, repeats: 3}   # instead of five folds without repeats"
    yield ""
