"""Definition and checks of the claims of a paper and their tests (config/claims/*.yaml)."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import model_validator

from entrolab.schema.sections import (
    ConfigError,
    Section,
    Text,
    Whole,
    by,
    check,
    described,
    list_of,
    mapping_of,
    matching,
    number,
    one_of,
    unknown,
    whole,
    wrong,
)
from entrolab.tables.base import ALL
from entrolab.tables.entries import TableEntry
from entrolab.tables.scores import Limits

Id = matching(r"[a-z0-9]+(-[a-z0-9]+)*", "a name of lower-case letters, digits and -")
# A test of this repository, with all its parameters.
NodeId = matching(r"tests/[a-z0-9_/]+\.py::test_\w+", "a test, tests/folder/test_file.py::test_name")
Names = list_of(str)
Repeated = list_of(str, unique=False)
# Spreads of curves, which figures of type grid_curves have.
CURVES = ("curve", "curve_by_folds")


def _has_exponents(table: TableEntry) -> bool:
    """Whether a table has exponents, or rows of different sizes to fit one to."""
    if table.type != "measured":
        return False
    return bool(table.places) or any(metric.points for metric in table.metrics.values())


def _only_one(section: Section, *names: str):
    """Check that exactly one of some keys is given."""
    if len({*names} & section.model_fields_set) != 1:
        raise wrong(f"found {len({*names} & section.model_fields_set)} of {', '.join(names)}; accepted: one")
    return section


class Margin(Section):
    """A margin: ``{points: 1}`` in the table's unit, ``{percent: 5}`` or ``{factor: 2}``."""

    points: number(ge=0) = None
    percent: number(ge=0, lt=100) = None
    factor: number(ge=1) = None

    @model_validator(mode="after")
    def _one(self):
        return _only_one(self, "points", "percent", "factor")


