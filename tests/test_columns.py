"""Estimators from data frames to numbers and from codes to labels."""

from datetime import time, timedelta

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from entrolearn.columns import ColumnEncoder, LabelEncodedClassifier, days

TABLE = pd.DataFrame(
    {
        "new": [True, False, True],
        "colour": ["red", " blue", "?"],
        "size": [1, 2, 3],
        "day": ["2026-01-01", "1970-01-02", None],
        "level": [1.0, np.nan, 2.0],
    }
)
COLUMNS = {"size": None, "colour": ["blue", "red"], "level": ["1", "2"], "day": "date", "new": None}
CODES = [[1, 1, 0, 20454, 1], [2, 0, np.nan, 1, 0], [3, np.nan, 1, np.nan, 1]]


@pytest.mark.parametrize(
    "changed",
    [
        lambda table: table,
        lambda table: table[["level", "new", "colour", "day", "size"]].assign(other=0),
        lambda table: table.astype({"size": float, "new": str, "level": object}),
        lambda table: table.astype({"size": "Int64", "new": "boolean", "colour": "category"}),
        lambda table: table.assign(size=["1", "2.0", " 3"], day=pd.to_datetime(table["day"])),
        lambda table: table.assign(level=["1", None, "2"]),
    ],
    ids=["as read", "other order", "other types", "nullable types", "text and dates", "text levels"],
)
def test_a_table_is_encoded_alike_whatever_the_types_of_its_columns(changed):
    np.testing.assert_array_equal(ColumnEncoder(COLUMNS, ["?"]).transform(changed(TABLE)), CODES)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (TABLE.drop(columns="size"), "found no column 'size'; accepted: 'size', 'colour'"),
        (TABLE.assign(size="big"), "column 'size': found 'big'; accepted: numbers"),
        (TABLE.assign(size=["inf", "1", "2"]), "column 'size': found 'inf'; accepted: numbers"),
        (TABLE.assign(day="soon"), "column 'day': found 'soon'; accepted: dates such as"),
        (TABLE.to_numpy(), "found ndarray; accepted: a data frame with the columns 'size'"),
    ],
)
def test_what_is_wrong_in_a_table_is_one_line(table, line):
    with pytest.raises(ValueError, match=line):
        ColumnEncoder(COLUMNS).transform(table)


def test_zones_of_time_are_taken_into_account():
    assert days("2026-01-01T01:00:00+01:00") == days("2026-01-01") == 20454


@pytest.mark.parametrize("labels", [["no", "yes"], ["yes", "no"], [False, True], [3, 1], ["a", "b", "c"]])
def test_labels_come_back_as_they_were_and_scores_stay(labels):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 2)), np.arange(30) % len(labels)
    written = np.array(labels)[codes]
    model = make_pipeline(LabelEncodedClassifier(LogisticRegression(), labels)).fit(X, written)
    plain = LogisticRegression().fit(X, codes)
    np.testing.assert_array_equal(model.predict(X), np.array(labels)[plain.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.classes_.tolist() == labels
    with pytest.raises(ValueError, match="found the label 'other'; accepted: "):
        model.fit(X, ["other"] * 30)


def test_a_label_without_training_rows_has_no_column():
    model = LabelEncodedClassifier(LogisticRegression(), ["a", "b", "c"])
    model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "c", "c"])
    assert model.classes_.tolist() == ["a", "c"]
    assert model.predict_proba([[3.0]]).argmax() == 1
    assert model.predict([[3.0]]).tolist() == ["c"]


def test_a_classifier_without_probabilities_has_none_with_labels():
    model = LabelEncodedClassifier(LinearSVC(), ["a", "b"])
    assert not hasattr(model, "predict_proba")
    assert hasattr(model, "decision_function")


def test_the_file_of_a_wide_encoder_is_small_and_reads_back():
    import skops.io

    names = [f"x{k}" for k in range(5000)]
    encoder = ColumnEncoder({**dict.fromkeys(names), "day": "date", "colour": ["blue", "red"]}, ["?"])
    stored = skops.io.dumps(encoder)
    again = skops.io.loads(stored, trusted=["entrolearn.columns.ColumnEncoder"])
    assert list(again.columns.items()) == list(encoder.columns.items())
    assert again.get_params() == encoder.get_params()
    assert len(stored) < 40 * len(names)


