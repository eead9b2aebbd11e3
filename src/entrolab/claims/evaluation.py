"""Evaluate claims: run the tests of each claim on the study's numbers and combine their outcomes.

A claim about several comparisons holds if each one is significant by itself (an intersection-union test,
which needs no correction for multiple testing). It fails if one comparison is significantly contradicted
after Holm's correction for all comparisons of the claim, or if one of its counts is.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

import pandas as pd

from entrolab.claims.numbers import Numbers, RatioUndefined, TableMissing, less_is_better
from entrolab.fit.metrics import METRICS
from entrolab.study.claims import Claim, ClaimTest, Margin, Often, tests_of_repository
from entrolab.tables.evidence import ALPHA, LEAST_DATASETS, Evidence, Exact, SignedRank, holm

OUTCOMES = ("holds", "fails", "undecided", "not tested")
# The most comparisons of an undecided claim that say what would decide them.
MOST_TOLD = 3
COLUMNS = [
    *("id", "claim", "place", "strength", "found_by", "note", "outcome", "decides"),
    *("test", "part", "part_outcome", "effect", "low", "high", "unit", "p", "sets", "method"),
]
UNDEFINED = "a margin in points, as a ratio of negative numbers is undefined"
# What a test of this repository shows; its suite runs them all.
A_PASS_SHOWS, A_COUNTEREXAMPLE = "shown on examples, to rounding; not a proof", "a counterexample"
CORRECTED = "; one of {} comparisons that must all hold; p-values of contradictions with Holm's correction"


@dataclass(frozen=True)
class Part:
    """One comparison or count of a test: its effect, an interval and the p-value behind the outcome.

    The interval is one of 90 % for comparisons, the certain and the possible number for counts. `sets` is the
    number of data sets, of sizes for an exponent, and of cases for a count.
    """

    name: str
    outcome: str
    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    unit: str = ""
    p: float = math.nan
    sets: int = 0
    method: str = ""
    decides: str = ""  # what would decide it, if undecided


def evaluate(claims: Sequence[Claim], numbers: Numbers) -> pd.DataFrame:
    """Test the claims of a study.

    The result has the columns `COLUMNS` and one row per comparison or test of the repository, with the
    outcome of its claim; an untested claim has one row.
    """
    rows = []
    for claim in claims:
        if names := tests_of_repository(claim):
            outcome, decides = ("holds" if claim.tested_by else "fails"), ""
            shows = A_PASS_SHOWS if claim.tested_by else A_COUNTEREXAMPLE
            parts = [("test", Part(name, outcome, method=shows)) for name in names]
        else:
            judged = _judged([(test, one) for test in claim.tests for one in _parts_of(test, numbers)])
            outcome, decides = _of_claim(claim, judged)
            parts = [(test.type, part) for test, part in judged]
        readers = " ".join(map(str, claim.found_by))
        about = (claim.id, claim.claim, claim.place, claim.strength, readers, claim.note)
        for kind, part in parts or [("", Part("", ""))]:
            rows.append((*about, outcome, decides, kind, *astuple(part)[:-1]))
    return pd.DataFrame(rows, columns=COLUMNS)


def _of_claim(claim: Claim, parts: Sequence[tuple[ClaimTest, Part]]) -> tuple[str, str]:
    """The outcome of a claim on tables, and what would decide it if it is undecided."""
    if not claim.tests:
        return "not tested", claim.untested
    readings = claim.readings or {None: ""}
    found = {
        reader: _together([part.outcome for test, part in parts if test.reading in (None, reader)])
        for reader in readings
    }
    if len({*found.values()}) > 1:
        said = ", ".join(f"{outcome} ({reader}: {readings[reader]})" for reader, outcome in found.items())
        return "undecided", f"which reading of the claim is meant, as their outcomes differ: {said}"
    (outcome,) = {*found.values()}
    if outcome != "undecided":
        return outcome, ""
    decides = list(dict.fromkeys(part.decides for _, part in parts if part.decides))
    return outcome, "; ".join(_first(decides))


def _first(texts: list[str]) -> list[str]:
    """The first texts, and the number of the others."""
    more = len(texts) - MOST_TOLD
    return [*texts[:MOST_TOLD], f"and {more} more"] if more > 0 else texts


def _together(outcomes: Sequence[str]) -> str:
    """The joint outcome of several tests that all have to hold."""
    if "fails" in outcomes:
        return "fails"
    return "holds" if {*outcomes} == {"holds"} else "undecided"


def _parts_of(test: ClaimTest, numbers: Numbers) -> list["Part | _Comparison"]:
    try:
        parts = TEST_TYPES[test.type](test, numbers)
    except TableMissing as missing:
        return [Part("", "undecided", decides=f"a result that is not there: `snakemake {missing}`")]
    except RatioUndefined as undefined:
        return [Part("", "undecided", decides=f"{undefined}: {UNDEFINED}")]
    nothing = Part("", "undecided", decides="the tables have no numbers for these models")
    return parts if any(part.sets for part in parts) else [nothing]


# ------------------------------------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class _Scale:
    """The scale of an effect (a difference, or the log of a ratio): the size of a margin, and the display."""

    margin: Margin
    metric: str

    @property
    def ratio(self) -> bool:
        return self.margin.points is None

    @property
    def better(self) -> float:
        """The effect of a model that is better by the margin."""
        return self._limit(1)

    @property
    def worse(self) -> float:
        return self._limit(-1)

    def _limit(self, sign: int) -> float:
        if self.margin.points is not None:
            return sign * self.margin.points
        if self.margin.factor is not None:
            return sign * math.log(self.margin.factor)
        less = less_is_better(self.metric)
        return (-1 if less else 1) * math.log1p((-sign if less else sign) * self.margin.percent / 100)

    @property
    def unit(self) -> str:
        if not self.ratio:
            known = METRICS.get(self.metric)
            return "points" if (known.percent if known else self.metric == "separability") else ""
        return "%" if self.margin.factor is None else "×"

    def shown(self, effect: float) -> float:
        if not self.ratio:
            return effect
        if self.margin.factor is not None:
            return math.exp(effect)
        sign = -1 if less_is_better(self.metric) else 1
        return 100 * sign * math.expm1(sign * effect)


# Evidence -> the p-value of the test that establishes the claim, and of the one that refutes it.
def _exceeds(evidence: Evidence, limit: float) -> tuple[float, float]:
    return evidence.above(limit), evidence.below(limit)


def _between(evidence: Evidence, low: float, high: float) -> tuple[float, float]:
    inside = max(evidence.above(low), evidence.below(high))
    return inside, min(1.0, 2 * min(evidence.above(high), evidence.below(low)))


SIDES: dict[str, tuple[str, Callable, Callable]] = {
    # Test type -> the key of its margin; the p-values; the limits of the effect.
    "better": ("by", lambda e, s: _exceeds(e, s.better), lambda s: [s.better]),
    "faster": ("factor", lambda e, s: _exceeds(e, s.better), lambda s: [s.better]),
    "no_worse": ("within", lambda e, s: _exceeds(e, s.worse), lambda s: [s.worse]),
    "equal": ("within", lambda e, s: _between(e, s.worse, -s.worse), lambda s: [s.worse, -s.worse]),
}


@dataclass(frozen=True)
class _Comparison:
    """One comparison with a limit, before the correction for the others of its claim."""

    name: str
    evidence: Evidence
    held: float  # p-value of the test that establishes the claim
    refuted: float  # p-value of the test that refutes it
    limits: Sequence[float]  # of the effect
    scale: _Scale
    unit: str

    @property
    def sets(self) -> int:
        return self.evidence.n


def _judged(tests: Sequence[tuple[ClaimTest, "Part | _Comparison"]]) -> list[tuple[ClaimTest, Part]]:
    """The parts of a claim, with Holm's correction for the comparisons among them."""
    comparisons = [one for _, one in tests if isinstance(one, _Comparison)]
    refuted = iter(holm([one.refuted for one in comparisons]))
    correction = CORRECTED.format(len(comparisons)) if len(comparisons) > 1 else ""
    return [
        (test, _part(one, next(refuted), correction) if isinstance(one, _Comparison) else one)
        for test, one in tests
    ]


