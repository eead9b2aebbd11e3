"""Solutions of delay differential equations, sampled as time series."""

from collections.abc import Callable

import numpy as np

__all__ = ["mackey_glass_series", "solve_delayed"]

#: Time units before the Mackey-Glass series is sampled, so that it does not depend on its start.
WARM_UP = 1000

#: Steps of the solver per time unit.
STEPS_PER_UNIT = 10


def solve_delayed(
    slope: Callable[[float, float], float], *, history: float, delay: float, divisions: int, n_steps: int
) -> np.ndarray:
    """Solve x'(t) = slope(x(t), x(t - delay)), with x(t) = history for all t up to 0.

    The classical Runge-Kutta method with steps of delay / divisions, so that jumps in the derivatives of the
    solution, at multiples of the delay, are at the ends of steps. Halfway between two steps, the past is
    interpolated by the cubic through both values and slopes, which preserves the fourth order. There is at
    least one division; the result, shape (n_steps + 1,), has x at 0, step, 2 step, …
    """
    step = delay / divisions
    values, slopes = [history] * (divisions + 1), []
    for i in range(n_steps):
        now, past, following = values[-1], values[i], values[i + 1]
        k1 = slope(now, past)
        slopes.append(k1)
        middle = history
        if i >= divisions:
            left, right = slopes[i - divisions], slopes[i - divisions + 1]
            middle = (past + following) / 2 + step / 8 * (left - right)
        k2 = slope(now + step / 2 * k1, middle)
        k3 = slope(now + step / 2 * k2, middle)
        k4 = slope(now + step * k3, following)
        values.append(now + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(values[divisions:])


def mackey_glass_series(n_values: int, *, delay: int, interval: int) -> np.ndarray:
    """Mackey and Glass's blood cell model, x' = 0.2 x_d / (1 + x_d^10) - 0.1 x, with x_d = x(t - delay).

    Chaotic for delays from about 17. `delay` and `interval`, the time between two values, are in time units.
    See Mackey and Glass (1977), Oscillation and chaos in physiological control systems, Science 197, 287-289.
    """
    found = solve_delayed(
        lambda x, delayed: 0.2 * delayed / (1 + delayed**10) - 0.1 * x,
        history=1.2,
        delay=delay,
        divisions=delay * STEPS_PER_UNIT,
        n_steps=(WARM_UP + (n_values - 1) * interval) * STEPS_PER_UNIT,
    )
    return found[WARM_UP * STEPS_PER_UNIT :: interval * STEPS_PER_UNIT]
