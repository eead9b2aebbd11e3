"""Protocols: what is drawn, who learns from it, and what an inner fit is good for."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from entrolab.data.dataset import DataError
from entrolab.fit.protocols import Folds, InTime, Trials, protocol, splits
from entrolab.fit.training import _partition

Y = np.arange(60) % 3


def test_a_protocol_is_told_by_its_keys():
    assert protocol({"folds": 5, "repeats": 2, "inner": "leave-two-folds-out"}) == Folds(5, 2)
    entry = {"trials": 20, "train": 40, "test": 10, "inner": {"folds": 4, "used": 1}}
    assert protocol(entry) == Trials(20, 40, 10, folds=4, used=1)
    assert protocol({**entry, "shuffle": False}) == Trials(20, 40, 10, folds=4, used=1, shuffle=False)


# --------------------------------------------------------------------------------------------------- folds


def test_folds_are_stratified_parts_of_all_rows():
    y = np.repeat([0, 1], [83, 27])
    part = Folds(10, repeats=3).draw(y, seed=5)
    assert part.shape == (3, 110)
    assert part.dtype == np.int16
    for row in part:
        for label, count in ((0, 83), (1, 27)):
            in_fold = np.bincount(row[y == label], minlength=10)
            assert in_fold.sum() == count
            assert in_fold.max() - in_fold.min() <= 1


def test_folds_of_a_users_study_are_those_of_scikit_learn():
    y, groups = np.repeat([0, 1], [83, 27]), np.arange(110) // 3
    schemes = {
        StratifiedKFold: (y, None),
        KFold: (y / 3, None),
        StratifiedGroupKFold: (y, groups),
        GroupKFold: (y / 3, groups),
    }
    for scheme, (labels, of_groups) in schemes.items():
        part = Folds(5, 2, named_seeds=False).draw(labels, seed=7, groups=of_groups)
        draw = scheme(5, shuffle=True, random_state=7).split(y, labels, of_groups)
        for fold, (_, left_out) in enumerate(draw):
            assert np.flatnonzero(part[0] == fold).tolist() == left_out.tolist()
        assert (part[1] != part[0]).any()


@pytest.mark.parametrize("folds", [1, 4])
def test_folds_that_a_class_cannot_fill_are_refused_with_the_counts(folds):
    with pytest.raises(DataError, match=rf"{folds} folds: .*0: 20, 1: 3"):
        Folds(folds, 1).draw(np.repeat([0, 1], [20, 3]), seed=0)


def test_folds_of_values_are_parts_of_all_rows_and_no_runs():
    part = Folds(3, repeats=2).draw(np.linspace(0, 1, 31), seed=0)
    for row in part:
        assert sorted(np.bincount(row)) == [10, 10, 11]
        assert (np.diff(row) != 0).sum() > 10
    with pytest.raises(DataError, match="4 folds: .*0: 3"):
        Folds(4, 1).draw(np.linspace(0, 1, 3), seed=0)


def test_the_chosen_model_of_folds_is_fitted_on_all_rows():
    learnt, predicted = Folds(5, 2).final_rows(Folds(5, 2).draw(Y, seed=0))
    assert learnt.tolist() == predicted.tolist() == list(range(60))


def test_of_more_rows_than_asked_for_a_sample_is_folded_in_the_proportion_of_its_classes():
    y = np.repeat([0, 1], [900, 100])
    folds = protocol({"folds": 5, "repeats": 2, "rows": 200})
    part = folds.draw(y, seed=0)
    for row in part:
        assert np.bincount(row[y == 0] + 1).tolist() == [720, 36, 36, 36, 36, 36]
        assert np.bincount(row[y == 1] + 1).tolist() == [80, 4, 4, 4, 4, 4]
    assert (part[0] != part[1]).any()
    learnt, predicted = folds.final_rows(part)
    assert learnt.tolist() == predicted.tolist() == np.flatnonzero(part[0] >= 0).tolist()


def test_a_sample_with_too_few_rows_of_a_class_is_refused():
    with pytest.raises(DataError, match="5 folds: .*0: 36, 1: 4"):
        Folds(5, 1, rows=40).draw(np.repeat([0, 1], [900, 100]), seed=0)


# -------------------------------------------------------------------------------------------------- trials


@pytest.mark.parametrize("y", [Y, np.linspace(0, 1, 60)], ids=["classes", "values"])
def test_a_trial_has_the_rows_that_are_asked_for_and_leaves_the_rest(y):
    part = Trials(20, train=30, test=13, folds=4, used=4).draw(y, seed=0)
    assert part.shape == (20, 60)
    for row in part:
        assert np.bincount(row + 1).tolist() == [17, 13, 8, 8, 7, 7]
    # Of 400 draws each row is tested in about 13/60 of them: the draws do not go round in order.
    tested = (Trials(400, 30, 13, 4, 4).draw(y, seed=0) == 0).mean(axis=0)
    assert np.abs(tested - 13 / 60).max() < 5 * np.sqrt(13 / 60 * 47 / 60 / 400)


def test_rows_that_are_not_shuffled_are_learnt_from_first_and_tested_last():
    (part,) = Trials(1, 30, 13, folds=4, used=4, shuffle=False).draw(Y, seed=0)
    assert (part[:30] > 0).all()
    assert (part[30:47] == -1).all()
    assert (part[47:] == 0).all()
    # The inner folds are as large as others, and no runs of rows.
    assert np.bincount(part[:30]).tolist() == [0, 8, 8, 7, 7]
    assert (np.diff(part[:30]) != 0).sum() > 10


def test_more_rows_than_there_are_are_refused():
    with pytest.raises(DataError, match="50 training and 11 test rows are more than the 60 rows"):
        Trials(1, 50, 11, 4, 4).draw(Y, seed=0)
    with pytest.raises(DataError, match="4 inner folds of 3 training rows"):
        Trials(1, 3, 11, 4, 4).draw(Y, seed=0)


@pytest.mark.parametrize("used", [1, 3])
def test_a_trial_is_tested_on_part_0_and_validated_on_the_inner_folds_that_are_used(used):
    scheme = Trials(1, 40, 10, folds=4, used=used)
    (part,) = scheme.draw(Y, seed=0)
    plain, nested = (scheme.partition(part, nested=nested, whole=True) for nested in (False, True))
    assert plain.left_out == ((0,),)
    assert nested.left_out == ((0,), *((0, fold) for fold in range(1, used + 1)))
    assert scheme.n_inner == used
    for inner in nested.left_out[1:]:
        ((outer, validated),) = scheme.validates(inner)
        assert (outer, validated) == inner
        assert not np.intersect1d(nested.training(inner), nested.held_out((validated,))).size


@pytest.mark.parametrize("scheme", [Folds(5, 1), Trials(1, 40, 10, folds=4, used=3)])
def test_fits_that_are_not_asked_about_all_rows_are_asked_about_those_that_are_scored(scheme):
    (part,) = scheme.draw(Y, seed=0)
    partition = scheme.partition(part, nested=True, whole=False)
    assert partition.left_out == scheme.partition(part, nested=True, whole=True).left_out
    for left_out in partition.left_out:
        scored = [left_out[0]] if len(left_out) == 1 else [fold for _, fold in scheme.validates(left_out)]
        np.testing.assert_array_equal(partition.predicted(left_out), partition.held_out(scored))


def test_the_chosen_model_of_trials_is_fitted_on_the_first_ones_training_rows():
    scheme = Trials(3, 40, 10, 4, 4)
    parts = scheme.draw(Y, seed=0)
    learnt, predicted = scheme.final_rows(parts)
    assert (parts[0][learnt] > 0).all()
    assert (len(learnt), len(predicted)) == (40, 10)


# ---------------------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("of_many", [lambda n: Folds(5, n), lambda n: Trials(n, 40, 10, 4, 1)])
def test_draws_depend_on_the_seed_alone_and_more_leave_the_earlier_ones(of_many):
    first = of_many(2).draw(Y, seed=1)
    np.testing.assert_array_equal(of_many(4).draw(Y, seed=1)[:2], first)
    assert (first[0] != first[1]).any()
    assert (of_many(2).draw(Y, seed=2) != first).any()


def test_an_inner_fit_without_two_folds_serves_both():
    assert Folds(5, 1).validates((1, 3)) == [(1, 3), (3, 1)]
    assert Folds(5, 1).n_inner == 4


def test_rows_of_a_fit_and_of_its_test_are_those_of_the_protocol():
    part = np.array([0, 0, 1, 1, 2, -1])
    of_folds = [
        (fold, learnt.tolist(), tested.tolist()) for fold, learnt, tested in splits(Folds(3, 1), part)
    ]
    assert of_folds == [(0, [2, 3, 4], [0, 1]), (1, [0, 1, 4], [2, 3]), (2, [0, 1, 2, 3], [4])]
    ((part, learnt, tested),) = splits(Trials(1, 3, 2, folds=2, used=1), part)
    assert (part, learnt.tolist(), tested.tolist()) == (0, [2, 3, 4], [0, 1])


def test_a_fold_by_group_without_one_of_the_classes_is_refused():
    y, groups = np.repeat([0, 1, 0, 1], 3), np.repeat([0, 1, 2, 3], 3)
    assert len(np.unique(protocol({"folds": 2, "repeats": 1}).draw(y, 0, groups))) == 2
    with pytest.raises(DataError, match="fold 0 by group has no row of class"):
        protocol({"folds": 4, "repeats": 1}).draw(y, 0, groups)


def test_blocks_in_time_have_two_rows_at_least():
    first, *_, last = InTime(4).draw(np.zeros(10), 0).tolist()
    assert first == [2, 1, 0, 0, *[-1] * 6]
    assert last == [*[2] * 6, 1, 1, 0, 0]
    with pytest.raises(DataError, match="4 folds in time of 9 rows"):
        InTime(4).draw(np.zeros(9), 0)


@pytest.mark.parametrize(
    ("scheme", "ratio"),
    [(Folds(5, 2), 1 / 4), (Trials(3, 40, 10, 4, 1), 1 / 4), (InTime(4), (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)],
)
def test_the_ratio_of_test_to_training_rows_is_the_mean_over_the_splits(scheme, ratio):
    """Of 300 rows, which all parts divide."""
    parts = scheme.draw(np.arange(300) % 3, seed=0)
    sizes = [(len(tested), len(learnt)) for part in parts for _, learnt, tested in splits(scheme, part)]
    assert np.mean([n_tested / n_learnt for n_tested, n_learnt in sizes]) == pytest.approx(ratio)
    assert scheme.test_to_train == pytest.approx(ratio)


# ------------------------------------------------------------------------------------ landmarks of the fits


@pytest.mark.parametrize(
    ("method", "random"), [(None, True), ("group", False), ("time", False), ("given", False)]
)
def test_only_folds_of_single_rows_are_random_subsets(method, random):
    """Elsewhere landmarks from some of the folds would not represent the others."""
    entry = {"folds": 3, "repeats": 1, "method": method}
    run = SimpleNamespace(protocol=entry, candidates=["cv"], training_scores=False)
    assert _partition(np.arange(60) % 3, run, 2).random == random
