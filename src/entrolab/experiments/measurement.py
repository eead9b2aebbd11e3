"""`Measurement`, which the workflow imports before any job starts: it must not import slow packages."""

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace


class Measurement(SimpleNamespace):
    """All that decides what is measured for a table on a data set.

    Attributes
    ----------
    study, table, dataset : str
        Its address; the data set is "generated" for tables that generate their data.
    measured_by : str
        The module whose ``measure`` computes the rows.
    seed : int
    models : mapping
        The entries that are fitted, by name.
    others
        Those that the method `measurement` of the table type returns.
    """

    models: Mapping[str, dict] = MappingProxyType({})
