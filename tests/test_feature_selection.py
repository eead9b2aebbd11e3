"""Selection of features by mutual information."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from entrolearn import feature_selection
from entrolearn.feature_selection import InformationFilter
from entrolearn.measures import mixed_mutual_information


def selected(found):
    return found.ranking_.tolist()


def redundant(rng, n=300):
    """Column 0 says most of the target, 1 nearly the same again, 2 the rest of it, 3 nothing."""
    first, second, noise, useless = rng.normal(size=(4, n))
    X = np.column_stack([first, first + 0.1 * noise, 0.7 * second, useless])
    return X, first + 0.7 * second


@pytest.fixture
def rng():
    return np.random.default_rng(20261122)


def naive(X, y, criterion, n_wanted):
    """Each step anew, from the formulas."""

    def information(*variables, **given):
        return mixed_mutual_information(*variables, **given)

    chosen, scores = [], []
    while len(chosen) < n_wanted:
        values = {}
        for j in set(range(X.shape[1])) - set(chosen):
            relevance = information(X[:, j], y)
            if criterion == "relevance" or not chosen:
                values[j] = relevance
            elif criterion == "mrmr":
                values[j] = relevance - np.mean([information(X[:, j], X[:, s]) for s in chosen])
            elif criterion == "jmi":
                values[j] = np.mean([information(X[:, [j, s]], y) for s in chosen])
            else:
                values[j] = min(information(X[:, j], y, given=X[:, s]) for s in chosen)
        chosen.append(max(values, key=values.get))
        scores.append(values[chosen[-1]])
    return chosen, scores


@pytest.mark.parametrize("criterion", ["relevance", "mrmr", "jmi", "cmim"])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.filterwarnings("ignore::entrolearn.measures.UnreliableEstimateWarning")
def test_selection_is_that_of_a_naive_loop(rng, criterion, classes):
    X = rng.normal(size=(60, 5))
    y = X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=60)
    y = np.array(["low", "high"])[(y > 0).astype(int)] if classes else y
    found = InformationFilter(4, criterion=criterion).fit(X, y)
    chosen, scores = naive(X, y, criterion, 4)
    assert selected(found) == chosen
    assert_allclose(found.scores_, scores, atol=1e-10)
    assert_allclose(found.relevance_, [mixed_mutual_information(x, y) for x in X.T], atol=1e-10)
    assert_array_equal(found.transform(X), X[:, np.sort(chosen)])


def test_relevance_takes_the_repetition_and_the_others_what_is_new(rng):
    X, y = redundant(rng)
    assert set(selected(InformationFilter(2, criterion="relevance").fit(X, y))) == {0, 1}
    for criterion in ("mrmr", "jmi", "cmim"):
        assert set(selected(InformationFilter(2, criterion=criterion).fit(X, y))) in ({0, 2}, {1, 2})


@pytest.mark.parametrize("criterion", ["jmi", "cmim"])
def test_features_that_tell_only_together_are_found_once_one_of_them_is(rng, criterion):
    X = rng.normal(size=(400, 5))
    y = (X[:, 1] * X[:, 3] > 0) ^ (rng.uniform(size=400) < 0.02)
    X[:, 1] += 2 * y  # so that it comes first
    assert selected(InformationFilter(2, criterion=criterion).fit(X, y)) == [1, 3]


def test_units_names_of_classes_and_the_order_of_rows_do_not_matter(rng):
    X, y = redundant(rng, 60)
    X[:, :3] = np.round(3 * X[:, :3])  # equally spaced: which distances are equal must not depend on rounding
    for target, renamed in ((y, 0.7 * y - 20), (y > 0, np.where(y > 0, "b", "a"))):
        for wanted in (3, "test"):
            search = InformationFilter(wanted, n_permutations=19, random_state=0)
            found = search.fit(X, target)
            order = rng.permutation(len(X))
            again = InformationFilter(**search.get_params()).fit(0.1 * X[order] + 0.3, renamed[order])
            assert_array_equal(again.relevance_, found.relevance_)
            assert selected(found) == selected(again)


@pytest.mark.parametrize("criterion", ["relevance", "jmi"])
def test_a_test_takes_what_tells_something_and_stops(rng, criterion):
    X, y = redundant(rng)
    found = InformationFilter("test", criterion=criterion, n_permutations=39, random_state=0).fit(X, y)
    assert {0, 2} <= set(selected(found)) or {1, 2} <= set(selected(found))
    assert 3 not in selected(found)
    assert found.p_values_[-1] > 0.05
    assert (found.p_values_[:-1] <= 0.05).all()
    assert len(found.p_values_) == len(found.scores_) + 1 == len(found.ranking_) + 1
    assert not hasattr(found.set_params(n_features_to_select=1).fit(X, y), "p_values_")


def test_a_permutation_leaves_what_the_features_tell_of_each_other(rng, monkeypatch):
    """With n features and no more than one selected, mrmr estimates 2 n informations for all permutations."""
    pairs = []

    def counted(x, y, **options):
        pairs.append((x, y))
        return mixed_mutual_information(x, y, **options)

    monkeypatch.setattr(feature_selection, "mixed_mutual_information", counted)
    X, y = redundant(rng, 60)
    found = InformationFilter("test", criterion="mrmr", n_permutations=19, random_state=0).fit(X, y)
    columns = {column.tobytes() for column in X.T[:, np.argsort(y)]}
    of_features = [y for _, y in pairs if np.asarray(y).tobytes() in columns]
    selected = len(found.ranking_)
    assert len(of_features) == sum(4 - 1 - i for i in range(selected)) > 0


def test_many_useless_features_cause_no_more_false_choices():
    chosen = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = InformationFilter("test", n_permutations=19, random_state=seed)
        chosen.append(len(found.fit(rng.normal(size=(40, 4)), rng.normal(size=40)).ranking_))
    assert np.mean(np.array(chosen) > 0) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 20)


def test_how_many_are_wanted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    for wanted, n in ((None, 2), (3, 3), (0.4, 2), (1.0, 5), (1, 1)):
        assert len(InformationFilter(wanted).fit(X, y).ranking_) == n


def test_whole_numbers_are_classes_unless_told_otherwise(rng):
    X, y = redundant(rng, 100)
    counts = np.round(3 * y) + 0.0
    auto, values = (InformationFilter(1, target=target).fit(X, counts) for target in ("auto", "values"))
    assert auto.relevance_ == pytest.approx([mixed_mutual_information(x, counts.astype(str)) for x in X.T])
    assert values.relevance_ == pytest.approx([mixed_mutual_information(x, counts) for x in X.T])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 4}, "n_features_to_select is 4; X has 3 features"),
        ({"n_features_to_select": "test", "n_permutations": 9}, "n_permutations is 9.*needs at least 19$"),
        ({"n_features_to_select": "test", "alpha": 5e-324}, "a test at alpha=.*needs at least inf"),
    ],
)
def test_bad_settings_are_named(rng, options, message):
    with pytest.raises(ValueError, match=message):
        InformationFilter(**options).fit(rng.normal(size=(20, 3)), rng.normal(size=20))
