"""A study's folder, and the site that is made of it."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from reported_study import STUDY, record, score_rows
from told_scores import as_told, write_scores

from entrolab.fit import predictions
from entrolab.report import build_report, read_results
from entrolab.results.reader import Results
from entrolab.study.config import load_configuration, read_yaml
from entrolab.tables.making import make_table
from entrolab.tables.rendering import FORMATS, write_table


def left_behind(tmp_path, published_rows=(("table4", "iris", "eem_rbf", "gmean", 80.0, 1.0),)):
    """What a study leaves behind: iris has results, wine has no data."""
    folder = tmp_path / "results" / "paper"
    records = [record("iris", model) for model in STUDY.models]
    records += [
        record("wine", model, success=False, status="no data", error="wine: 404 <gone>")
        for model in STUDY.models
    ]
    scores = [
        score_rows("iris", "eem_rbf", [{"n_hidden": 100}, {"n_hidden": 100}]),
        score_rows("iris", "svm_rbf", [{"gamma": 0.1}, {"gamma": 1.0}]),
    ]
    for one in records:
        path = folder / "seed0" / "records" / one["dataset"] / f"{one['model']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one))
    for rows in scores:
        file = Path("iris", f"{rows['model'][0]}.parquet")
        write_scores(folder / "seed0" / "selection" / file, folder / "seed0" / "predictions" / file, rows)
    published = pd.DataFrame(
        published_rows, columns=["table", "dataset", "model", "metric", "value", "std"]
    ).astype({"value": float, "std": float})
    spec = STUDY.spec_of_table("table4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictions, "score_selection", as_told)
        table = make_table(Results(STUDY, tmp_path), published, spec)
    for format in FORMATS:
        write_table(table, spec, folder / "tables" / f"table4.{format}")
    file = tmp_path / "paper.yaml"
    file.write_text("title: as it was written\n")
    return read_results("paper", STUDY.model_copy(update={"file": str(file)}), folder)


@pytest.fixture
def results(tmp_path):
    return left_behind(tmp_path)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A study of which nothing is published."""
    monkeypatch.setattr(predictions, "score_selection", as_told)
    results = left_behind(tmp_path, published_rows=())
    return replace(results, study=results.study.model_copy(update={"reference": "", "errata": []}))


@pytest.fixture(scope="session")
def studies():
    """All studies of the project."""
    root = Path(__file__).parents[3]
    return load_configuration(root, read_yaml(root / "config" / "config.yaml"))[0]


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The folder of a site that is only read."""
    home = tmp_path_factory.mktemp("site")
    folder = home / "results" / "report"
    index = build_report([left_behind(home)], folder, commit="0123abc", lock="9f" * 32)
    assert index == folder / "index.html"
    return folder
