"""Checks of data sets and their splits."""

import re

import numpy as np
import pandas as pd
from scipy import sparse

from entrolab.checks.check import Check, CheckedData
from entrolab.fit.protocols import Folds, protocol
from entrolearn.columns import DATE

FEW_ROWS = 10  # of a class in a test part
MOST_DUPLICATES = 0.05  # of the test rows
# Values that may name groups: their number, and the rows of each on average.
FEWEST_GROUPS, FEWEST_ROWS = 20, 2
PURE = 0.95  # share of rows with the most frequent label of their group
N_PERMUTATIONS = 20
_GROUP = "(patient|subject|person|user|customer|client|animal|household|session|site|batch)s?"
_KEY = "[ _.-]?(id|no|nr|key|code)"
# Such as patient, user_id and study.subject_no, but not n_clients.
NAMES_A_GROUP = re.compile(rf"{_GROUP}({_KEY})?|.*[ _.-]{_GROUP}{_KEY}", re.IGNORECASE)


def few_rows(checked: CheckedData) -> str | None:
    """The smallest number of rows of a class that a split is tested on, if it is small but not none."""
    classes = checked.data.classes
    if not classes:
        return None
    least = [(tested[tested > 0].min(), name, tested) for name, _, tested in checked.counts if tested.any()]
    n_rows, name, tested = min(least, key=lambda one: one[0])
    if n_rows >= FEW_ROWS:
        return None
    label = classes[int(np.flatnonzero(tested == n_rows)[0])]
    return f"{name} has {n_rows} test row{'s' if n_rows > 1 else ''} of {label!r}"


def class_missing(checked: CheckedData) -> str | None:
    """The splits that lack a class among their training or test rows."""
    if not checked.data.classes:
        return None
    lacking = [
        f"{name} has no {part} row of {checked.data.classes[int(label)]!r}"
        for name, *of_parts in checked.counts
        for part, counts in zip(("training", "test"), of_parts, strict=True)
        for label in np.flatnonzero(counts == 0)
    ]
    if not lacking:
        return None
    more = f", and {len(lacking) - 1} more" if len(lacking) > 1 else ""
    return lacking[0] + more


def duplicates(checked: CheckedData) -> str | None:
    """The mean share of test rows with the same features as a training row."""
    values = _rows_as_numbers(checked.data.X)
    shares = [
        float(np.isin(values[test], values[train]).mean()) for _, train, test in checked.splits() if len(test)
    ]
    if not shares or np.mean(shares) <= MOST_DUPLICATES:
        return None
    return f"{100 * np.mean(shares):.0f} % of the test rows have the features of a training row"


def column_that_tells(checked: CheckedData) -> str | None:
    """The columns of which each alone determines the label."""
    names = checked.entry.get("determines_label", ())
    return ", ".join(names) or None


def groups_or_dates(checked: CheckedData) -> str | None:
    """Columns of dates, or whose values look like groups of rows, where splits ignore them."""
    data = checked.data
    scheme = protocol(checked.study.protocol_of(checked.name))
    if (
        not isinstance(scheme, Folds)
        or data.groups is not None
        or not data.columns
        or data.splits is not None
    ):
        return None
    encoded = data.columns["encoded"]
    texts = {name: kind for name, kind in encoded.items() if isinstance(kind, str)}
    dates = [name for name, kind in texts.items() if kind == DATE or "%" in kind]
    groups = [
        name
        for name, values in zip(data.feature_names, data.X.T, strict=True)
        if name not in dates and _are_groups(name, encoded.get(name), values, data.y)
    ]
    found = [f"{name} (dates)" for name in dates] + [f"{name} (groups)" for name in groups]
    return ", ".join(found) or None