def test_names_are_texts_without_blanks_in_any_frame():
    """Integers as names, an index and the frames of other libraries, as their owners hand them over."""
    encoder = ColumnEncoder({"0": None, "b": ["x", "y"]})
    frame = pd.DataFrame({" 0 ": [1.5, 2], "b": ["y", "x"]})
    frames = [
        frame,
        frame.set_axis([0, " b"], axis=1),
        frame.set_axis([0, "b"], axis=1).set_index("b"),
        polars.from_pandas(frame),
        pyarrow.Table.from_pandas(frame),
    ]
    for one in frames:
        assert encoder.transform(one).tolist() == [[1.5, 1.0], [2.0, 0.0]]
    with pytest.raises(ValueError, match="found several columns 'b'; accepted: names that differ"):
        encoder.transform(pd.concat([frame, frame[["b"]]], axis=1))


@pytest.mark.parametrize(
    ("categories", "alike", "lost"),
    [
        (["00501", "10001"], ["00501", " 00501"], [501, 10001.0]),
        (["1e5", "100000"], ["1e5"], [100000.0]),
        (["9007199254740993", "7"], ["9007199254740993"], [9007199254740993.0]),
        (["1", "2"], [1, 1.0, "1", "1.0", np.int8(1), np.float32(1)], []),
        (["True", "False"], [True, "true", "TRUE", np.True_], [1]),
        (["0.5", "2.25"], [0.5, "0.5"], []),
    ],
)
def test_a_category_has_one_code_or_one_line_that_names_the_dtype(categories, alike, lost):
    encoder = ColumnEncoder({"zip": categories})
    for value in alike:
        column = pd.DataFrame({"zip": pd.Series([value, None], dtype=object)})
        np.testing.assert_array_equal(encoder.transform(column), [[0], [np.nan]])
    for value in lost:
        with pytest.raises(ValueError, match=r"column 'zip': found .*read with dtype={'zip': str}"):
            encoder.transform(pd.DataFrame({"zip": [value]}))


@pytest.mark.parametrize(
    "dtype", ["category", "string", "str", object, "string[pyarrow]", "large_string[pyarrow]"]
)
def test_texts_of_every_dtype_are_one_column(dtype):
    texts = pd.Series(["b", None, "a"], dtype=dtype)
    codes = ColumnEncoder({"x": ["a", "b"]}).transform(pd.DataFrame({"x": texts}))
    np.testing.assert_array_equal(codes, [[1], [np.nan], [0]])


def test_dates_and_durations_are_numbers_as_text_and_as_their_types():
    encoder = ColumnEncoder({"day": "%d.%m.%Y", "took": "duration"})
    took = pd.to_timedelta(["1 days 00:00:05", None, "02:30:00"])
    day = pd.to_datetime(["1970-01-02", "1970-01-11", None])
    expected = [[1, 86405], [10, np.nan], [np.nan, 9000]]
    of_types = pd.DataFrame({"day": day, "took": took})
    of_texts = pd.DataFrame(
        {"day": ["02.01.1970", "11.01.1970", ""], "took": ["1 days 00:00:05", None, "02:30"]}
    )
    clock = of_types.assign(took=[timedelta(1, 5), None, time(2, 30)])
    for frame in (of_types, of_texts, clock):
        np.testing.assert_array_equal(encoder.transform(frame), expected)
    with pytest.raises(
        ValueError, match=r"column 'day': found '1/2/70'; accepted: dates of the form %d.%m.%Y"
    ):
        encoder.transform(of_texts.assign(day="1/2/70"))


def test_a_code_with_an_underscore_is_no_number():
    with pytest.raises(ValueError, match="column 'lot': found '1_2'; accepted: numbers"):
        ColumnEncoder({"lot": None}).transform(pd.DataFrame({"lot": ["1_2"]}))


def test_columns_of_numbers_are_encoded_together_as_one_by_one():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4, 3)), columns=["a", "b", "c"]).assign(
        truth=[True, False, True, True],
        text=["1", "2.5", "?", "4"],
        nullable=pd.array([1, None, 3, 4], "Int64"),
    )
    table.loc[1, "b"] = np.nan
    order = ["text", "c", "truth", "nullable", "b", "a"]
    together = ColumnEncoder(dict.fromkeys(order), ["?"]).transform(table)
    alone = [ColumnEncoder({name: None}, ["?"]).transform(table.astype(object))[:, 0] for name in order]
    np.testing.assert_array_equal(together, np.column_stack(alone))


def test_numbers_that_mark_missing_values_are_missing_whatever_the_type_of_their_column():
    table = pd.DataFrame(
        {"whole": [-999, 1], "part": [-999.0, 0.5], "text": ["-999", "1"], "truth": [True, False]}
    )
    encoder = ColumnEncoder(dict.fromkeys(table), ["?", "nan", "-999", "1.0"])
    expected = [[np.nan, np.nan, np.nan, 1], [np.nan, 0.5, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(table), expected)
