"""Costs of forgetting and digits of updates, measured on few rows."""

from benchmarks import updates
from entrolab.io.limits import Limits


def test_every_learner_is_measured_and_few_updates_lose_no_digits():
    limits = Limits(seconds=60)
    table = updates.deletions(limits, sizes=(200,), n_features=3).table
    assert (table["fit"] > 0).all()
    assert table["forget 1"].notna().sum() == len(updates.LEARNERS)
    table = updates.digits(limits, updates=(50,), n_features=3, n_hidden=5).table
    assert len(table) == 4
    assert (table["sums"] < 1e-13).all()
    assert (table < 1e-9).all(axis=None)
