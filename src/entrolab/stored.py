"""Fitted models in files: the skops format, which is read without running code that a file brings along."""

import importlib
import io
import os
from collections.abc import Iterable, Sequence

from sklearn.base import BaseEstimator

from entrolab.text import one_line

# skops brings along all of scikit-learn, a second or more that who stores or reads nothing need not pay: each
# function imports it.

# What skops does not know by itself may be a class of these; no function, and nothing that they only import.
# A file can have what it names called with arguments of its own, and numpy has functions that run any text.
TRUSTED_PACKAGES = ("entrolearn", "sklearn", "scipy.interpolate", "scipy.spatial", "scipy.stats")


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
        If the file is not whole, or holds types of other packages, or their functions.
    """
    import skops.io

    trusted = trusted_types(path, named)
    try:
        return skops.io.load(path, trusted=trusted)
    except Exception as error:  # a damaged file raises whatever its bytes lead to
        raise _damaged(path, error) from error


def trusted_types(path: str | os.PathLike, named: Sequence[str]) -> list[str]:
    """The types in a file that loading it has to trust, all of them classes of packages that are known.

    The packages of the estimators that the study names are known too, with their functions: training has run
    their code already.
    """
    import skops.io

    of_study = {name.partition(".")[0] for name in named} - {"sklearn", "entrolearn"}
    try:
        found = skops.io.get_untrusted_types(file=path)
    except Exception as error:  # as above
        raise _damaged(path, error) from error
    refused = [
        name
        for name in found
        if not (_comes_from(name, of_study) or _comes_from(name, TRUSTED_PACKAGES, classes_alone=True))
    ]
    if refused:
        raise ValueError(
            f"{path}: the model holds {', '.join(refused)}; accepted are classes of "
            f"{', '.join(sorted({*TRUSTED_PACKAGES, *of_study}))}, so it is neither loaded nor stored"
        )
    return found


def _damaged(path: str | os.PathLike, error: Exception) -> ValueError:
    return ValueError(f"{path}: not a whole model file ({one_line(error)}); delete it and run again")


def _comes_from(name: str, packages: Iterable[str], classes_alone: bool = False) -> bool:
    """Whether an import path leads to what one of some packages defines itself, and does not only import."""
    inside = tuple(f"{package}." for package in packages)
    module, _, own_name = name.rpartition(".")
    if not f"{module}.".startswith(inside):
        return False
    try:
        found = getattr(importlib.import_module(module), own_name)
    except (ImportError, AttributeError):
        return False
    if classes_alone and not isinstance(found, type):
        return False
    return f"{getattr(found, '__module__', '')}.".startswith(inside)
