"""Predictions timed in turn: every machine beside the arithmetic, of dense and of CSR rows."""

import numpy as np
import pytest

from benchmarks.predictions import MACHINES, MLP, milliseconds, predictions
from entrolab.fit.limits import Limits


def test_table_has_every_machine_beside_its_arithmetic():
    table = predictions(
        Limits(seconds=120), n_hidden=20, dense=(120, 30), sparse=(120, 60), density=0.1
    ).table
    assert set(table.index) == {"arithmetic", MLP, *MACHINES}
    for kind in ("", ", CSR"):
        times, ratios = table[f"100 rows: ms{kind}"], table[f"100 rows: × arithmetic{kind}"]
        assert ratios.dropna().to_numpy() == pytest.approx((times / times["arithmetic"]).dropna().to_numpy())
    assert table.isna().sum().sum() == table.isna().loc[MLP].sum() == 5  # of CSR rows it takes too long


def test_work_takes_turns():
    done = []
    found = milliseconds(
        {"one": lambda rows: done.append("one"), "other": lambda rows: done.append("other")}, np.ones(3)
    )
    assert done[:4] == ["one", "other", "one", "other"]
    assert set(found) == {"one", "other"}