def _compared(test: ClaimTest, numbers: Numbers) -> list[Part | _Comparison]:
    """Compare each pair of models over all data sets, or on each one if the data sets are few."""
    key, sides, limits = SIDES[test.type]
    margin = Margin(factor=test.factor) if key == "factor" else getattr(test, key)
    found = []
    for metric, (a, b) in itertools.product(test.metrics, _pairs(test)):
        scale = _Scale(margin, metric)
        name = a if a == b else f"{a} vs {b}"
        name += f", {metric}" if len(test.metrics) > 1 else ""
        known = _evidence(test, numbers, (a, b), scale)
        for suffix, evidence in known:
            about = (*sides(evidence, scale), limits(scale), scale, scale.unit)
            found.append(_Comparison(name + suffix, evidence, *about))
        if not known:
            found.append(Part(name, "undecided", decides=f"{name}: numbers of both on one data set or more"))
    return found


def _pairs(test: ClaimTest) -> list[tuple[str, str]]:
    if test.pairs == "each":
        return list(zip(test.models, test.against, strict=True))
    pairs = itertools.product(test.models, test.against)
    return [(a, b) for a, b in pairs if a != b or test.against_tables]


def _evidence(
    test: ClaimTest, numbers: Numbers, pair: tuple[str, str], scale: _Scale
) -> list[tuple[str, Evidence]]:
    """The evidence on a pair: one item over all data sets, or one per data set with the suffix ", on …"."""
    datasets, about = test.datasets(numbers.study), (pair, scale.metric, scale.ratio)
    known = {one: numbers.difference(test.sides, one, *about) for one in datasets}
    known = {one: value for one, value in known.items() if not math.isnan(value)}
    if len(known) >= LEAST_DATASETS:
        return [("", SignedRank(list(known.values())))]
    each = ((one, numbers.on_one(test.sides, one, *about)) for one in known)
    return [(f", on {one}", evidence) for one, evidence in each if evidence]


