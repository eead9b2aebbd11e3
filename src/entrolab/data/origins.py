"""The module that makes a data set, by its entry in the catalog."""

from collections.abc import Mapping

BUNDLED, GENERATORS = "entrolab.data.bundled", "entrolab.data.generators"


def made_by(entry: Mapping) -> str:
    """The import path of the module that reads or generates a data set, the only one that it depends on.

    Examples
    --------
    >>> made_by({"source": "files", "format": {"name": "csv", "label": 0}})
    'entrolab.data.formats.csv'
    """
    of_sources = {"bundled": BUNDLED, "generated": GENERATORS}
    return of_sources.get(entry["source"]) or f"entrolab.data.formats.{entry['format']['name']}"
