"""Average ranks and their tests, against Demšar's example, naive twins, laws and limit cases."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from demsar import DEMSAR
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from scipy import stats

from entrolab.figures.ranks import rank_section
from entrolab.tables.making import COLUMNS
from entrolab.tables.ranking import rank_models, scores_of, shown_test


def random_scores(n_datasets, n_models, seed=0, decimals=1):
    """Scores with ties, later models being better."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(80 + np.linspace(0, 2, n_models), 1, size=(n_datasets, n_models)).round(decimals)
    return pd.DataFrame(
        scores, [f"data{i}" for i in range(n_datasets)], [f"model{i}" for i in range(n_models)]
    )


# --------------------------------------------------------------------------------- published and closed forms


def test_ranks_of_demsars_table_6():
    average = rank_models(DEMSAR).average
    published = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    assert average.round(3).to_dict() == published
    assert average.is_monotonic_increasing


def test_friedmans_statistic_is_demsars_but_for_its_correction_for_ties():
    """Section 3.2.2 has 9.28 by the formula without ties."""
    ranking = rank_models(DEMSAR)
    n, k = DEMSAR.shape
    groups = [np.unique(row, return_counts=True)[1] for row in ranking.ranks.to_numpy()]
    ties = sum((sizes**3 - sizes).sum() for sizes in groups)
    uncorrected = ranking.friedman * (1 - ties / (n * (k**3 - k)))
    assert_allclose(uncorrected, 12 * n / (k * (k + 1)) * ((ranking.average**2).sum() - k * (k + 1) ** 2 / 4))
    assert_allclose(uncorrected, 9.28, atol=0.005)
    assert_allclose(ranking.p, stats.chi2.sf(ranking.friedman, k - 1))


def test_nemenyis_test_tells_apart_at_010_what_demsar_says_and_nothing_at_005():
    """Section 3.2.2: at 0.10 C4.5 differs from both variants with m."""
    p_values = rank_models(DEMSAR).nemenyi
    apart = {frozenset(pair) for pair in itertools.combinations(DEMSAR, 2) if p_values.loc[pair] < 0.10}
    assert apart == {frozenset({"C4.5", "C4.5+m"}), frozenset({"C4.5", "C4.5+m+cf"})}
    assert p_values.min(axis=None) > 0.05


