"""Data sets and tasks of OpenML without the package: what is kept of them, and what cannot be had.

The package itself, with a server that speaks OpenML's API, is in tests/interoperability/test_openml.py.
"""

import sys
import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from own_tables import LINE
from refused_studies import refused

from entrolab.data import openml_tables
from entrolab.data.dataset import load_dataset, save_dataset
from entrolab.data.openml_tables import keep
from entrolab.data.prepare import prepare
from entrolab.fit.protocols import protocol
from entrolab.report import protocol as in_words
from entrolab.schema.sections import ConfigError

FACTS = {
    "label": "kind",
    "title": "Bottles (OpenML 61)",
    "reference": "A. Maker; URL",
    "licence": "CC BY 4.0",
}
N = 60
CROSS_VALIDATION = np.array([np.arange(N) % 3, np.arange(N) // 20])
HOLDOUT = np.where(np.arange(N) < 40, -1, 0)[None]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a data set of OpenML and two of its tasks, as they were fetched."""
    monkeypatch.chdir(tmp_path)
    openml_tables.KEPT_IN.mkdir(parents=True)
    frame = pd.DataFrame(
        {
            "strength": np.arange(N) / 3,
            "grape": pd.Categorical(np.where(np.arange(N) % 2, "1", "None")),
            "kind": pd.Categorical((np.arange(N) % 21).astype(str)),
            "good": pd.Categorical(np.where(np.arange(N) % 4, "yes", "no")),
        }
    )
    frame.loc[4, "kind"] = np.nan
    keep(openml_tables.KEPT_IN / "data_61.parquet", frame, FACTS)
    keep(openml_tables.KEPT_IN / "task_59.parquet", frame, {**FACTS, "label": "good"}, CROSS_VALIDATION)
    keep(openml_tables.KEPT_IN / "task_60.parquet", frame, {**FACTS, "label": "good"}, HOLDOUT)
    return tmp_path


def test_a_data_set_that_was_fetched_needs_no_package(folder, load_own, monkeypatch):
    monkeypatch.setattr(openml_tables, "find_spec", None)  # is not asked
    study, entry = load_own({"openml": 61}, protocol={"folds": 2})
    # Whole numbers that are declared as classes are no values, and "None" is a category there.
    assert (entry["task"], entry["expect"]["classes"], entry["n_unlabelled"]) == ("multiclass", 21, 1)
    assert entry["format"]["columns"]["grape"] == ["1", "None"]
    assert {name: entry[name] for name in ("title", "reference", "licence")} == {
        name: FACTS[name] for name in ("title", "reference", "licence")
    }
    data = prepare("shop", entry)
    assert {**data.provenance, "files": 1} == {
        "key": "shop", "source": "own", "files": 1, **{name: FACTS[name] for name in FACTS if name != "label"}
    }  # fmt: skip
    assert (data.n_samples, data.splits) == (N - 1, None)
    _, entry = load_own({"openml": 61, "label": "strength", "drop": ["kind"]}, model="sklearn.svm.SVR")
    assert (entry["task"], entry["format"]["label"]) == ("regression", "strength")


def test_a_task_divides_the_rows(folder, load_own):
    study, entry = load_own({"openml_task": 59, "drop": ["kind"]}, protocol={"folds": 2})
    data = prepare("shop", entry)
    assert_array_equal(data.splits.T, CROSS_VALIDATION)
    assert data.feature_names == ["strength", "grape"]
    scheme = study.protocol_of("shop")
    assert (scheme["folds"], scheme["repeats"]) == (3, 2)
    assert_array_equal(protocol(scheme).given(data.splits, 0), CROSS_VALIDATION)
    assert "split as OpenML's task defines (folds 3; repeats 2)" in " ".join(in_words.protocol(study))
    save_dataset("data.npz", data)
    assert_array_equal(load_dataset("data.npz").splits, data.splits)


def test_a_task_with_a_holdout_has_inner_folds_of_its_training_rows(folder, load_own):
    study, entry = load_own({"openml_task": 60, "drop": ["kind"]})
    data, scheme = prepare("shop", entry), study.protocol_of("shop")
    assert [scheme[name] for name in ("trials", "train", "test")] == [1, 40, 20]
    [parts] = protocol(scheme).given(data.splits, 0)
    assert_array_equal(parts == 0, HOLDOUT[0] == 0)
    assert np.bincount(parts).tolist() == [20, 10, 10, 10, 10]


def test_trials_with_the_rows_of_another_draw_are_the_same(folder, load_own):
    study, entry = load_own({"openml_task": 60, "drop": ["kind"]})
    scheme = protocol({**study.protocol_of("shop"), "trials": 3})
    drawn = scheme.draw(prepare("shop", entry).y, 7)
    given = scheme.given(np.where(drawn == 0, 0, -1).T, 7)
    assert_array_equal(drawn == 0, given == 0)
    assert [np.bincount(trial).tolist() for trial in given] == [[20, 10, 10, 10, 10]] * 3


def test_rows_without_a_label_leave_their_splits(folder, load_own):
    study, entry = load_own({"openml_task": 59, "drop": ["kind"]})
    path = openml_tables.KEPT_IN / "task_59.parquet"
    frame = pd.read_parquet(path)
    facts, splits = frame.attrs, frame.attrs["splits"]
    frame["good"] = frame["good"].where(~frame.index.isin([0, 7]))
    keep(path, frame.drop(columns=splits), facts, CROSS_VALIDATION)
    _, entry = load_own({"openml_task": 59, "drop": ["kind"]})
    assert_array_equal(prepare("shop", entry).splits.T, np.delete(CROSS_VALIDATION, [0, 7], axis=1))


@pytest.mark.fault("Configuration", "a data set of OpenML that cannot be had", LINE)
@pytest.mark.parametrize(
    ("own", "line"),
    [
        ({"openml": 62}, "shop.openml: the package openml is not installed: pip install 'entrolab[openml]'"),
        ({"openml_task": 1}, "shop.openml_task: the package openml is not installed: pip install"),
        ({"openml": 61, "openml_task": 59}, "shop: found 'openml' beside 'openml_task'; accepted: one"),
        ({"openml": 61, "file": "a.csv"}, "shop: found 'file' beside 'openml'; accepted: one of them"),
        ({"openml_task": 59, "label": "kind"}, "shop: found 'label' beside 'openml_task'; accepted: one of"),
        ({"openml": "iris"}, "shop.openml: found 'iris', expected a whole number"),
        ({"openml": 61, "label": "kid"}, "label: found no column 'kid' in"),
        ({"file": "table.csv"}, "datasets.shop: the key 'label' is missing"),
        ({"label": "bought"}, "datasets.shop: the key 'file' is missing"),
    ],
)
def test_what_cannot_be_had_is_one_line(folder, load_own, monkeypatch, own, line):
    monkeypatch.setattr(openml_tables, "find_spec", lambda name: None)
    assert line in refused(load_own, own)


def test_a_task_with_other_splits_is_one_line_about_them(folder, monkeypatch):
    """The package is a double, which has one task and no data."""
    task = SimpleNamespace(estimation_procedure={"type": "bootstrapping"}, dataset_id=61)
    double = MagicMock(**{"tasks.get_task.return_value": task, "datasets.get_dataset.side_effect": OSError})
    monkeypatch.setitem(sys.modules, "openml", double)
    monkeypatch.setattr(openml_tables, "find_spec", lambda name: double)
    with pytest.raises(ConfigError) as caught:
        openml_tables.file_of(folder / "mine.yaml", "shop", {"openml_task": 1})
    accepted = "accepted: crossvalidation or holdout"
    assert str(caught.value).endswith(
        f"openml_task: found 1, whose estimation procedure is bootstrapping; {accepted}"
    )
    assert sorted(path.stem for path in openml_tables.KEPT_IN.iterdir()) == ["data_61", "task_59", "task_60"]


def test_a_data_set_without_a_target_asks_for_a_label(folder, load_own):
    path = openml_tables.KEPT_IN / "data_61.parquet"
    frame = pd.read_parquet(path)
    keep(path, frame, {**FACTS, "label": None})
    with pytest.raises(ConfigError, match="shop.label: OpenML names no target of this data set; accepted: a"):
        load_own({"openml": 61})


def test_markers_of_missing_values_leave_folds_alone(folder, load_own):
    _, entry = load_own({"openml_task": 59, "drop": ["kind"], "read": {"na_values": ["0"]}})
    data = prepare("shop", entry)
    assert_array_equal(data.splits.T, CROSS_VALIDATION)
    assert (np.isnan(data.X[0, 0]), entry["n_missing"]) == (True, {"strength": 1})


@pytest.mark.parametrize("kept", [0, 0.5, 0.99])
def test_a_file_that_is_cut_is_to_be_deleted(folder, load_own, kept):
    path = openml_tables.KEPT_IN / "data_61.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    message = refused(load_own, {"openml": 61})
    assert f"datasets.shop.openml: {folder / path}: not a complete Parquet file (" in message
    assert message.endswith("; delete it and run again")


def stalls(*arguments):
    time.sleep(60)
    yield


def is_cut(option, number, cache, path):
    path.write_bytes(b"PAR1")
    raise OSError("connection broken: 3 bytes read\nand more")
    yield


@pytest.mark.parametrize(
    ("work", "why"), [(stalls, "time limit of 1 s"), (is_cut, "OSError: connection broken")]
)
def test_nothing_half_fetched_stays(folder, monkeypatch, work, why):
    monkeypatch.setattr(openml_tables, "_fetch", work)
    monkeypatch.setattr(openml_tables, "find_spec", lambda name: name)
    monkeypatch.setattr(openml_tables, "FETCHING_SECONDS", 1)
    before = sorted(openml_tables.KEPT_IN.iterdir())
    with pytest.raises(ConfigError, match=why) as caught:
        openml_tables.file_of(folder / "mine.yaml", "shop", {"openml": 62})
    assert "\n" not in str(caught.value)
    assert sorted(openml_tables.KEPT_IN.iterdir()) == before


@pytest.mark.parametrize(
    ("citation", "creator", "named"),
    [
        ("A paper", ["Ann", "Bob"], "A paper"),
        (None, ["Ann", None, "Bob"], "Ann, Bob"),
        ("", "Ann", "Ann"),
        (None, None, "shop"),
    ],
)
def test_a_data_set_is_cited_as_asked_or_by_its_creators_or_its_name(citation, creator, named):
    facts = {"citation": citation, "creator": creator, "name": "shop", "openml_url": "", "url": "a://b"}
    assert openml_tables._reference(SimpleNamespace(**facts)) == f"{named}; a://b"
