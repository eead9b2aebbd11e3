"""Formats of numbers and names: powers of two, decimals, headings."""

import math
import re
from collections.abc import Callable
from decimal import Decimal


class Power(str):
    """A number as plain text, such as "2^-20", with a raised exponent in formatted views."""

    __slots__ = ()

    def raised(self, markup: Callable[[str, str], str]) -> str:
        """The number in markup, by a function of base and exponent."""
        return markup(*self.split("^"))

    def __html__(self) -> str:
        return self.raised(lambda base, exponent: f"{base}<sup>{exponent.replace('-', '−')}</sup>")


def power_of_two(value: float) -> Power | None:
    """`value` as a power of two, within the eight digits of a table's file; None if it is not one.

    Examples
    --------
    >>> power_of_two(0.25), power_of_two(9.5367432e-07), power_of_two(3.0)
    ('2^-2', '2^-20', None)
    """
    exponent = round(math.log2(value))
    return Power(f"2^{exponent}") if math.isclose(value, 2.0**exponent, rel_tol=1e-7) else None


def decimals_of(text: object) -> int:
    """The decimals of a number as written.

    Examples
    --------
    >>> decimals_of("0.150"), decimals_of("29"), decimals_of(1e-05)
    (3, 0, 5)
    """
    return max(0, -int(Decimal(str(text)).as_tuple().exponent))


def decimals_needed(value: float) -> int:
    """The decimals needed to write a number.

    Examples
    --------
    >>> decimals_needed(0.0006), decimals_needed(29.0)
    (4, 0)
    """
    return decimals_of(Decimal(repr(float(value))).normalize())


def decimals_for(value: float, significant: int) -> int:
    """The decimals that show a positive number with some significant digits; at least 0.

    Examples
    --------
    >>> decimals_for(0.0123, 2), decimals_for(35.2, 2), decimals_for(898.3, 2)
    (3, 0, 0)
    """
    return max(0, significant - 1 - math.floor(math.log10(value)))


def title(name: str) -> str:
    """A table's or a figure's key as a heading.

    Examples
    --------
    >>> title("table4"), title("figure2_real"), title("demo_cv")
    ('Table 4', 'Figure 2, real', 'Demo cv')
    """
    return number_of(name) or name.replace("_", " ").capitalize()


def heading(name: str, caption: str) -> str:
    """The number of a paper's table with its caption; of any other table the caption, or the key without one.

    Examples
    --------
    >>> heading("table4", "GMEAN"), heading("demo_cv", "GMEAN"), heading("demo_cv", "")
    ('Table 4: GMEAN', 'GMEAN', 'Demo cv')
    """
    return ": ".join(filter(None, (number_of(name), caption))) or title(name)


def number_of(name: str) -> str:
    """The number of a paper's table or figure, given its key; "" for all other keys.

    Examples
    --------
    >>> number_of("table4"), number_of("demo_cv")
    ('Table 4', '')
    """
    numbered = re.fullmatch(r"(table|figure)(\d+)(?:_(\w+))?", name)
    if not numbered:
        return ""
    what, number, variant = numbered.groups()
    return f"{what.capitalize()} {number}" + (f", {variant.replace('_', ' ')}" if variant else "")
