"""``entrolab init``: write a first study of a user's table, with comments on what was found in the table."""

import argparse
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from entrolab.data.user_tables import entry_of
from entrolab.schema.sections import ConfigError
from entrolab.study.config import RULES
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
NAMED = 8  # columns listed in a line


def main(arguments: Sequence[str], studies: Collection[str] = ()) -> None:
    """Write a study as the command line asks, and print what was found in the table.

    `studies` are names that the study must not have, besides those of rules.
    """
    parser = argparse.ArgumentParser("entrolab init", description="Write a study of a table.")
    parser.add_argument("table", type=Path, help="a csv, tsv, Parquet or Feather file")
    parser.add_argument("--label", required=True, help="the column to predict")
    parser.add_argument("--output", type=Path, help="the study's file (default: the table's name with .yaml)")
    given = parser.parse_args(arguments)
    name = _name(given.table)
    name = f"{name}_study" if name in RULES or name in studies else name
    output = given.output or Path(f"{name}.yaml")
    if output.exists():
        raise ConfigError(f"{output}: exists already; accepted: another name by --output")
    text = first_study(given.table, given.label, output)
    output.write_text(text, encoding="utf-8")
    print(text.partition("datasets:")[0], end="")
    print(one_line(f"Wrote {output}: `entrolab {output}` makes its tables, report and models.", LONGEST))


def first_study(table: Path, label: str, output: Path) -> str:
    """The text of a study of a table, with comments that say what was found.

    The path of the table in the text is relative to the study's file, `output`. A table that cannot be read
    or has no column `label` raises a `ConfigError`.
    """
    name = _name(table)
    own = {"file": os.path.relpath(table, output.parent), "label": label}
    entry = entry_of(output, name, own)
    drop = entry["tells_label"]
    if drop and len(drop) < len(entry["format"]["columns"]):
        own["drop"] = drop
    return "\n".join([*_found(table, entry, label), "datasets:", *_dataset(name, own), *_rest(entry)])


def _name(table: Path) -> str:
    """The name of a study and its data set, derived from the name of the table's file."""
    plain = re.sub(r"[^a-z0-9]+", "_", table.name.partition(".")[0].lower()).strip("_")
    return plain if plain[:1].isalpha() else f"table_{plain}".rstrip("_")


def _found(table: Path, entry: Mapping, label: str) -> list[str]:
    """Lines of text on what was found in the table."""
    expect, columns = entry["expect"], entry["format"]["columns"]
    task = {
        "binary": "two classes, {negative} negative and {positive} positive rows ({names})",
        "multiclass": "{classes} classes, the smallest of {smallest} rows",
        "regression": "numbers, so this is a regression",
    }[entry["task"]]
    task = task.format(**expect, names=", ".join(entry["positive"]))
    kinds = {
        "numbers": [name for name, kind in columns.items() if kind is None],
        "dates": [name for name, kind in columns.items() if kind == "date"],
        "categories": [f"{name} ({len(kind)})" for name, kind in columns.items() if isinstance(kind, list)],
        "missing values, imputed from the training rows": [
            f"{name} ({count})" for name, count in entry["n_missing"].items()
        ],
        "left out (name it in `keep` to use it)": [
            f"{name} ({why})" for name, why in entry["left_out"].items()
        ],
    }
    lines = [f"{table.name}: {expect['rows']} rows; {label}: {task}"]
    lines += [f"{what}: {_listed(names)}" for what, names in kinds.items() if names]
    if entry["n_unlabelled"]:
        lines.append(f"rows without {label}, left out: {entry['n_unlabelled']}")
    return [_comment(line) for line in lines]


def _comment(text: str) -> str:
    """A YAML comment; line breaks in names are removed."""
    return f"# {one_line(text, LONGEST)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _dataset(name: str, own: Mapping) -> Iterable[str]:
    if "drop" in own:
        alone = " and ".join(own["drop"])
        told = f"{alone} alone determines {own['label']}: delete `drop` if it is known before the label"
        yield f"  {_comment(told)}"
    yield f"  {_flow(name)}: {_flow(own)}"


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
    yield from (f"  {name}: {_flow(model)}" for name, model in models.items())
    if smallest < FOLDS:
        yield f"protocol: {{folds: {max(2, smallest)}}}   # the smallest class has {smallest} rows"
    yield "# protocol: {folds: 10, repeats: 3}   # instead of five folds without repeats"
    yield ""


def _flow(value) -> str:
    """A value as one line of YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")
