"""Data sets and tasks of OpenML by the package ``openml``, from a server on 127.0.0.1 that speaks its API."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from openml_server import CURVE, DATA, FOLDS, HOLDOUT, N_ROWS, REPEATS, TASK, UNKNOWN, api, split_of
from scripted_server import answer, serving

from entrolab.data import openml_tables
from entrolab.data.openml_tables import KEPT_IN, file_of
from entrolab.data.prepare import prepare
from entrolab.fit.protocols import protocol
from entrolab.schema.sections import ConfigError
from entrolab.study.config import load_study

MODELS = {"forest": "sklearn.ensemble.RandomForestClassifier"}


def test_the_package_is_there():
    assert find_spec("openml"), "these tests need the package openml: make tools-test installs it"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server of OpenML, to which the package's own configuration leads; its steps can be replaced."""
    monkeypatch.chdir(tmp_path)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with serving("api/v1/xml") as script:
        config = tmp_path / "config" / "openml" / "config"
        config.parent.mkdir(parents=True)
        config.write_text(f"server={script.url}\napikey=\n")
        script.steps = [api(script.url.partition("/api")[0])]
        yield script


def study_of(**own) -> dict:
    Path("mine.yaml").write_text(
        yaml.safe_dump({"datasets": {"bottles": own}, "models": MODELS, "protocol": {"folds": 2}})
    )
    return load_study(Path("mine.yaml").absolute(), {})


def test_a_data_set_is_fetched_once_with_whom_to_name(server):
    study = study_of(openml=DATA)
    entry, requests = study["own_data"]["bottles"], server.requests
    assert entry["format"]["columns"] == {"strength": None, "grape": ["1", "2", "None"]}
    assert (entry["task"], entry["expect"]["rows"], entry["n_missing"]) == ("binary", N_ROWS, {"strength": 1})
    assert (entry["title"], entry["licence"]) == (f"bottles (OpenML {DATA})", "CC BY 4.0")
    assert "A. Maker, B. Other" in entry["reference"]
    data = prepare("bottles", entry)
    np.testing.assert_array_equal(data.y, np.arange(N_ROWS) * 7 % N_ROWS > 20)
    assert study_of(openml=DATA)["own_data"]["bottles"] == entry
    assert server.requests == requests
    assert [path.name for path in KEPT_IN.iterdir()] == [f"data_{DATA}.parquet"]


def test_a_task_has_its_own_splits(server):
    study = study_of(openml_task=TASK)
    data, scheme = prepare("bottles", study["own_data"]["bottles"]), study.protocol_of("bottles")
    folds = [[split_of(repeat, row) for row in range(N_ROWS)] for repeat in range(REPEATS)]
    np.testing.assert_array_equal(protocol(scheme).given(data.splits, 0), folds)
    assert (scheme["folds"], scheme["repeats"]) == (FOLDS, REPEATS)
    study = study_of(openml_task=HOLDOUT)
    data, scheme = prepare("bottles", study["own_data"]["bottles"]), study.protocol_of("bottles")
    [parts] = protocol(scheme).given(data.splits, 0)
    np.testing.assert_array_equal(parts == 0, np.arange(N_ROWS) % 4 == 0)


CUT = answer(b"@RELATION bottles\n", announced=900)
CASES = {
    "unknown": ({"openml": UNKNOWN}, {}, "4000 cannot be downloaded: .*Unknown dataset"),
    "procedure": (
        {"openml_task": CURVE},
        {},
        "whose estimation procedure is bootstrapping; accepted: crossvalidation or holdout$",
    ),
    "absent": ({"openml": DATA}, {"/bottles.arff": answer(b"gone", 404)}, "cannot be downloaded: "),
    "cut": (
        {"openml": DATA},
        {"/bottles.arff": CUT},
        "downloaded: .*(IncompleteRead|broken|hecksum)",
    ),
    "other": ({"openml": DATA}, {"/bottles.arff": answer(b"@RELATION other\n")}, "[Cc]hecksum"),
    "page": ({"openml": DATA}, {f"/data/{DATA}": answer(b"<html>Sorry</html>")}, "cannot be downloaded: "),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_fetched_is_one_line_and_leaves_nothing(server, case):
    own, instead, line = CASES[case]
    server.steps = [api(server.url.partition("/api")[0], instead)]
    with pytest.raises(ConfigError, match=line) as caught:
        study_of(**own)
    assert "\n" not in str(caught.value)
    assert list(KEPT_IN.iterdir()) == []


def test_a_server_that_stalls_is_left_after_a_time(server, monkeypatch):
    monkeypatch.setattr(openml_tables, "FETCHING_SECONDS", 3.0)
    server.steps = [lambda handler: server.closing.wait(60)]
    with pytest.raises(ConfigError, match=f"{DATA} cannot be downloaded: time limit of 3 s"):
        file_of(Path("mine.yaml"), "bottles", {"openml": DATA})
    assert list(KEPT_IN.iterdir()) == []
