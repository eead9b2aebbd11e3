"""Registry of table types by their names in studies.

The workflow imports this module before any job starts, so it must not import slow packages.
"""

from entrolab.experiments.capacity.table import Capacity
from entrolab.experiments.clusterings.table import Clusterings
from entrolab.experiments.correlations.table import Correlations
from entrolab.experiments.density.table import Density
from entrolab.experiments.evaluations.table import Evaluations
from entrolab.experiments.growth.table import Growth
from entrolab.experiments.information.table import Information
from entrolab.experiments.searches.table import Searches
from entrolab.experiments.separability.table import Separability
from entrolab.experiments.starts.table import Starts
from entrolab.tables.base import TableType
from entrolab.tables.characteristics import Characteristics
from entrolab.tables.parameters import Parameters
from entrolab.tables.scores import Scores
from entrolab.tables.times import Times
from entrolab.tables.training import Training

TABLE_TYPES: dict[str, TableType] = {
    "scores": Scores(),
    "times": Times(),
    "characteristics": Characteristics(),
    "parameters": Parameters(),
    "correlations": Correlations(),
    "growth": Growth(),
    "separability": Separability(),
    "density": Density(),
    "capacity": Capacity(),
    "starts": Starts(),
    "evaluations": Evaluations(),
    "clusterings": Clusterings(),
    "training": Training(),
    "information": Information(),
    "searches": Searches(),
}
