"""Elo ratings and the Pareto front by closed forms and naive twins; unfinished sets; the lines of a table."""

import itertools

import numpy as np
import pandas as pd
import pytest

from benchmarks.board import standings as module
from benchmarks.board.standings import MEAN_ELO, elo, pareto_front, slice_of, standings, wins

ROWS = {f"set{k}": 500 * (k + 1) for k in range(8)}  # of each data set
STRENGTHS = {"EEM": 0.9, "XGBoost": 0.8, "SVM": 0.7, "slow": 0.75}


@pytest.fixture(autouse=True)
def _sets(monkeypatch):
    monkeypatch.setattr(module, "n_rows", ROWS.get)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Two repeats of two folds of eight sets; `SVM` has no log loss, `slow` fails on the last two sets."""
    rng = np.random.default_rng(0)
    made = []
    for name, learner, repeat, fold in itertools.product(ROWS, STRENGTHS, range(2), range(2)):
        row = {"set": name, "learner": learner, "repeat": repeat, "fold": fold}
        strength = STRENGTHS[learner]
        if learner == "slow" and name in ("set6", "set7"):
            made.append({**row, "reason": "over the limit"})
            continue
        gmean = strength + 0.02 * rng.standard_normal()
        row |= {"gmean": gmean, "fit_s": 0.5, "predict_s": 0.25}
        if learner != "SVM":
            row["log_loss"] = 1 - gmean
        made.append(row)
    return pd.DataFrame(made).assign(size=1000, variant="default")


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    """Rounded, so that there are ties."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(20, 6)) + 0.2 * np.arange(6)).round(1)


def test_wins_are_those_counted_one_by_one(scores):
    found = wins(scores)
    for one, other in np.ndindex(found.shape):
        ahead, level = (scores[:, one] > scores[:, other]).sum(), (scores[:, one] == scores[:, other]).sum()
        assert found[one, other] == ahead + level / 2


@pytest.mark.parametrize(("won", "lost"), [(3, 1), (10, 0), (7, 7), (0, 25), (2.5, 1.5)])
def test_elo_of_two_players_is_the_log_odds_of_a_win(won, lost):
    ratings = elo(np.array([[0, won], [lost, 0]]))
    assert ratings[0] - ratings[1] == pytest.approx(400 * np.log10((won + 0.5) / (lost + 0.5)), abs=1e-3)
    assert ratings.mean() == pytest.approx(MEAN_ELO)


def test_elo_expects_as_many_wins_as_each_learner_had(scores):
    """The equations of the maximum, with the drawn match of each pair on both sides."""
    won = wins(scores)
    ratings = elo(won)
    expected = 1 / (1 + 10 ** ((ratings[None, :] - ratings[:, None]) / 400))
    off = ~np.eye(len(won), dtype=bool)
    had = np.where(off, won + 0.5, 0).sum(axis=1)
    np.testing.assert_allclose(np.where(off, expected * (len(scores) + 1), 0).sum(axis=1), had, atol=1e-3)


def test_elo_does_not_depend_on_the_order_of_learners_and_one_learner_has_the_mean(scores):
    np.testing.assert_allclose(elo(wins(scores[:, ::-1]))[::-1], elo(wins(scores)), atol=1e-3)
    assert elo(wins(scores[:, :1])).tolist() == [MEAN_ELO]


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
            beaten |= as_good and (score[other] > score[one] or seconds[other] < seconds[one])
        expected.append(not beaten)
    assert pareto_front(score, seconds).tolist() == expected
    assert pareto_front(10 * score - 3, 0.1 * seconds).tolist() == expected  # units do not matter


def test_a_set_that_a_ranked_learner_did_not_finish_counts_for_nobody(rows, monkeypatch):
    monkeypatch.setattr(module, "LEAST_FINISHED", 6 / 8)
    found = slice_of(rows, "gmean", "default", 1000)
    assert set(found.ranked) == set(STRENGTHS)
    finished = [f"set{k}" for k in range(6)]
    assert found.by_set.index.tolist() == finished
    for name in STRENGTHS:
        for one in finished:
            expected = rows.loc[(rows["set"] == one) & (rows["learner"] == name), "gmean"].mean()
            assert found.by_set.loc[one, name] == pytest.approx(expected, abs=1e-9)
    lines = standings(found, 1)
    # 250 rows trained of set0, then 500, as of at most 1,000 rows: medians of (2, 1, 1, 1, 1, 1) seconds.
    assert lines["fit_s"].tolist() == [1.0] * 4
    assert found.fit_s.loc[("set0", 0, 0), "EEM"] == pytest.approx(0.5 / 0.25)


def test_a_learner_that_finished_too_few_sets_is_outside_the_ranks(rows):
    found = slice_of(rows, "gmean", "default", 1000)
    assert set(found.ranked) == set(STRENGTHS) - {"slow"}
    assert found.by_set.shape == (8, 3)
    assert "slow" not in standings(found, 1).index
    own = found.own("slow")
    assert own.shape == (6, 4)
    assert own.rank(axis=1, ascending=False).mean()["slow"] > 2  # EEM and XGBoost are better
    pd.testing.assert_frame_equal(own[found.ranked], found.by_set.iloc[:6])


def test_a_learner_that_needs_tuning_is_compared_tuned_only(rows):
    rows = pd.concat([rows, rows[rows["learner"] == "SVM"].assign(learner="skglm")])
    assert "skglm" not in slice_of(rows, "gmean", "default", 1000).scores
    assert "skglm" in slice_of(rows.assign(variant="tuned"), "gmean", "tuned", 1000).scores


def test_losses_are_negated_and_learners_without_probabilities_left_out(rows):
    found = slice_of(rows, "log_loss", "default", 1000)
    assert "SVM" not in found.scores
    assert (found.by_set <= 0).all(axis=None)


def test_a_draw_that_is_not_finished_is_left_out(rows):
    unfinished = rows[~((rows["learner"] == "EEM") & (rows["set"] == "set2") & (rows["repeat"] == 1))]
    found = slice_of(unfinished, "gmean", "default", 1000)
    assert len(found.scores) == 30
    assert set(found.scores.loc["set2"].index.get_level_values("repeat")) == {0}
    assert slice_of(rows, "gmean", "tuned", 1000) is None


def test_lines_have_mean_ranks_medians_and_the_percentiles_of_resampled_sets(rows):
    found = slice_of(rows, "gmean", "default", 1000)
    lines = standings(found, 50)
    assert lines.index[0] == "EEM"
    assert lines["rank"].to_dict() == found.by_set.rank(axis=1, ascending=False).mean().to_dict()
    assert lines["fit_s"].to_dict() == found.fit_s[found.ranked].median().to_dict()
    assert lines["front"].to_dict() == {"EEM": True, "XGBoost": False, "SVM": False}
    rng = np.random.default_rng(0)
    drawn = [found.by_set.iloc[rng.integers(8, size=8)][lines.index].to_numpy() for _ in range(50)]
    ends = np.percentile([elo(wins(each)) for each in drawn], (2.5, 97.5), axis=0)
    np.testing.assert_allclose(lines[["elo_low", "elo_high"]].T, ends, atol=1e-3)


@pytest.mark.parametrize(("n_sets", "has_interval"), [(4, False), (5, True)])
def test_of_fewer_than_five_data_sets_there_are_no_intervals(rows, n_sets, has_interval):
    few = rows[rows["set"].isin([*ROWS][:n_sets])]
    lines = standings(slice_of(few, "gmean", "default", 1000), 5)
    assert (lines[["elo_low", "elo_high"]].notna() == has_interval).all(axis=None)
