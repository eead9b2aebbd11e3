"""What the boards' rows say on the site, in README.md and in the study `today`."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
import yaml

from benchmarks.board import answer
from benchmarks.board.answer import PAGES, finished, page_text, read_rows, readme_text, study_text
from benchmarks.board.learners import LEARNERS
from benchmarks.board.sets import BOARDS, n_rows, sets_of
from benchmarks.board.standings import standings

STRENGTHS = {"EEKM": 0.9, "XGBoost": 0.8, "LightGBM": 0.75, "SVM": 0.7}
SETS = sets_of("binary")[8:23]  # five of them have more than 1,000 rows


@pytest.fixture
def few(monkeypatch):
    """Few learners and data sets on the board of two classes."""
    monkeypatch.setattr(answer, "LEARNERS", {name: LEARNERS[name] for name in STRENGTHS})
    monkeypatch.setattr(answer, "sets_of", dict.fromkeys(BOARDS, SETS).get)
    monkeypatch.setattr(answer, "standings", partial(standings, n_resamples=10))


@pytest.fixture(scope="module")
def boards():
    return finished(read_rows())


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_up_to_date_with_the_rows(page, boards):
    written = PAGES[page].path.read_text(encoding="utf-8")
    found = PAGES[page].replaced(written, boards)
    assert found == written, "run python -m benchmarks.board.answer"


def unwrapped(text: str) -> str:
    """A text with each item of its lists in one line."""
    return text.replace("\n  ", " ")


def _rows(sets=SETS, repeats: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {
            **dict(zip(("set", "learner", "repeat", "fold"), key, strict=True)),
            **{"size": 1000, "variant": variant, "reason": None, "fit_s": 0.1, "predict_s": 0.01},
            **{"gmean": gmean, "auc": gmean, "log_loss": 1 - gmean},
        }
        for key in itertools.product(sets, STRENGTHS, range(repeats), range(2))
        for variant in ("default", "threshold")
        for gmean in [STRENGTHS[key[1]] + 0.01 * rng.random()]
    ]
    return pd.DataFrame(rows)


def _two_classes(rows: pd.DataFrame) -> dict:
    return finished({"binary": rows})


@pytest.mark.usefixtures("few")
def test_a_finished_board_has_its_table_and_the_others_have_none():
    boards = _two_classes(_rows())
    text = page_text(boards)
    assert "EEKMClassifier` has the best of 4 mean ranks by GMEAN, 1.0" in text
    assert "| {class}`~entrolearn.EEKMClassifier` | 1.0 |" in text
    first = next(
        line for line in text.splitlines() if line.startswith("| {class}`~entrolearn.EEKMClassifier")
    )
    assert first.count("| 90.") == 3  # GMEAN, AUC and GMEAN with a threshold
    assert f"Many classes: not all of the {10 * len(SETS)} runs" in text
    lines = unwrapped(readme_text(boards)).splitlines()
    assert lines[0].startswith("On two-class data sets (at most 1,000 rows ")
    about_gmean, about_probabilities = (line for line in lines if line.startswith("- "))
    assert (
        "at defaults, `EEKMClassifier` has the best of 4 mean ranks on 15 sets, 1.0, and XGBoost the best of "
        "the other libraries, 2.0, a significant difference; with tuned thresholds, "
    ) in about_gmean
    assert about_probabilities.startswith("- **Probabilities (log loss)**: at defaults, ")
    front = next(line for line in text.splitlines() if line.startswith("- Pareto front "))
    assert front.endswith(": {class}`~entrolearn.EEKMClassifier` (0.23 s).")  # 0.1 s for half of 862 rows
    sentence = yaml.safe_load(study_text(boards))[0]
    assert about_gmean.split("**: ")[1].replace("`", "") in sentence


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("unfinished", "ranked"), [(SETS[:1], True), (SETS[:2], False)])
def test_the_number_of_sets_is_beside_each_mean(unfinished, ranked):
    """Fourteen of fifteen finished sets are nine tenths, thirteen are not."""
    rows = _rows()
    failed = (rows["learner"] == "SVM") & rows["set"].isin(unfinished) & (rows["variant"] == "default")
    rows.loc[failed, ["gmean", "auc", "log_loss"]] = np.nan
    rows.loc[failed, "reason"] = "over the limit"
    text = page_text(_two_classes(rows))
    head = next(line for line in text.splitlines() if line.startswith("| learner |"))
    assert (head.count("(14 sets)"), head.count("(15 sets)")) == ((3, 1) if ranked else (0, 4))
    line = next(line for line in text.splitlines() if line.startswith("| SVM |"))
    assert line.count(" (13 sets) ") == (0 if ranked else 3)  # GMEAN, AUC and log loss, not with a threshold


@pytest.mark.usefixtures("few")
def test_learners_that_equal_scikit_learns_are_nobodys_best(monkeypatch):
    monkeypatch.setitem(STRENGTHS, "MaxEnt", 0.95)
    monkeypatch.setitem(answer.LEARNERS, "MaxEnt", LEARNERS["MaxEnt"])
    text = unwrapped(readme_text(_two_classes(_rows())))
    clause = next(line for line in text.splitlines() if "GMEAN" in line).split(";")[0]
    assert "`MaxEntClassifier` has the best of 5 mean ranks" in clause
    assert "`EEKMClassifier` the best of this library" in clause
    monkeypatch.setitem(STRENGTHS, "MaxEnt", 0.85)
    assert "and XGBoost the best of the other libraries" in unwrapped(readme_text(_two_classes(_rows())))


@pytest.mark.usefixtures("few")
def test_more_rows_are_answered_when_every_data_set_that_has_them_has_a_draw():
    names = [name for name in SETS if n_rows(name) > 1000]
    rows, more = _rows(), _rows(names, repeats=1).assign(size=10_000)
    more.loc[more["learner"] == "SVM", "gmean"] = 0.99
    said = "- At their defaults on at most 10,000 rows, SVM has the best of 4 mean ranks by GMEAN, 1.0"
    text = page_text(_two_classes(pd.concat([rows, more])))
    assert said in text
    assert f" on {len(names)} sets, " in next(line for line in text.splitlines() if line.startswith(said))
    without = more[more["set"] != names[0]]
    assert said not in page_text(_two_classes(pd.concat([rows, without])))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("strengths", "said"),
    [
        ({"EEKM": 0.1}, "all others differ"),
        ({"EEKM": 0.7995}, "all others but {class}`~entrolearn.EEKMClassifier` differ"),
        ({"EEKM": 0.7998, "SVM": 0.7996}, "only LightGBM differs"),
        ({"EEKM": 0.7999, "SVM": 0.7999, "LightGBM": 0.8}, "no other differs"),
    ],
)
def test_the_shorter_list_is_shown_of_learners_that_differ_and_do_not(monkeypatch, strengths, said):
    for name, strength in strengths.items():
        monkeypatch.setitem(STRENGTHS, name, strength)
    text = page_text(_two_classes(_rows()))
    line = next(line for line in text.splitlines() if line.startswith("- At their defaults"))
    assert f"{said} significantly." in line


@pytest.mark.usefixtures("few")
def test_the_readme_says_whether_the_best_of_this_library_differs_significantly(monkeypatch):
    for eekm, said in ((0.1, "a significant difference"), (0.7995, "no significant difference")):
        monkeypatch.setitem(STRENGTHS, "EEKM", eekm)
        text = unwrapped(readme_text(_two_classes(_rows())))
        clause = next(line for line in text.splitlines() if "GMEAN" in line).split(";")[0]
        assert "XGBoost has the best of 4 mean ranks" in clause
        assert "`EEKMClassifier` the best of this library, " in clause
        assert clause.endswith(f", {said}")


@pytest.mark.usefixtures("few")
def test_an_unfinished_board_changes_nothing_in_the_readme():
    boards = _two_classes(_rows(SETS[1:]))
    assert readme_text(boards) is None
    assert f"Two classes: not all of the {10 * len(SETS)} runs" in page_text(boards)
    assert readme_text({}) is None
    assert study_text(boards) is None


@pytest.mark.usefixtures("few")
def test_a_learner_without_rows_leaves_the_board_unfinished(monkeypatch):
    monkeypatch.setitem(answer.LEARNERS, "CatBoost", LEARNERS["CatBoost"])
    assert readme_text(_two_classes(_rows())) is None


def test_of_a_board_without_rows_no_draw_has_been_run():
    assert all(f"{answer.TITLES[board]}: not all of " in page_text({}) for board in BOARDS)
