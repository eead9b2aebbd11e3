"""Claims of a study whose truth is known: planted effects, none, and a planted bug that flips outcomes."""

import ast
import itertools
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study

from entrolab.claims.evaluation import COLUMNS, _Scale, _would_decide, evaluate
from entrolab.claims.numbers import Numbers, TableMissing
from entrolab.claims.rendering import layout, outcomes
from entrolab.results.frames import read_claims
from entrolab.schema.sections import ConfigError
from entrolab.study.claims import Margin, load_claims
from entrolab.study.config import read_yaml
from entrolab.tables.evidence import Student
from entrolab.tables.making import COLUMNS as TABLE_COLUMNS

ROOT = Path(__file__).parents[3]
SETS = [f"s{k}" for k in range(12)]
MODELS = ["good", "twin", "plain", "slow"]
SCORES = {"type": "scores", "datasets": "all", "models": MODELS}
CONTENT = {
    "protocol": {"folds": 5},
    "metrics": ["accuracy", "error_rate"],
    "datasets": {"all": SETS, "few": SETS[:3], "one": SETS[:1]},
    "models": dict.fromkeys(MODELS, {"estimator": "entrolearn.EEMClassifier", "grid": {"n_hidden": [1, 2]}}),
    "tables": {
        "scores": {**SCORES, "metric": ["accuracy", "error_rate"]},
        "other": {**SCORES, "metric": "accuracy"},
        "times": {"type": "times", "datasets": "all", "models": MODELS, "cost": "fit_seconds"},
        "growth": {
            "type": "measured",
            "script": "growth",
            "caption": "",
            "datasets": "one",
            "models": ["good", "slow"],
            "params": {"n_rows": [100, 200], "sizes": [10], "rows_at": 100, "size_at": 10, "size_names": {}},
            "rows": ["model"],
            "columns": ["metric"],
            "metrics": {"seconds_by_size": {"label": "seconds", "points": 4}},
        },
        "speed": {
            "type": "measured",
            "script": "evaluations",
            "caption": "",
            "params": {"n_rows": [100, 1000, 10000, 100000], "exact_up_to": 100000},
            "methods": {"exact": "exact", "binned": "binned"},
            "places": {"n{n_rows}": "N = {n_rows}"},
            "columns": ["model", "metric"],
            "metrics": {"seconds": "seconds"},
        },
        "unmade": {**SCORES, "metric": "accuracy"},
    },
    "figures": {
        "drawn": {
            "type": "script",
            "script": "trials",
            "of": "predictions",
            "caption": "",
            "datasets": "few",
            "models": ["good", "slow"],
            "metric": ["accuracy"],
            "criterion": "cv",
        },
        "sweep": {
            "type": "grid_curves",
            "caption": "",
            "datasets": "few",
            "models": ["good"],
            "parameter": "n_hidden",
            "metric": "accuracy",
        },
        "plane": {"type": "projections", "caption": "", "datasets": "one", "models": ["good"]},
        "many": {
            "type": "grid_curves",
            "caption": "",
            "datasets": "few",
            "models": ["good"],
            "parameter": "n_hidden",
            "by": "C",
            "metric": "accuracy",
        },
    },
}
STUDY = made_study(CONTENT, "tiny")


