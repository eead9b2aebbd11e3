"""Verdicts: their marks and meanings, and the rules that compare a number with a published value."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The marks of a verdict, and its meaning unless the table type has one of its own."""

    mark: str
    tex: str
    meaning: str


VERDICTS = {
    "reproduced": Verdict("≈", r"$\approx$", "ours agrees with the published number"),
    "higher": Verdict("↑", r"$\uparrow$", "ours lies above it"),
    "lower": Verdict("↓", r"$\downarrow$", "ours lies below it"),
    "equal": Verdict("=", "$=$", "a property of the data or a setting; ours equals the published value"),
    "differs": Verdict("≠", r"$\neq$", "a property of the data or a setting; ours differs"),
    "failed": Verdict("×", r"$\times$", "no number of ours; the footnote says why"),
    "no data": Verdict("∅", r"$\emptyset$", "the data set is not available"),
    "ours only": Verdict("○", r"$\circ$", "nothing is published to compare with"),
    "published only": Verdict(
        "▷", r"$\triangleright$", "a published number without a number of ours to compare"
    ),
    "known": Verdict("", "", "stated by the study, not computed"),
    "unit": Verdict("◇", r"$\diamond$", "the value by which the others of its row are divided"),
}
# A number that the study states, such as the best possible score of generated data.
KNOWN = "known"
# The verdicts on what a learner produced, and on what describes data or is set to the published value.
RESULTS, GIVEN = ("reproduced", "higher", "lower"), ("equal", "differs")
# The verdicts that compare a number with a published value, or say that ours is missing.
JUDGED = (*RESULTS, *GIVEN, "failed", "no data")

# The tolerance of a score published without ±: ours rounds to it at one decimal.
ROUNDING = 0.05
# Tolerance for rounding errors of percentages: a difference equal to the ± is within it.
SLACK = 1e-9


def beside(ours: float, published: float, tolerance: float) -> str:
    """The verdict on a number, given the tolerance around the published value; "ours only" without a value.

    Examples
    --------
    >>> beside(87.0, 85.0, 2.0), beside(87.1, 85.0, 2.0), beside(82.9, 85.0, 2.0)
    ('reproduced', 'higher', 'lower')
    """
    if math.isnan(published):
        return "ours only"
    return placed(ours, published - tolerance, published + tolerance)


def placed(value: float, low: float, high: float) -> str:
    """The verdict on a number by a closed interval: in it, above or below.

    Examples
    --------
    >>> placed(1.0, 0.0, 1.0), placed(2.0, 0.0, 1.0)
    ('reproduced', 'higher')
    """
    if math.isnan(value):
        raise ValueError("value: found nan; accepted: a number, as an undefined one has no verdict")
    if value > high + SLACK:
        return "higher"
    return "lower" if value < low - SLACK else "reproduced"


def as_given(verdict: str) -> str:
    """The verdict on data or a setting that corresponds to one on a result; others are returned unchanged.

    Examples
    --------
    >>> as_given("reproduced"), as_given("lower"), as_given("ours only")
    ('equal', 'differs', 'ours only')
    """
    if verdict not in RESULTS:
        return verdict
    return "equal" if verdict == "reproduced" else "differs"
