import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from entrolab.data.generators import mackey_glass
from entrolab.data.series import mackey_glass_series, solve_delayed


def mackey_glass_slope(x, delayed):
    return 0.2 * delayed / (1 + delayed**10) - 0.1 * x


def test_linear_delay_equation_has_the_polynomials_of_the_method_of_steps():
    """x' = -x(t - 1) from 1: each unit of time integrates the one before; the method is exact to t^3."""
    found = solve_delayed(lambda x, delayed: -delayed, history=1.0, delay=1.0, divisions=8, n_steps=24)
    t = np.linspace(0, 3, 25)
    expected = 1 - t + np.maximum(t - 1, 0) ** 2 / 2 - np.maximum(t - 2, 0) ** 3 / 6
    assert_allclose(found, expected, atol=1e-14)


def test_equation_that_forgets_its_past_decays_exponentially():
    found = solve_delayed(lambda x, delayed: -x, history=2.0, delay=0.5, divisions=25, n_steps=100)
    assert_allclose(found, 2 * np.exp(-np.linspace(0, 2, 101)), rtol=1e-8)


def test_a_step_half_as_long_has_a_sixteenth_of_the_error():
    ends = [
        solve_delayed(mackey_glass_slope, history=1.2, delay=17.0, divisions=n, n_steps=6 * n)[-1]
        for n in (34, 68, 136)
    ]
    assert (ends[0] - ends[1]) / (ends[1] - ends[2]) == pytest.approx(16, rel=0.15)


@pytest.mark.parametrize("history", [1.0, 0.0])
def test_series_stays_at_its_equilibria(history):
    """0.2 x / (1 + x^10) = 0.1 x at x = 1 and at x = 0."""
    found = solve_delayed(mackey_glass_slope, history=history, delay=30.0, divisions=30, n_steps=90)
    assert_allclose(found, history, atol=1e-15)


def test_series_comes_to_rest_at_a_short_delay_and_never_at_a_long_one():
    """The equilibrium 1 is stable up to the delay d = 4.71 at which i w + 0.1 + 0.4 exp(-i w d) = 0."""
    assert_allclose(mackey_glass_series(20, delay=3, interval=10), 1, atol=1e-6)
    assert np.std(mackey_glass_series(100, delay=30, interval=10)) > 0.1


def test_values_stand_an_interval_apart():
    fine = mackey_glass_series(13, delay=17, interval=1)
    assert_array_equal(mackey_glass_series(3, delay=17, interval=6), fine[::6])


def test_rows_are_windows_and_labels_their_next_values():
    table = mackey_glass(n_samples=50, n_delays=4, interval=6, delay=17)
    series = mackey_glass_series(54, delay=17, interval=6)
    assert table.X.shape == (50, 4)
    assert_array_equal(table.X[3], series[3:7])
    assert_array_equal(table.labels, series[4:])