class Planted(Numbers):
    """Numbers of known truth: `good` is five points ahead of `twin` and `plain`, and twice as quick."""

    def __init__(self, seed: int = 0, bug: bool = False, ahead: float = 5.0):
        super().__init__(STUDY)
        self.rng = np.random.default_rng(seed)
        base = self.rng.uniform(60, 80, len(SETS))
        self.scores = {}
        for model in MODELS:
            better = {"good": ahead, "twin": 0.0, "plain": 0.0, "slow": ahead}[model]
            # A bug: the labels are swapped.
            sign = -1 if bug and model == "good" else 1
            levels = base + better + self.rng.normal(0, 0.7, len(SETS))
            for name, level in zip(SETS, levels, strict=True):
                folds = 50 + sign * (level - 50) + self.rng.normal(0, 0.5, 5)
                self.scores[name, model] = pd.Series(folds, index=pd.RangeIndex(5, name="fold"))
        self.seconds = {"good": 1.0, "twin": 2.0, "plain": 2.1, "slow": 10.0}
        self.exponents = {"good": 2.0, "slow": 3.0}

    def _frame(self, name):
        if name == "unmade":
            raise TableMissing(f"results/tiny/tables/{name}.csv")
        rows = []
        for (dataset, model), folds in self.scores.items() if name in ("scores", "other") else ():
            rows.append((dataset, model, "accuracy", folds.mean()))
            rows.append((dataset, model, "error_rate", 100 - folds.mean()))
        if name == "times":
            noise = self.rng.uniform(0.95, 1.05, (len(SETS), len(MODELS)))
            rows += [
                (dataset, model, "fit_seconds", self.seconds[model] * noise[i, j])
                for i, dataset in enumerate(SETS)
                for j, model in enumerate(MODELS)
            ]
        if name == "growth":
            rows += [("s0", model, "seconds_by_size", power) for model, power in self.exponents.items()]
        if name == "speed":
            rows += [
                (f"n{n}", way, "seconds", n**power * 1e-9)
                for n in STUDY.tables["speed"].params["n_rows"]
                for way, power in (("exact", 2), ("binned", 1.02))
            ]
        table = pd.DataFrame(rows, columns=["dataset", "model", "metric", "ours"])
        return table.assign(ours_std=0.02).reindex(columns=TABLE_COLUMNS)

    def folds(self, tables, dataset, model, metric):
        if tables[0] not in ("scores", "other"):
            return pd.Series(dtype=float)
        folds = self.scores[dataset, model]
        return 100 - folds if metric == "error_rate" else folds


def claim(*tests, **keys):
    return {"id": "a-claim", "place": "section 1", "claim": "This is so.", "tests": list(tests), **keys}


def loaded(*claims):
    return load_claims("claims.yaml", {"claims": list(claims)}, STUDY)


def outcome_of(*tests, numbers=None, **keys):
    found = evaluate(loaded(claim(*tests, **keys)), numbers or Planted())
    return found["outcome"].iloc[0]


def of_type(type, models, against=None, metric="accuracy", tables=("scores",), **keys):
    named = {"models": models} if models else {}
    named |= {"against": against} if against else {}
    return {"type": type, "tables": list(tables), "metric": metric, **named, **keys}


