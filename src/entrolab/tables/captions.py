"""What a table says of its numbers and verdicts, from its quantities and tolerances."""

from entrolab.tables.base import TableSpec
from entrolab.tables.entries import EQUAL, Tolerance
from entrolab.tables.quantities import PERCENT
from entrolab.tables.scores import CRITERIA

# What bold numbers are, see `entrolab.claims.winners`.
BOLD = (
    "Bold: the best model of each row and those not significantly worse (two-sided t-tests over folds at 5 % "
    "with the corrected variance of Nadeau and Bengio, and Holm's correction for all pairs of models); no "
    "bold in rows where no model is significantly worse."
)


def explanation(spec: TableSpec) -> str:
    """What the numbers of a table are, in sentences."""
    if spec.entry.explanation:
        return spec.entry.explanation
    parts = [spec.type.explanation, *(quantity.explanation for quantity in spec.metrics.values())]
    return " ".join(in_words(text, spec) for text in dict.fromkeys(filter(None, parts)))


def in_words(text: str, spec: TableSpec) -> str:
    """A text of a table type or of a quantity with the words of a study."""
    *names, last = [quantity.name for quantity in spec.metrics.values() if not quantity.explanation] or [""]
    metrics = f"{', '.join(names)} and {last}" if names else last
    learnt = f"at most {spec.sample:,} rows" if spec.sample else "all rows"
    return text.format(
        metrics=metrics[:1].upper() + metrics[1:],
        criterion=CRITERIA.get(getattr(spec.entry, "criterion", ""), ""),
        tests="the test rows of the trials" if spec.trials else "the test folds",
        learnt="the training rows of the first trial" if spec.trials else learnt,
        predicted="its test rows" if spec.trials else "the rows that it was fitted on",
    )


def compares(spec: TableSpec) -> str:
    """What the two numbers of a cell are."""
    if not any(quantity.compared == "ratio" for quantity in spec.metrics.values()):
        return "Top: ours; bottom: the published number."
    return (
        "Top: ours; bottom: the published number and, since seconds of different machines are not "
        "comparable, our ratio to the data set's first model divided by the published ratio."
    )


def agreement(spec: TableSpec) -> str:
    """The tolerances of a table in words; of several, one of a single metric is with its name."""
    labels: dict[str, list[str]] = {}
    for key, one in spec.metrics.items():
        if one.is_judged and one.compared:
            labels.setdefault(tolerance_in_words(spec.tolerance(key), one.unit), []).append(one.label)
    if len(labels) < 2:
        return next(iter(labels), "not judged")
    return "; ".join(f"{of[0]} {words}" if len({*of}) == 1 else words for words, of in labels.items())


def meanings(spec: TableSpec) -> dict[str, str]:
    """The meanings of the verdicts on results, by the tolerances of a table."""
    quantities = spec.metrics.values()
    of = "ours"
    if all(one.compared == "ratio" for one in quantities):
        of = "the ratio to the data set's first model"
    worse, better = "", ""
    if all(one.less_is_better for one in quantities):
        worse, better = ", which is worse", ", which is better"
    within = agreement(spec).replace("within ±", "within the published ±")
    return {
        "reproduced": f"{of} agrees with the published one: {within}",
        "higher": f"{of} lies above the published one{worse}",
        "lower": f"{of} lies below the published one{better}",
    }


def tolerance_in_words(tolerance: Tolerance, unit: str = "") -> str:
    """A tolerance as the foot of a table names it.

    Examples
    --------
    >>> tolerance_in_words(Tolerance(std=1)), tolerance_in_words(Tolerance(points=2), "percent")
    ('within ±', 'within 2 points')
    >>> tolerance_in_words(Tolerance(points=0.3, standard_error=2)), tolerance_in_words(Tolerance())
    ('within 0.3 or 2 standard errors', 'equal, rounded')
    """
    if tolerance in (EQUAL, Tolerance(points=0)):
        return "equal"
    points = "" if not unit.startswith(PERCENT) else " point" if tolerance.points == 1 else " points"
    widths = {
        "std": f"{tolerance.std:g} ±" if tolerance.std not in (None, 1) else "±",
        "points": f"{tolerance.points or 0:g}{points}",
        "percent": f"{tolerance.percent or 0:g} %",
        "factor": f"×{tolerance.factor or 1:g}",
        "standard_error": f"{tolerance.standard_error or 0:.3g} standard errors",
    }
    given = [text for key, text in widths.items() if getattr(tolerance, key) is not None]
    return f"within {' or '.join(given)}" if given else "equal, rounded"
