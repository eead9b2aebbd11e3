"""Every part on tiny data: what it computes beside the seconds is right."""

import pandas as pd
import pytest

from benchmarks import scaling, shortcuts
from entrolab.fit.limits import Limits

LIMITS = Limits(seconds=60)


@pytest.mark.parametrize("power", [1, 2])
def test_exponent_of_a_power_is_its_power(power):
    rows = pd.DataFrame({"varied": "N", "N": [10, 20, 40, 80], "h": 7})
    assert scaling.exponent(rows.assign(**{"fit s": 0.3 * rows["N"] ** power})) == pytest.approx(power)


def test_rate_counts_operations():
    table = scaling.rate(LIMITS, n_samples=400, n_features=5, n_hidden=20, repetitions=1).table
    operations = 400 * 20**2 + 2 * 400 * 5 * 20
    assert (table["fit s"] * table["fit Gflop/s"]).to_numpy() == pytest.approx(operations / 1e9)
    share = 100 * table["fit Gflop/s"] / table["product Gflop/s"]
    assert table["share %"].to_numpy() == pytest.approx(share.to_numpy())


def test_growth_varies_one_size_at_a_time():
    base, varied = {"N": 200, "h": 10, "d": 3}, {"N": (200, 400), "h": (10, 20), "d": (3, 6)}
    section = scaling.growth(LIMITS, base, varied)
    assert section.table.index.tolist() == [
        ("N", 200, 10, 3),
        ("N", 400, 10, 3),
        ("h", 200, 10, 3),
        ("h", 200, 20, 3),
        ("d", 200, 10, 3),
        ("d", 200, 10, 6),
    ]


def test_memory_of_a_fit_does_not_hold_the_hidden_layer():
    table = scaling.memory(LIMITS, sizes=(100_000,), n_features=2, n_hidden=100).table
    assert table.loc[100_000, "X MiB"] == pytest.approx(1.526, abs=1e-3)  # 200,000 numbers of 8 bytes
    assert table.loc[100_000, "hidden layer MiB"] == pytest.approx(76.3, abs=0.1)
    assert 1 < table.loc[100_000, "fit MiB"] < 60


def test_a_loop_over_the_folds_costs_as_many_fits():
    table = shortcuts.grid_search(LIMITS, n_samples=(400,), n_features=3, sizes=(5, 10), folds=4).table
    row = table.loc[400]
    assert (row > 0).all()
    assert row["loop s"] / row["path s"] == pytest.approx(row["loop / path"])


def test_densities_are_compared_with_the_sum_over_all_pairs_where_it_is_short():
    table = shortcuts.density(LIMITS, sizes=(3000, 6000), most_exact=3000).table
    assert table.loc[3000, "error"] < 1e-5  # as cauchy_schwarz_kde says
    assert table["all pairs ms"].isna().tolist() == [False, True]


def test_shrunk_covariances_agree():
    table = shortcuts.covariance(LIMITS, shapes=((300, 20),)).table
    assert table.loc[(300, 20), "error"] < 1e-12
