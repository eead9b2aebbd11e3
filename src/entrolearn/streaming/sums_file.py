"""Files of sums over rows: .npz files without pickled objects, which are validated before they are read.

The member ``about.json`` has the ``version``, the ``terms`` (everything that must agree, see
:mod:`entrolearn.streaming.merging`), the ``classes`` with their ``dtype`` and, for each sum, ``n``: the sum
of the weights, the number of rows and the sum of the squared weights. The other members are float64 arrays,
whose shapes follow from the number of units. For the i-th class they are ``i_shift``, ``i_sum``, ``i_outer``
(a lower triangle by columns), ``i_norm2``, ``i_norm4`` and ``i_norm2_row``; for least squares ``0_gram`` (a
triangle), ``0_right``, ``0_units``, ``0_targets`` and, with an intercept, ``0_unit_shift`` and
``0_target_shift``. The file does not contain hidden units, landmarks or rows.
"""

import copy
import io
import json
import math
import os
import zipfile
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from entrolearn.machines.additive import (
    Additive,
    check_additive,
    draw_without_rows,
    solve,
    stored_sums,
    with_sums,
)
from entrolearn.machines.sums import GroupSums
from entrolearn.streaming.merging import check_agreement, check_sums, terms

__all__ = ["load_sums", "save_sums"]

VERSION = 2
# Maximum number of bytes of the JSON, which contains the names of features and classes.
MOST_ABOUT = 2**24
# Maximum number of elements of a layer that is drawn for the number of features in a file (1 GiB).
MOST_DRAWN = 2**27
MOST_HEADER = 2**10  # maximum number of bytes before an array's elements


def save_sums(estimator, path: str | os.PathLike) -> None:
    """Write the sums over rows of a fitted estimator to a file, for :func:`load_sums`.

    The file holds what :func:`merge` needs: for h units h (h + 1) / 2 numbers for each class, or in total for
    least squares. It contains no code, no rows and no hidden units; :doc:`/federated` describes what it
    nevertheless reveals about rows.

    Parameters
    ----------
    estimator : estimator
        Estimator with sums, as for :func:`merge`.
    path : path

    Raises
    ------
    TypeError, ValueError
        If the estimator has no sums.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from entrolearn import ELMRegressor, streaming
    >>> X, y = load_diabetes(return_X_y=True)
    >>> site = ELMRegressor(50, bounds=(-0.2, 0.2), store_sums=True, random_state=0).fit(X, y)
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     streaming.save_sums(site, file.name)
    """
    check_sums(estimator)
    about: dict[str, Any] = {"version": VERSION, "terms": terms(estimator), "n": []}
    if is_classifier(estimator):
        about["classes"] = estimator.classes_.tolist()
        about["dtype"] = estimator.classes_.dtype.str
    arrays: dict[str, np.ndarray] = {}
    for i, each in enumerate(stored_sums(estimator, "save_sums")):
        about["n"].append([each.n, each.n_added, each.squares_of_weights])
        members = each.members().items()
        arrays |= {f"{i}_{name}": np.ascontiguousarray(array, "<f8") for name, array in members}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.json", json.dumps(about))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def load_sums(path: str | os.PathLike, estimator):
    """A copy of an estimator with the sums from a file in place of its own, to be merged.

    Parameters
    ----------
    path : path
        File written by :func:`save_sums`. It need not be trusted: nothing in it is executed, and no more is
        read than the estimator's number of units allows.
    estimator : estimator
        Estimator with the parameters and hidden units of the one that was saved. It is either fitted, or its
        parameters determine the units: `bounds` is given or None, or `n_landmarks` are landmarks (and
        `gamma` is a number), and `random_state` is a number.

    Returns
    -------
    estimator : object
        A new fitted estimator, which can be updated by ``partial_fit``.

    Raises
    ------
    ValueError
        If the file is incomplete, of another version or for other hidden units; has unexpected members,
        types, shapes or sizes; or has sums that no rows can have, such as negative sums of squares.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier, streaming
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> agreed = EEMClassifier(50, bounds=streaming.bounds(X), store_sums=True, random_state=0)
    >>> site = agreed.fit(X, y)
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     streaming.save_sums(site, file.name)
    ...     elsewhere = streaming.load_sums(file.name, agreed)
    >>> bool((elsewhere.predict(X) == site.predict(X)).all())
    True
    """
    check_additive(estimator)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _loaded(archive, estimator)
        except Exception as error:  # a damaged file can raise any exception
            raise ValueError(f"{path}: {' '.join(str(error).split())}") from error


