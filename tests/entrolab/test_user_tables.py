"""Csv files of a user's own: what is read from them, and the one line for each thing that is wrong."""

import bz2
import datetime
import decimal
import gzip
import io
import lzma
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from own_tables import LINE, OWN, TABLE
from refused_studies import refused

from entrolab.data.dataset import load_dataset, save_dataset
from entrolab.data.formats.table import labels_of
from entrolab.data.prepare import prepare
from entrolab.data.user_entries import entry_of_table
from entrolab.data.user_files import Source
from entrolab.fit.protocols import protocol
from entrolab.schema.sections import ConfigError
from entrolab.study.config import Studies, load_study
from entrolab.study.definition import Folds, Preprocessing

ROOT = Path(__file__).parents[2]
SVC, SVR = "sklearn.svm.SVC", "sklearn.svm.SVR"


def with_labels(*labels) -> str:
    return "\n".join(["x,y", *(f"{k},{label}" for k, label in enumerate(labels))])


def test_the_smallest_study_is_whole(load_own):
    study, _ = load_own(OWN)
    assert study.title == "Mine"
    assert study.scaling is None
    assert study.preprocessing == Preprocessing()
    assert study.protocol == Folds(folds=5, repeats=1)
    assert study.models["svm"].label == "svm"
    table = study.tables["scores"]
    assert (table.type, table.models, table.criterion) == ("scores", ["svm", "baseline"], "cv")
    assert table.metric == ["balanced_accuracy", "gmean", "accuracy", "auc", "log_loss"]
    assert study.datasets[table.datasets] == ["shop"]


def test_the_smallest_study_of_values_has_a_table_of_errors(load_own):
    own = {"file": "table.csv", "label": "size", "drop": ["colour", "bought"]}
    study, entry = load_own(own, model=SVR)
    assert entry["task"] == "regression"
    assert (list(study.tables), study.metrics) == (["errors"], ["rmse", "mae", "r2"])
    assert study.tables["errors"].metric == ["rmse", "mae", "r2"]