@pytest.mark.parametrize(
    ("n_models", "q"),
    [(3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_critical_values_of_nemenyis_test_are_those_of_demsars_table_5(n_models, q):
    n_datasets = 20
    found = rank_models(random_scores(n_datasets, n_models)).critical_difference
    assert_allclose(found, q * math.sqrt(n_models * (n_models + 1) / (6 * n_datasets)), rtol=4e-4)


# ---------------------------------------------------------------------------------------------- naive twins


def naive_holm(p):
    """Holm's step-down: the i-th smallest of m times m - i + 1, never falling, at most one."""
    adjusted, largest = {}, 0.0
    for done, (pair, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        largest = max(largest, (len(p) - done) * value)
        adjusted[pair] = min(1.0, largest)
    return adjusted


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_tested_as_scipy_does_one_by_one_with_holms_correction(seed):
    scores = random_scores(15, 5, seed)
    ranking = rank_models(scores)
    alone = {
        (a, b): stats.wilcoxon(
            np.round(10 * (scores[a] - scores[b])), zero_method="zsplit", method="exact"
        ).pvalue
        for a, b in itertools.combinations(scores, 2)
    }
    for (a, b), p in naive_holm(alone).items():
        assert_allclose(ranking.wilcoxon.loc[a, b], p, rtol=1e-12)
        assert ranking.wilcoxon.loc[a, b] == ranking.wilcoxon.loc[b, a]


@pytest.mark.parametrize(("n_datasets", "n_models"), [(9, 7), (25, 7)])
def test_groups_are_the_largest_sets_without_a_pair_that_is_told_apart(n_datasets, n_models):
    ranking = rank_models(random_scores(n_datasets, n_models))
    p = ranking.nemenyi if n_datasets == 9 else ranking.wilcoxon
    alike = [
        set(group)
        for size in range(2, n_models + 1)
        for group in itertools.combinations(p.index, size)
        if all(p.loc[a, b] >= 0.05 for a, b in itertools.combinations(group, 2))
    ]
    largest = [group for group in alike if not any(group < other for other in alike)]
    found = ranking.groups()
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))
    assert len(found) > 1
    assert all(group == [model for model in ranking.average.index if model in group] for group in found)


# ----------------------------------------------------------------------------------------------------- laws


def same(one, other):
    """Two rankings say the same of every model."""
    order = one.average.index
    assert_allclose(other.average[order], one.average)
    assert_allclose([other.friedman, other.critical_difference], [one.friedman, one.critical_difference])
    for name in ("nemenyi", "wilcoxon"):
        assert_frame_equal(getattr(other, name).loc[order, order], getattr(one, name), check_names=False)


def test_order_units_and_sign_of_the_scores_do_not_matter():
    scores = random_scores(12, 5)
    same(rank_models(scores), rank_models(scores.sample(frac=1, random_state=0)[scores.columns[::-1]]))
    same(rank_models(scores), rank_models(scores / 1000))
    same(rank_models(scores), rank_models(-scores, greater_is_better=False))


# ---------------------------------------------------------------------------------------------- limit cases


def test_models_that_tie_everywhere_do_not_differ():
    ranking = rank_models(pd.DataFrame(np.full((6, 3), 80.0), columns=list("abc")))
    assert (ranking.friedman, ranking.p) == (0, 1)
    assert ranking.average.tolist() == [2, 2, 2]
    assert ranking.wilcoxon.to_numpy().tolist() == np.ones((3, 3)).tolist()
    assert ranking.groups() == [["a", "b", "c"]]


@pytest.mark.parametrize(("n_datasets", "n_models"), [(4, 6), (6, 2), (0, 3)])
def test_too_few_models_or_data_sets_are_not_ranked(n_datasets, n_models):
    assert rank_models(random_scores(n_datasets, n_models)) is None


def test_the_diagram_shows_wilcoxons_test_as_soon_as_it_can_tell_two_models_apart():
    """Who wins everywhere has a p-value of 2 to the 1 - n, times 36 pairs of nine: 0.035 on 11 data sets."""
    assert [shown_test(n, 9) for n in (10, 11)] == ["nemenyi", "wilcoxon"]
    few, enough = rank_models(random_scores(10, 9)), rank_models(random_scores(11, 9))
    assert "36 pairs (p = 0.07)" in few.rule()
    assert "Nemenyi" in few.rule()
    assert "Nemenyi" not in enough.rule()


# ------------------------------------------------------------------------------------------- missing numbers


@pytest.fixture
def gaps():
    """Ten data sets, on one of which nobody has a number; "d" has none on six."""
    scores = random_scores(10, 4).set_axis(list("abcd"), axis=1)
    scores.loc["data0"] = np.nan
    scores.loc[["data1", "data2"], "a"] = np.nan
    scores.loc["data2", "b"] = np.nan
    scores.loc["data4":"data9", "d"] = np.inf
    return scores


def test_missing_numbers_rank_last_and_what_has_none_is_left_out_and_named(gaps):
    ranking = rank_models(gaps)
    assert (ranking.lacking, ranking.empty) == (("d",), ("data0",))
    assert ranking.ranks.loc["data1"].to_dict()["a"] == 3
    assert ranking.ranks.loc["data2", ["a", "b", "c"]].tolist() == [2.5, 2.5, 1]
    assert ranking.scored.to_dict() == {"a": 7, "b": 8, "c": 9}
    assert ranking.rule({"d": "D (rbf)", "data0": "Rings"}) == (
        "3 models on 9 data sets. Left out, without a number on more than half of the data sets: D (rbf). "
        "Left out, since none of the models has a number there: Rings. A model without a number on a data "
        "set ranks last there, and counts in Wilcoxon's test as losing by more than any other difference."
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_a_missing_number_loses_by_more_than_any_other_whichever_end_is_good(gaps, sign):
    good = gaps.drop(index="data0", columns="d")
    ranking = rank_models(sign * good, greater_is_better=sign > 0)
    assert_frame_equal(ranking.ranks, rank_models(gaps).ranks, check_like=True)
    same(rank_models(gaps), ranking)
    alone = {}
    for a, b in itertools.combinations("abc", 2):
        difference = (10 * good[a].fillna(-1e9)).round() - (10 * good[b].fillna(-1e9)).round()
        clipped = difference.clip(-1e8, 1e8)  # lost ones are equal, and larger than all others
        alone[a, b] = stats.wilcoxon(clipped, zero_method="zsplit", method="exact").pvalue
    for (a, b), p in naive_holm(alone).items():
        assert_allclose(ranking.wilcoxon.loc[a, b], p)


@pytest.mark.parametrize(("missing", "lacking"), [(5, ()), (6, ("d",))])
def test_a_model_without_a_number_on_more_than_half_of_the_data_sets_is_left_out(missing, lacking):
    scores = random_scores(10, 4).set_axis(list("abcd"), axis=1)
    scores.iloc[:missing, 3] = np.nan
    assert rank_models(scores).lacking == lacking


def test_a_data_set_that_only_a_model_left_out_has_is_left_out_too(gaps):
    gaps.loc["data1", ["a", "b", "c"]] = np.nan
    ranking = rank_models(gaps)
    assert ranking.empty == ("data0", "data1")
    assert len(ranking.scores) == 8


# ------------------------------------------------------------------------------------------ a table's section


def table_of(ours, published=None, metric="gmean"):
    """A table of type scores."""
    rows = ours.stack(future_stack=True).rename("ours").rename_axis(["dataset", "model"]).reset_index()
    published = (ours if published is None else published).stack(future_stack=True).to_numpy()
    return rows.assign(metric=metric, published=published).reindex(columns=COLUMNS)


LABELS = {name: f"the {name}" for name in DEMSAR}


def test_a_section_says_of_a_table_what_its_ranking_does():
    other = table_of(-DEMSAR, metric="accuracy")
    section = rank_section(pd.concat([other, table_of(100 * DEMSAR)]), LABELS, "gmean")
    assert ">the C4.5+cf<" in section["diagram"]
    ranking, (best, second) = rank_models(DEMSAR), ("C4.5+m+cf", "C4.5+m")
    average = ranking.average[best]
    assert section["rows"][0] == (LABELS[best], [(average, "1.96"), (average, "1.96"), (14, 14)])
    assert len(section["pairs"]) == 6
    models, ((wins, counts), *tests) = section["pairs"][0]
    assert (models, wins, counts) == ((LABELS[best], LABELS[second]), 6, "6, 3, 5")
    p_values = [getattr(ranking, test).loc[best, second] for test in ("nemenyi", "wilcoxon")]
    assert [value for value, _ in tests] == p_values
    assert f"χ² = {ranking.friedman:.2f} with 3 degrees of freedom, 14 data sets" in section["rule"]


def test_a_huge_score_hides_no_difference_between_others():
    """An R² of a fit that diverged."""
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.normal([0.9, 0.8, 0.7], 0.01, size=(12, 3)), columns=list("abc"))
    with_huge = scores.copy()
    with_huge.loc[3, "c"] = -1e13
    p = rank_models(scores).wilcoxon.loc["a", "b"]
    assert rank_models(with_huge).wilcoxon.loc["a", "b"] == pytest.approx(p)
    assert p < 0.01


def test_less_is_better_where_the_metric_says_so():
    section = rank_section(table_of(DEMSAR, metric="error_rate"), LABELS, "error_rate")
    assert section["rows"][0][0] == "the C4.5"


def published_ranks(ours, published):
    section = rank_section(table_of(ours, published), {}, "gmean")
    return {model: [of_ours, value] for model, ((of_ours, _), (value, _), _) in section["rows"]}


def test_published_numbers_are_ranked_beside_ours_where_all_are_published():
    found = published_ranks(DEMSAR, -DEMSAR)
    assert_allclose([found[name][1] for name in DEMSAR], 5 - rank_models(DEMSAR).average[DEMSAR.columns])
    lacking = (-DEMSAR).mask(DEMSAR.index.isin(["iris"])[:, None] & (DEMSAR.columns == "C4.5"))
    assert {value for _, value in published_ranks(DEMSAR, lacking).values()} == {""}


def test_published_ranks_are_of_the_data_sets_that_ours_are_of():
    ours = DEMSAR.copy()
    ours.loc["mushroom"] = np.nan
    assert all(first == second for first, second in published_ranks(ours, DEMSAR).values())


def test_scores_stand_in_the_order_of_the_table():
    wide = scores_of(table_of(DEMSAR), "gmean")
    assert wide.index.tolist() == DEMSAR.index.tolist()
    assert wide.columns.tolist() == DEMSAR.columns.tolist()
    assert_allclose(wide, DEMSAR)
