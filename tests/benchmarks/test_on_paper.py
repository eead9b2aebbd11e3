"""The arithmetic of a fit on paper, on numbers that are easy to see through."""

import pytest

from benchmarks import on_paper
from benchmarks.on_paper import CORES, NETWORK, STORE, Constants, cost
from entrolab.fit.limits import Limits
from entrolearn.streaming.distributed import FAN_IN

EASY = Constants(
    row_seconds=1e-6, solve_seconds=3.0, predict_seconds=1e-7, sums_bytes=1000, merge_seconds=0.5
)


def test_rows_are_shared_among_all_cores_and_the_store_among_all_machines():
    one, ten = (cost(EASY, 1e9, 50, 100, n_machines) for n_machines in (1, 10))
    assert one.sums == pytest.approx(1e3 / CORES)
    assert ten.sums == pytest.approx(one.sums / 10)
    assert ten.store == one.store == pytest.approx(1e9 * 200 / STORE)
    assert ten.solve == one.solve == 3.0


def test_the_tree_has_a_level_for_each_power_of_its_fan_in():
    level = (FAN_IN - 1) * (0.5 + 1000 / NETWORK)
    assert cost(EASY, 1e9, 50, 100, n_machines=FAN_IN**2 // CORES).tree == pytest.approx(2 * level)
    assert cost(EASY, 1e9, 50, 100, n_machines=FAN_IN**2 // CORES + 1).tree == pytest.approx(3 * level)


def test_the_slower_of_reading_and_summing_counts():
    slow_store = cost(EASY, 1e9, 50_000, 100, 100)
    assert slow_store.bottleneck == "store"
    assert slow_store.seconds == pytest.approx(slow_store.store + slow_store.tree + 3.0)
    assert cost(EASY, 1e12, 5, 100, 1).bottleneck == "sums"


def test_what_travels_are_the_sums():
    found = on_paper.constants(5, 40, (2000, 20_000))
    # A row's seconds are a difference of two times, which a busy machine may make anything.
    assert min(found.solve_seconds, found.predict_seconds, found.merge_seconds) > 0
    assert found.sums_bytes == pytest.approx(2 * 40 * 41 / 2 * 8, rel=0.2)


def test_a_line_for_each_number_of_rows_and_machines():
    section = on_paper.on_paper(Limits(seconds=60), (1e6, 1e9), 5, 40, (1, 3), (2000, 20_000))
    assert section.table.index.tolist() == [("1e+06", 1), ("1e+06", 3), ("1e+09", 1), ("1e+09", 3)]
    assert "µs for a row's sums" in section.notes[0]