def _part(one: _Comparison, refuted: float, correction: str) -> Part:
    """A comparison with its outcome; `refuted` is the corrected p-value."""
    outcome = "holds" if one.held <= ALPHA else "fails" if refuted <= ALPHA else "undecided"
    evidence, scale = one.evidence, one.scale
    low, high = map(scale.shown, evidence.interval)
    return Part(
        one.name,
        outcome,
        scale.shown(evidence.effect),
        low,
        high,
        one.unit,
        math.nan if isinstance(evidence, Exact) else refuted if outcome == "fails" else one.held,
        evidence.n,
        evidence.test + correction,
        _would_decide(one.name, evidence, one.limits, scale) if outcome == "undecided" else "",
    )


def _would_decide(name: str, evidence: Evidence, limits: Sequence[float], scale: _Scale) -> str:
    """What would decide an undecided comparison."""
    nearest = min(limits, key=lambda limit: abs(evidence.effect - limit))
    distance = abs(evidence.effect - nearest)
    shown = f"{scale.shown(nearest):.3g} {scale.unit}".strip()
    if isinstance(evidence, Exact):
        if math.isinf(evidence.effect):
            return f"{name}: a margin in points, as a ratio to 0 has no error estimate"
        return f"{name}: repeated measurements or trials; one cannot decide about a limit of {shown}"
    width = (evidence.interval[1] - evidence.interval[0]) / 2
    if isinstance(evidence, SignedRank) and not math.isfinite(width):
        return f"{name}: more data sets, for a limit of {shown}"
    if distance <= width / 10 or not math.isfinite(width):
        return f"{name}: no feasible number of measurements, the effect is too close to {shown}"
    times = (width / distance) ** 2
    if isinstance(evidence, SignedRank):
        # At least one data set more, because the smallest p-value that n data sets allow is 2^-n.
        enough = max(math.ceil(evidence.n * times), evidence.n + 1)
        return f"{name}: about {enough} data sets with differences like these, for a limit of {shown}"
    if times <= 1:
        return f"{name}: a few more trials or rows, as only the correction makes {shown} possible"
    return f"{name}: an interval {math.sqrt(times):.1f} times narrower, from more trials or rows"


# ------------------------------------------------------------------------------------ exponents and counts


def _grows(test: ClaimTest, numbers: Numbers) -> list[Part | _Comparison]:
    limits = [test.exponent - test.within, test.exponent + test.within]
    scale = _Scale(Margin(points=test.within), "")
    found = []
    for model, metric in itertools.product(test.models, test.metrics):
        name, evidence = f"{model}, {metric}", numbers.exponent(test, model, metric)
        if evidence is None:
            found.append(Part(name, "undecided", decides=f"{name}: costs at three sizes or more"))
        else:
            about = (*_between(evidence, *limits), limits, scale, "exponent")
            found.append(_Comparison(name, evidence, *about))
    return found


@dataclass(frozen=True)
class _Case:
    """One case of a count: whether it is true of our numbers, and the p-values of two tests.

    A small `held` establishes the case, a small `refuted` refutes it. A case without numbers is possible, not
    certain.
    """

    name: str
    so: bool = False
    held: float = 1.0
    refuted: float = 1.0
    measured: bool = False


