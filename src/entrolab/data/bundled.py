"""Tables that come with scikit-learn.

The functions end in a name -> function table; each returns a :class:`~entrolab.data.raw_table.Table`.
"""

import numpy as np

from entrolab.data.raw_table import Table

__all__ = ["BUNDLED"]


def _bundled(loader: str) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{loader}")()
    names = np.asarray(bunch.target_names)
    return Table(
        np.asarray(bunch.data, dtype=np.float64),
        names[bunch.target],
        [str(name) for name in bunch.feature_names],
        [len(bunch.target)],
    )


def breast_cancer() -> Table:
    """Wisconsin diagnostic breast cancer; labels "malignant" and "benign"."""
    return _bundled("breast_cancer")


def diabetes() -> Table:
    """Progress of a disease after a year, a number, from ten measurements at its beginning."""
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    return Table(bunch.data, bunch.target, list(bunch.feature_names), [len(bunch.target)])


def digits() -> Table:
    """Handwritten digits of 8 × 8 pixels; labels 0 to 9."""
    return _bundled("digits")


def iris() -> Table:
    """Iris flowers; labels "setosa", "versicolor", "virginica"."""
    return _bundled("iris")


def wine() -> Table:
    """Chemical analyses of wines; labels "class_0", "class_1", "class_2"."""
    return _bundled("wine")


BUNDLED = {
    "breast_cancer": breast_cancer,
    "diabetes": diabetes,
    "digits": digits,
    "iris": iris,
    "wine": wine,
}
