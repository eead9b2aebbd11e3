"""Estimators that convert between data frames with text labels and the numeric arrays of learners."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

__all__ = [
    "DATE",
    "ColumnEncoder",
    "LabelEncodedClassifier",
    "category_name",
    "days",
    "number",
    "numeric_markers",
]

DATE = "date"  # marks a column of dates in `ColumnEncoder.columns`
TRUTH = {"true": 1.0, "false": 0.0}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_OF_A_DAY = 86400


def number(value) -> float:
    """A value as a float; "true" is 1 and "false" 0.

    Raises
    ------
    ValueError
        If the value is a text that is not a number, or infinite.

    Examples
    --------
    >>> number("2.5"), number(True), number("False")
    (2.5, 1.0, 0.0)
    """
    text = str(value).strip().lower()
    found = TRUTH[text] if text in TRUTH else float(value)
    if math.isinf(found):
        raise ValueError(f"found {value!r}; accepted: finite numbers")
    return found


def days(value) -> float:
    """A date, or a text such as ``2026-11-23 14:30``, in days since 1970-01-01 (UTC if it has no time zone).

    Examples
    --------
    >>> days("1970-01-02"), days("1970-01-01T12:00:00")
    (1.0, 0.5)
    """
    moment = datetime.fromisoformat(str(value).strip())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - EPOCH).total_seconds() / SECONDS_OF_A_DAY


def category_name(value) -> str:
    """Name of a category, which is the same for 1, 1.0 and "1".

    Examples
    --------
    >>> category_name(1.0), category_name(" red "), category_name(True)
    ('1', 'red', 'True')
    """
    if isinstance(value, (float, np.floating)):
        return f"{value:.15g}"
    return str(value).strip()


def numeric_markers(missing: Sequence[str]) -> list[float]:
    """The markers of missing values that are numbers, except NaN.

    Examples
    --------
    >>> numeric_markers(["?", "nan", "-999"])
    [-999.0]
    """
    markers = []
    for text in missing:
        with suppress(ValueError):
            markers.append(float(text))
    return [marker for marker in markers if not math.isnan(marker)]


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a data frame as numbers, categories as integer codes.

    Columns are selected by name: their order does not matter, and other columns are ignored.

    Parameters
    ----------
    columns : dict
        Specification of each output column, in this order: None for numbers, ``"date"`` for dates (days since
        1970-01-01), or the list of categories, which are encoded as their positions in it.
    missing : sequence of str, default=()
        Texts that mark a missing value; those that are numbers also mark it in columns of numbers.

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

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the output columns."""
        return self.feature_names_in_

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
            If a column is missing, or a value does not match the specification of its column.
        """
        if not hasattr(X, "columns"):
            raise ValueError(
                f"found {type(X).__name__}; accepted: a data frame with the columns {_listed(self.columns)}"
            )
        if absent := [name for name in self.columns if name not in X.columns]:
            raise ValueError(f"found no column {_listed(absent)}; accepted: {_listed(self.columns)}")
        encoded = np.empty((len(X), len(self.columns)))
        numeric = _numeric(X, [name for name, kind in self.columns.items() if kind is None])
        together = np.array([name in numeric for name in self.columns], dtype=bool)
        names = [name for name in self.columns if name in numeric]
        values = X[names].to_numpy(dtype=float)
        if markers := numeric_markers(self.missing):
            marked = np.isin(values, markers) & (X.dtypes[names] != "bool").to_numpy()
            values = np.where(marked, np.nan, values)
        encoded[:, together] = values
        for place, (name, kind) in enumerate(self.columns.items()):
            if name not in numeric:
                encoded[:, place] = self._encoded(name, kind, X[name])
        return encoded

    def _encoded(self, name: str, kind, column) -> np.ndarray:
        column = column.astype(object)
        places = {} if kind in (None, DATE) else {one: float(place) for place, one in enumerate(kind)}
        codes = {}
        for value in column.dropna().unique():
            try:
                codes[value] = self._code(kind, places, value)
            except (ValueError, TypeError):
                what = "dates such as 2026-11-23" if kind == DATE else "numbers"
                raise ValueError(f"column {name!r}: found {value!r}; accepted: {what}") from None
        return np.array([codes.get(value, np.nan) for value in column], dtype=float)

    def __getstate__(self) -> dict:
        """State for pickling, with the names of the columns in one array, separate from the specifications.

        One entry per column would make the skops file of a wide table a hundred times as large.
        """
        kinds = {name: kind for name, kind in self.columns.items() if kind is not None}
        # Names may be numbers, which an array with texts would turn into texts.
        is_text = all(isinstance(name, str) for name in self.columns)
        names = np.array(list(self.columns), dtype=str if is_text else object)
        return {**super().__getstate__(), "columns": {"names": names, "kinds": kinds}}

    def __setstate__(self, state: Mapping) -> None:
        kinds = state["columns"]["kinds"]
        columns = {name: kinds.get(name) for name in state["columns"]["names"].tolist()}
        super().__setstate__({**state, "columns": columns})

    def _code(self, kind, places: Mapping[str, float], value) -> float:
        text = category_name(value)
        if text in self.missing:
            return np.nan
        if kind is None:
            return number(value)
        return days(value) if kind == DATE else places.get(text, np.nan)


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


def _numeric(frame, names: Sequence) -> set:
    """The columns among `names` with a numeric dtype, whose values need no conversion."""
    dtypes = frame.dtypes[names]
    return {
        name
        for name, dtype in zip(names, dtypes, strict=True)
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    }


def _listed(names, most: int = 12) -> str:
    shown = ", ".join(map(repr, list(names)[:most]))
    return f"{shown} … ({len(names)} in all)" if len(names) > most else shown
