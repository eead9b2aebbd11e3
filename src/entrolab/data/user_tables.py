"""Make entries of the catalog from users' tables, which are checked before any job starts.

A study names a file and its label column; task, classes, kinds of columns and counts are read from the file.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from entrolab.data.openml_tables import KEYS, file_of
from entrolab.data.table_formats import DURATION
from entrolab.data.user_files import Source, errors_of_reading
from entrolab.schema.sections import ConfigError

NAMED = 8  # names in a line


def entry_of(study: Path, key: str, own: Mapping) -> dict:
    """The catalog's entry of a data set in a user's file.

    `own` is the study's entry: ``file``, relative to the folder of the study's file, ``label``, and options.
    The first mistake in the file or in the entry raises a `ConfigError`.
    """
    fetched = not own.keys().isdisjoint(KEYS)
    if fetched:
        own = {**own, "file": os.path.relpath(file_of(study, key, own), study.parent)}
    files = own["file"] if isinstance(own["file"], list) else [own["file"]]
    files = [*files, *filter(None, [own.get("test")])]
    paths = [Path(os.path.normpath(study.parent / file)) for file in files]
    source = Source(study, key, paths, own.get("read", {}))
    return _read_apart(source, own, fetched)


def _read_apart(source: Source, own: Mapping, fetched: bool) -> dict:
    """The entry, made in a separate process within limits: a small file may expand to any size."""
    from entrolab.data.prepare import limits_of_reading
    from entrolab.io.limits import KilledError, LimitError, within

    with errors_of_reading(source):
        size = sum(path.stat().st_size for path in source.paths)
    limits = limits_of_reading(size)  # text has more bytes than numbers
    try:
        (found,) = within(limits, _entry_or_error, source, own, fetched)
    except (LimitError, KilledError, RuntimeError) as error:
        accepted = "; accepted: a smaller table" if isinstance(error, LimitError) else ""
        raise source.wrong_in_study(
            "file", f"cannot read {source.path}, {size:,} bytes: {error}{accepted}"
        ) from None
    if isinstance(found, str):
        raise ConfigError(found)
    return found


def _entry_or_error(source: Source, own: Mapping, fetched: bool) -> Iterator[dict | str]:
    """The entry, or the message of a `ConfigError`, which would arrive as a `RuntimeError`."""
    from entrolab.data.user_entries import entry_of_openml, entry_of_table

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where Arrow writes before it ends the process
    try:
        with errors_of_reading(source):
            entry = entry_of_openml(source, own) if fetched else entry_of_table(source, own)
    except ConfigError as error:
        yield str(error)
    else:
        yield json.loads(json.dumps(entry))


def columns_by_kind(entry: Mapping, without: Collection[str] = ()) -> dict[str, list[str]]:
    """What a table's columns are read as, and what is missing or left out, with the names in words."""
    columns = {name: kind for name, kind in entry["format"]["columns"].items() if name not in without}
    found = {
        "numbers": [name for name, kind in columns.items() if kind is None],
        "dates, taken as days": [
            name for name, kind in columns.items() if isinstance(kind, str) and kind != DURATION
        ],
        "durations, taken as seconds": [name for name, kind in columns.items() if kind == DURATION],
        "categories": [f"{name} ({len(kind)})" for name, kind in columns.items() if isinstance(kind, list)],
        "missing values, imputed from the training rows": [
            f"{name} ({count})" for name, count in entry["n_missing"].items()
        ],
        "left out (name it in `keep` to use it)": [
            f"{name} ({why})" for name, why in entry["left_out"].items()
        ],
    }
    return {what: names for what, names in found.items() if names}


def shortlist(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def warnings_of(key: str, entry: Mapping) -> list[str]:
    """What the owner of a table should look at: columns read as something else, or that tell the label."""
    label = entry["format"]["label"]
    return [
        *(f"Of {key}: {hint}." for hint in entry["hints"]),
        *(
            f"The column {column!r} of {key} alone determines the label {label!r}: unless it is known before "
            f"the label is, `drop: [{column}]`."
            for column in entry["determines_label"]
        ),
    ]
