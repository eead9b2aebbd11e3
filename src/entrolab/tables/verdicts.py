"""Verdicts: their marks and meanings, and the rules that compare a number with a published value."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The marks of a verdict where colour is not seen, and its meaning unless a table type says it closer."""

    mark: str
    tex: str
    meaning: str


VERDICTS = {
    "reproduced": Verdict("≈", r"$\approx$", "ours agrees with the published number"),
    "higher": Verdict("↑", r"$\uparrow$", "ours lies above it"),
    "lower": Verdict("↓", r"$\downarrow$", "ours lies below it"),
    "failed": Verdict("×", r"$\times$", "no number of ours; the footnote says why"),
    "no data": Verdict("∅", r"$\emptyset$", "the data set could not be had"),
    "ours only": Verdict("○", r"$\circ$", "nothing is published to compare with"),
    "published only": Verdict(
        "▷", r"$\triangleright$", "a published number that nothing here is compared with"
    ),
    "unit": Verdict("◇", r"$\diamond$", "what the others of its row are compared with"),
}
# The verdicts that compare a number with a published value, or say that ours is missing.
JUDGED = ("reproduced", "higher", "lower", "failed", "no data")

# A score published without ± is reproduced when ours rounds to it at the one decimal that papers print.
ROUNDING = 0.05
# Percentages made of fractions carry rounding errors; a difference equal to the ± must count as within it.
SLACK = 1e-9


def beside(ours: float, published: float, tolerance: float) -> str:
    """Judge a number by how far from the published value it may be; "ours only" if there is none.

    Examples
    --------
    >>> beside(87.0, 85.0, 2.0), beside(87.1, 85.0, 2.0), beside(82.9, 85.0, 2.0)
    ('reproduced', 'higher', 'lower')
    """
    if math.isnan(published):
        return "ours only"
    return placed(ours, published - tolerance, published + tolerance)


def placed(value: float, low: float, high: float) -> str:
    """Say where a number lies: in the closed interval, above or below it.

    Examples
    --------
    >>> placed(1.0, 0.0, 1.0), placed(2.0, 0.0, 1.0)
    ('reproduced', 'higher')
    """
    if value > high + SLACK:
        return "higher"
    return "lower" if value < low - SLACK else "reproduced"