KNOWN = {
    # An effect of five points, and none.
    "better": (of_type("better", ["good"], ["twin"]), "holds"),
    "better in an error": (of_type("better", ["good"], ["twin"], "error_rate"), "holds"),
    "better by more than it is": (of_type("better", ["good"], ["twin"], by={"points": 7}), "fails"),
    "better where there is nothing": (of_type("better", ["plain"], ["twin"]), "undecided"),
    "better where it is worse": (of_type("better", ["twin"], ["good"]), "fails"),
    "one of several comparisons is contradicted": (
        of_type("better", ["good", "twin"], ["twin", "good"], pairs="each"),
        "fails",
    ),
    "better on few data sets, by folds": (of_type("better", ["good"], ["twin"], over="few"), "holds"),
    "worse on one data set, by folds": (of_type("better", ["twin"], ["good"], over="one"), "fails"),
    "in percent of an error": (
        of_type("better", ["good"], ["twin"], "error_rate", by={"percent": 5}),
        "holds",
    ),
    "equal": (of_type("equal", ["plain"], ["twin"], within={"points": 1.5}), "holds"),
    "equal where it is not": (of_type("equal", ["good"], ["twin"], within={"points": 1.5}), "fails"),
    "equal within next to nothing": (
        of_type("equal", ["plain"], ["twin"], within={"points": 0.05}),
        "undecided",
    ),
    "not worse": (of_type("no_worse", ["plain"], ["twin"], within={"points": 1.5}), "holds"),
    "not worse where it is": (of_type("no_worse", ["twin"], ["good"], within={"points": 1}), "fails"),
    "the same model in two tables": (
        of_type("equal", ["good"], ["good"], against_tables=["other"], within={"points": 0.5}),
        "holds",
    ),
    "faster": (of_type("faster", ["good"], ["twin"], "fit_seconds", ("times",)), "holds"),
    "faster by a factor": (
        of_type("faster", ["good"], ["slow"], "fit_seconds", ("times",), factor=8),
        "holds",
    ),
    "faster on one set by less than a timing tells": (
        of_type("faster", ["twin"], ["plain"], "fit_seconds", ("times",), over="one"),
        "undecided",
    ),
    "grows": (of_type("grows", ["good"], None, "seconds_by_size", ("growth",), exponent=2), "holds"),
    "grows with another power": (
        of_type("grows", ["slow"], None, "seconds_by_size", ("growth",), exponent=2),
        "fails",
    ),
    "grows along the rows of a table": (
        of_type("grows", ["exact"], None, "seconds", ("speed",), exponent=2),
        "holds",
    ),
    "better than itself": (
        of_type("better", ["good"], ["good"], against_tables=["other"], over="few"),
        "undecided",
    ),
    "a bound that all keep": (of_type("bound", ["good"], at_least=55), "holds"),
    "a bound that one breaks": (of_type("bound", ["good", "twin"], at_most=70), "fails"),
    "a count": (of_type("count", ["good"], ["twin"], count={"min": 10}), "holds"),
    "a count of none": (of_type("count", ["twin"], ["good"], count={"min": 1}), "fails"),
    "a count that says none": (of_type("count", ["twin"], ["good"], count={"max": 0}), "holds"),
    "a count where nothing is": (of_type("count", ["plain"], ["twin"], count={"min": 6}), "undecided"),
    "a count of comparisons": (
        of_type("count", ["good"], ["twin", "plain"], of="comparisons", count={"min": 20}),
        "holds",
    ),
    "a count of cells": (of_type("count", ["good"], at_least=55, count={"min": 12}), "holds"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_each_type_of_claim_has_the_outcome_of_the_known_truth(name):
    test, expected = KNOWN[name]
    assert outcome_of(test) == expected


SWEEP = """dataset,model,series,value,mean,std,reason
s0,good,good,10,70,2,
s0,good,good,100,80,2,
s0,good,good,200,83,2,
s1,good,good,100,60,3,
s1,good,good,200,61,5,
s2,good,good,100,,,no result
"""
TRIALS = """dataset,model,series,trial,score,reason
s0,good,good,1,80,
s0,good,good,2,82,
s0,slow,slow,1,70,
s0,slow,slow,2,71,
s1,good,good,1,80,
"""


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        # From 100 on: a range of 3 points and of 1, in standard deviations of folds 1.5 and 0.25.
        ({"tables": ["sweep"], "spread": "curve", "since": 100, "at_most": 3, "over": ["s0", "s1"]}, "holds"),
        (
            {"tables": ["sweep"], "spread": "curve", "since": 100, "at_most": 2.9, "over": ["s0", "s1"]},
            "fails",
        ),
        ({"tables": ["sweep"], "spread": "curve", "at_most": 3, "over": ["s0"]}, "fails"),
        ({"tables": ["sweep"], "spread": "curve", "at_most": 3}, "fails"),
        ({"tables": ["sweep"], "spread": "curve", "since": 100, "at_most": 3}, "undecided"),
        (
            {"tables": ["sweep"], "spread": "curve_by_folds", "since": 100, "at_most": 0.3, "over": ["s1"]},
            "holds",
        ),
        (
            {"tables": ["sweep"], "spread": "curve_by_folds", "since": 100, "at_most": 1.4, "over": ["s0"]},
            "fails",
        ),
        # Standard deviations of sqrt(2) and sqrt(1/2).
        ({"tables": ["drawn"], "spread": "trials", "at_most": 1.42, "over": ["s0"]}, "holds"),
        ({"tables": ["drawn"], "spread": "trials", "at_most": 1.41, "over": ["s0"]}, "fails"),
        ({"tables": ["drawn"], "spread": "trials", "at_most": 9, "over": ["s1"]}, "undecided"),
    ],
)
def test_spreads_are_those_of_the_points_of_a_figure(tmp_path, test, expected):
    figures = tmp_path / "results/tiny/figures"
    figures.mkdir(parents=True)
    (figures / "sweep.csv").write_text(SWEEP)
    (figures / "drawn.csv").write_text(TRIALS)
    test = {"type": "bound", "metric": "accuracy", **test}
    assert outcome_of(test, numbers=Numbers(STUDY, tmp_path)) == expected
    assert outcome_of(test, numbers=Numbers(STUDY, tmp_path / "empty")) == "undecided"


