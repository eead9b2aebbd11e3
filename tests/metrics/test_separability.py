"""How well the classes of a projection can be told apart."""

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from entrolearn.metrics import separability_classifiers, separability_scores, visual_separability

MOST_FREQUENT = {"most frequent": (DummyClassifier(strategy="most_frequent"), {})}
NEAREST = {"nearest": (KNeighborsClassifier(1), {})}


def clusters(distance, n_samples=60, n_classes=2, seed=0):
    """Round clusters on the diagonal, equally large."""
    y = np.repeat(np.arange(n_classes), n_samples // n_classes)
    return np.random.default_rng(seed).normal(size=(len(y), 2)) + distance * y[:, None], y


def test_clusters_far_apart_are_separable():
    Z, y = clusters(100, n_samples=30, n_classes=3)
    assert visual_separability(Z, y, cv=3, random_state=0) == 1


def test_labels_at_random_are_not_separable():
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(120, 2)), rng.permutation(np.repeat([0, 1], 60))
    # Each classifier's hits are at most as scattered as 120 tosses: four standard errors.
    assert abs(visual_separability(Z, y, cv=3, random_state=0) - 1 / 2) < 4 * math.sqrt(0.25 / 120)


def test_no_row_is_judged_by_a_machine_that_has_seen_it():
    """Every row stands there twice, under either label: whoever has seen both guesses, who has not, fails."""
    Z = np.repeat(np.random.default_rng(2).normal(size=(40, 2)), 2, axis=0)
    y = np.tile([0, 1], 40)
    assert visual_separability(Z, y, classifiers=NEAREST, random_state=0) < 1 / 2


class Recorder(ClassifierMixin, BaseEstimator):
    """The sign of the first column, or a constant: learns nothing, and keeps how many rows it was shown."""

    seen = []

    def __init__(self, right=True):
        self.right = right

    def fit(self, X, y):
        Recorder.seen.append(len(y))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int) if self.right else np.zeros(len(X), dtype=int)


def test_parameters_are_chosen_inside_each_training_fold():
    Z = np.repeat([[-1.0], [1.0]], 25, axis=0)
    Recorder.seen.clear()
    score = visual_separability(
        Z, Z[:, 0] > 0, classifiers={"one": (Recorder(), {"right": [False, True]})}, cv=5
    )
    assert score == 1  # the right one is found
    # Two candidates without each of five folds of ten rows, and without each of their ten pairs.
    assert sorted(Recorder.seen) == 20 * [30] + 10 * [40]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_constant_answer_scores_one_over_the_number_of_classes(n_classes):
    Z, y = clusters(0, n_classes=n_classes)
    few = np.flatnonzero((y > 0) | (np.arange(len(y)) < 12))  # classes of different sizes
    found = visual_separability(Z[few], y[few], classifiers=MOST_FREQUENT)
    assert found == pytest.approx(1 / n_classes, rel=1e-12)


def test_score_is_the_mean_over_the_classifiers():
    Z, y = clusters(100)
    assert visual_separability(Z, y, classifiers=MOST_FREQUENT | NEAREST) == pytest.approx(0.75, rel=1e-12)


def test_score_is_the_balanced_accuracy_of_the_folds_where_there_is_nothing_to_choose():
    """For a rule that learns nothing, the mean over equal folds is the score of all rows at once."""
    Z, y = clusters(1.5, n_samples=100)
    rule = {"rule": (Recorder(), {})}
    expected = balanced_accuracy_score(y, Recorder().predict(Z))
    assert visual_separability(Z, y, classifiers=rule) == pytest.approx(expected, rel=1e-12)
    assert 0.5 < expected < 0.95


def test_columns_swapped_and_labels_renamed_score_the_same():
    Z, y = clusters(1.5, n_samples=30)
    swapped, named = Z[:, ::-1], np.array(["a", "b"])[y]
    plain = visual_separability(Z, y, cv=3, random_state=3)
    assert visual_separability(swapped, named, cv=3, random_state=3) == pytest.approx(plain)
    assert 0.5 < plain < 1


def test_scores_are_those_of_a_naive_nested_cross_validation():
    """Written out: for each fold the parameters that are best on the other folds, one of them at a time."""
    Z, y = clusters(1.0, n_samples=60)
    found = separability_scores(Z, y, cv=3, random_state=4)
    seed = np.random.RandomState(4).randint(np.iinfo(np.int32).max)
    folds = [test for _, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(Z, y)]

    def fitted(machine, params, held_out):
        rows = np.setdiff1d(np.arange(60), np.concatenate([folds[k] for k in held_out]))
        return rows, clone(machine).set_params(**params).fit(Z[rows], y[rows])

    def score(machine, rows):
        return balanced_accuracy_score(y[rows], machine.predict(Z[rows]))

    for name, (machine, grid) in separability_classifiers(20).items():
        unseen, seen = [], []
        for fold in range(3):
            others = [k for k in range(3) if k != fold]
            inner = [
                np.mean([score(fitted(machine, params, (fold, k))[1], folds[k]) for k in others])
                for params in ParameterGrid(grid)
            ]
            rows, best = fitted(machine, ParameterGrid(grid)[int(np.argmax(inner))], (fold,))
            unseen.append(score(best, folds[fold]))
            seen.append(score(best, rows))
        assert found[name] == pytest.approx((np.mean(unseen), np.mean(seen)))


def test_rows_that_were_learnt_from_are_recognised_by_their_nearest_neighbour():
    Z, y = clusters(0.5)
    unseen, seen = separability_scores(Z, y, classifiers=NEAREST, random_state=0)["nearest"]
    assert seen == 1 > unseen


def test_folds_follow_from_the_seed():
    Z, y = clusters(1.0)
    one, again, other = (visual_separability(Z, y, classifiers=NEAREST, random_state=s) for s in (0, 0, 1))
    assert one == again != other


def test_classifiers_see_the_size_of_the_projection():
    few, many = separability_classifiers(8, n_features=4), separability_classifiers(1000)
    assert list(many) == ["svm", "knn", "kde"]
    assert few["knn"][1]["n_neighbors"] == [1, 3, 5, 7]
    assert many["knn"][1]["n_neighbors"][-1] == 25
    assert few["svm"][1]["svc__gamma"] == pytest.approx(np.array([0.1, 1, 10, 100]) / 4)


def test_a_few_rows_can_still_be_scored():
    Z, y = clusters(100, n_samples=12)
    assert visual_separability(Z, y, cv=3, random_state=0) == 1


def test_what_cannot_be_scored_is_refused():
    Z, y = clusters(1.0, n_samples=20)
    with pytest.raises(ValueError, match="needs at least two classes, got only one: 0"):
        visual_separability(Z, 0 * y)
    with pytest.raises(ValueError, match="class 1 has 4 rows, too few for 5 folds; take a smaller cv"):
        visual_separability(Z[:14], y[:14])
    for judged in (visual_separability, separability_scores):
        with pytest.raises(ValueError, match="classifiers is empty; it must hold one classifier"):
            judged(Z, y, classifiers={})
    with pytest.raises(ValueError, match="cv is 2; it must be a number of folds, 3 or more"):
        visual_separability(Z, y, cv=2)
    failing = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, -1]})}
    with pytest.raises(ValueError, match="KNeighborsClassifier with .*-1.*'n_neighbors' parameter"):
        visual_separability(Z, y, classifiers=failing)
    with pytest.raises(ValueError, match="Unknown label type"):
        visual_separability(Z, Z[:, 0])
