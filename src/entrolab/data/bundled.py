"""Data sets bundled with scikit-learn: a name -> function table."""

from functools import partial

import numpy as np

from entrolab.data.raw_table import Table

__all__ = ["BUNDLED"]


def _bundled(loader: str) -> Table:
    from sklearn import datasets

    options = {"scaled": False} if loader == "diabetes" else {}
    bunch = getattr(datasets, f"load_{loader}")(**options)
    names = bunch.get("target_names")  # absent for regression
    labels = bunch.target if names is None else np.asarray(names)[bunch.target]
    features = [str(name) for name in bunch.feature_names]
    return Table(np.asarray(bunch.data, dtype=np.float64), labels, features, [len(labels)])


BUNDLED = {name: partial(_bundled, name) for name in ("breast_cancer", "diabetes", "digits", "iris", "wine")}
