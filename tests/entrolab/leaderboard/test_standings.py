"""The rule for failures, and the lines of a leaderboard."""

import numpy as np
import pandas as pd
import pytest

from entrolab.leaderboard.rows import read_board, slice_of
from entrolab.leaderboard.standings import resampled, standings


def test_a_failed_run_has_the_score_of_the_constant_prediction_and_no_seconds(folder):
    rows, header = read_board(folder / "binary.csv")
    found = slice_of(rows, header["sets"], "gmean", "default", 1000)
    assert found.scores.shape == (8 * 4, 4)
    assert (found.scores.loc["set7", "slow"] == 0).all()
    assert np.isinf(found.fit_s.loc["set7", "slow"]).all()
    assert found.failed.to_dict() == {"EEM": 0, "SVM": 0, "XGBoost": 0, "slow": 8}
    assert found.fit_s.loc[("set0", 0, 0), "EEM"] == pytest.approx(0.5 / 0.25)  # 250 of 500 rows trained
    assert found.fit_s.loc[("set5", 0, 0), "EEM"] == pytest.approx(0.5 / 0.5)  # 500 of 1,000


def test_losses_are_turned_round_and_learners_without_probabilities_left_out(rows, folder):
    found = slice_of(*_read(folder), "log_loss", "default", 1000)
    assert "SVM" not in found.scores
    assert (found.scores <= 0).all(axis=None)
    assert (found.scores.loc["set6", "slow"] == -0.7).all()


def test_a_draw_that_is_not_finished_is_left_out(rows, folder):
    rows, facts = _read(folder)
    unfinished = rows[~((rows["learner"] == "EEM") & (rows["set"] == "set2") & (rows["repeat"] == 1))]
    found = slice_of(unfinished, facts, "gmean", "default", 1000)
    assert len(found.scores) == 30
    assert set(found.scores.loc["set2"].index.get_level_values("repeat")) == {0}
    assert slice_of(rows, facts, "gmean", "tuned", 1000) is None


def test_the_lines_of_a_leaderboard(folder):
    found = slice_of(*_read(folder), "gmean", "default", 1000)
    lines = standings(found, 100)
    assert lines.index[0] == "EEM"
    assert lines["rank"].sum() == pytest.approx(4 * 5 / 2)
    assert lines["won"].mean() == pytest.approx(0.5)
    assert (lines["elo_low"] <= lines["elo"]).all()
    assert (lines["elo"] <= lines["elo_high"]).all()
    assert lines.loc["EEM", ["behind", "behind_low", "behind_high"]].tolist() == [0, 0, 0]
    assert 0.08 < lines.loc["XGBoost", "behind_low"] < 0.1 < lines.loc["XGBoost", "behind_high"] < 0.12
    assert lines["front"].to_dict() == {"EEM": True, "XGBoost": False, "SVM": False, "slow": False}


def test_resampled_sets_are_whole_rows_and_intervals_cover_the_true_mean():
    rng, covered = np.random.default_rng(0), 0
    for seed in range(100):
        scores = pd.DataFrame({"a": rng.standard_normal(30), "b": np.arange(30)})
        draws = list(resampled(scores, 100, seed))
        assert all((scores.loc[drawn.index] == drawn).all(axis=None) for drawn in draws[:3])
        low, high = np.percentile([drawn["a"].mean() for drawn in draws], [2.5, 97.5])
        covered += low <= 0 <= high
    assert 87 <= covered <= 99  # of 100; 94 are expected of 30 rows by percentiles


def test_of_few_data_sets_there_are_no_intervals_and_a_learner_that_mostly_fails_is_not_on_the_front(folder):
    found = slice_of(*_read(folder), "gmean", "default", 1000)
    assert standings(found.of_sets(["set3", "set4", "set5", "set6"]), 5)["elo_low"].isna().all()
    assert standings(found.of_sets(["set0", "set4", "set5", "set6", "set7"]), 5)["elo_low"].notna().all()
    lost = standings(found.of_sets(["set6", "set7"]), 5)
    assert np.isinf(lost.loc["slow", "fit_s"])
    assert not lost.loc["slow", "front"]


def _read(folder):
    rows, header = read_board(folder / "binary.csv")
    return rows, header["sets"]
