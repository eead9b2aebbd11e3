"""Fitted models in files: the skops format, which is read without running code that a file brings along."""

import io
import os
from collections.abc import Sequence

from sklearn.base import BaseEstimator

# skops brings along all of scikit-learn, a second or more that who stores or reads nothing need not pay: each
# function imports it.

TRUSTED_PACKAGES = ("entrolearn", "sklearn", "numpy", "scipy")


def dump(fitted: BaseEstimator) -> bytes:
    """A fitted estimator as the bytes of a file."""
    import skops.io

    buffer = io.BytesIO()
    skops.io.dump(fitted, buffer)
    return buffer.getvalue()


def load(path: str | os.PathLike, named: Sequence[str]) -> BaseEstimator:
    """The fitted estimator in a file.

    Parameters
    ----------
    path : path
    named : sequence of str
        Import paths of the estimators that it is made of, as the study names them.

    Raises
    ------
    ValueError
        If the file is not whole, or holds types of other packages.
    """
    import skops.io

    return skops.io.load(path, trusted=trusted_types(path, named))


def trusted_types(path: str | os.PathLike, named: Sequence[str]) -> list[str]:
    """The types in a file that loading it has to trust, all of them from packages that are known.

    The packages of the estimators that the study names are known too: training has run their code already.
    """
    import skops.io

    packages = {*TRUSTED_PACKAGES, *(name.partition(".")[0] for name in named)}
    try:
        found = skops.io.get_untrusted_types(file=path)
    except Exception as error:  # a damaged file raises whatever its bytes lead to
        raise ValueError(f"{path}: not a whole model file ({error}); delete it and run again") from error
    refused = [name for name in found if name.partition(".")[0] not in packages]
    if refused:
        raise ValueError(
            f"{path}: the model holds {', '.join(refused)}; accepted are types of "
            f"{', '.join(sorted(packages))}, so it is neither loaded nor stored"
        )
    return found
