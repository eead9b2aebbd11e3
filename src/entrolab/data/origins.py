"""Find the module that reads or generates a data set, from its entry in the catalog."""

from collections.abc import Mapping

BUNDLED, GENERATORS = "entrolab.data.bundled", "entrolab.data.generators"


def made_by(entry: Mapping) -> str:
    """The import path of the one module that reads or generates a data set.

    Examples
    --------
    >>> made_by({"source": "files", "format": {"name": "csv", "label": 0}})
    'entrolab.data.formats.csv'
    """
    of_sources = {"bundled": BUNDLED, "generated": GENERATORS}
    return of_sources.get(entry["source"]) or f"entrolab.data.formats.{entry['format']['name']}"
