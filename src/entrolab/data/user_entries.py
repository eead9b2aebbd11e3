"""Make the catalog's entry of a user's table: task, classes, kinds of columns and counts."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from entrolab.data.formats.table import (
    dtype_kind,
    encoded,
    frame_of,
    labels_of,
    names_of,
    numbers_of,
    order_in_time,
)
from entrolab.data.openml_tables import KEYS, divided_by, facts_of
from entrolab.data.raw_table import label_name
from entrolab.data.table_formats import ARROW, DELIMITED, says_more, suffix_of
from entrolab.data.user_columns import (
    MOST_CLASSES,
    WrongValueError,
    describe_columns,
    determining_columns,
    hints,
    is_nominal,
    is_whole,
)
from entrolab.data.user_files import (
    Source,
    checked_names,
    columns_asked,
    errors_of_reading,
    first_place,
    listed,
)
from entrolab.schema.sections import shortened
from entrolab.text import damaged, is_number
from entrolearn.columns import DATE, ColumnEncoder
from entrolearn.suggest import did_you_mean

NO_FEATURES = ("label", "drop", "groups", "weight")  # roles of columns
ROLES_TOGETHER = ({"time", "drop"}, {"time", "categorical"}, {"time", "keep"}, {"categorical", "keep"})


def entry_of_openml(source: Source, own: Mapping) -> dict:
    """The entry of a data set of OpenML, whose file says its label, missing values and splits."""
    try:
        facts = facts_of(source.path)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  whatever the bytes of a file lead a parser to
        option = next(name for name in KEYS if name in own)
        raise source.wrong_in_study(option, str(damaged(source.path, "Parquet", error))) from None
    own = {"label": facts["label"], **own, "splits": facts["splits"]}
    if own["label"] is None:
        raise source.wrong_in_study("label", "OpenML names no target of this data set; accepted: a column")
    entry = entry_of_table(source, own)
    return entry | {name: facts[name] for name in ("title", "reference", "licence")}


def entry_of_table(source: Source, own: Mapping) -> dict:
    """The entry of a data set in files of a user's."""
    splits = list(own.get("splits", ()))
    keep_as_text = {own[role] for role in ("label", "groups") if role in own} | {*own.get("categorical", ())}
    names, frames, lossy = _frames(source, keep_as_text, splits)
    roles = _roles(source, own, names)
    beside = {role: roles[role][0] for role in ("groups", "time", "weight") if roles[role]}
    frame = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    if frame.empty:
        raise source.wrong_in_study("file", f"found no rows in {source.path}; accepted: some below its names")
    _check_scalars(source, frame.drop(columns=roles["drop"]))
    lengths = [len(part) for part in frames]
    columns, left_out, times = _columns(source, frame, roles, splits, lossy, lengths)
    label = _label(source, own, frame[own["label"]])
    rows = label.is_known
    tested = {"test_rows": _n_test_rows(source, label, lengths[-1])} if "test" in own else {}
    if "weight" in beside:
        _check_weights(source, frame.loc[rows, beside["weight"]])
    groups = names_of(frame.loc[rows, beside["groups"]]) if "groups" in beside else None
    n_groups = _n_groups(source, groups, label.values[rows] if label.task != "regression" else None)
    codes = ColumnEncoder(columns).transform(frame)[rows]
    words = {name for name, kind in columns.items() if isinstance(kind, list)} | left_out.keys()
    words |= set() if label.task == "regression" else {own["label"]}
    n_missing = dict(zip(columns, np.isnan(codes).sum(axis=0).tolist(), strict=True))
    return {
        "title": f"{source.path.name}, by {own['label']}",
        "source": "own",
        "paths": list(map(str, source.paths)),
        "format": {
            "name": "table",
            "names": names,
            "read": dict(source.read),
            "label": own["label"],
            "labels_as": label.read_as,
            "columns": columns,
            "keep_as_text": sorted(keep_as_text),
            "text": sorted(lossy),
            **beside,
            **times,
            **({"splits": splits} if splits else {}),
        },
        "splits": divided_by(frame[splits][rows]) if splits else {},
        "test": str(source.paths[-1]) if "test" in own else None,
        "groups": n_groups[0],
        "groups_of_class": n_groups[1],
        "task": label.task,
        "positive": label.positives,
        "expect": {"rows": int(rows.sum()), "features": len(columns), **label.counts, **tested},
        "left_out": left_out,
        "hints": hints(frame, words, lossy),
        "n_missing": {name: count for name, count in n_missing.items() if count},
        "n_unlabelled": int((~rows).sum()),
        "determines_label": determining_columns(columns, codes, label.values[rows], label.task),
        "reference": "",
    }


