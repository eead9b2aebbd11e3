"""Verdicts over seeds: closed forms, coverage, laws, and a planted wrong number."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study
from reported_study import CONTENT
from scipy import stats

from entrolab.seeds.rendering import in_words
from entrolab.seeds.values import values_of
from entrolab.seeds.verdicts import judge_seeds, predictive_interval, verdict_counts, verdict_of
from entrolab.tables.judge import placed
from entrolab.tables.making import COLUMNS

SEEDS = 5


def test_the_predictive_interval_is_that_of_a_t_distribution():
    """Its ends are quantiles of the posterior predictive distribution under the reference prior."""
    values = [83.1, 84.0, 82.2, 85.3, 83.9]
    scale = np.std(values, ddof=1) * math.sqrt(1 + 1 / 5)
    expected = stats.t(df=4, loc=np.mean(values), scale=scale).interval(0.95)
    assert predictive_interval(values) == pytest.approx(expected)


@pytest.mark.parametrize("n", [2, 5])
def test_the_interval_contains_a_fresh_normal_value_as_often_as_it_says(n):
    rng = np.random.default_rng(0)
    draws = rng.normal(80, 3, (400, n + 1))
    within = [low <= fresh <= high for *seen, fresh in draws for low, high in [predictive_interval(seen)]]
    # Three standard errors of a share of 400.
    assert np.mean(within) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 400))


def test_the_order_of_seeds_makes_no_difference_and_equal_seeds_leave_a_point():
    values = [83.1, 84.0, 82.2, 85.3, 83.9]
    assert predictive_interval(values[::-1]) == pytest.approx(predictive_interval(values))
    assert predictive_interval([83.1] * 5) == pytest.approx((83.1, 83.1))
    assert all(map(math.isnan, predictive_interval([83.1])))


def test_with_a_spread_of_nothing_the_verdict_is_that_of_one_seed():
    """The limit that ties both rules together."""
    for value in (82.9, 83.0, 85.0, 87.0, 87.1):
        alone = placed(value, 83.0, 87.0) == "reproduced"
        assert verdict_of(value, value, 85.0, 2.0) == ("reproduced" if alone else "not reproduced")
    assert verdict_of(math.nan, math.nan, 85.0, 2.0) == "undecided"


MODELS = ("eem_rbf", "svm_rbf", "third")


@pytest.fixture
def judge():
    """Judge a row of a table: the values of each model, seed by seed, and the published values with ±."""
    models = dict.fromkeys(MODELS, "sklearn.svm.SVC")
    study = made_study(CONTENT | {"models": models, "datasets": {"real": ["iris"]}})
    spec = study.spec_of_table("table4")

    def made(values, published):
        rows = [
            ("iris", name, "gmean", number, std, value, 1.0, value - number, "", math.nan, "")
            for name, value, (number, std) in zip(MODELS, values, published, strict=True)
        ]
        table = pd.DataFrame(rows, columns=COLUMNS)
        ends = zip(table["ours"], table["published"], table["published_std"], strict=True)
        return table.assign(verdict=[placed(ours, p - std, p + std) for ours, p, std in ends])

    def judge(values, published, shown=0, known=SEEDS):
        tables = [made(of_seed, published) for of_seed in np.transpose(values)]
        return judge_seeds(tables[shown], values_of("table4", tables[:known]), spec)

    return judge


VALUES = [[83.0, 83.4, 82.8, 83.1, 83.2], [70.0, 70.3, 69.8, 70.1, 70.2], [90.0, 92.1, 88.2, 91.0, 89.1]]
PUBLISHED = [(83.0, 2.0), (75.0, 2.0), (90.0, 2.0)]


def test_each_cell_is_judged_by_its_values_over_seeds(judge):
    judged, *left_out = judge(VALUES, PUBLISHED)
    assert left_out == [0, 0]
    assert judged["verdict"].tolist() == ["reproduced", "not reproduced", "undecided"]
    assert judged["single"].tolist() == ["reproduced", "lower", "reproduced"]
    assert judged["flips"].tolist() == [False, False, True]  # 92.1 lies above 92
    assert judged["n"].tolist() == [SEEDS] * 3
    assert verdict_counts(judged) == {"reproduced": 1, "not reproduced": 1, "undecided": 1}
    counts, of_one = (re.findall(r"\d+", sentence) for sentence in in_words(judged))
    assert counts[:5] == ["1", "1", "1", "3", "5"]
    # Of 3 results 2 are reproduced with one seed; over all seeds 0 of these is not and 1 undecided. Of the
    # other one, none is reproduced or undecided. One flips.
    assert of_one == ["2", "3", "0", "1", "1", "0", "0", "1"]


def test_a_planted_wrong_number_is_told_unless_its_tolerance_is_wide(judge):
    """A published number moved by ten points: with its ± of 2 it is not reproduced, with one of 30 it is."""
    wrong = [(93.0, 2.0), *PUBLISHED[1:]]
    judged, *_ = judge(VALUES, wrong)
    assert judged["verdict"][0] == "not reproduced"
    wide = [(93.0, 30.0), *PUBLISHED[1:]]
    judged, *_ = judge(VALUES, wide)
    assert judged["verdict"][0] == "reproduced"
    assert judged["wide"].tolist() == [True, False, False]


def test_a_value_published_without_a_deviation_is_judged_as_it_is_printed(tmp_path):
    """83.0 is known to 0.05; a table's file says 83, which alone would be known to 0.5."""
    (tmp_path / "published.csv").write_text(
        "table,dataset,model,metric,value,std\ntable4,iris,eem_rbf,gmean,83.0,\n"
    )
    content = CONTENT | {"models": {"eem_rbf": "sklearn.svm.SVC"}, "datasets": {"real": ["iris"]}}
    study = made_study(content).model_copy(update={"published": str(tmp_path / "published.csv")})
    cell = {"dataset": "iris", "model": "eem_rbf", "metric": "gmean"}
    numbers = dict.fromkeys(COLUMNS, math.nan) | cell | {"published": 83.0, "ours": 83.0}
    table = pd.DataFrame([numbers | {"verdict": "reproduced"}])
    file = values_of("table4", [table.assign(ours=ours) for ours in (83.0, 83.2, 82.8)])
    judged, *_ = judge_seeds(table, file, study.spec_of_table("table4"))
    assert judged["tolerance"].tolist() == [pytest.approx(0.05)]
    assert judged["flips"].tolist() == [True]


def test_values_of_other_results_than_the_table_shows_are_left_out(judge):
    shown = [[*row, row[0] + moved] for row, moved in zip(VALUES, (0.0, 0.5, 1e-7), strict=True)]
    judged, *left_out = judge(shown, PUBLISHED, shown=SEEDS, known=SEEDS)
    assert judged["model"].tolist() == ["eem_rbf", "third"]
    assert left_out == [1, 0]


def test_values_that_are_equal_with_every_seed_are_not_judged_but_belong_to_their_row(judge):
    """The tolerances are wide for three models, of which the constant is one."""
    constant = [VALUES[0], [84.0] * SEEDS, [84.0, 84.4, 83.8, 84.1, 84.2]]
    judged, *left_out = judge(constant, [(83.0, 5.0)] * 3)
    assert judged["model"].tolist() == ["eem_rbf", "third"]
    assert left_out == [0, 1]
    assert judged["wide"].all()


def test_one_seed_gives_no_verdict(judge):
    judged, *left_out = judge(VALUES, PUBLISHED, known=1)
    assert (len(judged), left_out) == (0, [0, 0])