def test_trials_of_a_figure_are_compared_as_those_of_a_table(tmp_path):
    figures = tmp_path / "results/tiny/figures"
    figures.mkdir(parents=True)
    (figures / "drawn.csv").write_text(TRIALS)
    found = evaluate(
        loaded(claim(of_type("better", ["good"], ["slow"], tables=["drawn"], over=["s0"]))),
        Numbers(STUDY, tmp_path),
    )
    assert found["effect"].tolist() == [10.5]
    assert found["outcome"].tolist() == ["holds"]


def test_a_planted_bug_flips_the_outcomes():
    """The better model's labels are swapped: what held fails, and nothing that is wrong is left undecided."""
    claims = [
        of_type("better", ["good"], ["twin"]),
        of_type("equal", ["good"], ["good"], against_tables=["other"], within={"points": 0.5}),
        of_type("bound", ["good"], at_least=55),
        of_type("count", ["good"], ["twin"], count={"min": 10}),
        of_type("better", ["plain"], ["twin"]),
    ]
    before = [outcome_of(test) for test in claims]
    after = [outcome_of(test, numbers=Planted(bug=True)) for test in claims]
    assert before == ["holds", "holds", "holds", "holds", "undecided"]
    # Of the same model in two tables nothing is seen, nor where the bug is not.
    assert after == ["fails", "holds", "fails", "fails", "undecided"]


def test_without_an_effect_a_claim_holds_no_more_often_than_its_level():
    """40 studies without an effect: at most 5 % of them, and three standard errors, hold; as many fail."""
    asked = loaded(claim(of_type("better", ["plain"], ["twin"])))
    found = [evaluate(asked, Planted(seed, ahead=0.0))["outcome"].iloc[0] for seed in range(40)]
    most = 40 * 0.05 + 3 * math.sqrt(40 * 0.05 * 0.95)
    assert found.count("holds") <= most
    assert found.count("fails") <= most
    assert found.count("undecided") >= 40 - 2 * most


def test_an_effect_is_shown_with_its_interval_and_test():
    found = evaluate(loaded(claim(of_type("better", ["good"], ["twin", "plain"]))), Planted())
    assert list(found.columns) == COLUMNS
    assert found["part"].tolist() == ["good vs twin", "good vs plain"]
    assert ((found["low"] < 5) & (found["high"] > 5)).all()
    assert found["effect"].between(4, 6).all()
    assert (found["sets"] == 12).all()
    assert found["unit"].tolist() == ["points"] * 2
    assert found["p"].tolist() == [2**-12] * 2
    assert found["method"][0].startswith("Wilcoxon's signed-rank test; one of 2 comparisons")


@pytest.mark.parametrize(("level", "outcome"), [(90.6, "holds"), (89.4, "undecided")])
def test_a_score_of_no_error_counts_in_a_ratio(level, outcome):
    """On three sets `good` has no error: the largest of its leads, which do not drop out."""
    numbers = Planted()
    for k, name in enumerate(SETS):
        numbers.scores[name, "good"] = pd.Series([100.0 if k < 3 else level] * 5)
        numbers.scores[name, "twin"] = pd.Series([95.0 if k < 3 else 90.0] * 5)
    test = of_type("better", ["good"], ["twin"], "error_rate", by={"percent": 0})
    found = evaluate(loaded(claim(test)), numbers)
    assert found["sets"].tolist() == [len(SETS)]
    assert found["outcome"].tolist() == [outcome]


def test_a_ratio_of_negative_numbers_is_undefined():
    numbers = Planted()
    numbers.scores["s3", "twin"] = pd.Series([101.0] * 5)
    test = of_type("better", ["good"], ["twin"], "error_rate", by={"percent": 5})
    found = evaluate(loaded(claim(test)), numbers)
    assert found["outcome"].tolist() == ["undecided"]
    assert "good vs twin on s3: a margin in points" in found["decides"][0]


