"""scikit-learn's own checks over every public estimator."""

import inspect
from pathlib import Path

import pytest
from public_estimators import ESTIMATORS
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import entrolearn
from entrolearn import KLClustering, MaxEntClassifier, WELMClassifier

DOCS = Path(__file__).parents[1] / "docs"


def expected_failures(estimator):
    """Checks that no setting of the data could meet, with the reason."""
    if isinstance(estimator, MaxEntClassifier) and estimator.solver == "gis":
        return {"check_decision_proba_consistency": "iterative scaling wants no negative features"}
    if isinstance(estimator, KLClustering):
        return {"check_clustering": "rows with negative entries are no distributions"}
    if hasattr(estimator, "partial_fit") and getattr(estimator, "keep_sums", True) is False:
        return {"check_fit_score_takes_y": "partial_fit after a fit that kept no sums is refused"}
    if isinstance(estimator, WELMClassifier) and not estimator.C:
        return {"check_class_weight_classifiers": "100 units without a ridge fit 50 rows whatever they weigh"}
    return {}


@pytest.fixture(autouse=True)
def _dispatch(monkeypatch):
    """Without it scikit-learn skips its checks of other libraries' arrays. It reads it when it dispatches."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name
        for name in entrolearn.__all__
        if inspect.isclass(getattr(entrolearn, name)) and issubclass(getattr(entrolearn, name), BaseEstimator)
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}


def test_html_representations_link_to_the_docs(monkeypatch):
    listed = {page.strip() for file in DOCS.glob("api/*.rst") for page in file.read_text().splitlines()}
    monkeypatch.setenv("ENTROLEARN_DOCS", "https://docs.example/")
    for estimator in ESTIMATORS:
        name = type(estimator).__name__
        assert f'"https://docs.example/api/generated/entrolearn.{name}.html"' in estimator._repr_html_()
        assert name in listed
    monkeypatch.delenv("ENTROLEARN_DOCS")
    built = DOCS / "_build"
    expected = built.as_uri() if (built / "index.html").is_file() else ""
    assert ESTIMATORS[0]._get_doc_link().partition("/api/")[0] == expected
