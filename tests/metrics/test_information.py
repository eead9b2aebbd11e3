"""Information-theoretic evaluation of classifications with reject."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, mutual_info_score, normalized_mutual_info_score
from sklearn.model_selection import GridSearchCV

from entrolearn.metrics import (
    information_scorer,
    information_scores,
    normalized_mutual_information_scorer,
    reject_least_certain,
)
from entrolearn.metrics.information import DISSIMILARITIES, SIMILARITIES

REJECT = "?"
NORMALIZED = sorted(measure for measure in SIMILARITIES if measure.startswith("normalized"))
BASELINE = ["mutual_information", "cross_entropy_true_pred", "cross_entropy_pred_true", "entropy_pred"]
ZERO = ["kl_true_pred", "kl_pred_true", "conditional_entropy_true", "conditional_entropy_pred"]


def labels_of(confusion, reject=False):
    """Labels and predictions with these counts, named by letters; the last column may be the reject."""
    confusion = np.asarray(confusion)
    names = np.array(list("abcdef"))[: confusion.shape[1]]
    if reject:
        names[-1] = REJECT
    rows, columns = np.indices(confusion.shape).reshape(2, -1)
    return np.repeat(names[rows], confusion.ravel()), np.repeat(names[columns], confusion.ravel())


def scores_of(confusion, reject=False, **options):
    return information_scores(*labels_of(confusion, reject), reject=REJECT if reject else None, **options)


def reaches_the_baseline(scores):
    return (
        all(scores[measure] == pytest.approx(scores["entropy_true"], rel=1e-12) for measure in BASELINE)
        and all(scores[measure] == pytest.approx(0, abs=1e-12) for measure in ZERO)
        and all(scores[measure] == pytest.approx(1, rel=1e-12) for measure in NORMALIZED)
    )


confusions = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=2)
confusions = confusions.filter(lambda rows: all(any(row) for row in rows))


# Closed forms and twins


def test_a_rejecting_classification_computed_by_hand():
    """Four of a and four of b: a is right twice, wrong once, rejected once; b is right three times."""
    scores = scores_of([[2, 1, 1], [0, 3, 1]], reject=True, base=2)
    assert scores["correct_rate"] == 5 / 8
    assert scores["error_rate"] == 1 / 8
    assert scores["reject_rate"] == 2 / 8
    assert scores["accuracy"] == pytest.approx(5 / 6, rel=1e-15)
    assert scores["entropy_true"] == 1.0
    assert scores["entropy_pred"] == pytest.approx(0.25 * 2 + 0.5 * 1 + 0.25 * 2, rel=1e-14)
    quarter = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert scores["conditional_entropy_true"] == pytest.approx(0.5 * quarter + 0.25 * 1, rel=1e-14)
    assert scores["mutual_information"] == pytest.approx(0.75 - 0.5 * quarter, rel=1e-13)
    assert scores["cross_entropy_true_pred"] == pytest.approx(0.5 * 2 + 0.5 * 1, rel=1e-14)
    assert scores["cross_entropy_pred_true"] == math.inf
    assert scores["normalized_cross_entropy_pred_true"] == 0.0
    assert scores["normalized_kl_pred_true"] == 0.0


def test_without_reject_it_is_scikit_learns_information_and_accuracy():
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    y_pred = np.where(rng.uniform(size=300) < 0.7, y_true, y_pred)
    scores = information_scores(y_true, y_pred)
    assert scores["accuracy"] == pytest.approx(accuracy_score(y_true, y_pred), rel=1e-14)
    assert scores["mutual_information"] == pytest.approx(mutual_info_score(y_true, y_pred), rel=1e-12)
    for mean in ("arithmetic", "geometric", "max", "min"):
        twin = normalized_mutual_info_score(y_true, y_pred, average_method=mean)
        assert scores[f"normalized_mutual_information_{mean}"] == pytest.approx(twin, rel=1e-12)


def test_rejects_are_a_further_cluster_to_scikit_learns_information():
    y_true, y_pred = labels_of([[5, 1, 2], [2, 6, 3]], reject=True)
    scores = information_scores(y_true, y_pred, reject=REJECT)
    assert scores["mutual_information"] == pytest.approx(mutual_info_score(y_true, y_pred), rel=1e-12)


def test_units_scale_the_entropies_and_leave_the_rates_and_the_normalized_alone():
    bits, nats = (scores_of([[5, 1], [2, 6]], base=base) for base in (2, math.e))
    for measure in bits:
        scale = math.log(2) if "entropy" in measure or "information" in measure or "kl" in measure else 1
        if measure in NORMALIZED:
            scale = 1
        assert nats[measure] == pytest.approx(scale * bits[measure], rel=1e-12)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_many_classes_take_no_table_of_all_pairs():
    """All pairs would take 13 GB. Each prediction leaves two true labels: H(T | Y) is one bit."""
    n = 40_000
    scores = information_scores(np.arange(n), np.arange(n) // 2 * 2, base=2)
    assert scores["accuracy"] == 0.5
    assert scores["entropy_true"] == pytest.approx(math.log2(n), rel=1e-12)
    assert scores["mutual_information"] == pytest.approx(math.log2(n / 2), rel=1e-12)
    assert scores["conditional_entropy_true"] == pytest.approx(1, rel=1e-12)
    assert scores["conditional_entropy_pred"] == 0


# Laws


@given(confusions)
def test_rates_add_up_to_one_and_accuracy_is_that_of_the_decided(confusion):
    scores = scores_of(confusion, reject=True)
    total = scores["correct_rate"] + scores["error_rate"] + scores["reject_rate"]
    assert total == pytest.approx(1, rel=1e-14)
    y_true, y_pred = labels_of(confusion, reject=True)
    decided = y_pred != REJECT
    if decided.any():
        assert scores["accuracy"] == pytest.approx(np.mean((y_true == y_pred)[decided]), rel=1e-14)
    else:
        assert math.isnan(scores["accuracy"])


@given(confusions)
def test_information_and_what_is_left_make_up_the_baseline(confusion):
    scores = scores_of(confusion, reject=True)
    shared = scores["mutual_information"]
    assert shared + scores["conditional_entropy_true"] == pytest.approx(scores["entropy_true"], abs=1e-12)
    assert shared + scores["conditional_entropy_pred"] == pytest.approx(scores["entropy_pred"], abs=1e-12)
    assert scores["entropy_true"] + scores["kl_true_pred"] == pytest.approx(
        scores["cross_entropy_true_pred"], abs=1e-12
    )
    for measure in NORMALIZED:
        assert math.isnan(scores[measure]) or -1e-12 <= scores[measure] <= 1 + 1e-12


@pytest.mark.parametrize("confusion", [[[3, 0], [0, 7]], [[2, 0, 0], [0, 5, 0], [0, 0, 1]]])
def test_an_exact_classification_reaches_the_baseline_in_every_measure(confusion):
    scores = scores_of(confusion)
    assert scores["accuracy"] == 1
    assert reaches_the_baseline(scores)


def test_a_classification_that_is_wrong_in_every_row_may_reach_the_baseline_in_every_measure():
    """The essay's claim that entropies replace accuracy does not hold: they see labels as mere names."""
    swapped = scores_of([[0, 5], [5, 0]])
    assert swapped["accuracy"] == 0
    assert reaches_the_baseline(swapped)
    turned = scores_of([[0, 4, 0], [0, 0, 4], [4, 0, 0]])
    assert turned["error_rate"] == 1
    assert reaches_the_baseline(turned)