def test_a_study_of_both_has_both_tables(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    values = {"file": "table.csv", "label": "size", "drop": ["colour", "bought"]}
    study = {
        "datasets": {"shop": OWN, "sizes": values},
        "models": {"svm": {"estimators": {"classification": SVC, "regression": SVR}}},
    }
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
    read = load_study(tmp_path / "mine.yaml", {})
    shown = {name: read.datasets[table.datasets] for name, table in read.tables.items()}
    assert shown == {"scores": ["shop"], "errors": ["sizes"]}


def test_tables_may_leave_out_what_they_show(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    study = {"datasets": {"shop": OWN}, "models": {"svm": SVC}, "tables": {"seconds": {"type": "times"}}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
    read = load_study(tmp_path / "mine.yaml", {})
    assert read.datasets[read.tables["seconds"].datasets] == ["shop"]
    assert read.tables["seconds"].models == ["svm"]


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        TABLE.replace("\n", "\r\n"),
        "\ufeff" + TABLE,
        TABLE.replace("size,sort,colour,bought", '"size","sort", "colour","bought"'),
        TABLE.replace("\n", "\n\n"),
        "\ufeff\r\n\r\n" + TABLE.replace("\n", "\r\n"),
    ],
    ids=["plain", "of Windows", "of a spreadsheet", "quoted names", "empty lines", "empty first lines"],
)
def test_what_is_found_before_is_what_is_prepared(load_own, content):
    _, entry = load_own(OWN, content)
    dataset = prepare("shop", entry)
    assert dataset.feature_names == ["size", "sort", "colour"]
    np.testing.assert_array_equal(dataset.X[:4], [[0, 0, 0], [0.25, 1, 1], [0.5, 2, 1], [0.75, 3, 0]])
    assert (dataset.task, dataset.classes) == ("binary", ["no", "yes"])
    assert dataset.y.tolist() == [0, 1] * 6
    assert dataset.provenance["files"][0]["path"] == "table.csv"


@pytest.mark.parametrize(
    ("labels", "task", "classes"),
    [
        (["b", "a", "b", "a"], "binary", ["a", "b"]),
        ([10, 9, 10, 9], "binary", ["9", "10"]),
        ([1.0, -1.0, 1, -1], "binary", ["-1", "1"]),
        (["TRUE", "FALSE", "TRUE", "FALSE"], "binary", ["False", "True"]),
        (["01", "02", "NULL"] * 2, "multiclass", ["01", "02", "NULL"]),
        (["1e5", "100000"] * 2, "binary", ["100000", "1e5"]),
        (["9007199254740993", "9007199254740992"] * 2, "binary", ["9007199254740992", "9007199254740993"]),
        (["c", "b", "a"] * 2, "multiclass", ["a", "b", "c"]),
        ([*range(1, 4)] * 2, "multiclass", ["1", "2", "3"]),
        ([*range(20)] * 2, "multiclass", [str(k) for k in range(20)]),
        ([*range(21)] * 2, "regression", []),
        ([0.5, 1, 2] * 2, "regression", []),
        ([f"{k}_1" for k in range(10, 31)] * 2, "multiclass", [f"{k}_1" for k in range(10, 31)]),
        # Codes are no values, however many they are.
        ([f"{k:03}" for k in range(21)] * 2, "multiclass", [f"{k:03}" for k in range(21)]),
    ],
)
def test_the_task_follows_from_the_labels(load_own, labels, task, classes):
    own = {"file": "table.csv", "label": "y"}
    _, entry = load_own(own, with_labels(*labels * 5), model=SVR if task == "regression" else SVC)
    assert (entry["task"], prepare("shop", entry).classes) == (task, classes)


@pytest.mark.parametrize(
    ("positive", "labels", "classes"),
    [
        ("no", ["no", "yes"], ["yes", "no"]),
        (0, [0, 1], ["1", "0"]),
        (1.0, [0, 1], ["0", "1"]),
        ("b", ["a", "b", "c"], ["rest", "b"]),
        (["b", "c"], ["a", "b", "c"], ["a", "b, c"]),
    ],
)
def test_the_positive_class_is_the_one_that_the_study_names(load_own, positive, labels, classes):
    _, entry = load_own({"file": "table.csv", "label": "y", "positive": positive}, with_labels(*labels * 5))
    assert prepare("shop", entry).classes == classes


def test_missing_values_are_kept_for_runs_to_fill(load_own):
    content = TABLE + "NA,1,red,yes\n3,1,NULL,no\n3,1,red,\n"
    _, entry = load_own(OWN, content)
    data = prepare("shop", entry)
    assert (entry["expect"]["rows"], data.n_samples, entry["n_unlabelled"]) == (14, 14, 1)
    assert entry["n_missing"] == {"size": 1, "colour": 1}
    np.testing.assert_array_equal(data.X[12:], [[np.nan, 1, 1], [3, 1, np.nan]])


def test_targets_that_agree_in_15_digits_are_rows_of_their_own(load_own):
    targets = [0.3, 0.1 + 0.2, *np.arange(38) / 7]
    _, entry = load_own({"file": "table.csv", "label": "y"}, with_labels(*targets), model=SVR)
    assert entry["expect"]["rows"] == prepare("shop", entry).n_samples == 40


@pytest.mark.fault("Configuration", "a csv file of one's own that is wrong", LINE)
@pytest.mark.parametrize(
    ("changes", "content", "line"),
    [
        ({"label": "bougt"}, TABLE, "shop.label: found no column 'bougt' in {}, did you mean 'bought'?"),
        ({"drop": [750]}, TABLE, "shop.drop: found [750], expected a list of columns' names, in quotes if"),
        ({"drop": ["shape"]}, TABLE, "shop.drop: found no column 'shape' in {}; accepted: 'size', 'sort'"),
        ({}, TABLE.replace("sort", "size"), "found several columns 'size' in {}; accepted: names that d"),
        ({"file": "tabel.csv"}, TABLE, "datasets.shop.file: there is no file "),
        ({"file": "."}, TABLE, "Is a directory"),
        ({}, TABLE.replace(",", ";"), "read.sep: ',' finds one column in {}, whose line 1 begins 'siz"),
        ({"read": {"sep": "\\t"}}, TABLE, "sep: found '\\\\t', expected one character (a tab is"),
        ({}, TABLE.replace("0.25,", "big,"), "{}: line 3: found 'big' in the column 'size'; accepted: numb"),
        ({}, TABLE.replace("0.25,", "inf,"), "{}: line 3: found 'inf' in the column 'size'; accepted: fini"),
        ({}, TABLE.replace("0.25,", ""), "{}: line 3: found 3 values; accepted: 4, as line 1 has names"),
        ({}, "\n" + TABLE.replace("0.25,", ""), "line 4: found 3 values; accepted: 4, as line 2 has names"),
        ({}, "\n" + TABLE.replace("0.25,", "big,"), "{}: line 4: found 'big' in the column 'size'; accep"),
        ({}, TABLE.replace("yes", "no"), "datasets.shop.label: found 'bought', which is 'no' in all rows"),
        ({}, "", "datasets.shop.file: there is nothing in {}"),
        ({}, "size,sort,colour,bought\n", "found no rows in {}"),
        ({}, TABLE.encode("utf-16"), "shop.read.encoding: found the byte 0xff in {}; accepted: a text"),
        ({"positive": "Yess"}, TABLE, "positive: found 'Yess', did you mean 'yes'?; accepted: a label"),
        ({"positive": ["yes", "no"]}, TABLE, "positive: found all labels, 'no', 'yes'; accepted: some"),
        ({"task": "regression"}, TABLE, "task: found regression, and 'no' in the column 'bought'; acc"),
        (
            {"task": "multiclass", "label": "size", "drop": ["bought"]},
            TABLE,
            "task: found multiclass, and of 12 classes in the column 'size' '0' has one ",
        ),
        ({"task": "binary", "label": "sort", "drop": ["bought"]}, TABLE, "found binary, and 5 labels in the"),
        ({}, "\n".join(TABLE.splitlines()[:6]), "protocol.folds: found 5 for 'shop', whose smallest class"),
        ({"lable": "x"}, TABLE, "datasets.shop: unknown key 'lable', did you mean 'label'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(tmp_path, load_own, changes, content, line):
    with pytest.raises(ConfigError) as caught:
        load_own({**OWN, **changes}, content)
    message = str(caught.value)
    assert line.replace("{}", str(tmp_path / "table.csv")) in message
    assert str(tmp_path / "mine.yaml") in message
    assert "\n" not in message


def rows_of(n: int, **columns) -> str:
    """A table whose columns are functions of the row's number."""
    lines = [",".join(str(value(k)) for value in columns.values()) for k in range(n)]
    return "\n".join([",".join(columns), *lines])


def test_columns_are_numbers_dates_or_categories_and_identifiers_are_left_out(load_own):
    content = rows_of(
        40,
        number=lambda k: k + 1,
        ticket=lambda k: f"A-{k * 7919 % 40}",
        day=lambda k: f"2026-03-{1 + k % 28:02d}",
        paid=lambda k: k % 3 == 0,
        size=lambda k: k * 7 % 11,
        town=lambda k: "ABC"[k * 5 % 3],
        empty=lambda k: "",
        bought=lambda k: "yes" if k * 3 % 7 > 2 else "no",
    )
    _, entry = load_own({"file": "table.csv", "label": "bought"}, content)
    kinds = {"day": "date", "paid": None, "size": None, "town": ["A", "B", "C"]}
    assert entry["format"]["columns"] == kinds
    assert entry["left_out"] == {
        "number": "the number of the row",
        "ticket": "a text that differs in all rows",
        "empty": "it has no values",
    }
    np.testing.assert_array_equal(prepare("shop", entry).X[1], [20514, 0, 7, 2])
    _, entry = load_own(
        {"file": "table.csv", "label": "bought", "keep": ["ticket"], "drop": ["day"]}, content
    )
    assert list(entry["format"]["columns"]) == ["ticket", "paid", "size", "town"]


def written(folder, values, more=(), **own) -> dict:
    """A data set with a column of some texts, of which `more` are in a second file."""
    files = {"table.csv": values} | ({"more.csv": more} if more else {})
    for name, texts in files.items():
        rows = [f'"{text}",{k % 7 / 4},{"yes" if k * 3 % 7 > 2 else "no"}' for k, text in enumerate(texts)]
        (folder / name).write_text("\n".join(["x,size,bought", *rows]) + "\n")
    return {"file": list(files), "label": "bought", **own}


def column_of(folder, values, read=(), **own) -> dict:
    """The entry of such a data set, made in this process."""
    own = written(folder, values, **own)
    paths = [folder / name for name in own["file"]]
    return entry_of_table(Source(folder / "mine.yaml", "shop", paths, dict(read)), own)


@pytest.mark.parametrize(
    ("values", "read", "kind"),
    [
        (["1_2", "12", "34"], {}, ["12", "1_2", "34"]),
        (["00501", "10001", "2134"], {}, ["00501", "10001", "2134"]),
        (["3E7", "4e7", "100000"], {}, ["100000", "3E7", "4e7"]),
        (["1e+05", "2", "3"], {}, None),  # as R writes 100000
        (["1e5", "0.5", "3"], {}, None),
        (["9007199254740993", "1", ""], {}, ["1", "9007199254740993"]),
        (["1234567890123450", "1", ""], {}, None),
        (["00501", "10001", "2134"], {"dtype": {"x": "float"}}, None),
        (["1", "2", "3"], {"dtype": {"x": "str"}}, ["1", "2", "3"]),
        (["NULL", "n/a", "2.5"], {}, None),
        (["1,5", "2", "-3,25"], {"decimal": ","}, None),
        (["1,200", "900", "12,000,000.5"], {"thousands": ","}, None),
        (["1.200,5", "2", "900"], {"thousands": ".", "decimal": ","}, None),
        (["31.12.2025", "1.2.2025"], {"thousands": ".", "decimal": ","}, ["1.2.2025", "31.12.2025"]),
        (["31.12.2025", "01.02.2025"], {"parse_dates": ["x"]}, "%d.%m.%Y"),
        (["12/31/2025", "01/02/2025"], {"parse_dates": ["x"]}, "%m/%d/%Y"),
        (["01.02.2025", "03.04.2025"], {"parse_dates": ["x"], "date_format": "%d.%m.%Y"}, "%d.%m.%Y"),
        (["2025-12", "2025-11"], {"parse_dates": ["x"]}, "%Y-%m"),
        (["2025-12-31", "2025-11-01 12:30"], {}, "date"),
        (["12:30", "08:15:30"], {"dtype": {"x": "timedelta64"}}, "duration"),
        (["x" * 200_000, "b", "c"], {}, ["b", "c", "x" * 200_000]),
    ],
)  # fmt: skip
def test_a_column_is_what_pandas_reads_unless_its_text_is_lost(tmp_path, values, read, kind):
    entry = column_of(tmp_path, values * 4, read)
    assert entry["format"]["columns"]["x"] == kind
    assert prepare("shop", entry).n_samples == 4 * len(values)


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (["1,5", "2,5"], "x is read as words: '1,5' looks like a number with a decimal comma; accepted: `re"),
        (["1,200", "900"], "'1,200' looks like a number with thousands; accepted: `read: {thousands: ','}`"),
        (["45%", "7 %"], "'45%' looks like a percent"),
        (["$3,400.50", "12 €"], "'$3,400.50' looks like an amount of money"),
        (["31-Dec-25", "0000-00-00", "1-Jan-26"], "looks like a date; accepted: `read: {parse_dates: [x],"),
        (["12:30", "08:15:30"], "`read: {dtype: {x: timedelta64}}`"),
        (["00501", "10001"], "x is read as text, since '00501' is more than its number; accepted: `read"),
        (["red", "?"], "x has '?': `read: {na_values: ['?']}` if it is missing"),
        (["red", "blue"], None),
    ],
)  # fmt: skip
def test_words_that_look_like_something_else_are_told(tmp_path, values, hint):
    found = column_of(tmp_path, values * 6)["hints"]
    assert len(found) == (hint is not None)
    assert (hint or "") in "".join(found)


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (
            {"parse_dates": ["x"]},
            "line 4: found 'soon' in the column 'x'; accepted: dates such as 2026-11-23",
        ),
        (
            {"dtype": {"x": "timedelta64"}},
            "line 2: found '2026-11-23' in the column 'x'; accepted: durations",
        ),
        ({"parse_dates": ["x"], "date_format": "%d.%m.%Y"}, "found '2026-11-23' in the column 'x'; accepted"),
        ({"dtype": {"x": "float"}}, "line 2: found '2026-11-23' in the column 'x'; accepted: numbers"),
        ({"dtype": {"y": "str"}}, "shop.read.dtype: found no column 'y' in"),
        ({"dtype": {"x": "strr"}}, "read.dtype.x: "),
        ({"decimals": ","}, "read: unknown key 'decimals', did you mean 'decimal'?"),
        ({"decimal": ",", "thousands": ","}, "found ',' for thousands and decimals; accepted: two"),
        ({"encoding": "utf-88"}, "read.encoding: found 'utf-88'; accepted: an encoding of Python"),
    ],
)
def test_options_of_pandas_that_do_not_fit_are_one_line(load_own, tmp_path, read, line):
    own = written(tmp_path, ["2026-11-23", "2026-11-24", "soon"] * 2, read=read)
    with pytest.raises(ConfigError, match=re.escape(line)) as caught:
        load_own(own, (tmp_path / "table.csv").read_bytes())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (TABLE.replace(",", ";"), {"sep": ";"}),
        (TABLE.replace(",", "   "), {"sep": r"\s+"}),
        ("sep=;\n" + TABLE.replace(",", ";"), {"sep": ";", "skiprows": 1}),
        (TABLE.replace("blue", "'blue, or so'"), {"quotechar": "'"}),
        ("# of a shop\n" + TABLE.replace("0,0,", "0,0,", 1), {"comment": "#"}),
        (TABLE.replace("red", "rosé").encode("cp1252"), {"encoding": "cp1252"}),
        (TABLE.encode("utf-16"), {"encoding": "utf-16"}),
    ],
    ids=["semicolons", "blanks", "sep=", "quotes", "comment", "cp1252", "utf-16"],
)
def test_a_file_is_read_with_the_options_of_pandas(load_own, content, read):
    data = prepare("shop", load_own({**OWN, "read": read}, content)[1])
    assert data.feature_names == ["size", "sort", "colour"]
    np.testing.assert_array_equal(data.X[:4], [[0, 0, 0], [0.25, 1, 1], [0.5, 2, 1], [0.75, 3, 0]])


