"""Quantities of tables as data: head, unit, decimals, tolerance, comparison; their numbers as text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from entrolab.tables.entries import Tolerance
from entrolab.tables.number_format import decimals_for, decimals_needed, power_of_two
from entrolab.tables.verdicts import SLACK

ROW_DECIMALS = (1, 3)  # minimum and maximum of numbers that have the decimals of their row
PERCENT = "percent"


@dataclass(frozen=True)
class Quantity:
    """What the numbers of a metric are.

    Attributes
    ----------
    label, sublabel : str
        The head of its row or column, in two lines.
    unit : str
        The unit in words, "" for none.
    decimals, most : int
        The decimals shown; `most` if the published values of the table have more than `decimals`.
    by_row : {"", "least", "spread"}
        Whether our numbers in a row have two significant digits: of the least of them, or of the least ± in a
        table without published values.
    style : {"fixed", "thousands", "significant", "general", "power"}
        With separators of thousands; with two significant digits below 0.95; as short as possible; so, or as
        a power of two.
    is_share : bool
        Whether it is a share to be shown in percent.
    compared : {"difference", "ratio", "log2", ""}
        How ours is compared with the published value: by their difference; by the ratio to the data set's
        first model, as seconds of different machines are not comparable; by the logarithm of their ratio; not
        at all.
    is_judged : bool
        Whether a comparison is a verdict.
    tolerance : Tolerance or None
        None for that of the table or its type.
    less_is_better : bool
    panel : str
        Its panel in the report's figure of agreement; "" leaves it out.
    explanation : str
        A sentence on it; `{learnt}`, `{predicted}` and `{tests}` stand for the rows of the study's protocol.
    """

    label: str
    sublabel: str = ""
    unit: str = ""
    decimals: int = 0
    most: int = 0
    by_row: Literal["", "least", "spread"] = ""
    style: Literal["fixed", "thousands", "significant", "general", "power"] = "fixed"
    is_share: bool = False
    compared: Literal["difference", "ratio", "log2", ""] = "difference"
    is_judged: bool = True
    tolerance: Tolerance | None = None
    less_is_better: bool = False
    panel: str = ""
    explanation: str = ""

    @property
    def name(self) -> str:
        """The label with the unit."""
        return f"{self.label} in {self.unit}" if self.unit else self.label

    def digits(self, published: Sequence[float]) -> int:
        """The decimals of its numbers in a table, given all its published values there."""
        exact = all(abs(round(value, self.decimals) - value) < SLACK for value in published)
        return self.decimals if exact else max(self.decimals, self.most)

    def row_digits(
        self, numbers: Sequence[float], spread: Sequence[float], digits: int, has_published: bool
    ) -> int:
        """The decimals of our numbers in one row, given these, their ± and the decimals in the table."""
        if self.by_row == "least":
            least, most = ROW_DECIMALS
            found = decimals_for(min((value for value in numbers if value > 0), default=1.0), 2)
            return min(max(found, least), most)
        if self.by_row == "spread" and not has_published:
            least_spread = min((value for value in spread if value > 0), default=0)
            return decimals_for(least_spread, 2) if least_spread else digits
        return digits

    def number(self, value: float, digits: int) -> str:
        """A number of ours as text."""
        value = 100 * value if self.is_share else value
        if self.style in ("general", "power"):
            is_power = self.style == "power" and 0 < value < math.inf
            return (is_power and power_of_two(value)) or f"{value:g}"
        if self.style == "significant" and 0 < value < 0.95:
            return f"{value:#.2g}"
        if self.by_row == "least" and 0 < value < 10.0**-digits / 2:
            return f"<{10.0**-digits:.{digits}f}"
        # "z" shows a negative number that rounds to zero as 0.0 instead of -0.0.
        return f"{value:z.{digits}f}" if self.style == "fixed" else f"{value:z,.{digits}f}"

    def published_number(self, value: float, digits: int) -> str:
        """A published value as text; beside decimals by row, with those that it is published with."""
        return self.number(value, digits) if self.by_row != "least" else _exact(value, digits)

    def difference(self, difference: float, published: float, digits: int) -> str:
        """The comparison of ours with the published value, as text; empty without a difference."""
        if math.isnan(difference):
            return ""
        if self.compared == "ratio":
            return f"{self.beside_published(difference, published)} the published ratio"
        if self.compared == "log2":
            whole = abs(difference - round(difference)) < 0.005
            return f"ours is 2^{difference:{'.0f' if whole else '.2g'}} times the published value"
        text = f"ours − published {difference:+z.{digits}f}"
        if not self.less_is_better or not difference:
            return text
        return f"{text} ({'better' if difference < 0 else 'worse'})"

    def beside_published(self, difference: float, published: float) -> str:
        """The text beside the published value: of ratios, ours as a multiple of the published one."""
        if self.compared != "ratio" or math.isnan(difference):
            return ""
        factor = f"{difference:.0f}" if difference >= 9.5 else f"{difference:#.2g}"
        return f"{'≥' if published == 0 else ''}×{factor}"


def _exact(value: float, digits: int) -> str:
    return f"{value:.{max(digits, decimals_needed(value))}f}"
