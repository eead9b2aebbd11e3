"""Kinds of tables: what is in a cell, how it is judged beside the printed number, and how it is shown.

All that tells one kind of table from another is in its object here; the checks of a study, the rules, the
tables' frames and their views ask it. The workflow asks before any job starts, so nothing heavy is imported.
"""

from entrolearn.lab.kinds.base import (
    GENERATED,
    PRINTED_ALONE,
    Cell,
    Found,
    Judged,
    Kind,
    Printed,
)
from entrolearn.lab.kinds.characteristics import Characteristics
from entrolearn.lab.kinds.clusterings import Clusterings
from entrolearn.lab.kinds.correlations import Correlations
from entrolearn.lab.kinds.evaluations import Evaluations
from entrolearn.lab.kinds.generated import Capacity, Density
from entrolearn.lab.kinds.growth import Growth
from entrolearn.lab.kinds.information import Information
from entrolearn.lab.kinds.parameters import Parameters
from entrolearn.lab.kinds.scores import CRITERIA, Scores
from entrolearn.lab.kinds.searches import Searches
from entrolearn.lab.kinds.separability import Separability
from entrolearn.lab.kinds.starts import Starts
from entrolearn.lab.kinds.times import Times
from entrolearn.lab.kinds.training import Training
from entrolearn.lab.wording import one_line

__all__ = [
    "CRITERIA",
    "FILES",
    "GENERATED",
    "KINDS",
    "PRINTED_ALONE",
    "Cell",
    "Found",
    "Judged",
    "Kind",
    "Printed",
    "one_line",
]

KINDS: dict[str, Kind] = {
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

# Where the files of a stage are.
FILES = {
    "data": "results/data/{dataset}.npz",
    "folds": "results/{paper}/folds/{dataset}.npz",
    "scaled": "results/{paper}/scaled/{dataset}.npz",
    "scores": "results/{paper}/scores/{dataset}",
    "models": "results/{paper}/models/{dataset}",
    "records": "results/{paper}/records/{dataset}/{model}.json",
    "candidates": "results/{paper}/candidates/{dataset}/{model}.parquet",
    "measured": "results/{paper}/measured/{table}/{dataset}.parquet",
    "tables": "results/{paper}/tables/{table}.csv",
}
