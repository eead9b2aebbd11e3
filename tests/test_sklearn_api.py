"""scikit-learn's own checks over every public estimator."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
from public_estimators import ESTIMATORS, NAMED, quick
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import entrolearn
from entrolearn import (
    LSSVC,
    MELM,
    RSVC,
    RSVR,
    EEKMClassifier,
    EEMClassifier,
    KLClustering,
    OneNormSVC,
    PathSearchCV,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
)
from entrolearn.maxent import MaxEntClassifier
from entrolearn.streaming import SlidingWindow

# A search has the errors and warnings of GridSearchCV, so no other test of all estimators has it.
SEARCH = PathSearchCV(LSSVC(), {"alpha": [10.0, 0.1]}, cv=2, error_score="raise")
WINDOW = SlidingWindow(EEMClassifier(20, random_state=0), n_rows=7)
EQUIVALENT = "check_sample_weight_equivalence_on_{}_data"

# One setting of each class, and others whose rows, labels or weights take another way.
FURTHER = {
    "WELMClassifier-2": "sums with a ridge rather than a pseudoinverse",
    "MELM-2": "the penalty's solver, and a covariance that a weight of rows shrinks",
    "MinimumEntropyClustering-2": "neighbours rather than windows",
    "MaxEntClassifier-3": "iterative scaling, which takes no negative features",
    "CrossEntropyClustering-2": "spheres without mergers",
    "EntropySearch-2": "a pipeline that is searched",
}
CHECKED = [quick(estimator) for name, estimator in NAMED.items() if name.endswith("-1") or name in FURTHER]

DOCS = Path(__file__).parents[1] / "docs"


def expected_failures(estimator):
    """Checks that no setting of the data could meet, with the reason."""
    expected = {}
    if isinstance(estimator, MaxEntClassifier) and estimator.solver == "gis":
        expected["check_decision_proba_consistency"] = "iterative scaling wants no negative features"
    if isinstance(estimator, SlidingWindow):
        expected["check_classifiers_train"] = "the last seven rows do not say what the others are"
    if isinstance(estimator, PathSearchCV):
        expected["check_classifiers_one_label_sample_weights"] = (
            "the folds' error, which GridSearchCV has, too"
        )
    if isinstance(estimator, KLClustering):
        expected["check_clustering"] = "rows with negative entries are no distributions"
    if isinstance(estimator, WELMClassifier) and not estimator.alpha:
        expected["check_class_weight_classifiers"] = (
            "100 units without a ridge fit 50 rows whatever they weigh"
        )
    if isinstance(estimator, MELM) and estimator.covariance == "ledoit_wolf":
        for check in ("shape", "not_overwritten"):
            expected[f"check_sample_weights_{check}"] = "refused: the rows of each class lie on a line"
    if why := _why_not_equivalent(estimator):
        kinds = ("dense", "sparse") if get_tags(estimator).input_tags.sparse else ("dense",)
        expected |= {EQUIVALENT.format(rows): why for rows in kinds}
    return expected


def _why_not_equivalent(estimator) -> str:
    """Why a row of weight two is not two rows to scikit-learn's check; empty where it is."""
    learner = getattr(estimator, "estimator", estimator)
    if isinstance(learner, EEKMClassifier | RKELMClassifier | RKELMRegressor | RSVC | RSVR):
        return "landmarks are drawn from the rows, whatever they weigh"
    if isinstance(estimator, OneNormSVC) and estimator.C == 1:
        return "several machines have the minimum, and which one is found depends on the order of the rows"
    if isinstance(estimator, MELM):
        return "refused: the weights leave one row to a class, which has no density"
    return ""


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "estimator", [*CHECKED, WINDOW, SEARCH], ids=lambda estimator: type(estimator).__name__
)
def test_scikit_learns_checks(estimator, monkeypatch):
    # Without it scikit-learn skips its checks of other libraries' arrays. It reads it when it dispatches.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    expected = expected_failures(estimator)
    results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=expected)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    # No reason has become none.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == expected.keys()


def test_every_public_estimator_is_checked():
    names = (entrolearn._MODULES | entrolearn._IN_SUBPACKAGES).items()
    values = [getattr(import_module(module), name) for name, module in names]
    public = {one.__name__ for one in values if inspect.isclass(one) and issubclass(one, BaseEstimator)}
    assert public == {type(estimator).__name__ for estimator in [*ESTIMATORS, SEARCH]}


def test_html_representations_link_to_the_docs(monkeypatch):
    listed = {page.strip() for file in DOCS.glob("api/*.rst") for page in file.read_text().splitlines()}
    monkeypatch.setenv("ENTROLEARN_DOCS", "https://docs.example/")
    at_the_top = [one for one in [*ESTIMATORS, SEARCH] if type(one).__name__ in entrolearn.__all__]
    for estimator in at_the_top:
        name = type(estimator).__name__
        entrolearn.__getattr__(name)  # as on first access
        assert f'"https://docs.example/api/generated/entrolearn.{name}.html"' in estimator._repr_html_()
        assert name in listed
    monkeypatch.delenv("ENTROLEARN_DOCS")
    built = DOCS / "_build"
    expected = built.as_uri() if (built / "index.html").is_file() else ""
    for estimator in at_the_top:
        entrolearn.__getattr__(type(estimator).__name__)
    assert ESTIMATORS[0]._get_doc_link().partition("/api/")[0] == expected
