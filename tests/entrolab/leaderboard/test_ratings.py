"""Ratings by closed forms, laws and naive twins."""

import numpy as np
import pandas as pd
import pytest

from entrolab.leaderboard.ratings import MEAN_ELO, elo, normalised, pareto_front, win_rates, wins


@pytest.fixture
def scores() -> pd.DataFrame:
    """Rounded, so that there are ties."""
    rng = np.random.default_rng(0)
    return pd.DataFrame((rng.normal(size=(20, 6)) + 0.2 * np.arange(6)).round(1), columns=list("abcdef"))


def test_wins_are_those_counted_one_by_one(scores):
    found = wins(scores)
    for one in scores:
        for other in scores:
            ahead, level = (scores[one] > scores[other]).sum(), (scores[one] == scores[other]).sum()
            assert found.loc[one, other] == ahead + level / 2


def test_win_rates_of_a_pair_add_up_to_one_whatever_increases_the_scores(scores):
    rates = win_rates(scores)
    np.testing.assert_allclose(rates + rates.T, 1)
    assert (np.diag(rates) == 0.5).all()
    pd.testing.assert_frame_equal(win_rates(np.exp(3 * scores) + 7), rates)
    assert (rates.sum(axis=1) - 0.5).sum() == pytest.approx(6 * 5 / 2)


@pytest.mark.parametrize(("won", "lost"), [(3, 1), (10, 0), (7, 7), (0, 25), (2.5, 1.5)])
def test_elo_of_two_players_is_the_log_odds_of_a_win(won, lost):
    table = pd.DataFrame([[0, won], [lost, 0]], index=["a", "b"], columns=["a", "b"])
    ratings = elo(table)
    assert ratings["a"] - ratings["b"] == pytest.approx(400 * np.log10((won + 0.5) / (lost + 0.5)), abs=1e-3)
    assert ratings.mean() == pytest.approx(MEAN_ELO)


def test_elo_expects_as_many_wins_as_each_learner_had(scores):
    """The equations of the maximum, with the drawn match of each pair on both sides."""
    table = wins(scores)
    ratings = elo(table).to_numpy()
    expected = 1 / (1 + 10 ** ((ratings[None, :] - ratings[:, None]) / 400))
    off = ~np.eye(len(table), dtype=bool)
    had = np.where(off, table + 0.5, 0).sum(axis=1)
    np.testing.assert_allclose(np.where(off, expected * (len(scores) + 1), 0).sum(axis=1), had, atol=1e-3)


def test_elo_does_not_depend_on_the_order_of_learners_and_one_learner_has_the_mean(scores):
    turned = scores[scores.columns[::-1]]
    pd.testing.assert_series_equal(elo(wins(turned))[scores.columns], elo(wins(scores)), atol=1e-3, rtol=0)
    assert elo(wins(scores[["a"]])).tolist() == [MEAN_ELO]


def test_normalised_scores_are_0_of_the_constant_and_1_of_the_best():
    scores = pd.DataFrame({"a": [0.9, 0.5], "b": [0.7, 0.4], "c": [0.2, 0.5]}, index=["x", "y"])
    found = normalised(scores, pd.Series({"x": 0.5, "y": 0.5}))
    np.testing.assert_allclose(found, [[1, 0.5, 0], [0, 0, 0]])


@pytest.mark.parametrize("seed", range(5))
def test_pareto_front_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    score, seconds = rng.integers(5, size=(2, 12)).astype(float)
    if seed == 4:
        seconds[:4] = np.inf
    expected = []
    for one in range(12):
        beaten = False
        for other in range(12):
            as_good = score[other] >= score[one] and seconds[other] <= seconds[one]
            better = score[other] > score[one] or seconds[other] < seconds[one]
            beaten |= as_good and better
        expected.append(not beaten)
    assert pareto_front(score, seconds).tolist() == expected


@pytest.mark.parametrize(("scale", "shift"), [(0.1, -3), (10, 4)])
def test_pareto_front_does_not_depend_on_units(scale, shift):
    score, seconds = np.array([0.9, 0.5, 0.7, 0.7]), np.array([4.0, 1.0, 2.0, 3.0])
    assert pareto_front(scale * score + shift, scale * seconds).tolist() == [True, True, True, False]