def test_classes_of_different_size_that_are_swapped_show_in_the_marginals_alone():
    scores = scores_of([[0, 2], [6, 0]])
    assert scores["normalized_mutual_information"] == pytest.approx(1, rel=1e-12)
    assert scores["kl_true_pred"] > 0


def test_more_errors_may_tell_more():
    """Seven of ten right by a constant answer, which tells nothing, against six of ten by a real one."""
    constant, real = scores_of([[7, 0], [3, 0]]), scores_of([[3, 4], [0, 3]])
    assert constant["accuracy"] > real["accuracy"]
    assert constant["mutual_information"] == 0 < real["mutual_information"]


def test_rejecting_an_error_of_the_rare_class_saves_more_information_than_one_of_the_frequent():
    """Hu, He and Yuan's point: kinds of errors and of rejects count differently without costs being given."""
    frequent, rare = scores_of([[89, 1, 0], [0, 10, 0]], True), scores_of([[90, 0, 0], [1, 9, 0]], True)
    assert frequent["accuracy"] == rare["accuracy"]
    assert frequent["mutual_information"] != pytest.approx(rare["mutual_information"], rel=1e-3)
    rejected = scores_of([[90, 0, 0], [0, 9, 1]], True)
    assert rejected["mutual_information"] > rare["mutual_information"]


def test_a_class_that_is_never_predicted_costs_infinitely_much():
    scores = scores_of([[7, 0], [3, 0]])
    assert scores["cross_entropy_true_pred"] == scores["kl_true_pred"] == math.inf
    assert scores["normalized_cross_entropy_true_pred"] == scores["normalized_kl_true_pred"] == 0
    assert math.isfinite(scores["kl_pred_true"])
    assert math.isnan(scores["normalized_mutual_information_pred"])


@pytest.mark.filterwarnings("error")
def test_one_class_has_no_baseline():
    scores = information_scores([1, 1], [1, 1])
    assert scores["entropy_true"] == 0
    assert math.isnan(scores["normalized_mutual_information"])


def test_all_rows_rejected_tell_nothing():
    scores = scores_of([[0, 0, 4], [0, 0, 4]], reject=True)
    assert scores["reject_rate"] == 1
    assert scores["mutual_information"] == 0
    assert math.isnan(scores["accuracy"])


# Rejecting


def test_the_least_certain_share_is_rejected_and_of_equals_the_first():
    y_pred, certainty = np.array([1, 2, 1, 2, 1]), [0.5, 0.9, 0.5, 0.5, 0.7]
    np.testing.assert_array_equal(reject_least_certain(y_pred, certainty, 0.4, reject=0), [0, 2, 0, 2, 1])
    np.testing.assert_array_equal(reject_least_certain(y_pred, certainty, 0, reject=0), y_pred)
    assert (reject_least_certain(y_pred, certainty, 1, reject=0) == 0).all()