class ClaimTest(Section):
    """Keys of every test: tables, their metrics and models, and data sets, by default all of the tables."""

    type: str
    tables: Names
    metric: described(str | Names, "a metric, or a list of metrics")
    models: Names = None
    over: described(str | Names, "a group of data sets, or a list of data sets") = None
    # If two readers understood a claim differently: the reader whose reading is tested.
    reading: Whole = None

    @property
    def metrics(self) -> list[str]:
        return [self.metric] if isinstance(self.metric, str) else self.metric

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The tables with the numbers of the first models of its pairs, and of the second ones."""
        return self.tables, getattr(self, "against_tables", None) or self.tables

    def datasets(self, study) -> list[str]:
        """The data sets that it names, or all rows of its tables."""
        if self.over is not None:
            return study.datasets.get(self.over, [self.over]) if isinstance(self.over, str) else self.over
        rows = (row for name in self.tables for row in _spec(study, name)["datasets"])
        return [row for row in dict.fromkeys(rows) if row != ALL]


class _Compared(ClaimTest):
    models: Repeated
    against: Repeated
    # The tables with the numbers of `against`, if not `tables`.
    against_tables: Names = None
    # Compare every model with every rival, or each model with the rival at the same position.
    pairs: one_of("all", "each") = "all"

    @model_validator(mode="after")
    def _as_many(self):
        if self.pairs == "each" and len(self.models or []) != len(self.against or []):
            raise wrong(
                f"found {len(self.models or [])} models against {len(self.against or [])}; "
                "accepted: equally many if pairs is 'each'"
            )
        return self


class Better(_Compared):
    """Every model is better than its rivals, by more than the margin if one is given."""

    by: Margin = Margin(points=0)


class NoWorse(_Compared):
    """No model is worse than its rivals by more than the margin."""

    within: Margin


class Equal(_Compared):
    """Models and rivals differ by less than the margin."""

    within: Margin


class Faster(_Compared):
    """Every model takes less than its rivals, by more than the factor if one is given."""

    factor: number(ge=1) = 1


class Grows(ClaimTest):
    """The metric grows as a power of the number of rows, units, etc., the exponent being within a margin."""

    models: Names
    exponent: number()
    within: number(gt=0) = 0.3


class _Bounds(Section):
    at_least: number() = None
    at_most: number() = None


class Bound(_Bounds, ClaimTest):
    """Every cell, or every spread, is at least, or at most, a number."""

    # trials: the standard deviation over trials.
    # curve: the largest mean of a curve less the smallest.
    # curve_by_folds: the same, divided by the mean standard deviation over folds.
    spread: one_of("trials", *CURVES) = None
    # The value of a curve's parameter from which on it is followed.
    since: number() = None

    @model_validator(mode="after")
    def _one(self):
        return _only_one(self, "at_least", "at_most")


class Often(Limits):
    """Limits of a number of cases: at least, at most or between."""

    min: whole(ge=0) = None
    max: whole(ge=0) = None


class Count(_Bounds, _Compared):
    """On that many data sets one of the models is better than all rivals, or a cell is within a limit.

    With ``of: comparisons``, each comparison of a model with a rival on a data set is counted.
    """

    models: Repeated = None
    against: Repeated = None
    by: Margin = Margin(points=0)
    of: one_of("sets", "comparisons") = "sets"
    count: Often

    @model_validator(mode="after")
    def _one(self):
        _only_one(self, "against", "at_least", "at_most")
        if self.against and not self.models:
            raise wrong("the key 'models' is missing")
        of_rivals = {"against_tables", "pairs", "by", "of"} & self.model_fields_set
        if of_rivals and not self.against:
            raise wrong(f"found {min(of_rivals)!r} without 'against'; accepted: it for comparisons")
        return self


TESTS: dict[str, type[ClaimTest]] = {
    "better": Better,
    "no_worse": NoWorse,
    "equal": Equal,
    "faster": Faster,
    "grows": Grows,
    "bound": Bound,
    "count": Count,
}


class Claim(Section):
    """A claim as the readers listed it, and what decides it or why nothing does."""

    id: Id
    place: Text
    claim: Text
    # All have to hold; if there are readings, all tests of a reading.
    tests: list_of(by("type", TESTS), unique=False) = []
    # Tests of this repository: if all pass, the claim holds, or fails by a counterexample.
    tested_by: list_of(NodeId) = []
    refuted_by: list_of(NodeId) = []
    # The missing data or experiment.
    untested: Text = None
    # Reader -> how this reader understood the claim, if two understood it differently.
    readings: mapping_of(Text, "the readings, {reader: text}", keys=Whole) = {}
    strength: one_of("abstract", "theorem", "result", "remark", "cited") = "result"
    found_by: list_of(Whole) = []
    note: str = ""

    @model_validator(mode="after")
    def _one_decides(self):
        _only_one(self, "tests", "tested_by", "refuted_by", "untested")
        for test in self.tests:
            if test.reading is not None and test.reading not in self.readings:
                known = ", ".join(map(str, self.readings)) or "no reading"
                raise wrong(f"found reading {test.reading}; accepted: {known}")
        return self


class Claims(Section):
    """A file of claims."""

    claims: list_of(Claim)


def load_claims(file: Path, content: Any, study) -> list[Claim]:
    """Check and return the claims of a file; tests may only name tables, models etc. of the study.

    The path `file` is for messages; the tables of the study are filled in. Mistakes raise a `ConfigError`,
    with one line each.
    """
    claims = check(Claims, content, file).claims
    lines = list(dict.fromkeys(_mistakes(claims, study)))
    if lines:
        raise ConfigError("\n".join(f"{file}: {line}" for line in lines))
    return claims


def tested_tables(claims: Sequence[Claim]) -> list[str]:
    """The tables and figures that the tests of some claims read, each once."""
    return list(dict.fromkeys(name for claim in claims for test in claim.tests for name in _tables(test)))


def tested_file(study, name: str) -> str:
    """The CSV file of a table or figure that tests read."""
    folder = "tables" if name in study.tables else "figures"
    return f"results/{study.name}/{folder}/{name}.csv"


def tests_of_repository(claim: Claim) -> list[str]:
    """The tests of this repository that decide a claim."""
    return claim.tested_by or claim.refuted_by


def _tables(test: ClaimTest) -> list[str]:
    return list(dict.fromkeys(itertools.chain(*test.sides)))


def _mistakes(claims: Sequence[Claim], study) -> Iterator[str]:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            yield f"claims: found two claims {claim.id!r}; accepted: each id once"
        seen.add(claim.id)
        for k, test in enumerate(claim.tests):
            where = f"claims.{claim.id}.tests.{k}"
            known = [*study.tables, *_figures(study)]
            tables = list(_all_known(_tables(test), known, f"{where}.tables", "table"))
            yield from tables or _of_test(where, test, study)


def _figures(study) -> list[str]:
    """The figures that tests read: those with one line for each model and data set.

    The csv of a script of predictions with a metric has the column ``score``.
    """
    return [
        name
        for name, entry in study.figures.items()
        if (entry.type == "grid_curves" and entry.by is None)
        or (entry.of == "predictions" and getattr(entry, "metric", None))
    ]


def _spec(study, name: str) -> Mapping:
    """The data sets, models and metrics of a table or figure."""
    if name in study.tables:
        spec = study.spec_of_table(name)
        return {"datasets": spec.datasets, "models": spec.models, "metrics": spec.metrics}
    entry = study.figures[name]
    metrics = [entry.metric] if isinstance(entry.metric, str) else entry.metric
    return {"datasets": study.datasets[entry.datasets], "models": entry.models, "metrics": metrics}


def _all_known(names: Sequence[str], known, where: str, what: str) -> Iterator[str]:
    for name in names:
        yield from unknown(name, known, where, what)


def _of_test(where: str, test: ClaimTest, study) -> Iterator[str]:
    """Yield the rows, columns and metrics of a test that its tables do not have."""
    specs = [_spec(study, name) for name in _tables(test)]

    def of_tables(part: str) -> list[str]:
        return list(dict.fromkeys(key for spec in specs for key in spec[part]))

    for part in ("models", "against"):
        names = getattr(test, part, None) or []
        yield from _all_known(names, of_tables("models"), f"{where}.{part}", "model of these tables")
    yield from _all_known(test.metrics, of_tables("metrics"), f"{where}.metric", "metric of these tables")
    rows = of_tables("datasets")
    if isinstance(test.over, str) and test.over not in study.datasets:
        groups = [*study.datasets, *rows]
        yield from unknown(test.over, groups, f"{where}.over", "group of data sets or row of these tables")
    elif test.over is not None:
        yield from _all_known(test.datasets(study), rows, f"{where}.over", "row of these tables")
    if getattr(test, "spread", None) in CURVES:
        curves = [name for name in _figures(study) if study.figures[name].type == "grid_curves"]
        yield from _all_known(test.tables, curves, f"{where}.tables", "figure of type grid_curves")
    if test.type == "grows":
        growing = [name for name, entry in study.tables.items() if _has_exponents(entry)]
        yield from _all_known(test.tables, growing, f"{where}.tables", "table with exponents")