def test_a_column_has_one_type_over_all_files(tmp_path):
    of_one, of_other = ["000", "001", "002"] * 4, ["000", "001", "X01"] * 4
    entry = column_of(tmp_path, of_other, more=of_one, groups="x")
    assert entry["groups"] == 4  # not 000 and 0
    entry = column_of(tmp_path, ["1", "B7", "C8"] * 4, more=["2", "1"], drop=["size"])
    assert entry["format"]["columns"]["x"] == ["1", "2", "B7", "C8"]
    np.testing.assert_array_equal(prepare("shop", entry).X[:, 0], [*[0, 2, 3] * 4, 1, 0])
    entry = column_of(tmp_path, ["True", "False"] * 4, more=["0", "1"])
    np.testing.assert_array_equal(prepare("shop", entry).X[:, 0], [*[1, 0] * 4, 0, 1])
    with pytest.raises(
        ConfigError, match="more.csv: line 3: found 'big' in the column 'x'; accepted: numbers"
    ):
        column_of(tmp_path, ["1", "2", "3"] * 4, more=["2", "big"])


def test_indexes_are_columns_by_their_names_and_left_out_without(load_own, tmp_path, frame):
    frame.to_csv(tmp_path / "more.csv")
    content = frame.sample(frac=1, random_state=0).to_csv()
    for files in ("table.csv", ["table.csv", "more.csv"]):
        _, entry = load_own({**OWN, "file": files}, content)
        assert entry["left_out"] == {"Unnamed: 0": "an index without a name"}
    numbered = frame.assign(row=np.arange(12))
    for name in ("table.csv", "more.csv"):
        numbered.to_csv(tmp_path / name, index=False)
    _, entry = load_own({**OWN, "file": ["table.csv", "more.csv"]}, (tmp_path / "table.csv").read_bytes())
    assert entry["left_out"] == {"row": "the number of the row"}
    frame.set_index(["colour", "sort"]).to_parquet(tmp_path / "table.parquet")
    _, entry = load_own({**OWN, "file": "table.parquet", "groups": "sort"}, protocol={"folds": 2})
    assert (entry["groups"], list(entry["format"]["columns"])) == (5, ["colour", "size", "day"])
    frame.set_axis(pd.MultiIndex.from_product([["a"], frame.columns]), axis=1).to_parquet(
        tmp_path / "two.parquet"
    )
    _, entry = load_own({"file": "two.parquet", "label": "('a', 'bought')"})
    assert "('a', 'size')" in entry["format"]["columns"]


