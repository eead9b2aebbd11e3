"""Each check of data fires on a table that is made for it, and on none that lacks what it looks for."""

import numpy as np
import pytest
from made_studies import made_study
from scipy import sparse

from entrolab.checks.check import CheckedData
from entrolab.checks.of_data import CHECKS
from entrolab.data.dataset import Dataset

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=200) > 0).astype(int)
WORDS = [f"w{number}" for number in range(40)]


def checked(X=X, y=Y, folds=5, names=("a", "b", "c"), encoded=None, part=None, entry=None, **of_rows):
    values = y.dtype.kind == "f"
    study = made_study(
        {
            "checks": True,
            "datasets": {"one": ["one"]},
            "models": {"svm": "sklearn.svm.SVC"},
            "protocol": {"folds": folds},
        },
        task="regression" if values else "binary",
    )
    columns = None if encoded is None else {"encoded": dict.fromkeys(names) | encoded}
    part = np.zeros(len(y), np.int8) if part is None else part
    classes = [] if values else ["no", "yes"]
    task = "regression" if values else "binary"
    data = Dataset(X, y, list(names), task, classes, part, columns=columns, **of_rows)
    assignments = (np.arange(len(y)) % folds).astype(np.int16)[None]
    return CheckedData(study, "one", data, assignments, entry or {})


def found(one: CheckedData) -> dict[str, str]:
    return {code: text for code, check in CHECKS.items() if (text := check.find(one))}


def test_nothing_is_found_in_clean_tables_of_classes_and_values():
    assert found(checked()) == {}
    assert found(checked(sparse.csr_array(X))) == {}
    assert found(checked(y=X[:, 0] + RNG.normal(size=200))) == {}


@pytest.mark.parametrize(("n_positive", "fires"), [(49, True), (50, False)])
def test_ten_test_rows_of_a_class_are_enough_and_nine_are_not(n_positive, fires):
    """Of 49 positive rows in five folds, one fold has 9."""
    y = np.arange(200) < n_positive
    assert ("EL01" in found(checked(y=y.astype(int)))) == fires
    if fires:
        assert "9 test rows of 'yes'" in found(checked(y=y.astype(int)))["EL01"]


def test_a_class_that_a_fold_lacks_is_named_with_the_fold():
    y = np.zeros(200, dtype=int)
    y[[0, 5, 10]] = 1  # row r is in fold r % 5
    text = found(checked(y=y))["EL02"]
    assert text.startswith("fold 1 has no training row of 'yes'")
    assert "4 more" in text


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n_copies", "fires"), [(2, False), (30, True)])
def test_rows_that_stand_on_both_sides(layout, n_copies, fires):
    copied = X.copy()
    copied[:n_copies] = copied[101 : 101 + n_copies]  # of another fold
    assert ("EL03" in found(checked(layout(copied)))) == fires


def test_columns_that_tell_the_label_are_those_of_the_entry():
    assert "leak" in found(checked(entry={"determines_label": ["leak"]}))["EL04"]


@pytest.mark.parametrize(
    ("name", "encoded", "values"),
    [
        ("day", {"day": "date"}, np.arange(200.0)),
        ("Datum", {"Datum": "%d.%m.%Y"}, np.arange(200.0)),
        ("Kundennr", {"Kundennr": [f"{code:05d}" for code in range(40)]}, np.arange(200) % 40),
        ("patient_id", {}, np.arange(200) % 40),
        ("Subject", {"Subject": WORDS}, np.arange(200) % 40),
        ("code", {"code": WORDS}, None),  # the label is that of the group
    ],
)
def test_dates_and_groups_that_splits_ignore(name, encoded, values):
    y = Y
    if values is None:
        values = np.arange(200) % 40
        y = RNG.integers(0, 2, 40)[values]
    table = np.column_stack([values.astype(float), X[:, 1:]])
    names = (name, "b", "c")
    assert name in found(checked(table, y, names=names, encoded=encoded))["EL05"]
    # Splits by group, and data of the catalog, which have no columns.
    assert "EL05" not in found(checked(table, y, names=names, encoded=encoded, groups=np.arange(200) % 40))
    assert "EL05" not in found(checked(table, y, names=names))


@pytest.mark.parametrize("name", ["age", "n_clients", "number of animals", "time on site"])
def test_numbers_that_repeat_are_no_groups_even_where_they_tell_the_label(name):
    age = RNG.integers(18, 80, 200).astype(float)
    table = np.column_stack([age, X[:, 1:]])
    for y in (Y, (age > 50).astype(int), 2 * age + RNG.normal(size=200)):
        assert "EL05" not in found(checked(table, y, names=(name, "b", "c"), encoded={}))


def test_a_value_that_is_missing_hides_no_groups_and_a_category_may_be_a_percent_sign():
    groups = np.arange(200) % 40.0
    groups[3] = np.nan
    table = np.column_stack([groups, X[:, 1:]])
    assert "patient" in found(checked(table, names=("patient", "b", "c"), encoded={}))["EL05"]
    units = {"a": ["%", "kg", "mg"]}
    assert "EL05" not in found(checked(np.column_stack([groups % 3, X[:, 1:]]), encoded=units))


def test_categories_of_the_test_file_that_the_training_file_lacks():
    part = (np.arange(200) >= 150).astype(np.int8)
    codes = np.where(part == 1, 39, np.arange(200) % 30).astype(float)
    one = checked(np.column_stack([codes, X[:, 1:]]), encoded={"a": WORDS}, part=part)
    assert "'w39'" in found(one)["EL06"]
    assert "EL06" not in found(checked(np.column_stack([codes, X[:, 1:]]), encoded={"a": WORDS}))
