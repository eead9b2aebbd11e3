"""Registry of table types by their names in studies.

The workflow imports this module before any job starts, so it must not import slow packages.
"""

from collections.abc import Mapping

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


def table_spec(study_name: str, study: Mapping, table: str) -> dict:
    """The spec of a table: its entry in ``tables``, with the keys of data sets and models resolved.

    The spec is the entry, plus: study, table, ``trials`` (number of trials of the protocol, 0 if it has
    folds), ``sample`` (number of rows sampled from larger data sets, 0 for all rows), and datasets, models
    and metrics (each a mapping of keys to {"label", "sublabel", …}, in the study's order).
    """
    entry = study["tables"][table]
    table_type = TABLE_TYPES[entry["type"]]
    tasks, protocol = study.get("tasks", {}), study.get("protocol", {})
    named = {
        key: {"label": key, "sublabel": "", "task": tasks.get(key, "")}
        for key in (() if table_type.generates else study["datasets"][entry["datasets"]])
    }
    return {
        **entry,
        "study": study_name,
        "table": table,
        "trials": protocol.get("trials", 0),
        "sample": protocol.get("rows", 0),
        "datasets": named | table_type.places(entry),
        "models": table_type.models(entry, study),
        "metrics": table_type.metrics(entry),
    }