def test_texts_and_times_of_parquet_are_what_they_are_there(load_own, tmp_path, frame):
    clock = [datetime.time(k, 30) for k in range(12)]
    codes = ["00501", "10001"] * 6
    frame.assign(zip=codes, hour=clock, took=pd.to_timedelta(range(12), "h")).to_parquet(
        tmp_path / "t.parquet"
    )
    _, entry = load_own({**OWN, "file": "t.parquet", "drop": ["size", "sort", "colour", "day"]})
    assert entry["format"]["columns"] == {"zip": ["00501", "10001"], "hour": "duration", "took": "duration"}
    np.testing.assert_array_equal(prepare("shop", entry).X[1], [1, 5400, 3600])
    with pytest.raises(ConfigError, match="shop: found read.sep for t.parquet; accepted: it for text files"):
        load_own({**OWN, "file": "t.parquet", "read": {"sep": ";"}})


def test_a_column_of_categories_without_values_is_left_out(load_own, tmp_path, frame):
    frame.assign(made=pd.Categorical([None] * 12, ["a"]), sold=None).to_parquet(tmp_path / "table.parquet")
    own = {**OWN, "file": "table.parquet", "categorical": ["sold"]}
    _, entry = load_own(own)
    assert entry["left_out"] == {"made": "it has no values", "sold": "it has no values"}
    assert not {"made", "sold"} & {*entry["format"]["columns"]}
    _, entry = load_own({**own, "keep": ["sold"]})
    assert entry["format"]["columns"]["sold"] is None  # imputed, as a column of numbers without values


