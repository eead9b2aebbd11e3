"""The one judge: laws of tolerances, closed forms of their ends, and tables of each quantity."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_studies import spec_of_kind

from entrolab.tables.base import Found, PublishedValue
from entrolab.tables.entries import Tolerance
from entrolab.tables.judge import interval, placed
from entrolab.tables.making import judged_table

values = st.floats(-1e6, 1e6, allow_nan=False)
widths = st.floats(1e-3, 1e3)
KEYS = ("std", "points", "percent", "standard_error")
tolerances = st.dictionaries(st.sampled_from(KEYS), widths, min_size=1).map(lambda keys: Tolerance(**keys))


def judge(ours, published, tolerance, error=math.nan):
    return placed(ours, *interval(tolerance, published, error))


def naive(ours, published, tolerance, error):
    """The verdict by each key on its own."""
    apart = abs(ours - published.value)
    allowed = [
        tolerance.std is not None and apart <= tolerance.std * published.std,
        tolerance.points is not None and apart <= tolerance.points,
        tolerance.percent is not None and apart <= tolerance.percent * abs(published.value) / 100,
        tolerance.standard_error is not None and apart <= tolerance.standard_error * error,
    ]
    beyond = "higher" if ours > published.value else "lower"
    return "reproduced" if any(allowed) else beyond


@settings(max_examples=100, deadline=None)
@given(ours=values, value=values, std=widths, error=widths, tolerance=tolerances)
def test_a_number_is_judged_by_the_key_that_allows_most(ours, value, std, error, tolerance):
    published = PublishedValue(value, std)
    low, high = interval(tolerance, published, error)
    assert low <= value <= high
    if min(abs(ours - low), abs(ours - high)) > 1e-6:  # not at an end, where rounding decides
        assert judge(ours, published, tolerance, error) == naive(ours, published, tolerance, error)


@settings(max_examples=50, deadline=None)
@given(ours=values, value=values, std=widths, tolerance=tolerances, more=tolerances)
def test_what_is_reproduced_stays_so_with_a_further_key(ours, value, std, tolerance, more):
    keys = {key: getattr(tolerance, key) or getattr(more, key) for key in KEYS}
    both = Tolerance(**{key: width for key, width in keys.items() if width is not None})
    if judge(ours, PublishedValue(value, std), tolerance, 1.0) == "reproduced":
        assert judge(ours, PublishedValue(value, std), both, 1.0) == "reproduced"


def test_a_number_published_without_its_deviation_is_reproduced_if_ours_rounds_to_it():
    tolerance = Tolerance(std=1)
    published = PublishedValue(0.15, decimals=3)  # printed as 0.150
    assert [judge(ours, published, tolerance) for ours in (0.1496, 0.1504, 0.1494, 0.1506)] == [
        "reproduced",
        "reproduced",
        "lower",
        "higher",
    ]


@pytest.mark.parametrize(("ours", "value", "std"), [(87.3, 85.0, 2.3), (100 * 0.29, 25.0, 4.0)])
def test_a_difference_equal_to_the_deviation_is_within_it_in_floating_point_too(ours, value, std):
    """87.3 - 85.0 is 2.2999999999999972, and 100 * 0.29 is 28.999999999999996."""
    assert judge(ours, PublishedValue(value, std), Tolerance(std=1)) == "reproduced"


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0])
def test_small_numbers_are_told_apart_as_large_ones_are(scale):
    """Rounding errors are relative: a fixed slack of 1e-9 would make all numbers below it equal."""
    assert placed(2 * scale, scale, scale) == "higher"
    assert placed(scale * (1 + 1e-12), scale, scale) == "reproduced"


def table_of(kind, ours, is_published, **entry):
    """The verdicts on a row of numbers, in the order of the table's cells."""
    asked = spec_of_kind(kind, **entry)
    cells = asked.type.cells(asked)
    rows = [("table1", *cell, value, math.nan) for cell, value in zip(cells, is_published, strict=True)]
    published = pd.DataFrame(rows, columns=["table", "dataset", "model", "metric", "value", "std"])
    found = {
        cell: Found(*one) if isinstance(one, tuple) else one for cell, one in zip(cells, ours, strict=True)
    }
    return judged_table(found, published, asked)


def test_a_tolerance_of_the_study_replaces_that_of_the_table_type():
    """Counts are equal exactly, times within a factor of two; both as far as the study says."""
    count = Found(103.0, given=True)
    counts = {"counts": ["n_samples"]}
    assert table_of("characteristics", [count], ["100"], **counts)["verdict"].tolist() == ["differs"]
    counts["tolerance"] = {"percent": 5}
    assert table_of("characteristics", [count], ["100"], **counts)["verdict"].tolist() == ["equal"]
    seconds, published = [(1.0,), (30.0,), (0.4,)], ["100", "1000", "100"]
    assert table_of("times", seconds, published)["verdict"].tolist() == ["unit", "higher", "lower"]
    wide = table_of("times", seconds, published, tolerance={"factor": 4})
    assert wide["verdict"].tolist() == ["unit", "reproduced", "reproduced"]


@pytest.mark.parametrize(
    ("tolerance", "ends"),
    [
        # 3 / 1 in print is anything from 2.5 / 1.5 to 3.5 / 0.5.
        (Tolerance(), (5 / 3, 7)),
        (Tolerance(factor=2), (5 / 6, 14)),
        (Tolerance(percent=10), (1.5, 7.7)),
        (Tolerance(points=1), (2 / 3, 8)),
        (Tolerance(std=1), (5 / 3, 7)),  # a ratio has no published deviation
    ],
)
def test_every_key_widens_the_interval_of_a_published_ratio(tolerance, ends):
    assert interval(tolerance, PublishedValue(3.0, 0.5), unit=PublishedValue(1.0)) == pytest.approx(ends)


def test_a_published_unit_that_may_be_zero_bounds_no_ratio_from_above():
    assert interval(Tolerance(factor=2), PublishedValue(3.0), unit=PublishedValue(0.0)) == (2.5, math.inf)


def test_a_first_model_that_took_no_time_gives_no_ratio():
    """A fit may be shorter than the clock of the processor tells."""
    table = table_of("times", [(0.0,), (1.0,), (2.0,)], ["1.0", "2.0", "3.0"])
    assert table["verdict"].tolist() == ["unit", "published only", "published only"]
    assert np.isnan(table["difference"]).all()
