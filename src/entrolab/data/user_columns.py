"""The columns of users' tables: their kinds, which of them are no features, and which determine the label."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from entrolearn.columns import DATE, category_name, days, number

MOST_CLASSES = 20  # more different whole numbers are values of a regression
# A text column whose values are numbers in more than this share of the rows has mistakes in the others.
MOSTLY = 0.5
IDENTIFIERS_FROM = 20  # rows: in fewer, values may differ by chance


class WrongValueError(ValueError):
    """A value that does not belong into a column of numbers."""

    def __init__(self, column: str, value: str, remedies: str = ""):
        super().__init__(column, value)
        self.column = column
        self.value = value
        self.accepted = f"numbers with a point{remedies}"


def describe_columns(
    frame, names: Sequence[str], categorical: Collection[str], missing: Sequence[str]
) -> dict[str, tuple[Any, str]]:
    """The kind of each column for :class:`~entrolearn.columns.ColumnEncoder`, and why it is no feature.

    The reason is empty for a feature. A column of numbers with infinite values, or with a few texts that are
    no numbers, raises a `WrongValueError`.
    """
    plain = _plain_numbers(frame, names) - {*categorical}
    return {
        name: (None, "") if name in plain else _described(frame[name], name in categorical, missing)
        for name in names
    }


def _plain_numbers(frame, names: Sequence[str]) -> set[str]:
    """The columns of finite fractions, which are features: a wide table may have very many."""
    fractions = [
        name for name, dtype in zip(names, frame.dtypes[names], strict=True) if dtype == np.dtype(float)
    ]
    values = frame[fractions].to_numpy()
    plain = ~np.isinf(values).any(axis=0) & ~np.isnan(values).all(axis=0)
    return {name for name, is_plain in zip(fractions, plain, strict=True) if is_plain}


def _described(column, is_category: bool, missing: Sequence[str]) -> tuple[Any, str]:
    values = column.dropna()
    is_category = is_category or is_nominal(column)
    if not is_category:
        if column.dtype.kind in "biuf":
            return None, _why_no_feature(column.name, values, column.dtype.kind)
        if column.dtype.kind == "M":
            return DATE, ""
    texts = Counter(values.astype(object).map(category_name).to_list())
    for one in missing:
        texts.pop(one, None)
    if texts and is_category:
        return sorted(texts), ""
    return _described_texts(column.name, texts)


def _why_no_feature(name: str, values, dtype: str) -> str:
    """Why a column of numbers is no feature: it has no values, or is the number of the row."""
    found = values.to_numpy(dtype=float)
    if np.isinf(found).any():
        raise WrongValueError(name, str(found[np.isinf(found)][0]))
    if not len(found):
        return "it has no values"
    if dtype in "iu" and len(found) >= IDENTIFIERS_FROM and (np.diff(found) == 1).all():
        return "the number of the row"
    return ""


def _described_texts(name: str, texts: Counter) -> tuple[Any, str]:
    numeric = {text for text in texts if reads(number, text)}
    if len(numeric) == len(texts):
        return None, "" if texts else "it has no values"
    if sum(texts[text] for text in numeric) > MOSTLY * texts.total():
        wrong = next(text for text in texts if text not in numeric)
        instead = f"`categorical: [{name}]`, `drop: [{name}]`"
        raise WrongValueError(
            name, wrong, f", {instead}, or `missing` with it if it stands for a missing value"
        )
    if all(reads(days, text) for text in texts):
        return DATE, ""
    differs = len(texts) == texts.total() >= IDENTIFIERS_FROM
    return sorted(texts), "a text that differs in all rows" if differs else ""


def reads(function: Callable[[str], Any], text: str) -> bool:
    """Whether a function such as `number` or `days` reads a text without a `ValueError`."""
    try:
        function(text)
    except ValueError:
        return False
    return True


def is_nominal(column) -> bool:
    """Whether a file declares the values of a column as categories, whatever they are."""
    return column.dtype.name == "category"


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