@pytest.mark.parametrize(
    "own",
    [
        *({"time": "bought"}, {"weight": "bought"}, {"groups": "bought"}, {"drop": ["bought"]}),
        *({"groups": "sort", "time": "sort"}, {"weight": "sort", "time": "sort"}),
        *({"groups": "sort", "weight": "sort"}, {"groups": "sort", "drop": ["sort"]}),
        *({"drop": ["sort"], "keep": ["sort"]}, {"drop": ["colour"], "categorical": ["colour"]}),
        *({"keep": ["bought"]}, {"categorical": ["bought"]}),
    ],
    ids=str,
)
def test_two_roles_of_one_column_are_one_line(load_own, own):
    message = refused(load_own, {**OWN, **own})
    assert re.search(rf"datasets.shop.({'|'.join(own)}): found '(sort|colour|bought)', which is `", message)


@pytest.mark.parametrize("own", [{"time": "size", "drop": ["size"]}, {"time": "size", "keep": ["size"]}])
def test_a_column_may_order_the_rows_and_be_a_feature_or_not(load_own, own):
    _, entry = load_own({**OWN, **own})
    assert (entry["format"]["time"], "size" in entry["format"]["columns"]) == ("size", "keep" in own)


@pytest.mark.parametrize(
    ("labels", "read", "model"),
    [
        (["007", "7", "0.5"], {"007", "7", "0.5"}, SVC),  # not 7 twice
        (["007.50", "10.00", "0.25"], {7.5, 10.0, 0.25}, SVR),
        (["1e5", "0.5", "3"], {1e5, 0.5, 3.0}, SVR),
    ],
)
def test_labels_are_numbers_unless_two_of_them_become_one(load_own, labels, read, model):
    _, entry = load_own({"file": "table.csv", "label": "y"}, with_labels(*labels * 9), model)
    labels_as = entry["format"]["labels_as"]
    assert {*labels_of(pd.Series(labels), {}, labels_as).tolist()} == read


def test_a_positive_label_counts_once_and_only_between_two_classes(load_own):
    own = {"file": "table.csv", "label": "y", "positive": [1, "1"]}
    content = with_labels(*[1, 0, 2] * 9)
    _, entry = load_own(own, content)
    assert (entry["positive"], entry["expect"]["positive"], entry["expect"]["negative"]) == (["1"], 9, 18)
    for task in ("multiclass", "regression"):
        assert f"found 'positive' beside the task {task!r}" in refused(
            load_own, {**own, "task": task}, content
        )


def test_a_column_that_alone_determines_the_label_is_named(load_own):
    content = rows_of(
        60,
        size=lambda k: k * 7 % 11,
        alive=lambda k: "no" if k * 3 % 7 > 2 else "yes",
        level=lambda k: (k * 3 % 7) + k / 1000,
        died=lambda k: int(k * 3 % 7 > 2),
    )
    _, entry = load_own({"file": "table.csv", "label": "died"}, content)
    assert entry["determines_label"] == ["alive", "level"]
    content = rows_of(60, x=lambda k: k * 7 % 11, euros=lambda k: k % 31, cents=lambda k: 100 * (k % 31) + 5)
    _, entry = load_own({"file": "table.csv", "label": "cents"}, content, model=SVR)
    assert entry["determines_label"] == ["euros"]


