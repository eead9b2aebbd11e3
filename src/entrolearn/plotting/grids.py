"""Scales of the axes of parameter grids."""

import numpy as np

FEW = {"x": 6, "y": 8}  # maximum number of values with one tick each


def grows_by_factors(values: np.ndarray) -> bool:
    """Whether the values are more evenly spaced on a logarithmic axis than on a linear one."""
    if len(values) < 3 or values.min() <= 0:
        return False
    steps, factors = np.diff(values), np.diff(np.log(values))
    return np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps)


def set_scale(axis, values: np.ndarray) -> None:
    """Set a logarithmic scale (base 2 for powers of two), with one tick per value if there are few.

    Parameters
    ----------
    axis : matplotlib Axis
    values : ndarray
        Positive, ascending.
    """
    powers_of_two = bool(np.all(np.frexp(values)[0] == 0.5))
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    if powers_of_two:
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log", base=2)
    if len(values) <= FEW[axis.axis_name]:
        axis.set_ticks(values, labels=[f"{value:g}" for value in values])
        axis.set_ticks([], minor=True)
