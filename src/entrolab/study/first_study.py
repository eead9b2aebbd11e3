"""``entrolab init``: write a first study of a user's table, with comments on what was found in the table."""

import argparse
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from entrolab.data.guessing import guess_options
from entrolab.data.table_formats import DELIMITED, WORKBOOKS, suffix_of
from entrolab.data.user_files import Source, errors_of_reading
from entrolab.data.user_tables import columns_by_kind, entry_of, shortlist
from entrolab.schema.sections import ConfigError
from entrolab.study.config import RULES, in_one_line
from entrolab.text import one_line

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


def main(arguments: Sequence[str], studies: Collection[str] = ()) -> None:
    """Write a study as the command line asks, and print what was found in the table.

    `studies` are names that the study must not have, besides those of rules.
    """
    parser = argparse.ArgumentParser(
        "entrolab init",
        description="Write a study of a table, with the options of pandas.read_csv that fit the file.",
    )
    parser.add_argument("table", type=Path, help="a csv, tsv, Parquet or Feather file")
    parser.add_argument("--label", required=True, help="the column to predict")
    parser.add_argument("--output", type=Path, help="the study's file (default: the table's name with .yaml)")
    given = parser.parse_args(arguments)
    name = _name(given.table)
    name = f"{name}_study" if name in RULES or name in studies else name
    output = given.output or Path(f"{name}.yaml")
    if output.exists():
        raise ConfigError(f"{output}: exists already; accepted: another name by --output")
    try:
        text = first_study(given.table, given.label, output)
    except ConfigError as error:  # which names a study and a data set that are to be written
        place = f"datasets.{_name(given.table)}"
        message = str(error).replace(f" ({place} of {given.table})", "").replace(f"{place}.", "")
        raise ConfigError(message) from None
    output.write_text(text, encoding="utf-8")
    print(text.partition("datasets:")[0], end="")
    print(one_line(f"Wrote {output}: `entrolab {output}` makes its tables, report and models.", LONGEST))


def first_study(table: Path, label: str, output: Path) -> str:
    """The text of a study of a table, with comments that say what was found.

    The path of the table in the text is relative to the study's file, `output`. A table that cannot be read,
    has no column `label` or a class of one row raises a `ConfigError`.
    """
    if table.suffix.lower() in WORKBOOKS:
        raise ConfigError(f"{table}: found a workbook; accepted: one of its sheets, saved as a csv file")
    name = _name(table)
    read = _options(table, label)
    own: dict = {"file": table.name, "label": label} | ({"read": read} if read else {})
    entry = entry_of(table, name, own)
    if _smallest(entry) < 2:
        raise ConfigError(f"{table}: label: found a class of one row; accepted: several rows of each class")
    if codes := entry["format"]["text"]:  # such as 00501
        own["read"] = read | {"dtype": dict.fromkeys(codes, "str")}
        entry = entry_of(table, name, own)
    own["file"] = os.path.relpath(table, output.parent)
    dropped = entry["determines_label"]
    dropped = dropped if len(dropped) < len(entry["format"]["columns"]) else []
    own |= {"drop": dropped} if dropped else {}
    lines = [*_found(table, entry, own), *_columns(entry, dropped), *entry["hints"]]
    dataset = f"  {in_one_line(name)}: {in_one_line(own)}"
    return "\n".join([*map(_comment, lines), "datasets:", dataset, *_rest(entry)])


def _name(table: Path) -> str:
    """The name of a study and its data set, derived from the name of the table's file."""
    plain = re.sub(r"[^a-z0-9]+", "_", table.name.partition(".")[0].lower()).strip("_")[:LONGEST_NAME]
    return plain if plain[:1].isalpha() else f"table_{plain}".rstrip("_")


def _options(table: Path, label: str) -> dict:
    """The options of pandas with which a table is read."""
    if not table.is_file() or suffix_of(table) not in DELIMITED:
        return {}
    with errors_of_reading(Source(table, _name(table), [table], {})):
        return guess_options(table, label)


def _smallest(entry: Mapping) -> int:
    """The number of rows of the smallest class; of all rows for a regression."""
    expect = entry["expect"]
    return min(expect.get(key, expect["rows"]) for key in ("negative", "positive", "smallest"))


def _found(table: Path, entry: Mapping, own: Mapping) -> Iterator[str]:
    """Lines on the rows, the label and the options of pandas."""
    task = {
        "binary": "two classes, {negative} negative and {positive} positive rows ({names})",
        "multiclass": "{classes} classes, the smallest of {smallest} rows",
        "regression": "numbers, so this is a regression; for classes, add `task: multiclass`",
    }[entry["task"]]
    label, expect = own["label"], entry["expect"]
    yield f"{table.name}: {expect['rows']} rows; {label}: " + task.format(
        **expect, names=", ".join(entry["positive"])
    )
    if "read" in own:
        yield f"options of pandas.read_csv that fit: {in_one_line(own['read'])}"
    if numeric := [name for name in entry["format"]["names"] if re.fullmatch(r"[\d.,+-]+", name)]:
        yield f"names that are numbers, unless the line of names is missing: {shortlist(numeric)}"
    if entry["n_unlabelled"]:
        yield f"rows without {label}, left out: {entry['n_unlabelled']}"


def _columns(entry: Mapping, dropped: Sequence[str]) -> Iterator[str]:
    """Lines on the columns."""
    yield from (f"{what}: {shortlist(names)}" for what, names in columns_by_kind(entry, dropped).items())
    if dropped:
        named = [f"{name} (alone determines {entry['format']['label']})" for name in dropped]
        yield f"dropped (delete it from `drop` to use it): {shortlist(named)}"


def _comment(text: str) -> str:
    """A YAML comment; line breaks in names are removed."""
    return f"# {one_line(text, LONGEST)}"


def _rest(entry: Mapping) -> Iterable[str]:
    values, smallest = entry["task"] == "regression", _smallest(entry)
    models = dict(LEARNERS["values" if values else "classes"])
    if entry["expect"]["rows"] >= MANY_ROWS:
        models.pop("svm", None)
        of_values = "Regressor" if values else "Classifier"
        models["forest"] = f"sklearn.ensemble.HistGradientBoosting{of_values}"
    if smallest <= 2:  # no rows would remain for the inner folds of a grid
        models = {name: one if isinstance(one, str) else one["estimator"] for name, one in models.items()}
    yield "models:"
    yield from (f"  {name}: {in_one_line(model)}" for name, model in models.items())
    if smallest < FOLDS:
        yield f"protocol: {{folds: {smallest}}}   # the smallest class has {smallest} rows"
    yield "# protocol: {folds: 10, repeats: 3}   # instead of five folds without repeats"
    yield ""