def unseen_in_test(checked: CheckedData) -> str | None:
    """Categories of a test file that no training row has."""
    data = checked.data
    if not data.part.any() or not data.columns:
        return None
    found = []
    for name, values in zip(data.feature_names, data.X.T, strict=True):
        kinds = data.columns["encoded"].get(name)
        if isinstance(kinds, list):
            known, tested = (np.unique(values[data.part == part]) for part in (0, 1))
            new = np.setdiff1d(tested[tested == tested], known)
            more = f" and {len(new) - 3} more" if len(new) > 3 else ""
            shown = ", ".join(repr(kinds[int(code)]) for code in new[:3])
            found += [f"{name}: {shown}{more}"] if len(new) else []
    return "; ".join(found) or None


def _rows_as_numbers(X) -> np.ndarray:
    """A number for each row, equal for equal rows."""
    if sparse.issparse(X):
        return np.array([hash((row.indices.tobytes(), row.data.tobytes())) for row in X])
    return pd.util.hash_pandas_object(pd.DataFrame(X), index=False).to_numpy()


def _are_groups(name: str, kind: list | str | None, values: np.ndarray, y: np.ndarray) -> bool:
    """Whether values repeat as those of groups do, and are codes, name a group or nearly tell the label."""
    has_value = values == values
    codes, uniques = pd.factorize(values[has_value])
    if not FEWEST_GROUPS <= len(uniques) <= len(codes) / FEWEST_ROWS:
        return False
    if NAMES_A_GROUP.fullmatch(name):
        return True
    if not isinstance(kind, list):
        return False  # a number may tell the label in other ways
    if all(map(str.isdigit, kind)):
        return True
    rng = np.random.default_rng(0)
    y = y[has_value]
    by_chance = np.mean([_purity(codes, rng.permutation(y)) for _ in range(N_PERMUTATIONS)])
    purity = _purity(codes, y)
    return purity >= PURE and 1 - purity < (1 - by_chance) / 2


def _purity(codes: np.ndarray, y: np.ndarray) -> float:
    """The share of rows with the most frequent label of their group, or of the variance between groups."""
    if y.dtype.kind == "f":
        means = pd.Series(y).groupby(codes).transform("mean").to_numpy()
        return 1 - float(np.mean((y - means) ** 2) / np.var(y)) if np.var(y) else 0.0
    counts = pd.crosstab(codes, y).to_numpy()
    return float(counts.max(axis=1).sum() / counts.sum())


CHECKS = {
    "EL01": Check(
        "few rows of a class",
        "one row more or less moves the recall of that class by ten points or more, so scores hardly tell "
        "models apart",
        "Use fewer folds or `repeats`, join rare classes, or collect rows.",
        "with n rows a recall moves in steps of 1/n",
        few_rows,
    ),
    "EL02": Check(
        "a split without a class",
        "scores of the other folds do not tell how that class is recognised",
        "Use fewer folds, or join rare classes.",
        "none: any such split",
        class_missing,
    ),
    "EL03": Check(
        "duplicates on both sides of the splits",
        "a model that remembers its training rows scores better than it will on new rows",
        "Remove duplicates, or name what they belong to: `groups: column`.",
        "5 %, the default of deepchecks' TrainTestSamplesMix",
        duplicates,
    ),
    "EL04": Check(
        "a column that tells the label",
        "a column that is only known after the label makes every model look perfect",
        "`drop` it, unless it is known before the label is.",
        "none: a line, one threshold, or few values with one label each",
        column_that_tells,
    ),
    "EL05": Check(
        "groups or dates that the splits ignore",
        "rows of one group or of neighbouring days are alike, so random folds test on what was learnt",
        "Set `groups: column` or `time: column`, or `drop` it.",
        "20 values or more with two rows or more on average, and codes of digits, a name of persons or "
        "sites, or one label for 95 % of the rows",
        groups_or_dates,
    ),
    "EL06": Check(
        "the test file has categories that the training file lacks",
        "models know nothing of them",
        "See whether both files are written alike.",
        "none: any such category",
        unseen_in_test,
    ),
}