def test_models_with_known_values_have_no_folds_and_are_not_tested_with_all():
    known = CONTENT["models"] | {"slow": {"known": {"s0": {"accuracy": 1}}}}
    numbers = Planted()
    numbers.study = made_study(CONTENT | {"models": known})
    assert numbers.models("scores") == ["good", "twin", "plain"]
    assert Numbers.folds(numbers, ["scores"], "s0", "slow", "accuracy").empty


def test_an_effect_in_percent_and_one_as_a_factor_are_shown_as_such():
    percent = of_type("better", ["good"], ["twin"], "error_rate", by={"percent": 5})
    numbers = Planted()
    found = evaluate(loaded(claim(percent)), numbers)
    errors = {
        model: np.array([100 - numbers.scores[name, model].mean() for name in SETS]) for model in MODELS
    }
    fewer = 100 * (1 - errors["good"] / errors["twin"])
    assert found["unit"].tolist() == ["%"]
    assert found["effect"][0] == pytest.approx(np.median(fewer), abs=2)
    times = evaluate(loaded(claim(KNOWN["faster by a factor"][0])), numbers)
    assert times["unit"].tolist() == ["×"]
    assert times["effect"][0] == pytest.approx(10, rel=0.05)


def test_an_undecided_claim_says_how_many_data_sets_would_decide_it():
    numbers = Planted(ahead=0.5)
    asked = loaded(claim(of_type("better", ["good"], ["twin"], over=SETS[:6])))
    found = evaluate(asked, numbers)
    assert found["outcome"][0] == "undecided"
    assert "data sets with differences like these" in found["decides"][0]


def test_a_table_that_is_not_made_is_named_with_its_command():
    found = evaluate(loaded(claim(of_type("better", ["good"], ["twin"], tables=["unmade"]))), Planted())
    assert found["outcome"].tolist() == ["undecided"]
    assert found["decides"].tolist() == [
        "a result that is not there: `snakemake results/tiny/tables/unmade.csv`"
    ]


def test_scores_of_a_single_trial_decide_no_comparison():
    class Single(Planted):
        def folds(self, *asked):
            return super().folds(*asked).iloc[:1]

    test = of_type("better", ["good"], ["twin"], over="one")
    found = evaluate(loaded(claim(test)), Single())
    assert found["outcome"].tolist() == ["undecided"]
    assert "repeated measurements or trials" in found["decides"][0]
    assert found["p"].isna().all()


class Absent(Planted):
    """Without the numbers of some models on some data sets, whose data are absent."""

    def __init__(self, models, datasets=SETS):
        super().__init__()
        self.absent = set(itertools.product(datasets, models))

    def _frame(self, name):
        table = super()._frame(name)
        lost = [pair in self.absent for pair in zip(table["dataset"], table["model"], strict=True)]
        return table.assign(ours=table["ours"].mask(lost))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"against": ["twin"], "count": {"min": 1, "max": 9}}, "undecided"),  # seven cases, perhaps twelve
        ({"against": ["twin"], "count": {"min": 8}}, "undecided"),
        ({"against": ["twin"], "count": {"min": 7}}, "holds"),
        ({"against": ["twin"], "count": {"max": 6}}, "fails"),
        ({"against": ["twin"], "of": "comparisons", "count": {"max": 11}}, "undecided"),
        ({"at_least": 10, "count": {"min": 8}}, "undecided"),
        ({"at_least": 99, "count": {"max": 4}}, "undecided"),
        ({"at_least": 99, "count": {"max": 5}}, "holds"),
    ],
)
def test_a_case_without_numbers_is_possible_and_not_certain(keys, said):
    against = keys.get("against", ())
    test = of_type("count", ["good"], against, **{key: keys[key] for key in keys if key != "against"})
    assert outcome_of(test, numbers=Absent(["good"], SETS[7:])) == said


