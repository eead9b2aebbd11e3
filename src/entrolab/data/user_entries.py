"""Make the catalog's entry of a user's table: task, classes, kinds of columns and counts."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

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
    read, splits = source.read, list(own.get("splits", ()))
    written = {own[option] for option in ("label", "groups") if option in own} | {*own.get("categorical", ())}
    names, frames, lost = _frames(source, written, splits)

    def asked(option: str, columns: Iterable[str]) -> list[str]:
        return columns_asked(source, names, option, columns)

    (label,) = asked("label", [own["label"]])
    drop, categorical, keep = (
        asked(option, own.get(option, ())) for option in ("drop", "categorical", "keep")
    )
    for option in ("dtype", "parse_dates", "date_format"):
        if not isinstance(read.get(option, ()), str):
            asked(f"read.{option}", read.get(option, ()))
    beside = {
        option: asked(option, [own[option]])[0] for option in ("groups", "time", "weight") if option in own
    }
    frame = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    if frame.empty:
        raise source.wrong_in_study("file", f"found no rows in {source.path}; accepted: some below its names")
    _check_scalars(source, frame.drop(columns=drop))
    apart = {label, *drop, *splits, *(name for option, name in beside.items() if option != "time")}
    features = [name for name in names if name not in apart]
    timed = [beside["time"]] if beside.get("time") in drop else []
    lengths, is_delimited = [len(part) for part in frames], suffix_of(source.path) in DELIMITED
    as_text = [name for name, example in lost.items() if example]
    with wrong_values(source, names):
        described = describe_columns(
            frame, [*features, *timed], categorical, as_text, read, lengths, is_delimited
        )
    times = {}
    if "time" in beside:
        kind = described[beside["time"]][0]
        times["time_kind"] = DATE if isinstance(kind, list) else kind
        try:
            order_in_time(frame[beside["time"]], times["time_kind"])
        except ValueError as error:
            raise source.wrong_in_study("time", str(error)) from None
    columns, left_out = _features({name: described[name] for name in features}, keep)
    if not columns:
        raise source.wrong_in_study(
            "drop", f"found no column beside {label!r} in {source.path}; accepted: some that are not dropped"
        )
    codes = ColumnEncoder(columns).transform(frame)
    labels_as = _labels_as(source, frame[label], own)
    labels = labels_of(frame[label], read, labels_as)
    gaps, labelled = codes != codes, labels == labels
    if not labelled.any():
        raise source.wrong_in_study("label", f"no row of {source.path} has a label; accepted: some with one")
    tested = {"test_rows": int(labelled[-len(frames[-1]) :].sum())} if "test" in own else {}
    if tested and not 0 < tested["test_rows"] < labelled.sum():
        raise source.wrong_in_study(
            "test",
            f"found no labelled rows in {source.paths[-1]}, or in the other file; accepted: some in both",
        )
    if "weight" in beside:
        _check_weights(source, frame.loc[labelled, beside["weight"]])
    texts = [one for one in labels[labelled] if isinstance(one, str)]
    are_names = is_nominal(frame[label]) or any(map(says_more, texts))
    task, classes = _task(source, label, _counted(labels[labelled]), own, are_names)
    is_test = np.arange(len(frame)) >= len(frame) - (len(frames[-1]) if tested else 0)
    if tested and task == "binary":
        _check_both_classes(source, labels, labelled, is_test, classes["positives"])
    groups = names_of(frame.loc[labelled, beside["groups"]]) if "groups" in beside else None
    n_groups = _n_groups(source, groups, labels[labelled] if task != "regression" else None)
    words = {name for name, kind in columns.items() if isinstance(kind, list)} | left_out.keys()
    words |= set() if task == "regression" else {label}
    return {
        "title": f"{source.path.name}, by {label}",
        "source": "own",
        "paths": list(map(str, source.paths)),
        "format": {
            "name": "table",
            "names": names,
            "read": dict(read),
            "label": label,
            "labels_as": "number" if task == "regression" else labels_as,
            "columns": columns,
            "written": sorted(written),
            "text": sorted(lost),
            **beside,
            **times,
            **({"splits": splits} if splits else {}),
        },
        "splits": divided_by(frame[splits][labelled]) if splits else {},
        "test": str(source.paths[-1]) if "test" in own else None,
        "groups": n_groups[0],
        "groups_of_class": n_groups[1],
        "task": task,
        "positive": classes.pop("positives", []),
        "expect": {"rows": int(labelled.sum()), "features": len(columns), **classes, **tested},
        "left_out": left_out,
        "hints": hints(frame, words, lost),
        "n_missing": {name: int(n) for name, n in zip(columns, gaps[labelled].sum(axis=0), strict=True) if n},
        "n_unlabelled": int((~labelled).sum()),
        "tells_label": determining_columns(columns, codes[labelled], labels[labelled], task),
        "reference": "",
    }


def _features(described: Mapping, keep: Collection[str]) -> tuple[dict, dict[str, str]]:
    """The kind of each feature, and why the other columns are left out; all are features if none would be."""
    left_out = {name: why for name, (_, why) in described.items() if why and name not in keep}
    if len(left_out) == len(described):
        left_out = {}
    return {name: kind for name, (kind, _) in described.items() if name not in left_out}, left_out


@contextmanager
def wrong_values(source: Source, names: Sequence[str]) -> Iterator[None]:
    """Turn a `WrongValueError` into a `ConfigError` that names the file and the line."""
    try:
        yield
    except WrongValueError as wrong:
        path, line, text = first_place(source, names, wrong.column, wrong.value)
        found = f"found {shortened(text)} in the column {wrong.column!r}"
        raise source.wrong_in_file(path, line, f"{found}; accepted: {wrong.accepted}") from None


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
    lossless = (values % 1 > 0).any() or not any(map(says_more, texts.unique()))
    return "number" if lossless or own.get("task") == "regression" or asked else None


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
        found = f"{wrong[0]:g} in {len(wrong)}" if len(wrong) else "0 in all"
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


def _check_both_classes(source: Source, labels, labelled, is_test, positives: Collection[str]) -> None:
    """Refuse a training or a test file without one of two classes."""
    is_positive = np.array([label_name(label) in positives for label in labels])
    for path, rows in ((source.paths[-1], labelled & is_test), (source.path, labelled & ~is_test)):
        if len({*is_positive[rows].tolist()}) < 2:
            raise source.wrong_in_study(
                "test", f"{path} has rows of one class; accepted: rows of both classes in each file"
            )


def _frames(
    source: Source, written: Collection[str], splits: Sequence[str]
) -> tuple[list[str], list[pd.DataFrame], dict[str, str]]:
    """The names of the columns, the table of each file, and the columns of numbers that are read as text.

    These are columns of which a file has words, or numbers that do not have all that is written, with an
    example.
    """
    odd: dict[str, str] = {}
    frames: list[pd.DataFrame] = []
    for path in source.paths:
        with errors_of_reading(source, path):
            names, of_file = checked_names(source, path) if suffix_of(path) in DELIMITED else ([], {})
            odd = {**of_file, **odd}
            frames.append(frame_of(path, names, source.read, written, (), splits))
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
    lost = {
        name: example
        for name, example in odd.items()
        if name not in written
        and not dtype_kind(source.read, name)
        and all(is_whole(frame[name]) for frame in frames)
    }
    lost |= dict.fromkeys(_typed_apart(frames).difference(written), "")
    if lost:
        frames = [frame_of(path, names, source.read, written, lost, splits) for path in source.paths]
    return names, frames, lost


def _typed_apart(frames: Sequence[pd.DataFrame]) -> set[str]:
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


def _task(source: Source, column: str, classes: Counter, own: Mapping, are_names: bool) -> tuple[str, dict]:
    """The task of some labels, and the counts of their classes for the catalog."""
    task = own.get("task") or ("binary" if "positive" in own else _inferred(classes, are_names))
    if task == "regression":
        if words := [label for label in classes if not is_number(label)]:
            raise source.wrong_in_study(
                "task",
                f"found regression, and {shortened(words[0])} in the column {column!r}; accepted: numbers "
                "with a point, or with the marks of `read: {decimal: ..., thousands: ...}`",
            )
        return task, {}
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
        return task, {"classes": len(classes), "smallest": classes[smallest]}
    positives = _positives(source, column, classes, own)
    n_positive = sum(classes[name] for name in positives)
    counts = {"negative": classes.total() - n_positive, "positive": n_positive}
    return task, {"positives": positives, **counts}


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
    found = [_positive(source, column, classes, one) for one in asked]
    if len({*found}) == len(classes):
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
