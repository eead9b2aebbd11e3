"""Data sets bundled with scikit-learn."""

import numpy as np

from entrolab.data.raw_table import Table


def load(name: str) -> Table:
    """The data set that scikit-learn's ``load_<name>`` loads."""
    from sklearn import datasets

    options = {"scaled": False} if name == "diabetes" else {}
    bunch = getattr(datasets, f"load_{name}")(**options)
    names = bunch.get("target_names")  # absent for regression
    labels = bunch.target if names is None else np.asarray(names)[bunch.target]
    features = [str(one) for one in bunch.feature_names]
    return Table(np.asarray(bunch.data, dtype=np.float64), labels, features, [len(labels)])
