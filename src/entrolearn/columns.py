"""Estimators that convert between data frames with text labels and the numeric arrays of learners."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

__all__ = [
    "DATE",
    "DURATION",
    "ColumnEncoder",
    "LabelEncodedClassifier",
    "category_name",
    "days",
    "number",
    "numeric_markers",
    "plain_name",
    "seconds",
]

DATE, DURATION = "date", "duration"  # mark columns in `ColumnEncoder.columns`
TRUTH = {"true": 1.0, "false": 0.0}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_OF_A_DAY = 86400
EXACT = 2**53  # whole numbers up to it have a float each
CLOCK = re.compile(r"(?:(-?\d+) days?,? ?\+?)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?|(-?\d+) days?")


def number(value) -> float:
    """A value as a float; "true" is 1 and "false" 0.

    Raises
    ------
    ValueError
        If the value is a text that is not a number, or infinite. ``1_2`` is a code, as for pandas.

    Examples
    --------
    >>> number("2.5"), number(True), number("False")
    (2.5, 1.0, 0.0)
    """
    text = str(value).strip().lower()
    found = TRUTH[text] if text in TRUTH else float(value)
    if math.isinf(found) or "_" in text:
        raise ValueError(f"found {value!r}; accepted: finite numbers")
    return found


def days(value, form: str = DATE) -> float:
    """A date, or a text such as ``2026-11-23 14:30``, in days since 1970-01-01 (UTC if it has no time zone).

    `form` is the format of texts that are not in ISO 8601, as in `datetime.strptime`.

    Examples
    --------
    >>> days("1970-01-02"), days("1970-01-01T12:00:00"), days("31.12.1970", "%d.%m.%Y")
    (1.0, 0.5, 364.0)
    """
    if form == DATE or not isinstance(value, str):
        moment = datetime.fromisoformat(str(value).strip())
    else:
        moment = datetime.strptime(value.strip(), form)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - EPOCH).total_seconds() / SECONDS_OF_A_DAY


def seconds(value) -> float:
    """A duration or a time of day in seconds.

    Examples
    --------
    >>> seconds("01:30"), seconds("1 days 00:00:05.5"), seconds(timedelta(days=-1))
    (5400.0, 86405.5, -86400.0)
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    found = CLOCK.fullmatch(value.isoformat() if isinstance(value, time) else str(value).strip())
    if not found:
        raise ValueError(f"found {value!r}; accepted: durations such as 1 days 02:30:00")
    whole, hours, minutes, rest, alone = (float(part or 0) for part in found.groups())
    return (whole + alone) * SECONDS_OF_A_DAY + 3600 * hours + 60 * minutes + rest


def category_name(value) -> str:
    """Name of a category, which is the same for 1, 1.0, "1" and "1.0", and for True and "true".

    Examples
    --------
    >>> category_name(1.0), category_name(" red "), category_name(True), category_name("007")
    ('1', 'red', 'True', '007')
    """
    if isinstance(value, (float, np.floating)) and value % 1 == 0 and -EXACT <= value <= EXACT:
        return str(int(value))
    text = str(value).strip()
    if text.lower() in TRUTH:
        return text.capitalize()
    return re.sub(r"^(-?(?:0|[1-9]\d*))\.0+$", r"\1", text)


def plain_name(value) -> str:
    """Name of the number that a category reads as; another name than the category's if that is lost in it.

    Examples
    --------
    >>> plain_name("501"), plain_name("00501"), plain_name("1e5"), plain_name("red")
    ('501', '501', '100000', 'red')
    """
    try:
        return category_name(number(value))
    except ValueError:
        return value


def numeric_markers(missing: Sequence[str]) -> list[float]:
    """The markers of missing values that are numbers.

    Examples
    --------
    >>> numeric_markers(["?", "-999"])
    [-999.0]
    """
    markers = []
    for text in missing:
        with suppress(ValueError):
            markers.append(number(text))
    return markers


class ColumnEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Encode the columns of a data frame as numbers, categories as integer codes.

    Columns are selected by name: their order does not matter, and other columns are ignored. Names are texts
    without the blanks around them. A frame of pandas, of Polars or of Arrow is accepted, and the answers do
    not depend on the types that its columns have.

    Parameters
    ----------
    columns : dict
        Specification of each output column, in this order: None for numbers, ``"date"`` for dates in ISO 8601
        or the format of the dates, such as ``"%d.%m.%Y"`` (days since 1970-01-01), ``"duration"`` for
        durations and times of day (seconds), or the list of categories, which are encoded as their positions
        in it.
    missing : sequence of str, default=()
        Texts, besides the empty one, that mark a missing value; those that are numbers also mark it in
        columns of numbers.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> from entrolearn.columns import ColumnEncoder
    >>> table = pd.DataFrame({"colour": ["red", "blue", "green"], "size": [1, 2, None]})
    >>> ColumnEncoder({"size": None, "colour": ["blue", "red"]}).fit_transform(table)
    array([[ 1.,  1.],
           [ 2.,  0.],
           [nan, nan]])
    """

    def __init__(self, columns: dict, missing: Sequence[str] = ()):
        self.columns = columns
        self.missing = missing

    def fit(self, X=None, y=None):
        """Return self; there is nothing to fit."""
        return self

    @property
    def feature_names_in_(self) -> np.ndarray:
        return np.array(list(self.columns), dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self.columns)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X) -> np.ndarray:
        """Encode a data frame.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of float64, shape (n_samples, n_features)
            NaN for missing values and for categories that are not in the list of their column.

        Raises
        ------
        ValueError
            If a column is missing or repeated, or a value does not match the specification of its column; of
            a category such as 007, which is lost in a number, also if its column has numbers.
        """
        X = self._selected(X)
        encoded = np.empty(X.shape)
        numeric = [isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes]
        together = np.array(numeric) & [kind is None for kind in self.columns.values()]
        values = X.loc[:, together].to_numpy(dtype=float)
        if markers := numeric_markers(self.missing):
            marked = np.isin(values, markers) & (X.dtypes[together] != "bool").to_numpy()
            values = np.where(marked, np.nan, values)
        encoded[:, together] = values
        specified = list(self.columns.items())
        for place in np.flatnonzero(~together):
            encoded[:, place] = self._encoded(*specified[place], X.iloc[:, place])
        return encoded

    def _selected(self, X):
        """The columns of a frame of pandas by their names, in the order of the specification."""
        X = X.to_pandas() if hasattr(X, "to_pandas") else X
        if not hasattr(X, "set_axis"):
            raise ValueError(
                f"found {type(X).__name__}; accepted: a data frame with the columns {_listed(self.columns)}"
            )
        X = X.set_axis([str(name).strip() for name in X.columns], axis=1)
        present = {*X.columns}
        if absent := [name for name in self.columns if name not in present]:
            levels = [level for level in X.index.names if str(level) in absent]
            if len(levels) < len(absent):
                raise ValueError(f"found no column {_listed(absent)}; accepted: {_listed(self.columns)}")
            X = X.reset_index(level=levels).rename(columns=str)
        found = X[list(self.columns)]
        if found.shape[1] > len(self.columns):
            repeated = found.columns[found.columns.duplicated()]
            raise ValueError(f"found several columns {_listed(repeated)}; accepted: names that differ")
        return found

    def _encoded(self, name: str, kind, column) -> np.ndarray:
        if kind == DURATION and column.dtype.kind == "m":
            return column.to_numpy("timedelta64[us]") / np.timedelta64(1, "s")
        if isinstance(kind, str) and column.dtype.kind == "M":
            return (column.to_numpy("datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "D")
        code, accepted = self._coder(name, kind)
        codes = {}
        for value in column.astype(object).dropna().unique():
            if str(value).strip() in ("", *self.missing) or category_name(value) in self.missing:
                continue
            try:
                codes[value] = code(value)
            except (ValueError, TypeError):
                raise ValueError(f"column {name!r}: found {value!r}; accepted: {accepted}") from None
        return column.astype(object).map(codes).to_numpy(dtype=float, na_value=np.nan)

    def _coder(self, name: str, kind) -> tuple[Callable, str]:
        """The function of a value in a column, and what it accepts."""
        if kind is None:
            return number, "numbers with a decimal point"
        if kind == DURATION:
            return seconds, "durations such as 1 days 02:30:00"
        if isinstance(kind, str):
            form = "dates such as 2026-11-23" if kind == DATE else f"dates of the form {kind}"
            return lambda value: days(value, kind), form
        places = {one: float(place) for place, one in enumerate(kind)}
        lost = next((one for one in kind if plain_name(one) != one), None)

        def code(value) -> float:
            if lost is not None and not isinstance(value, (str, bool, np.bool_)):
                raise ValueError(value)
            return places.get(category_name(value), np.nan)

        return code, f"texts such as {lost!r}, as read with dtype={{{name!r}: str}}"

    def __getstate__(self) -> dict:
        """State for pickling, with the names of the columns in one array, separate from the specifications.

        One entry per column would make the skops file of a wide table a hundred times as large.
        """
        kinds = {name: kind for name, kind in self.columns.items() if kind is not None}
        return {
            **super().__getstate__(),
            "columns": {"names": np.array(list(self.columns), dtype=str), "kinds": kinds},
        }

    def __setstate__(self, state: Mapping) -> None:
        kinds = state["columns"]["kinds"]
        columns = {name: kinds.get(name) for name in state["columns"]["names"].tolist()}
        super().__setstate__({**state, "columns": columns})


class LabelEncodedClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that is fitted to codes of labels and predicts the labels.

    Parameters
    ----------
    estimator : classifier
        Classifier of the codes 0, 1, …
    labels : sequence
        The label of each code.

    Attributes
    ----------
    estimator_ : classifier
        The classifier fitted to codes.
    classes_ : ndarray
        The labels of the training rows, in the order of `labels`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from entrolearn.columns import LabelEncodedClassifier
    >>> model = LabelEncodedClassifier(LogisticRegression(), ["yes", "no"])
    >>> model.fit([[0.0], [1.0]], ["yes", "no"]).predict([[0.9]])
    array(['no'], dtype='<U3')
    """

    def __init__(self, estimator, labels: Sequence):
        self.estimator = estimator
        self.labels = labels

    @classmethod
    def of_fitted(cls, fitted, labels: Sequence) -> "LabelEncodedClassifier":
        """Wrap a classifier that was fitted to codes, given the label of each code."""
        made = cls(fitted, labels)
        made.estimator_ = fitted
        return made

    def fit(self, X, y, **fit_params):
        """Fit the classifier to the codes of `y`; ValueError if a label is not in `labels`.

        `fit_params`, such as ``sample_weight``, are passed to the classifier.
        """
        codes = {label: code for code, label in enumerate(self.labels)}
        if unknown := [label for label in np.unique(y).tolist() if label not in codes]:
            raise ValueError(f"found the label {unknown[0]!r}; accepted: {_listed(self.labels)}")
        self.estimator_ = clone(self.estimator).fit(X, np.array([codes[label] for label in y]), **fit_params)
        return self

    @property
    def classes_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.array(self.labels)[np.asarray(self.estimator_.classes_, dtype=int)]

    def predict(self, X) -> np.ndarray:
        """The predicted label of each row."""
        check_is_fitted(self)
        return np.array(self.labels)[np.ravel(self.estimator_.predict(X)).astype(int)]

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """The probability of each label, in the order of `classes_`."""
        return self.estimator_.predict_proba(X)

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Decision values of the classifier; for two labels, positive values predict the second one."""
        return self.estimator_.decision_function(X)


def _listed(names, most: int = 12) -> str:
    shown = ", ".join(map(repr, list(names)[:most]))
    return f"{shown} … ({len(names)} in all)" if len(names) > most else shown
