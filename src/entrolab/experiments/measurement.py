"""`Measurement`, which the workflow imports before any job starts: it must not import slow packages."""

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace


class Measurement(SimpleNamespace):
    """All that decides what is measured for a table on a data set; a script is given it as ``at``.

    Attributes
    ----------
    study, table, dataset : str
        Its address; the data set is "generated" for tables that generate their data.
    task : str
        The task of the data set, or of the data to generate.
    seed : int
    script : str
        The script as the study names it.
    params : mapping
        The table's ``params``.
    models, grids, protocol : mapping
        The parts of the study that the script asks for, see :data:`entrolab.experiments.scripts.GIVEN`.
    progress : callable
        Takes the number of parts done and of all parts.
    """

    models: Mapping[str, dict] = MappingProxyType({})
    progress = staticmethod(lambda done, total: None)