def _loaded(archive: zipfile.ZipFile, estimator: Additive) -> Additive:
    about = _about(archive)
    estimator = _with_units(estimator, about["terms"])
    if is_classifier(estimator):
        estimator.classes_ = _classes(about)
    check_agreement(terms(estimator), about["terms"], "the file")
    none, n_sums = estimator._zero_sums(), len(estimator._names_of_sums())
    counts = np.array(about["n"], dtype=np.float64)
    if counts.shape != (n_sums, 3) or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError(f"it does not say how many rows are in each of {n_sums} sums.")
    shapes = {name: array.shape for name, array in none.members().items()}
    wanted = {f"{i}_{name}": shape for i in range(n_sums) for name, shape in shapes.items()}
    others = {name.removesuffix(".npy") for name in archive.namelist()} ^ {*wanted, "about.json"}
    if others:
        raise ValueError(f"it does not have the members of such a file: {min(others)!r} is extra or missing.")
    sums = []
    for i, of_sums in enumerate(counts.tolist()):
        arrays = {name: _array(archive, f"{i}_{name}", shape) for name, shape in shapes.items()}
        sums.append(none.of_members(arrays, of_sums))
    return solve(with_sums(estimator, GroupSums(sums)))


def _about(archive: zipfile.ZipFile) -> dict:
    about = json.loads(_member(archive, "about.json", MOST_ABOUT))
    version = about.get("version") if isinstance(about, dict) else None
    if version != VERSION:
        raise ValueError(f"it has version {version!r} of files of sums; accepted: {VERSION}.")
    if not isinstance(about.get("terms"), dict) or not isinstance(about.get("n"), list):
        raise ValueError("it does not have the terms of its sums.")
    return about


def _with_units(estimator: Additive, said: dict) -> Additive:
    """A copy without sums, with hidden units for the number of features in the file."""
    estimator = copy.copy(estimator)
    vars(estimator).pop("hidden_coef_", None)
    if hasattr(estimator, "_layer"):
        return estimator
    n_features, names = said.get("n_features_in_"), said.get("feature_names_in_")
    if (
        not isinstance(n_features, int)
        or not 0 < n_features * getattr(estimator, "n_hidden", 1) <= MOST_DRAWN
    ):
        raise ValueError(
            f"n_features_in_={n_features!r}; accepted: a number for which units take up to 1 GiB."
        )
    n_outputs, one_value = said.get("_n_outputs"), said.get("_one_value")
    if is_regressor(estimator) and not (isinstance(n_outputs, int) and 0 < n_outputs <= MOST_DRAWN):
        raise ValueError(f"y has {n_outputs!r} outputs; accepted: a positive integer.")
    draw_without_rows(estimator, n_features, n_outputs, one_value)
    if names is not None:
        estimator.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
    return estimator


def _classes(about: dict) -> np.ndarray:
    labels, dtype = about.get("classes"), np.dtype(str(about.get("dtype")))
    words = dtype.kind in "UO"
    if not (words or dtype.kind in "biuf") or not isinstance(labels, list):
        raise ValueError("its classes are neither strings nor numbers.")
    if not all(isinstance(label, str if words else int | float) for label in labels):
        raise ValueError(f"its classes are not all of type {dtype}.")
    classes = np.array(labels, dtype=None if words else dtype)
    if np.unique(classes).tolist() != labels or len(labels) < 2:
        raise ValueError("its classes are not sorted, or fewer than two.")
    return classes.astype(object) if dtype.kind == "O" else classes


def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A float64 array of this shape, validated before memory is allocated."""
    n_bytes = 8 * math.prod(shape)
    with io.BytesIO(_member(archive, f"{name}.npy", n_bytes + MOST_HEADER)) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"{name} has another version of NumPy's format; accepted: 1.0.")
        found, by_columns, dtype = np.lib.format.read_array_header_1_0(member)
        if (found, by_columns, dtype) != (shape, False, np.dtype("<f8")):
            raise ValueError(f"{name} has shape {found} and type {dtype}; accepted: {shape} and float64.")
        values = member.read()
    if len(values) != n_bytes:
        raise ValueError(f"{name} holds {len(values)} bytes; accepted: {n_bytes}.")
    array = np.frombuffer(values).reshape(shape).copy()
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds numbers that are not finite.")
    return array


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The bytes of a member; compressed members are not accepted, because they could expand without limit."""
    try:
        member = archive.getinfo(name)
    except KeyError:
        raise ValueError(f"it is not a file of sums: {name!r} is missing.") from None
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise ValueError(f"{name} is compressed; accepted: uncompressed members, as save_sums writes them.")
    if member.file_size > most:
        raise ValueError(f"{name} takes {member.file_size:,} bytes; accepted: at most {most:,}.")
    return archive.read(member)
