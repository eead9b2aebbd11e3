"""The columns of users' tables: their kinds, which of them are no features, and which determine the label."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from entrolab.data.formats.table import dtype_kind
from entrolab.data.table_formats import says_more
from entrolearn.columns import DATE, DURATION, category_name, days, number, seconds

MOST_CLASSES = 20  # more different whole numbers are values of a regression
# A text column whose values are numbers in more than this share of the rows has mistakes in the others.
MOSTLY = 0.5
IDENTIFIERS_FROM = 20  # rows: in fewer, values may differ by chance
UNNAMED = "Unnamed: "  # how pandas begins the name of a column without one
MARKS = ("?", "-", ".")  # texts that stand for missing values, but not for pandas
MOST_TEXTS = 1000  # of a column, that are looked at
# What words look like -> the option that reads them.
UNSIGNED = "numbers without the sign in the file"
LOOKS = {
    r"[+-]?\d{1,3}(?:[,'\s]\d{3})+(?:\.\d+)?": ("a number with thousands", "`read: {{thousands: {mark!r}}}`"),
    r"[+-]?\d{1,3}(?:\.\d{3})*,\d+|[+-]?\d+,\d+": (
        "a number with a decimal comma",
        "`read: {{decimal: ','}}`, and `thousands: '.'` if it has them",
    ),
    r"[+-]?[\d.,]+\s?%": ("a percent", UNSIGNED),
    r"[+-]?[€$£¥]\s?[\d.,]+|[+-]?[\d.,]+\s?[€$£¥]": ("an amount of money", UNSIGNED),
    r"\d{1,4}[-./ ](?:\d{1,2}|[A-Za-z]{3,9})\.?[-./ ]\d{1,4}\b.*|\d{4}[-/.]\d\d|\d{4}-\d{3}": (
        "a date",
        "`read: {{parse_dates: [{name}], date_format: {{{name}: ...}}}}`",
    ),
    r"(?:-?\d+ days?,? ?)?\d+:\d\d(?::\d\d(?:\.\d+)?)?": (
        "a duration or a time of day",
        "`read: {{dtype: {{{name}: timedelta64}}}}`",
    ),
}
# Formats of dates, besides which `ISO` need no option.
LIKE_A_DATE = re.compile(r"(\d{1,4}|[A-Za-z]{3,9})[-/., ]+(\d{1,2}|[A-Za-z]{3,9})\b.*")
ISO = tuple("%Y-%m-%d" + time for time in ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S"))
DATES = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y/%m/%d", "%Y.%m.%d", "%Y-%m", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y"),
    *("%B %d, %Y", "%b %Y", "%B %Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DATE_FORMATS = (*ISO, "%Y-%m-%d %H:%M:%S %Z", *(date + time for time in TIMES for date in DATES))


class WrongValueError(ValueError):
    """A value that does not belong into a column."""

    def __init__(self, column: str, value: str, accepted: str):
        super().__init__(column, value)
        self.column = column
        self.value = value
        self.accepted = accepted


def describe_columns(
    frame: pd.DataFrame,
    names: Sequence[str],
    categorical: Collection[str],
    text: Collection[str],
    read: Mapping,
    lengths: Sequence[int],
    is_delimited: bool = True,
) -> dict[str, tuple[Any, str]]:
    """The kind of each column for :class:`~entrolearn.columns.ColumnEncoder`, and why it is no feature.

    `text` are columns of numbers that are read as text, `read` are the options of pandas, and `lengths` the
    numbers of rows of the files; only in delimited text can texts be numbers. The reason is empty for a
    feature. A value that does not belong into its column raises a `WrongValueError`.
    """
    described = {}
    for name in names:
        if name in categorical:
            texts = _texts(frame[name])
            described[name] = (sorted(texts), "") if texts else (None, "it has no values")
        else:
            asked = "text" if name in text else dtype_kind(read, name)
            described[name] = _described(frame[name], asked, read, lengths, is_delimited)
    return described


def _texts(column: pd.Series) -> Counter:
    """The rows of each category by its name."""
    return Counter(column.dropna().astype(object).map(category_name).to_list())


def _described(
    column: pd.Series, asked: str | None, read: Mapping, lengths: Sequence[int], is_delimited: bool
) -> tuple[Any, str]:
    name = str(column.name)
    if name in read.get("parse_dates", ()):
        return date_kind(column, read), ""
    if column.dtype.kind == "M":
        return DATE, ""
    if column.dtype.kind in "biuf" and not is_nominal(column) and asked != "text":
        return None, _why_no_feature(name, column, lengths)
    if column.dtype.kind == "m" or isinstance(next(iter(column.dropna()), None), time):
        return DURATION, ""
    texts = _texts(column)
    if not texts:
        return None, "it has no values"
    if is_nominal(column):
        return sorted(texts), ""
    if asked == DURATION:
        _check_all(name, texts, seconds, "durations such as 1 days 02:30:00")
        return DURATION, ""
    if asked == "number":
        _check_all(name, texts, number, "numbers")
    is_text = not is_delimited and isinstance(next(iter(column.dropna())), str)
    return _described_texts(name, texts, asked, is_text)


def _check_all(name: str, texts: Iterable[str], function: Callable, accepted: str) -> None:
    if wrong := next((text for text in texts if not reads(function, text)), None):
        raise WrongValueError(name, wrong, accepted)


def _why_no_feature(name: str, column: pd.Series, lengths: Sequence[int]) -> str:
    """Why a column of numbers is no feature: it has no values, or is the number of the row."""
    found = column.to_numpy(dtype=float, na_value=np.nan)
    if np.isinf(found).any():
        raise WrongValueError(name, str(found[np.isinf(found)][0]), "finite numbers")
    if np.isnan(found).all():
        return "it has no values"
    if name.startswith(UNNAMED) and not (found % 1 > 0).any():
        return "an index without a name"
    steps = [np.diff(part) for part in np.split(found, np.cumsum(lengths)[:-1])]
    counts = len({*np.concatenate(steps).tolist()}) == 1 and abs(steps[0][:1]) == 1
    return "the number of the row" if len(found) >= IDENTIFIERS_FROM and counts else ""


def _described_texts(name: str, texts: Counter, asked: str | None, is_text: bool) -> tuple[Any, str]:
    if asked == "number" or not (is_text or asked):
        numeric = {text for text in texts if reads(number, text)}
        if len(numeric) == len(texts):
            return None, ""
        if sum(texts[text] for text in numeric) > MOSTLY * texts.total() and not _are_codes(texts):
            wrong = next(text for text in texts if text not in numeric)
            raise WrongValueError(
                name,
                wrong,
                f"numbers with a point, `categorical: [{name}]`, `drop: [{name}]`, or `na_values` with it if "
                "it stands for a missing value",
            )
    if asked != "text" and all(reads(days, text) for text in texts):
        return DATE, ""
    differs = len(texts) == texts.total() >= IDENTIFIERS_FROM
    return sorted(texts), "a text that differs in all rows" if differs else ""


def _are_codes(texts: Iterable[str]) -> bool:
    """Whether texts that are mostly whole numbers have codes such as 007, 1e5 or 1_2."""
    numeric = [text for text in texts if reads(number, text)]
    odd = any(says_more(text) or text.replace("_", "").isdigit() > text.isdigit() for text in texts)
    return odd and all(number(text) % 1 == 0 for text in numeric)


def date_kind(column: pd.Series, read: Mapping) -> str:
    """The kind of a column that a study takes for dates: "date" for ISO 8601, or the format of them all."""
    name, form = str(column.name), read.get("date_format")
    form = form.get(name) if isinstance(form, Mapping) else form
    texts = column.dropna().astype(str).str.strip().unique().tolist()
    fitting = [] if form else [one for one in date_formats(texts) if one not in ISO]
    if len(fitting) == 1:
        return fitting[0]
    accepted = f"dates of the form {form}"
    if not form:
        accepted = f"dates such as 2026-11-23, `na_values` with it, or `date_format: {{{name}: ...}}`"
        accepted += f", since {' and '.join(fitting)} fit all dates" if fitting else ""
    kind = DATE if form in (None, "ISO8601") else form
    _check_all(name, texts, partial(days, form=kind), accepted)
    return kind


def date_formats(texts: Collection[str]) -> list[str]:
    """The formats of dates that fit all texts."""
    if not texts or not all(map(LIKE_A_DATE.fullmatch, texts)):
        return []
    dates = pd.Series([*texts])
    found = [form for form in DATE_FORMATS if are_dates(dates[:3], form) and are_dates(dates, form)]
    if {form.replace("%B", "%b") for form in found} == {*found[:1]}:
        return found[:1]  # "May" is long and short
    return found


def are_dates(texts: pd.Series, form: str) -> bool:
    """Whether all texts are dates of a form."""
    return bool(pd.to_datetime(texts, format=form, errors="coerce").notna().all())


def reads(function: Callable[[str], Any], text: str) -> bool:
    """Whether a function such as `number` or `days` reads a text without a `ValueError`."""
    try:
        function(text)
    except ValueError:
        return False
    return True


def is_nominal(column: pd.Series) -> bool:
    """Whether a file declares the values of a column as categories, whatever they are."""
    return column.dtype.name == "category"


def is_whole(column: pd.Series) -> bool:
    """Whether the values of a column are whole numbers, if it has any."""
    return column.dtype.kind in "iuf" and bool((column.dropna() % 1 == 0).all())


def hints(frame: pd.DataFrame, words: Collection[str], lossy: Mapping[str, str]) -> list[str]:
    """What columns of words look like, each with the option that reads it.

    `lossy` has an example of each column of numbers that is read as text.
    """
    found = [
        f"{name} is read as text, since {example!r} is more than its number; accepted: "
        f"`read: {{dtype: {{{name}: str}}}}`, or {{{name}: float}}"
        for name, example in lossy.items()
        if example and name in words
    ]
    for name, dtype in frame.dtypes.items():
        if name not in words or name in lossy or pd.api.types.is_numeric_dtype(dtype) or dtype.kind in "mM":
            continue
        texts = {str(text) for text in frame[name].dropna().unique()[:MOST_TEXTS]}
        rest = {text.strip() for text in texts.difference(MARKS) if not reads(number, text)}
        for pattern, (what, option) in LOOKS.items():
            fitting = {text for text in rest if re.fullmatch(pattern, text)}
            if len(fitting) > MOSTLY * len(rest):
                first, but = min(fitting), min(rest - fitting, default="")
                mark = next(iter(re.findall(r"[^\d+-]", first)), "")
                found.append(
                    f"{name} is read as words: {first!r} looks like {what}"
                    + (f", but {but!r} does not" if but else "")
                    + f"; accepted: {option.format(name=name, mark=mark)}"
                )
                break
        if mark := min(texts.intersection(MARKS), default=""):
            found.append(f"{name} has {mark!r}: `read: {{na_values: [{mark!r}]}}` if it is missing")
    return found


def determining_columns(columns: Mapping, codes, labels, task: str) -> list[str]:
    """The columns of which each alone determines the label: by few values, by a threshold or as a line."""
    found = []
    if task != "regression":
        labels = np.unique(labels, return_inverse=True)[1]
    for (name, kind), values in zip(columns.items(), codes.T, strict=True):
        known = values == values
        if known.sum() <= MOSTLY * len(labels):
            continue
        if task == "regression":
            determines = not isinstance(kind, list) and _is_line(values[known], labels[known].astype(float))
        else:
            determines = _tells_class(values[known], labels[known], labels.max() + 1)
        if determines:
            found.append(name)
    return found


def _is_line(x, y) -> bool:
    """Whether the labels lie on a line over the values."""
    spread = np.std(x) * np.std(y)
    return spread > 0 and abs(np.mean((x - x.mean()) * (y - y.mean()))) > (1 - 1e-9) * spread


def _tells_class(x, classes, n_classes: int) -> bool:
    """Whether each value has one class, with few values, or one run of values for each class."""
    order = np.lexsort((classes, x))
    new_value, new_class = np.diff(x[order]) > 0, np.diff(classes[order]) != 0
    n_values, n_runs = new_value.sum() + 1, new_class.sum() + 1
    few = n_values <= min(max(MOST_CLASSES, n_classes), len(x) // 4)
    return not (new_class & ~new_value).any() and (few or n_runs == n_classes)
