"""Verdicts: their marks and meanings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The marks of a verdict, and its meaning in tables of any tolerance."""

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
    "published only": Verdict("▷", r"$\triangleright$", "a published number that is not compared"),
    "known": Verdict("", "", "stated by the study, not computed"),
    "unit": Verdict("◇", r"$\diamond$", "the number of the first model, by which the others are divided"),
}
# A number that the study states, such as the best possible score of generated data.
KNOWN = "known"
# The verdicts on what a learner produced, and on what describes data or is set to the published value.
RESULTS, GIVEN = ("reproduced", "higher", "lower"), ("equal", "differs")
# The verdicts that compare a number with a published value, or say that ours is missing.
JUDGED = (*RESULTS, *GIVEN, "failed", "no data")

# Tolerance for rounding errors: a difference equal to the ± is within it.
SLACK = 1e-9
