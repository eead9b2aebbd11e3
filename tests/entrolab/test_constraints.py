"""Values of parameters that scikit-learn's validation refuses, told before any job starts."""

import json

import numpy as np
import pytest

from entrolab.jobs import source_analysis
from entrolab.jobs.source_analysis import UnknownEstimatorError
from entrolab.study import constraints
from entrolab.study.constraints import check_values


@pytest.mark.parametrize(
    ("estimator", "name", "value", "line"),
    [
        ("sklearn.neighbors.KNeighborsClassifier", "n_neighbors", 1.5, "an int in the range [1, inf) or Non"),
        ("entrolearn.EEMClassifier", "n_hidden", "many", "entrolearn.EEMClassifier takes no n_hidden = 'man"),
    ],
)
def test_a_value_that_is_ruled_out_is_told_with_what_is_accepted(estimator, name, value, line):
    with pytest.raises(UnknownEstimatorError) as caught:
        check_values(estimator, name, [value], what="here")
    assert line in str(caught.value)
    check_values(estimator, "no_such_parameter", [value], what="here")


@pytest.mark.parametrize("name", ["C", "no_such_parameter"])
def test_a_users_class_is_not_imported(tmp_path, monkeypatch, name):
    (tmp_path / "of_a_person.py").write_text("from sklearn.svm import SVC\nclass Mine(SVC): ...\n1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    check_values("of_a_person.Mine", name, [np.nan, "x", None], what="here")


def test_what_was_found_is_kept_for_the_next_start_and_imports_nothing_there(tmp_path, monkeypatch):
    def forget():
        monkeypatch.setattr(constraints, "_known", {})
        source_analysis._facts_by_source.cache_clear()

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    forget()
    for _ in range(2):
        with pytest.raises(UnknownEstimatorError, match="takes no C = -7"):
            check_values("sklearn.svm.SVC", "C", [1, -7], what="here")
        assert "a float in the range (0.0, inf]" in json.loads(source_analysis.KEPT.read_text()).values()
        forget()
        monkeypatch.setattr(constraints, "_accepted", lambda *asked: pytest.fail("looked up again"))


def test_a_class_of_a_folder_without_init_is_looked_at(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "spread_out"
    folder.mkdir(parents=True)
    (folder / "part.py").write_text(
        "class Odd:\n    _parameter_constraints = {'a': ['no such']}\n    def __init__(self, a=1): ...\n"
    )
    monkeypatch.syspath_prepend(folder.parent)
    check_values("spread_out.part.Odd", "a", [1], what="here")


def test_a_name_that_is_gone_when_imported_is_left_to_the_job():
    assert constraints._accepted("sklearn.svm.Gone", "C", 1) == ""
