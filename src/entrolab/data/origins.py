"""Which module makes a data set, by its entry in the catalog."""

from collections.abc import Mapping

BUNDLED, GENERATORS = "entrolab.data.bundled", "entrolab.data.generators"


def made_by(entry: Mapping) -> str:
    """The module that reads or makes a data set: it depends on no other.

    Named rather than imported, so that the rules need not import any.

    Examples
    --------
    >>> made_by({"source": "files", "format": {"name": "csv", "label": 0}})
    'entrolab.data.formats.csv'
    """
    of_sources = {"bundled": BUNDLED, "generated": GENERATORS}
    return of_sources.get(entry["source"]) or f"entrolab.data.formats.{entry['format']['name']}"
