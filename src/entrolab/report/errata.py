"""The errata of a paper, and the tables and figures that each of them names."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from entrolab.study.study import Study
from entrolab.text import one_line

LONGEST = 2000
# "Table 4", "Tables 2, 3 and 11", "Figures 2 to 4"
_NAMED = re.compile(r"\b(table|figure)s? (\d+(?:(?:, | and | to )\d+)*)", re.IGNORECASE)
# A study's own name of a table or figure: table9, table9_gamma, figures_2_to_4
_NAME = re.compile(r"(table|figure)s?_?(\d+(?:_to_\d+)?)")


class Listed(NamedTuple):
    """An erratum of a study with its number, one-line texts and the tests that assert it."""

    number: int
    where: str
    published: str = ""
    taken: str = ""
    evidence: str = ""
    tested_by: Sequence[str] = ()


def listed_errata(study: Study) -> list[Listed]:
    """The errata of a study, numbered from 1."""
    short = partial(one_line, limit=LONGEST)
    return [
        Listed(number, *map(short, (one.where, one.published, one.taken, one.evidence)), one.tested_by or ())
        for number, one in enumerate(study.errata, start=1)
    ]


def errata_of(errata: Sequence[Listed], name: str) -> list[Listed]:
    """The errata whose place names a table or figure, or the one that it is a variant of.

    Examples
    --------
    >>> places = ["Tables 9 and 10", "eq. (3)", "Tables 2 to 4; Figure 9"]
    >>> errata = [Listed(number, place) for number, place in enumerate(places, start=1)]
    >>> [each.where for each in errata_of(errata, "table9_gamma")]
    ['Tables 9 and 10']
    >>> [each.number for each in errata_of(errata, "table3")]
    [3]
    """
    own = set(_places(_NAME.match(name)))
    return [
        erratum
        for erratum in errata
        if own & {place for named in _NAMED.finditer(erratum.where) for place in _places(named)}
    ]


def _places(named: re.Match | None) -> Iterator[tuple[str, int]]:
    """The tables or figures of a name or a range of names."""
    if named is None:
        return
    what = named[1].lower()
    for part in re.split(r", | and ", named[2]):
        first, *last = (int(number) for number in re.findall(r"\d+", part))
        yield from ((what, number) for number in range(first, (last or [first])[0] + 1))