def test_an_undecided_count_names_the_cases_that_are_open():
    """On seven data sets the case is decided; of the five without numbers, three are named."""
    test = of_type("count", ["good"], ["twin"], count={"min": 8})
    (decides,) = evaluate(loaded(claim(test)), Absent(["good"], SETS[7:]))["decides"]
    assert [name for name in SETS if name in decides.replace(",", " ").split()] == SETS[7:10]
    assert "2 more" in decides


def test_a_comparison_without_numbers_leaves_the_claim_undecided():
    test = of_type("better", ["good"], ["twin", "plain"])
    found = evaluate(loaded(claim(test)), Absent(["plain"]))
    assert found["part_outcome"].tolist() == ["holds", "undecided"]
    assert found["outcome"][0] == "undecided"
    assert found["decides"][0] == "good vs plain: numbers of both on one data set or more"


def test_contradictions_are_corrected_for_all_comparisons_of_the_claim():
    """The last of three tests is contradicted by itself, with p between 0.05 / 3 and 0.05."""
    numbers = Planted(ahead=0.0)
    for k, name in enumerate(SETS[:5]):
        numbers.scores[name, "plain"] = numbers.scores[name, "twin"] - 1 - 0.1 * k
    few = {"over": SETS[:5]}
    alone = of_type("better", ["plain"], ["twin"], **few)
    others = [of_type("better", ["good"], [rival], **few) for rival in ("twin", "slow")]
    assert outcome_of(alone, numbers=numbers) == "fails"
    found = evaluate(loaded(claim(*others, alone)), numbers)
    assert found["part_outcome"].iloc[-1] == "undecided"
    assert "about 6 data sets with differences like these, for a limit of 0" in found["decides"].iloc[0]


@pytest.mark.parametrize(
    ("error", "said"), [(0.4, "a few more trials or rows"), (0.6, "an interval 1.3 times narrower")]
)
def test_an_interval_that_already_excludes_the_limit_need_not_become_narrower(error, said):
    decides = _would_decide("a vs b", Student(1.0, error, 4), [0.0], _Scale(Margin(points=0), "accuracy"))
    assert decides.startswith(f"a vs b: {said}")


def test_readings_that_differ_leave_a_claim_undecided():
    both = {1: "one", 2: "other"}
    tests = [
        of_type("better", ["good"], ["twin"], reading=1),
        of_type("better", ["twin"], ["good"], reading=2),
    ]
    found = evaluate(loaded(claim(*tests, readings=both)), Planted())
    assert set(found["outcome"]) == {"undecided"}
    assert found["decides"][0].endswith("differ: holds (1: one), fails (2: other)")
    agree = [tests[0], of_type("bound", ["good"], at_least=55, reading=2)]
    assert outcome_of(*agree, readings=both) == "holds"
    # The second reading has no test.
    assert outcome_of(tests[0], readings=both) == "undecided"