def test_a_reject_longer_than_the_labels_keeps_its_name():
    rejected = reject_least_certain(["a", "b"], [0.1, 0.9], 0.5, reject="not decided")
    assert rejected.tolist() == ["not decided", "b"]


LARGEST = {
    "bool": True,
    "int8": 127,
    "uint8": 255,
    "int32": 2**31 - 1,
    "int64": 2**63 - 1,
    "uint64": 2**64 - 1,
    "float16": 1024.0,
    "float64": 0.3,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", LARGEST)
def test_neither_labels_nor_the_reject_change_in_any_type(dtype):
    """They wrap, round or overflow where a type does not hold them: then another one, or a refusal."""
    labels, refused = np.array([LARGEST[dtype], 1, 0, LARGEST[dtype]], dtype=dtype), []
    for reject in (256, 1000, -1, -129, 0.5, 1e10, 1e300, 2**53 + 1, 2**63, np.uint8(254), np.float32(0.1)):
        try:
            found = reject_least_certain(labels, [0, 1, 2, 3], 0.5, reject=reject)
        except ValueError as error:
            refused.append(str(error))
        else:
            assert [label.item() for label in found] == [reject, reject, *labels[2:].tolist()]
    assert all("no type holds both" in said for said in refused)
    # Of 64 bits, labels have no type in common with fractions; floating ones have none with 2^53 + 1.
    assert len(refused) == {"int64": 4, "uint64": 5, "float16": 1, "float64": 1}.get(dtype, 0)


def test_labels_and_rejects_of_other_alphabets_are_refused():
    with pytest.raises(ValueError, match=r"reject is 'no'; no type holds both it and labels of \|S1 exactly"):
        reject_least_certain(np.array([b"a", b"b"]), [0, 1], 0.5, reject="no")


def test_rejecting_where_a_classifier_is_least_certain_raises_its_accuracy():
    X, y = load_iris(return_X_y=True)
    classifier = LogisticRegression(C=0.1).fit(X[::2], y[::2])
    y_pred, certainty = classifier.predict(X[1::2]), classifier.predict_proba(X[1::2]).max(axis=1)
    accuracies = [
        information_scores(y[1::2], reject_least_certain(y_pred, certainty, share, reject=-1), reject=-1)[
            "accuracy"
        ]
        for share in (0, 0.1, 0.3)
    ]
    assert accuracies[0] < accuracies[1] <= accuracies[2]


# Scorers


def test_scorer_chooses_in_a_grid_search_and_can_be_pickled():
    X, y = load_iris(return_X_y=True)
    scorer = pickle.loads(pickle.dumps(normalized_mutual_information_scorer))
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [1e-6, 1.0]}, scoring=scorer, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"C": 1.0}
    expected = information_scores(y, search.predict(X))["normalized_mutual_information"]
    assert search.score(X, y) == expected


@pytest.mark.parametrize("measure", ["conditional_entropy_true", "error_rate"])
def test_measures_that_should_be_small_are_scored_with_a_minus_sign(measure):
    X, y = load_iris(return_X_y=True)
    classifier = LogisticRegression(C=0.01).fit(X, y)
    expected = information_scores(y, classifier.predict(X))[measure]
    assert information_scorer(measure)(classifier, X, y) == -expected < 0


def test_every_measure_has_a_good_end_but_the_plain_entropies():
    assert set(scores_of([[1, 1], [1, 2]])) - SIMILARITIES - DISSIMILARITIES == {
        "entropy_true",
        "entropy_pred",
        "joint_entropy",
    }
    assert not SIMILARITIES & DISSIMILARITIES


# Input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: information_scores([0, 1], [0, 1], reject=1), r"reject is 1, which is a label of y_true"),
        (lambda: information_scores([0, 1], [0, 1], reject="no"), r"must be of the same kind as y_true, int"),
        (lambda: information_scores([0.1, 0.2], [0, 1]), r"y_true is continuous"),
        (lambda: information_scores([0, 1], [0.5, 1]), r"y_pred is continuous"),
        (lambda: information_scores([0, 1], [0]), r"inconsistent numbers of samples"),
        (lambda: information_scorer("joint_entropy"), r"measure is 'joint_entropy'; it must be one of accur"),
        (lambda: reject_least_certain([0, 1], [1.0], 0.5, reject=2), r"inconsistent numbers of samples"),
        (lambda: reject_least_certain([0, 1], [1.0, math.nan], 0.5, reject=2), r"certainty holds NaN"),
        (lambda: reject_least_certain([0, 1], [1.0, 0.5], 1.5, reject=2), r"share is 1.5; it must be from 0"),
        (lambda: reject_least_certain([0, 1], [1.0, 0.5], 0.5, reject=1), r"reject is 1, which is a label"),
        (lambda: reject_least_certain(["a"], [1.0], 0.5, reject=1), r"must be of the same kind as y_pred"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
