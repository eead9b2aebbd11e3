"""Registry of table types by their names in studies.

The workflow imports this module before any job starts, so it must not import slow packages.
"""

from entrolab.tables.base import TableType
from entrolab.tables.characteristics import Characteristics
from entrolab.tables.measured import Measured
from entrolab.tables.parameters import Parameters
from entrolab.tables.scores import Scores
from entrolab.tables.times import Times

TABLE_TYPES: dict[str, TableType] = {
    "scores": Scores(),
    "times": Times(),
    "characteristics": Characteristics(),
    "parameters": Parameters(),
    "measured": Measured(),
}