def _counted(test: ClaimTest, numbers: Numbers) -> list[Part]:
    """Count the cases that are true in our numbers (the effect), and those certainly and possibly true."""
    cases = (_compared_cases if getattr(test, "against", None) else _cells)(test, numbers)
    if not any(case.measured for case in cases):
        return []
    held, refuted = holm([case.held for case in cases]), holm([case.refuted for case in cases])
    # That all cases are true needs no correction: an intersection-union test.
    all_hold = all(case.held <= ALPHA for case in cases)
    certain = len(cases) if all_hold else sum(p <= ALPHA for p in held)
    possible = len(cases) - sum(p <= ALPHA for p in refuted)
    wanted = test.count if test.type == "count" else Often(min=len(cases))
    low, high = wanted.min or 0, len(cases) if wanted.max is None else wanted.max
    outcome, decides = "undecided", ""
    if low <= certain and possible <= high:
        outcome = "holds"
    elif possible < low or certain > high:
        outcome = "fails"
    else:
        open_cases = [case.name for case, p, q in zip(cases, held, refuted, strict=True) if min(p, q) > ALPHA]
        decides = f"more trials or rows for {', '.join(_first(open_cases))}"
    said = f"{low} or more" if high >= len(cases) else f"{high} or fewer" if not low else f"{low} to {high}"
    return [
        Part(
            f"true cases, claimed: {said}",
            outcome,
            sum(case.so for case in cases),
            certain,
            possible,
            f"of {len(cases)}",
            math.nan,
            len(cases),
            "certain and possible cases by t-tests over folds, if there are folds, with Holm's correction",
            decides,
        )
    ]


def _cells(test: ClaimTest, numbers: Numbers) -> list[_Case]:
    """One case per cell: whether it is within the limit."""
    models = test.models or list(
        dict.fromkeys(model for name in test.tables for model in numbers.models(name))
    )
    cases = []
    for dataset, model, metric in itertools.product(test.datasets(numbers.study), models, test.metrics):
        if not numbers.has(test.tables, dataset, model, metric):
            continue
        name = " ".join(filter(None, [dataset, model, metric if len(test.metrics) > 1 else ""]))
        evidence = numbers.level(test, dataset, model, metric)
        if evidence is None:
            cases.append(_Case(name))
            continue
        if test.at_least is not None:
            held, refuted = _exceeds(evidence, test.at_least)
            so = evidence.effect >= test.at_least
        else:
            refuted, held = _exceeds(evidence, test.at_most)
            so = evidence.effect <= test.at_most
        if isinstance(evidence, Exact):  # the limit is inclusive
            so = refuted > ALPHA
            held = 1.0 - float(so)
        cases.append(_Case(name, so, held, refuted, measured=True))
    return cases


def _compared_cases(test: ClaimTest, numbers: Numbers) -> list[_Case]:
    """One case per data set (one of the models is better than all rivals), or one per comparison."""
    cases = []
    for dataset, metric in itertools.product(test.datasets(numbers.study), test.metrics):
        scale = _Scale(test.by, metric)
        known: dict[str, list[_Case]] = {}
        for pair in _pairs(test):
            sides = zip(test.sides, pair, strict=True)
            if not all(numbers.has(tables, dataset, model, metric) for tables, model in sides):
                continue
            name = f"{' vs '.join(pair)} on {dataset}"
            evidence = numbers.on_one(test.sides, dataset, pair, metric, scale.ratio)
            if evidence is None:
                case = _Case(name)
            else:
                is_so = evidence.effect > scale.better
                case = _Case(name, is_so, *_exceeds(evidence, scale.better), measured=True)
            known.setdefault(pair[0], []).append(case)
        if test.of == "comparisons":
            cases += itertools.chain.from_iterable(known.values())
        elif known:
            cases.append(_best_of(dataset, list(known.values())))
    return cases


def _best_of(dataset: str, by_model: Sequence[Sequence[_Case]]) -> _Case:
    """The case that at least one model is better than all its rivals, with Bonferroni's correction."""
    return _Case(
        dataset,
        any(all(case.so for case in cases) for cases in by_model),
        min(1.0, len(by_model) * min(max(case.held for case in cases) for cases in by_model)),
        max(min(1.0, len(cases) * min(case.refuted for case in cases)) for cases in by_model),
        any(case.measured for case in itertools.chain.from_iterable(by_model)),
    )


TEST_TYPES: dict[str, Callable[[ClaimTest, Numbers], list[Part | _Comparison]]] = {
    **dict.fromkeys(SIDES, _compared),
    "grows": _grows,
    "bound": _counted,
    "count": _counted,
}
