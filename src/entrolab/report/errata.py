"""The errata of a paper, and the tables and figures that each of them names."""

import re
from collections.abc import Iterator, Mapping, Sequence

from entrolab.text import one_line

LONGEST = 2000
TEXTS = ("where", "published", "taken", "evidence")
# "Table 4", "Tables 2, 3 and 11", "Figures 2 to 4"
_NAMED = re.compile(r"\b(table|figure)s? (\d+(?:(?:, | and | to )\d+)*)", re.IGNORECASE)
# A study's own name of a table or figure: table9, table9_gamma, figures_2_to_4
_NAME = re.compile(r"(table|figure)s?_?(\d+(?:_to_\d+)?)")


def listed_errata(study: Mapping) -> list[dict]:
    """The errata of a study, numbered from 1, with one-line texts and the tests that assert them."""
    return [
        {name: one_line(erratum[name], limit=LONGEST) for name in TEXTS}
        | {"number": number, "tested_by": erratum.get("tested_by", [])}
        for number, erratum in enumerate(study["errata"], start=1)
    ]


def errata_of(errata: Sequence[Mapping], name: str) -> list[Mapping]:
    """The errata whose place names a table or figure, or the one that it is a variant of.

    Examples
    --------
    >>> errata = [{"where": "Tables 9 and 10"}, {"where": "eq. (3)"}, {"where": "Tables 2 to 4; Figure 9"}]
    >>> [each["where"] for each in errata_of(errata, "table9_gamma")]
    ['Tables 9 and 10']
    >>> [each["where"] for each in errata_of(errata, "table3")]
    ['Tables 2 to 4; Figure 9']
    """
    own = set(_places(_NAME.match(name)))
    return [
        erratum
        for erratum in errata
        if own & {place for named in _NAMED.finditer(erratum["where"]) for place in _places(named)}
    ]


def _places(named: re.Match | None) -> Iterator[tuple[str, int]]:
    """The tables or figures of a name or a range of names."""
    if named is None:
        return
    what = named[1].lower()
    for part in re.split(r", | and ", named[2]):
        first, *last = (int(number) for number in re.findall(r"\d+", part))
        yield from ((what, number) for number in range(first, (last or [first])[0] + 1))
