"""Base sections of the entries of tables and figures, and types of values that several sections use."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from entrolab.fit.learners import expand_values
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


def _expanded(value: Mapping) -> list:
    """The list of values of a short form."""
    ((form, (first, last, step)),) = value.items()
    if (last - first) / (step if form == "range" else 1) > MOST_EXPANDED:
        raise wrong(f"found {value}; accepted: at most {MOST_EXPANDED:,} values")
    try:
        values = expand_values(value)
    except ValueError as error:
        raise wrong(f"{error}; accepted: {{range: [first, last, step]}} that contains both ends") from None
    if not values or not all(map(math.isfinite, values)):
        raise wrong(
            f"found {value}; accepted: {{logspace: [first exponent, last exponent, base]}}, "
            "the first not above the last, of finite numbers"
        )
    return values


def _values_of_grid(value):
    """A list of values, with a short form expanded, or a reference ``{of_dataset: name}``."""
    if isinstance(value, list) and value:
        return value
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get("of_dataset"), str):
        return value
    if _is_short_form(value):
        return _expanded(value)
    raise wrong(
        f"found {shortened(value)}, expected a list of values, {{logspace: [first exponent, last exponent, "
        "base]}, {range: [first, last, step]} or {of_dataset: name}"
    )


def expand_short_form(value):
    return _expanded(value) if _is_short_form(value) else value


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