@pytest.fixture
def frame() -> pd.DataFrame:
    """The table of these tests, with dates."""
    found = pd.read_csv(io.StringIO(TABLE))
    return found.assign(day=pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(12)[::-1], "D"))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("table.tsv", lambda frame, path: frame.to_csv(path, sep="\t", index=False)),
        ("table.csv.gz", lambda frame, path: frame.to_csv(path, index=False)),
        ("table.tsv.xz", lambda frame, path: frame.to_csv(path, sep="\t", index=False)),
        ("table.csv.bz2", lambda frame, path: frame.to_csv(path, index=False)),
        ("table.csv.zip", lambda frame, path: frame.to_csv(path, index=False)),
        ("table.parquet", lambda frame, path: frame.to_parquet(path)),
        ("table.feather", lambda frame, path: frame.astype({"colour": "category"}).to_feather(path)),
        (["table.csv", "more.csv"], None),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_every_format_gives_the_same_data(load_own, tmp_path, frame, name, write):
    if isinstance(name, list):
        for path, rows in zip(name, (frame[:7], frame[7:]), strict=True):
            rows.to_csv(tmp_path / path, index=False)
        content = (tmp_path / "table.csv").read_bytes()
    else:
        write(frame, tmp_path / name)
        content = TABLE
    _, entry = load_own({**OWN, "file": name}, content)
    data = prepare("shop", entry)
    assert entry["format"]["columns"] == {
        "size": None,
        "sort": None,
        "colour": ["blue", "red"],
        "day": "date",
    }
    np.testing.assert_array_equal(data.X[:, 0], np.arange(12) / 4)
    np.testing.assert_array_equal(data.X[:2, 1:], [[0, 0, 20465], [1, 1, 20464]])
    assert data.y.tolist() == [0, 1] * 6


@pytest.mark.parametrize(
    "write",
    [
        lambda frame, path: frame.to_csv(path, index=False),
        lambda frame, path: frame.astype({"whole": "Int64", "bought": "category"}).to_parquet(path),
    ],
    ids=["csv", "parquet of nullable numbers and categories"],
)
def test_markers_of_missing_values_are_alike_in_every_format(load_own, tmp_path, request, write):
    format = request.node.callspec.id.split()[0]
    frame = pd.DataFrame(
        {
            "whole": [-999, *range(11)],
            "part": [0.5, -999.0, *np.arange(10) / 4],
            "new": [True, False] * 6,
            "group": ["a", "b", "NA", "a"] * 3,
            "weight": [1.0] * 11 + [-999.0],
            "bought": [-999, 0, *[1, 0] * 5],
        }
    )
    write(frame, tmp_path / f"table.{format}")
    content = (tmp_path / f"table.{format}").read_bytes() if format == "csv" else TABLE
    own = {"file": f"table.{format}", "label": "bought", "read": {"na_values": ["-999", "NA"]}}
    study = {"content": content, "protocol": {"folds": 2}}
    _, entry = load_own({**own, "drop": ["group", "weight"]}, **study)
    assert (entry["n_missing"], entry["n_unlabelled"]) == ({"part": 1}, 1)
    data = prepare("shop", entry)
    np.testing.assert_array_equal(data.X[:2], [[0, np.nan, 0], [1, 0, 1]])
    assert data.classes == ["0", "1"]
    with pytest.raises(ConfigError, match="shop.groups: found no value of 'group' in 3 rows; accepted: a gr"):
        load_own({**own, "groups": "group", "drop": ["weight"]}, **study)
    with pytest.raises(
        ConfigError, match="shop.weight: found weights such as nan in 1 rows of 'weight'; accepted: numbers f"
    ):
        load_own({**own, "weight": "weight", "drop": ["group"]}, **study)
    with pytest.raises(ConfigError, match="shop.time: column 'whole': found no value in 1 rows; accepted: a"):
        load_own({**own, "time": "whole", "drop": ["group", "weight"]}, **study)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([decimal.Decimal("9.5"), decimal.Decimal("10.5")], ["9.5", "10.5"]),
        ([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)], ["2026-01-01", "2026-01-02"]),
        ([pd.Timestamp("2026-01-01 12:30"), pd.Timestamp("2026-01-02")], None),
        ([b"no", b"yes"], ["b'no'", "b'yes'"]),
    ],
    ids=["decimal numbers", "dates", "times", "bytes"],
)
def test_labels_of_any_type_are_stored_by_their_names(load_own, tmp_path, frame, labels, classes):
    frame.assign(bought=labels * 6).to_parquet(tmp_path / "table.parquet")
    _, entry = load_own({**OWN, "file": "table.parquet"})
    save_dataset(tmp_path / "shop.npz", prepare("shop", entry))
    data = load_dataset(tmp_path / "shop.npz")
    assert data.columns["labels"] == data.classes == (classes or data.classes)
    assert data.y.tolist() == [0, 1] * 6


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}], ids=["list", "structure"])
def test_a_column_of_lists_or_structures_is_to_be_dropped(load_own, tmp_path, frame, value):
    frame.assign(nested=[None, *[value] * 11]).to_parquet(tmp_path / "table.parquet")
    own = {**OWN, "file": "table.parquet"}
    for changes in ({}, {"groups": "nested"}, {"label": "nested"}):
        with pytest.raises(
            ConfigError, match=r"shop.drop: found .* in the column 'nested' of .*; accepted: "
        ):
            load_own({**own, **changes})
    _, entry = load_own({**own, "drop": ["nested"]})
    assert "nested" not in prepare("shop", entry).feature_names


