"""Two halves of the catalog's data sets, by a hash of their names: defaults are chosen on one, reported on both.

``python -m benchmarks.halves --mirror FOLDER`` prints R² of the regressors by their ridge on the regression sets.
"""

import hashlib

__all__ = ["chosen_on"]


def chosen_on(name: str) -> bool:
    """Whether defaults are chosen on this data set; the others are looked at afterwards.

    Examples
    --------
    >>> [name for name in ("auto-mpg", "bank8fm", "wpbc") if chosen_on(name)]
    []
    """
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0
