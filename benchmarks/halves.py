"""Two halves of the catalog's data sets, by a hash of their names: one to choose defaults, both for reports.

``python -m benchmarks.halves FOLDER`` prints R² of the regressors by ridge and intercept; raw files are read
from that folder, or downloaded.
"""

import hashlib
import sys

import numpy as np
import pandas as pd
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import from_catalog
from entrolearn import ELMRegressor, KELMRegressor, RKELMRegressor

# All regressions of the catalog except year-msd, which has to be downloaded.
REGRESSION = (
    "auto-mpg",
    "abalone",
    "california-housing",
    "wpbc",
    "computer-activity",
    "triazines",
    "bank8fm",
    "sklearn-diabetes",
    "mackey-glass",
)
MAX_ROWS = 2000
RIDGES = {
    KELMRegressor: [2.0**-10, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0],
    RKELMRegressor: [2.0**-20, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0],
    ELMRegressor: [0.0, 1e-3, 0.01, 0.1, 1.0, 3.0, 10.0, 30.0],
}


def chosen_on(name: str) -> bool:
    """Whether defaults are chosen on this data set; the others are only used afterwards.

    Examples
    --------
    >>> [name for name in ("auto-mpg", "bank8fm", "wpbc") if chosen_on(name)]
    ['auto-mpg']
    """
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


def scores(mirror=None) -> pd.DataFrame:
    """R² on standardised features for each data set: the mean of three halvings of at most 2,000 rows."""
    rows = []
    for name in REGRESSION:
        X, y = from_catalog(name, mirror)
        drawn = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
        for learner, ridges in RIDGES.items():
            random = {} if learner is KELMRegressor else {"random_state": 0}
            for C in ridges:
                for intercept in (False, True):
                    machine = learner(C=C, fit_intercept=intercept, **random)
                    found = cross_val_score(
                        make_pipeline(StandardScaler(), machine),
                        X[drawn],
                        y[drawn],
                        cv=ShuffleSplit(3, train_size=0.5, random_state=0),
                    )
                    rows.append((learner.__name__, C, intercept, chosen_on(name), name, found.mean()))
    return pd.DataFrame(rows, columns=["learner", "C", "intercept", "chosen_on", "set", "r2"])


def main(mirror) -> None:
    """Print R² of each data set, and the means over both halves, in which R² below -1 is replaced by -1."""
    found = scores(mirror)
    by = ["learner", "intercept", "C"]
    table = found.pivot(index=by, columns="set", values="r2").clip(lower=-1)
    for half, some in found[["set", "chosen_on"]].drop_duplicates().groupby("chosen_on"):
        table["mean, chosen on" if half else "mean, others"] = table[list(some["set"])].mean(axis=1)
    print(table.round(3).to_string())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