def test_the_outcomes_are_written_read_and_shown(tmp_path):
    untested = {key: value for key, value in claim().items() if key != "tests"}
    asked = loaded(
        claim(of_type("better", ["good"], ["twin", "plain"])),
        untested | {"id": "b", "claim": "<b> is not so.", "untested": "more"},
    )
    found = evaluate(asked, Planted())
    found.to_csv(tmp_path / "claims.csv", index=False)
    again = read_claims(tmp_path / "claims.csv")
    pd.testing.assert_frame_equal(again, found, check_dtype=False, rtol=1e-7)
    assert outcomes(again) == {"holds": 1, "fails": 0, "undecided": 0, "not tested": 1}
    tested, untested = layout(again)["claims"]
    assert (tested["outcome"], untested["outcome"]) == ("holds", "not tested")
    effects = [f"{row.effect:.3g} {row.unit}" for row in found.head(2).itertuples()]
    assert all(f"; {effect}" in part for part, effect in zip(tested["parts"], effects, strict=True))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tables": ["scoers"]}, "tests.0.tables: unknown table 'scoers', did you mean 'scores'?"),
        ({"models": ["goood"]}, "tests.0.models: unknown model of these tables 'goood', did you mean 'good'"),
        ({"metric": "accurcy"}, "unknown metric of these tables 'accurcy', did you mean 'accuracy'?"),
        ({"over": "fw"}, "unknown group of data sets or row of these tables 'fw', did you mean 'few'?"),
        ({"over": ["s99"]}, "tests.0.over: unknown row of these tables 's99'"),
        ({"by": {"points": 1, "percent": 2}}, "found 2 of points, percent, factor; accepted: one"),
        ({"pairs": "each", "against": ["twin", "plain"]}, "found 1 models against 2; accepted: equally many"),
        ({"reading": 1}, "found reading 1; accepted: no reading"),
        (
            {"by": {"percent": 100}},
            "by.percent: found 100",
        ),
        ({"type": "beter"}, "found 'beter', did you mean 'better'?"),
        ({"tables": ["plane"]}, "tests.0.tables: unknown table 'plane'"),
        ({"tables": ["many"]}, "tests.0.tables: unknown table 'many'"),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_tested(changed, said):
    with pytest.raises(ConfigError) as error:
        loaded(claim({**of_type("better", ["good"], ["twin"]), **changed}))
    assert said in str(error.value)
    assert str(error.value).startswith("claims.yaml: claims.")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"pairs": "each", "at_least": 1, "count": {"min": 1}}, "found 'pairs' without 'against'"),
        ({"of": "comparisons", "at_least": 1, "count": {"min": 1}}, "found 'of' without 'against'"),
        ({"at_least": 1, "count": {"min": 5, "max": 1}}, "count: found min 5 and max 1"),
        ({"at_least": 1, "count": {}}, "count: found {}"),
    ],
)
def test_a_count_that_cannot_be_meant_is_one_line(keys, said):
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        loaded(claim(of_type("count", None, **keys)))
    assert "\n" not in str(error.value)


def test_a_claim_has_tests_or_a_reason_and_an_id_of_its_own():
    bare = {key: value for key, value in claim().items() if key != "tests"}
    with pytest.raises(ConfigError, match="found 0 of tests, tested_by, refuted_by, untested; accepted: one"):
        loaded(bare)
    with pytest.raises(ConfigError, match="found two claims 'a-claim'"):
        loaded(bare | {"untested": "more"}, bare | {"untested": "less"})


def test_an_exponent_of_a_table_has_two_degrees_of_freedom_less_than_points():
    measured, fitted = (
        Planted().exponent(SimpleNamespace(tables=tables), model, metric)
        for tables, model, metric in (
            (("growth",), "good", "seconds_by_size"),
            (("speed",), "exact", "seconds"),
        )
    )
    assert (measured.effect, measured.error, measured.freedom, measured.n) == (2.0, 0.02, 2, 4)
    assert (fitted.effect, fitted.freedom, fitted.n) == (pytest.approx(2), 2, 4)


def test_a_claim_that_tests_of_the_repository_decide_holds_or_is_refuted_by_each_of_them():
    names = ["tests/test_a.py::test_b", "tests/test_a.py::test_c"]
    bare = {key: value for key, value in claim().items() if key != "tests"}
    asked = loaded(bare | {"tested_by": names}, bare | {"id": "refuted", "refuted_by": names[:1]})
    assert evaluate(asked, Planted())[["id", "outcome", "part", "part_outcome"]].values.tolist() == [
        ["a-claim", "holds", names[0], "holds"],
        ["a-claim", "holds", names[1], "holds"],
        ["refuted", "fails", names[0], "fails"],
    ]


def test_the_tests_that_the_papers_claims_name_exist_and_none_is_skipped():
    """The suite runs them: what it does not run decides no claim."""
    claims = [one for file in ROOT.glob("config/claims/*.yaml") for one in read_yaml(file)["claims"]]
    names = {name for one in claims for key in ("tested_by", "refuted_by") for name in one.get(key, ())}
    assert len(names) > 30
    functions = {
        f"{file}::{node.name}": [ast.unparse(mark) for mark in node.decorator_list]
        for file in {name.partition("::")[0] for name in names}
        for node in ast.parse((ROOT / file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert names <= functions.keys()
    unlikely = [
        mark for name in names for mark in functions[name] if re.search(r"mark\.(skip|xfail|slow)", mark)
    ]
    assert unlikely == []
