"""The geometric mean of the classes' recalls."""

import math
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import cross_val_score

from entrolearn.metrics import gmean_score, gmean_scorer


def confused(tp, fn, tn, fp):
    """Labels and predictions with these counts."""
    return np.repeat([1, 1, 0, 0], [tp, fn, tn, fp]), np.repeat([1, 0, 0, 1], [tp, fn, tn, fp])


@pytest.mark.parametrize(("tp", "fn", "tn", "fp"), [(3, 1, 8, 2), (10, 0, 1, 9), (5, 5, 0, 7), (4, 0, 6, 0)])
def test_two_classes_follow_the_papers_footnote(tp, fn, tn, fp):
    # Extreme Entropy Machines, footnote 7.
    expected = math.sqrt(tp / (tp + fn) * tn / (tn + fp))
    assert gmean_score(*confused(tp, fn, tn, fp)) == pytest.approx(expected, rel=1e-14)


def test_three_classes_take_the_cube_root_of_the_product():
    y_true, y_pred = list("aaaabbc"), list("aaabbbc")
    assert gmean_score(y_true, y_pred) == pytest.approx((3 / 4 * 1 * 1) ** (1 / 3), rel=1e-14)


def test_score_is_the_root_of_the_product_of_scikit_learns_recalls():
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    recalls = recall_score(y_true, y_pred, average=None)
    assert gmean_score(y_true, y_pred) == pytest.approx(np.prod(recalls) ** (1 / 4), rel=1e-12)


def test_score_does_not_change_when_a_class_is_duplicated():
    y_true, y_pred = confused(3, 1, 8, 2)
    more = np.concatenate([np.arange(len(y_true)), np.tile(np.flatnonzero(y_true == 1), 9)])
    assert gmean_score(y_true[more], y_pred[more]) == pytest.approx(gmean_score(y_true, y_pred), rel=1e-14)


def test_score_does_not_depend_on_the_names_of_the_classes():
    y_true, y_pred = confused(3, 1, 8, 2)
    names = np.array(["no", "yes"])
    assert gmean_score(names[y_true], names[y_pred]) == gmean_score(y_true, y_pred)


def test_a_class_that_is_never_recognised_makes_the_score_zero_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gmean_score([0, 0, 1], [0, 0, 0]) == 0.0


def test_a_class_absent_from_the_truth_is_left_out_with_a_warning():
    with pytest.warns(UserWarning, match=r"classes \[2\] do not occur in y_true and are left out"):
        assert gmean_score([0, 0, 1, 1], [0, 2, 1, 1]) == pytest.approx(math.sqrt(1 / 2))


def test_labels_restrict_the_classes_that_count():
    assert gmean_score([0, 0, 1, 1, 2], [0, 0, 1, 0, 1], labels=[0, 1]) == pytest.approx(math.sqrt(1 / 2))
    with pytest.raises(ValueError, match=r"none of the labels \[7\] occurs in y_true, which has \[0, 1\]"):
        gmean_score([0, 1], [0, 1], labels=[7])


def test_numbers_that_are_no_labels_are_refused():
    with pytest.raises(
        ValueError, match="y_true is continuous; gmean_score takes binary or multiclass labels"
    ):
        gmean_score([0.1, 0.7], [0.2, 0.4])


def test_scorer_scores_a_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    fitted = LogisticRegression().fit(X, y)
    assert gmean_scorer(fitted, X, y) == gmean_score(y, fitted.predict(X))
    assert cross_val_score(LogisticRegression(), X, y, scoring=gmean_scorer, cv=3).min() > 0.5