def test_files_that_do_not_fit_or_cannot_be_read_are_one_line(load_own, tmp_path, frame):
    frame.drop(columns="sort").to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(ConfigError, match=r"less.csv has other columns than .*table.csv \(.*\); accepted"):
        load_own({**OWN, "file": ["table.csv", "less.csv"]})
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=r"cannot read .*broken.parquet: .*; accepted: .csv"):
        load_own({**OWN, "file": "broken.parquet"})
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", TABLE)
        archive.writestr("b.csv", TABLE)
    with pytest.raises(ConfigError, match=r"two.zip: found 2 files in it; accepted: a zip file with one"):
        load_own({**OWN, "file": "two.zip"})
    (tmp_path / "no.zip").write_text(TABLE)
    with pytest.raises(ConfigError, match=r"no.zip: File is not a zip file"):
        load_own({**OWN, "file": "no.zip"})


def zipped(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zip", zipped)],
)
def test_a_compressed_file_that_is_cut_or_damaged_is_one_line(load_own, tmp_path, suffix, compress):
    lines = [f"{k},b,{(-1) ** k * k % 997},yes" for k in range(2000)]
    content = compress("\n".join(["size,sort,colour,bought", *lines]).encode())
    damaged = [content[: len(content) * k // 7] for k in (1, 6)]
    for place in range(len(content) // 4, len(content) - 99, len(content) // 4):
        damaged.append(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
    if suffix == "zip":
        flags = content.rfind(b"PK\1\2") + 8
        damaged.append(content[:flags] + b"\1" + content[flags + 1 :])  # said to be encrypted
    for one in damaged:
        (tmp_path / f"own.csv.{suffix}").write_bytes(one)
        with pytest.raises(ConfigError, match=rf"own.csv.{suffix}") as error:
            load_own({**OWN, "file": f"own.csv.{suffix}"})
        assert "\n" not in str(error.value)


@pytest.mark.fault(
    "Trust", "a small table that expands to any size", "one line with its size, in bounded memory"
)
def test_a_small_table_may_not_take_any_memory(load_own, tmp_path, monkeypatch, capfd):
    monkeypatch.undo()  # the entry is made in a process of its own
    columns = dict.fromkeys(["size", "bought"], np.zeros(4_000_000, np.int8))  # as floats 32 MB each
    pd.DataFrame(columns).to_parquet(tmp_path / "own.parquet")
    size = (tmp_path / "own.parquet").stat().st_size
    assert size < 50_000
    monkeypatch.setattr("entrolab.data.prepare.READER_GIB", 0.01)
    read = f"cannot read .*own.parquet, {size:,} bytes: memory limit of .* GiB: .*; accepted: a smaller table"
    with pytest.raises(ConfigError, match=read) as caught:
        load_own({"file": "own.parquet", "label": "bought"})
    assert capfd.readouterr().err == ""
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (
            {"trials": 2, "train": 6, "test": 6},
            "protocol.trials: found 2 for 'shop', whose rows are in groups",
        ),
        (
            {"method": "time", "folds": 2},
            "protocol.method: found 'time' for 'shop', whose rows are in groups",
        ),
    ],
)
def test_a_protocol_that_divides_groups_is_refused(load_own, protocol, said):
    lines = [f"{line},{k // 2}" for k, line in enumerate(TABLE.splitlines()[1:])]
    content = "\n".join(["size,sort,colour,bought,who", *lines])
    own = {**OWN, "groups": "who"} | ({"time": "size"} if "method" in protocol else {})
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_own(own, content, protocol=protocol)


@pytest.mark.fault("Configuration", "a learner that is named without its module", LINE)
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("EEMClassifier", "entrolearn.EEMClassifier"),
        ("EEMClasifier", "entrolearn.EEMClassifier"),
        ("ClassPCA", "entrolearn.manifold.ClassPCA"),
        ("RandomForestClassifier", "sklearn.ensemble.RandomForestClassifier"),
        ("SVC", "sklearn.svm.SVC"),
    ],
)
def test_a_learner_without_its_module_is_asked_about(load_own, name, path):
    for model in (name, {"estimator": name}):
        with pytest.raises(ConfigError) as caught:
            load_own(OWN, model=model)
        assert f"found {name!r}, did you mean {path!r}?; accepted: a dotted import path" in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="models.svm: found 'zzz', expected a dotted import path such as s"):
        load_own(OWN, model="zzz")


def test_groups_stay_together_and_are_no_feature(load_own):
    lines = TABLE.splitlines()
    content = "\n".join(
        [f"{lines[0]},who", *(f"{line},{'abcdef'[k // 2]}" for k, line in enumerate(lines[1:]))]
    )
    study, entry = load_own({**OWN, "groups": "who"}, content, protocol={"folds": 3})
    data = prepare("shop", entry)
    assert (entry["groups"], "who" in data.feature_names) == (6, False)
    assert study.protocol_of("shop")["method"] == "group"
    folds = protocol(study.protocol_of("shop")).draw(data.y, 0, data.groups)
    assert all(len(set(folds[0][data.groups == group])) == 1 for group in range(6))
    with pytest.raises(ConfigError, match="protocol.folds: found 5 for 'shop', whose groups and"):
        load_own({**OWN, "groups": "colour"}, content, protocol={"folds": 5})
    with pytest.raises(ConfigError, match="protocol.method: found 'group' for 'shop', without groups"):
        load_own(OWN, content, protocol={"folds": 3, "method": "group"})