def _roles(source: Source, own: Mapping, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns that each option names; all exist, and none has two roles that exclude each other."""
    roles = {}
    for role in ("label", "drop", "categorical", "keep", "groups", "time", "weight"):
        asked = own.get(role, ())
        roles[role] = columns_asked(source, names, role, [asked] if isinstance(asked, str) else asked)
    for option in ("dtype", "parse_dates", "date_format"):
        if not isinstance(source.read.get(option, ()), str):
            columns_asked(source, names, f"read.{option}", source.read.get(option, ()))
    for one, other in combinations(roles, 2):
        both = [name for name in roles[one] if name in roles[other]]
        if both and {one, other} not in ROLES_TOGETHER:
            found = f"found {both[0]!r}, which is `{one}` too"
            raise source.wrong_in_study(other, f"{found}; accepted: one of them")
    return roles


def _columns(
    source: Source,
    frame: pd.DataFrame,
    roles: Mapping,
    splits: Sequence[str],
    lossy: Mapping,
    lengths: list[int],
) -> tuple[dict, dict[str, str], dict]:
    """The kind of each feature, why other columns are left out, and the kind of the column `time`."""
    non_features = {*splits, *(name for role in NO_FEATURES for name in roles[role])}
    features = [name for name in frame.columns if name not in non_features]
    asked = [*dict.fromkeys([*features, *roles["time"]])]
    as_text = [name for name, example in lossy.items() if example]
    is_delimited = suffix_of(source.path) in DELIMITED
    with wrong_values(source, [*frame.columns]):
        described = describe_columns(
            frame, asked, roles["categorical"], as_text, source.read, lengths, is_delimited
        )
    times = {}
    for name in roles["time"]:
        kind = described[name][0]
        times["time_kind"] = DATE if isinstance(kind, list) else kind
        try:
            order_in_time(frame[name], times["time_kind"])
        except ValueError as error:
            raise source.wrong_in_study("time", str(error)) from None
    reasons = {name: described[name][1] for name in features if name not in roles["keep"]}
    left_out = {name: why for name, why in reasons.items() if why}
    if len(left_out) == len(features):  # none would be left
        left_out = {}
    columns = {name: described[name][0] for name in features if name not in left_out}
    if not columns:
        found = f"found no column beside {roles['label'][0]!r} in {source.path}"
        raise source.wrong_in_study("drop", f"{found}; accepted: some that are not dropped")
    return columns, left_out, times


@contextmanager
def wrong_values(source: Source, names: Sequence[str]) -> Iterator[None]:
    """Turn a `WrongValueError` into a `ConfigError` that names the file and the line."""
    try:
        yield
    except WrongValueError as wrong:
        path, line, text = first_place(source, names, wrong.column, wrong.value)
        found = f"found {shortened(text)} in the column {wrong.column!r}"
        raise source.wrong_in_file(path, line, f"{found}; accepted: {wrong.accepted}") from None


@dataclass(frozen=True)
class _Label:
    """The labels of all rows, which are NaN where one is missing."""

    values: np.ndarray
    read_as: str | None  # for `labels_of`
    task: str
    positives: list[str]
    counts: dict[str, int]  # of classes, for the catalog

    @property
    def is_known(self) -> np.ndarray:
        return self.values == self.values


def _label(source: Source, own: Mapping, column: pd.Series) -> _Label:
    read_as = _labels_as(source, column, own)
    values = labels_of(column, source.read, read_as)
    known = values[values == values]
    if not len(known):
        raise source.wrong_in_study("label", f"no row of {source.path} has a label; accepted: some with one")
    are_names = is_nominal(column) or any(isinstance(one, str) and says_more(one) for one in known)
    task, positives, counts = _task(source, str(column.name), _counted(known), own, are_names)
    return _Label(values, "number" if task == "regression" else read_as, task, positives, counts)


def _labels_as(source: Source, column: pd.Series, own: Mapping) -> str | None:
    """What labels of text are read as: numbers or truth if nothing of the text is lost in them."""
    asked = dtype_kind(source.read, str(column.name))
    if asked == "text" or is_nominal(column) or column.dtype.kind in "biufmM":
        return None
    texts = column.dropna().astype(str).str.strip()
    if suffix_of(source.path) in ARROW or not len(texts):
        return None
    if texts.str.lower().isin(["true", "false"]).all():
        return "bool"
    try:
        values = numbers_of(texts, source.read)
    except ValueError:
        return None
    different = texts.drop_duplicates()
    lossy = different.map(says_more)
    if (values % 1 > 0).any():  # values such as 1e5 and 007.50 beside 0.25, unless two of them become one
        lossy &= values[different.index].duplicated(keep=False)
    return "number" if not lossy.any() or own.get("task") == "regression" or asked else None


def _check_scalars(source: Source, frame) -> None:
    """Refuse columns of lists and structures, which Parquet and Feather files may have."""
    for name in frame.columns[frame.dtypes == "object"]:
        for value in frame[name].dropna().head(1):
            if not isinstance(value, Hashable):
                raise source.wrong_in_study(
                    "drop",
                    f"found {shortened(value)} in the column {name!r} of {source.path}; accepted: numbers, "
                    f"texts and dates, or `drop: [{name}]`",
                )


def _check_weights(source: Source, column) -> None:
    """Refuse weights of the rows that no learner could use."""
    try:
        weights = encoded(column)
    except ValueError as error:
        raise source.wrong_in_study("weight", str(error)) from None
    wrong = weights[~((weights >= 0) & (weights < np.inf))]  # of missing values too
    if len(wrong) or not weights.any():
        found = f"weights such as {wrong[0]:g} in {len(wrong)}" if len(wrong) else "0 in all"
        raise source.wrong_in_study(
            "weight", f"found {found} rows of {column.name!r}; accepted: numbers from 0, not all of them 0"
        )


def _n_groups(source: Source, groups: pd.Series | None, labels: np.ndarray | None) -> tuple[int, int]:
    """The number of groups of some rows, and that of the class that is in the fewest groups."""
    if groups is None:
        return 0, 0
    if absent := int(groups.isna().sum()):
        raise source.wrong_in_study(
            "groups", f"found no value of {groups.name!r} in {absent} rows; accepted: a group for each row"
        )
    of_classes = [groups] if labels is None else [groups[labels == label] for label in np.unique(labels)]
    return int(groups.nunique()), min(int(one.nunique()) for one in of_classes)


def _n_test_rows(source: Source, label: _Label, n_rows: int) -> int:
    """The labelled rows of the test file, which has the last rows; both files need some, of both classes."""
    is_test = np.arange(len(label.values)) >= len(label.values) - n_rows
    parts = ((source.paths[-1], label.is_known & is_test), (source.path, label.is_known & ~is_test))
    if not all(rows.any() for _, rows in parts):
        raise source.wrong_in_study(
            "test",
            f"found no labelled rows in {source.paths[-1]}, or in the other file; accepted: some in both",
        )
    if label.task == "binary":
        is_positive = np.array([label_name(one) in label.positives for one in label.values])
        for path, rows in parts:
            if len(np.unique(is_positive[rows])) < 2:
                raise source.wrong_in_study(
                    "test", f"{path} has rows of one class; accepted: rows of both classes in each file"
                )
    return int(parts[0][1].sum())


def _frames(
    source: Source, keep_as_text: Collection[str], splits: Sequence[str]
) -> tuple[list[str], list[pd.DataFrame], dict[str, str]]:
    """The names of the columns, the table of each file, and the columns of numbers that are read as text.

    These are columns of which a file has words, or numbers that do not have all that is written, with an
    example.
    """
    found: dict[str, str] = {}
    frames: list[pd.DataFrame] = []
    for path in source.paths:
        with errors_of_reading(source, path):
            names, of_file = checked_names(source, path) if suffix_of(path) in DELIMITED else ([], {})
            found = {**of_file, **found}
            frames.append(frame_of(path, names, source.read, keep_as_text, (), splits))
        names = [*frames[0].columns]
        if [*frames[-1].columns] != names:
            other = next((name for name in frames[-1].columns if name not in names), "their order")
            raise source.wrong_in_study(
                "file",
                f"{path} has other columns than {source.path} ({other}); accepted: the same, in one order",
            )
    if len(names) < 2:
        raise source.wrong_in_study(
            "file", f"found one column in {source.path}; accepted: features and a label"
        )
    lossy = {
        name: example
        for name, example in found.items()
        if name not in keep_as_text
        and not dtype_kind(source.read, name)
        and all(is_whole(frame[name]) for frame in frames)
    }
    lossy |= dict.fromkeys(_of_several_types(frames).difference(keep_as_text), "")
    if lossy:
        frames = [frame_of(path, names, source.read, keep_as_text, lossy, splits) for path in source.paths]
    return names, frames, lossy


def _of_several_types(frames: Sequence[pd.DataFrame]) -> set[str]:
    """The columns that are numbers in one file and truth or words in another."""
    kinds: dict[str, set[str]] = {}
    for frame in frames if len(frames) > 1 else ():
        for name, dtype in frame.dtypes.items():
            if frame[name].notna().any():
                kind = "number" if dtype.kind in "iuf" else dtype.kind
                kinds.setdefault(str(name), set()).add(kind)
    return {name for name, found in kinds.items() if len(found) > 1}


def _counted(labels) -> Counter:
    """The rows of each class by its name, in the order of its labels."""
    values, counts = np.unique(labels, return_counts=True)
    counted: Counter[str] = Counter()
    for value, count in zip(values, counts, strict=True):
        counted[label_name(value)] += int(count)
    return counted


def _task(
    source: Source, column: str, classes: Counter, own: Mapping, are_names: bool
) -> tuple[str, list[str], dict[str, int]]:
    """The task of some labels, the positive ones, and the counts of their classes for the catalog."""
    task = own.get("task") or ("binary" if "positive" in own else _inferred(classes, are_names))
    if task == "regression":
        if words := [label for label in classes if not is_number(label)]:
            raise source.wrong_in_study(
                "task",
                f"found regression, and {shortened(words[0])} in the column {column!r}; accepted: numbers "
                "with a point, or with the marks of `read: {decimal: ..., thousands: ...}`",
            )
        return task, [], {}
    if len(classes) == 1:
        raise source.wrong_in_study(
            "label", f"found {column!r}, which is {listed(classes)} in all rows; accepted: several classes"
        )
    smallest = min(classes, key=classes.__getitem__)
    if task == "multiclass" and classes[smallest] == 1:
        raise source.wrong_in_study(
            "task",
            f"found multiclass, and of {len(classes)} classes in the column {column!r} {smallest!r} has one "
            "row; accepted: several rows of each class, or regression",
        )
    if task == "multiclass":
        return task, [], {"classes": len(classes), "smallest": classes[smallest]}
    positives = _positives(source, column, classes, own)
    n_positive = sum(classes[name] for name in positives)
    counts = {"negative": classes.total() - n_positive, "positive": n_positive}
    return task, positives, counts


def _inferred(classes: Collection[str], are_names: bool) -> str:
    """The task by the labels: two, or words, are classes; fractions and many whole numbers are values."""
    if len(classes) <= 2:
        return "binary"
    if are_names or not all(map(is_number, classes)):
        return "multiclass"
    whole = all(float(name).is_integer() for name in classes)
    return "multiclass" if whole and len(classes) <= MOST_CLASSES else "regression"


def _positives(source: Source, column: str, classes: Counter, own: Mapping) -> list[str]:
    """The labels of the positive class: the study's, or the last of two, as in scikit-learn."""
    if "positive" not in own:
        if len(classes) > 2:
            raise source.wrong_in_study(
                "task",
                f"found binary, and {len(classes)} labels in the column {column!r}: {listed(classes)}; "
                "accepted: multiclass, regression, or `positive` with some of them",
            )
        return [[*classes][-1]]
    asked = own["positive"] if isinstance(own["positive"], list) else [own["positive"]]
    found = list(dict.fromkeys(_positive(source, column, classes, one) for one in asked))
    if len(found) == len(classes):
        raise source.wrong_in_study("positive", f"found all labels, {listed(classes)}; accepted: some")
    return found


def _positive(source: Source, column: str, classes: Collection[str], asked: str | float | bool) -> str:
    name = label_name(asked)
    if name not in classes:
        raise source.wrong_in_study(
            "positive",
            f"found {asked!r}{did_you_mean(asked, classes)}; accepted: a label of the column {column!r}, "
            f"{listed(classes)}",
        )
    return name
