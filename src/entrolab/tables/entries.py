"""Base sections of the entries of tables and figures, and types of values that several sections use."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator

from entrolab.schema.sections import (
    Heading,
    Section,
    described,
    list_of,
    number,
    one_of,
    shortened,
    wrong,
)

# Maximum number of values of a short form.
MOST_EXPANDED = 10_000


def _is_short_form(value) -> bool:
    """Whether a value is ``{logspace: [int, int, base]}`` or ``{range: [first, last, step]}``."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((form, numbers),) = value.items()
    if form not in ("logspace", "range") or not isinstance(numbers, list) or len(numbers) != 3:
        return False
    if any(isinstance(n, bool) or not isinstance(n, (int, float)) or not math.isfinite(n) for n in numbers):
        return False
    return numbers[2] > 0 and (form == "range" or all(isinstance(n, int) for n in numbers[:2]))


def expand_short_form(value):
    """The values of a short form, powers of a base or equal steps with both ends; other values as they are.

    Examples
    --------
    >>> expand_short_form({"logspace": [-2, 1, 10]}), expand_short_form({"range": [5, 20, 5]})
    ([0.01, 0.1, 1.0, 10.0], [5, 10, 15, 20])
    """
    if not _is_short_form(value):
        return value
    ((form, numbers),) = value.items()
    # Decimal, because 10.0**-5 may not be the double nearest to 1e-5, nor 3 * 0.1 the one nearest to 0.3.
    first, last, step = (Decimal(str(number)) for number in numbers)
    n_steps = (last - first) / (step if form == "range" else 1)
    if n_steps > MOST_EXPANDED:
        raise wrong(f"found {value}; accepted: at most {MOST_EXPANDED:,} values")
    if form == "range":
        if n_steps < 0 or n_steps != int(n_steps):
            raise wrong(
                f"steps of {step} do not lead from {first} to {last}; accepted: {{range: [first, last, "
                "step]} that contains both ends"
            )
        number = int if all(isinstance(one, int) for one in numbers) else float
        return [number(first + k * step) for k in range(int(n_steps) + 1)]
    values = [float(step**exponent) for exponent in range(*numbers[:2])] + [float(step**last)]
    if n_steps < 0 or not all(map(math.isfinite, values)):
        raise wrong(
            f"found {value}; accepted: {{logspace: [first exponent, last exponent, base]}}, the first not "
            "above the last, of finite numbers"
        )
    return values


def _values_of_grid(value):
    """A list of values, with a short form expanded, or a reference ``{of_dataset: name}``."""
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get("of_dataset"), str):
        return value
    values = expand_short_form(value)
    if isinstance(values, list) and values:
        return values
    raise wrong(
        f"found {shortened(value)}, expected a list of values, {{logspace: [first exponent, last exponent, "
        "base]}, {range: [first, last, step]} or {of_dataset: name}"
    )


Params = dict[str, Annotated[Any, AfterValidator(expand_short_form)]]
Grid = dict[str, Annotated[Any, AfterValidator(_values_of_grid)]]


class Entry(Section):
    """A table or a figure of a study."""

    type: str
    caption: Heading
    notes: list[str] = []


class Tolerance(Section):
    """The difference that counts as reproduced; of several keys, the one that allows most.

    `std` counts published standard deviations, `standard_error` standard errors of ours, `points` units of
    the number, `percent` hundredths of the published value; `factor` multiplies and divides it. Where no key
    applies, as with `std` and a value published without one, ours has to round to the published value.
    """

    std: number(gt=0) = None
    points: number(ge=0) = None
    percent: number(gt=0) = None
    factor: number(gt=1) = None
    standard_error: number(gt=0) = None


# Equality, as far as the eight digits of a table's file tell.
EQUAL = Tolerance(percent=1e-5)


class TableEntry(Entry):
    """A table of a study.

    `published` names the published table to compare with, by default the one of the same name; the
    defaults of `tolerance` and `explanation`, what the numbers are, are those of the table type.
    """

    published: str = None
    tolerance: Tolerance = None
    explanation: str = ""


class OfData(TableEntry):
    """A table of a group of data sets."""

    datasets: str


class WithParams(Section):
    """A model with fixed parameters."""

    params: Params = None


ModelNames = described(one_of("all") | list_of(str), "all, or a list of model names")
Task = one_of("binary", "regression")


# Maximum number of lines or panels that can be distinguished.
SixModels = described(list_of(str, at_most=6), "a list of one to six model names")
TwelveModels = described(list_of(str, at_most=12), "a list of one to twelve model names")