def test_in_time_earlier_rows_predict_later_ones(load_own, frame):
    content = frame.to_csv(index=False)
    study, entry = load_own({**OWN, "time": "day"}, content, protocol={"folds": 3, "method": "time"})
    data = prepare("shop", entry)
    np.testing.assert_array_equal(data.X[:, 0], np.arange(12)[::-1] / 4)  # sorted by the day
    parts = protocol(study.protocol_of("shop")).draw(data.y, 0)
    unused = -1
    np.testing.assert_array_equal(
        parts,
        [
            [2, 2, 1, 0, 0, 0, *[unused] * 6],
            [2, 2, 2, 1, 1, 1, 0, 0, 0, *[unused] * 3],
            [2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0],
        ],
    )
    with pytest.raises(
        ConfigError, match="shop.time: column 'colour': found 'blue'; accepted: dates such as"
    ):
        load_own({**OWN, "time": "colour"}, content)
    with pytest.raises(ConfigError, match="protocol: found 2 repeats in time, which would all be equal"):
        load_own(OWN, protocol={"folds": 3, "method": "time", "repeats": 2})


def test_a_test_file_is_what_is_tested(load_own, tmp_path):
    (tmp_path / "later.csv").write_text("size,sort,colour,bought\n9,0,red,yes\n8,1,green,no\n7,1,red,\n")
    study, entry = load_own({**OWN, "test": "later.csv"})
    data = prepare("shop", entry)
    assert (entry["expect"]["rows"], entry["expect"]["test_rows"]) == (14, 2)
    assert data.part.tolist() == [0] * 12 + [1] * 2
    parts = protocol(study.protocol_of("shop")).draw(data.y, 0)
    assert parts.shape == (1, 14)
    np.testing.assert_array_equal(parts[0] == 0, data.part == 1)
    with pytest.raises(ConfigError, match="datasets.shop: found 'time' beside 'test'; accepted: one of them"):
        load_own({**OWN, "test": "later.csv", "time": "size"})


def test_a_part_without_one_of_two_classes_is_refused(load_own, tmp_path):
    """Scores of one class would be 0 for a learner without an error."""
    (tmp_path / "later.csv").write_text("size,sort,colour,bought\n9,0,red,no\n8,1,green,no\n")
    for files in ({"test": "later.csv"}, {"file": "later.csv", "test": "table.csv"}):
        with pytest.raises(ConfigError, match="shop.test: .*later.csv has rows of one class; accepted: rows"):
            load_own({**OWN, **files})
    _, entry = load_own({**OWN, "test": "later.csv"}, TABLE.replace("red,yes", "red,maybe"))
    assert entry["task"] == "multiclass"


def test_each_class_is_in_as_many_groups_as_folds(load_own):
    lines = [f"{line},{k // 2 + 10 * (k % 2 and k > 3)}" for k, line in enumerate(TABLE.splitlines()[1:])]
    content = "\n".join(["size,sort,colour,bought,who", *lines]).replace("no,1\n", "no,0\n")
    _, entry = load_own({**OWN, "groups": "who"}, content, protocol={"folds": 5})
    assert (entry["groups"], entry["groups_of_class"]) == (10, 5)
    with pytest.raises(
        ConfigError, match="groups and smallest class allow at most 5 folds; accepted: 2 to 5"
    ):
        load_own({**OWN, "groups": "who"}, content, protocol={"folds": 6})


def test_a_string_is_no_data(tmp_path, load_own):
    with pytest.raises(ConfigError, match="found 'table.csv', expected a list of keys of the catalog, or"):
        load_own("table.csv")


def test_rules_match_every_name_of_data():
    rules = (ROOT / "workflow" / "rules" / "common.smk").read_text()
    (pattern,) = re.findall('dataset="(.+)"', rules)
    assert all(re.fullmatch(pattern, name) for name in ("shop", "test_no", "a__b_", "iris-3"))
    assert not re.fullmatch(pattern, "a/b")


def test_names_of_data_are_taken_once(tmp_path, catalog, in_one_process):
    """Data sets are prepared in one place for all studies."""
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "other.csv").write_text(TABLE)
    other = {**OWN, "file": "other.csv"}
    studies = {"one": {"shop": OWN}, "two": {"shop": OWN}, "three": {"shop": other, "heart": other}}
    for name, datasets in {**studies, "four": {"small": ["heart"]}}.items():
        study = {"datasets": datasets, "models": {"svm": SVC}}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(study))

    def read(*names: str) -> Studies:
        studies = Studies({name: tmp_path / f"{name}.yaml" for name in names}, catalog, 0)
        for name in names:
            studies[name]
        return studies

    assert read("one", "two").dataset("shop")["source"] == "own"
    for name in ("one", "four"):
        with pytest.raises(ConfigError, match="another study has a different data set of this name"):
            read("three", name)
    # The catalog's of this name gives way where no study needs it.
    assert read("three").dataset("heart")["source"] == "own"
