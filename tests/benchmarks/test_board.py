"""The runner of the boards, with a few learners of the lock on rows that come with scikit-learn."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks.board import learners, protocol, running, sets
from benchmarks.board.learners import LEARNERS, N_CONFIGURATIONS, configurations, make
from benchmarks.board.protocol import SCORES, Run, fold_of, pipeline, results_of
from benchmarks.board.running import by_turns, carry_out_due, due_runs
from benchmarks.board.sets import BOARDS, LEFT_OUT, TUNED, categorical_columns, draw, in_order, sets_of
from benchmarks.data import catalog, from_catalog

FEW = {name: LEARNERS[name] for name in ("EEM", "logistic or ridge", "SVM")}
SETS = {
    "binary": ["sklearn-iris-versicolor"],
    "multiclass": ["sklearn-iris"],
    "regression": ["sklearn-diabetes"],
}


@pytest.fixture(autouse=True)
def _rows_are_kept_elsewhere(monkeypatch, tmp_path):
    sets._rows.cache_clear()
    monkeypatch.setattr(sets, "_stored", lambda: lambda name, mirror, _: from_catalog(name, mirror, tmp_path))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(running, "LEARNERS", FEW)
    monkeypatch.setattr(running, "sets_of", SETS.get)
    monkeypatch.setattr(running, "TUNED", SETS)


def test_twelve_sets_are_named_by_the_hash_of_their_names():
    assert {board: len(names) for board, names in TUNED.items()} == dict(zip(BOARDS, (6, 3, 3), strict=True))
    for board, names in TUNED.items():
        assert list(names) == in_order(sets_of(board))[: len(names)]


def test_every_set_of_the_catalog_is_on_a_board_generated_or_left_out_with_a_reason():
    on_boards = {name for board in BOARDS for name in sets_of(board)}
    generated = {name for name, entry in catalog().items() if entry["source"] == "generated"}
    assert on_boards | generated | set(LEFT_OUT) == set(catalog())
    assert not on_boards & set(LEFT_OUT)
    assert categorical_columns("adult-raw") == [1, 3, 5, 6, 7, 8, 9, 13]


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if learner.ours is not False])
def test_ours_have_ten_configurations_of_their_own_parameters(name):
    for board in BOARDS:
        if make(name, board) is None or not LEARNERS[name].space:
            continue
        tried = configurations(name, board)
        assert len(tried) == N_CONFIGURATIONS
        assert tried[0] == {}
        for one in tried:
            seeds = [
                value
                for key, value in make(name, board, 7, one).get_params().items()
                if "random_state" in key
            ]
            assert set(seeds) <= {7}
        assert [str(one) for one in configurations(name, board)] == [str(one) for one in tried]


def test_both_folds_of_a_draw_are_each_others_complement_and_repeats_differ():
    y = np.repeat([0, 1], [30, 10])
    runs = [Run("heart", 1000, "EEM", "default", repeat, fold) for repeat in range(2) for fold in range(2)]
    (train, test), (other, _), (again, _), _ = (fold_of(run, y, False) for run in runs)
    assert sorted([*train, *test]) == list(range(40))
    assert sorted(other) == sorted(test)
    assert sorted(again) != sorted(train)


def test_scaling_and_codes_are_learnt_from_training_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5, 3, 60), np.arange(60) % 3])
    model = pipeline(make("logistic or ridge", "regression"), [1], 2, regression=True).fit(X[:30], X[:30, 0])
    features = model.regressor_[0]
    scaler = features.named_transformers_["numbers"]
    np.testing.assert_allclose([scaler.mean_[0], scaler.var_[0]], [X[:30, 0].mean(), X[:30, 0].var()])
    coded = features.transform([[5.0, 7.0], [5.0, 2.0]])[:, 1:]  # 7 is a name that no training row has
    np.testing.assert_array_equal(coded, [[0, 0, 0], [0, 0, 1]])
    assert model.transformer_.mean_ == pytest.approx(X[:30, 0].mean())


@pytest.mark.parametrize("board", BOARDS)
def test_rows_of_every_variant_resume_where_they_were_stopped(few, board, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "N_RUNS", dict.fromkeys(running.N_RUNS, 1))
    monkeypatch.setattr(learners, "N_CONFIGURATIONS", 2)
    few_thresholds = partial(TunedThresholdClassifierCV, thresholds=5)
    monkeypatch.setattr(protocol, "TunedThresholdClassifierCV", few_thresholds)
    file = tmp_path / f"{board}.csv"
    for variant in ("default", "threshold", "tuned"):
        runs = list(due_runs(board, variant, 1000))
        carry_out_due(file, board, runs[:1], "abc", None, np.inf)
        text = file.read_text()
        if (board, variant) == ("binary", "tuned"):
            text = text[: text[:-1].rfind("\n") + 1]  # killed before the second row of a run
        file.write_text(text + text.splitlines()[-1][:20])  # killed while it wrote
        carry_out_due(file, board, runs, "abc", None, np.inf)
        assert carry_out_due(file, board, runs, "abc", None, np.inf) == 0
    found = pd.read_csv(file).set_index(["variant", "learner"])
    assert not found.index.duplicated().any()
    variants = {"default", "tuned"} | ({"threshold", "tuned threshold"} if board == "binary" else set())
    assert set(found.index.get_level_values("variant")) == variants
    assert found["reason"].isna().all()
    score = SCORES[board][0]
    assert (found[score] > {"binary": 0, "multiclass": 1 / 3, "regression": 0}[board]).all()  # a constant's
    if board == "binary":
        assert found["log_loss"].isna().groupby(level="learner").all().to_dict()["SVM"]


def test_a_run_over_its_limit_is_a_row_and_is_not_run_on_other_draws_or_more_rows(few, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "results_of", _forever)
    file = tmp_path / "binary.csv"
    runs = [
        Run("sklearn-wdbc", size, "EEM", "default", 0, fold) for size in (1000, 10_000) for fold in range(2)
    ]
    monkeypatch.setattr(running, "LIMIT_S", {1000: 0.02, 10_000: 1e9})
    monkeypatch.setattr(running, "WALL", 10)
    assert carry_out_due(file, "binary", runs, "abc", None, np.inf) == 4
    reasons = pd.read_csv(file)["reason"].tolist()
    assert reasons == [
        "over the limit",
        *["over the limit on a draw of at most 1000 rows: not run again"] * 3,
    ]


def _forever(*_):
    while True:
        pass
    yield


def test_an_error_is_a_row_with_its_reason(few, tmp_path):
    file = tmp_path / "multiclass.csv"
    run = Run("sklearn-iris", 1000, "CE SVM", "default", 0, 0)  # of two classes only
    assert carry_out_due(file, "multiclass", [run], "abc", None, np.inf) == 1
    found = pd.read_csv(file).iloc[0]
    assert found["variant"] == "default"
    assert isinstance(found["reason"], str)
    assert not found["reason"].startswith("over")


def test_scores_are_those_of_the_definitions(monkeypatch):
    monkeypatch.setattr(protocol, "_allow", lambda seconds: None)  # of the tests' own process
    X, y = draw("sklearn-wdbc", 1000, 0)
    run = Run("sklearn-wdbc", 1000, "logistic or ridge", "default", 0, 0)
    (found,) = results_of(run, "binary", X, y)
    train, test = fold_of(run, y, False)
    model = pipeline(make("logistic or ridge", "binary"), [], X.shape[1], False).fit(X[train], y[train])
    recalls = [np.mean(model.predict(X[test][y[test] == k]) == k) for k in (0, 1)]
    assert found["gmean"] == pytest.approx(np.sqrt(np.prod(recalls)))
    assert found["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(y[test], model.predict(X[test]))
    )
    chance = model.predict_proba(X[test])[np.arange(len(test)), y[test]]
    assert found["log_loss"] == pytest.approx(-np.log(chance).mean())
    ahead = (
        model.decision_function(X[test])[y[test] == 1][:, None]
        > model.decision_function(X[test])[y[test] == 0]
    )
    assert found["auc"] == pytest.approx(ahead.mean())


def test_boards_take_turns_by_sets():
    runs = {
        "a": [Run(name, 1000, learner, "default", 0, 0) for name in ("x", "y") for learner in "uv"],
        "b": [Run("z", 1000, "u", "default", 0, 0)],
    }
    turns = [(board, group[0].set, len(group)) for board, group in by_turns(runs)]
    assert turns == [("a", "x", 2), ("b", "z", 1), ("a", "y", 2)]
