"""Files of sums over rows: .npz files without pickled objects, which are validated before they are read.

The member ``about.json`` has the ``version``, the ``terms`` (everything that must agree, see
:mod:`entrolearn.streaming.agreement`), the ``classes`` with their ``dtype`` and, for each sum, ``n``: the sum
of the weights, the number of rows (for least squares again the sum of the weights) and the sum of the squared
weights. The other members are float64 arrays, whose shapes follow from the number of units. For the i-th
class they are ``i_shift``, ``i_sum``, ``i_outer`` (a lower triangle by columns), ``i_norm2``, ``i_norm4`` and
``i_norm2_row``; for least squares ``0_gram`` (a triangle), ``0_right``, ``0_units``, ``0_targets`` and, with
an intercept, ``0_unit_shift`` and ``0_target_shift``. The file does not contain hidden units, landmarks or
rows.
"""

import copy
import io
import json
import math
import os
import zipfile

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_random_state

from entrolearn.machines.additive import Additive, AdditiveOverClasses, Survey
from entrolearn.machines.base import class_targets
from entrolearn.machines.devices import add_to_diagonal, cholesky, packed, unpacked
from entrolearn.machines.moments import WRONG_SHARE, ClassMoments
from entrolearn.machines.ridge import NormalEquations
from entrolearn.streaming.agreement import check_agreement, check_learner, check_sums, terms
from entrolearn.streaming.merging import solve

__all__ = ["load_sums", "save_sums"]

VERSION = 2
# Maximum number of bytes of the JSON, which contains the names of features and classes.
MOST_ABOUT = 2**24
# Maximum number of elements of a layer that is drawn for the number of features in a file (1 GiB).
MOST_DRAWN = 2**27
MOST_HEADER = 2**10  # maximum number of bytes before an array's elements
MOMENTS = {"shift": "shift", "sum": "_sum", "norm2": "_norm2", "norm4": "_norm4", "norm2_row": "_norm2_row"}
EQUATIONS = {"right": "_right", "units": "_units", "targets": "_targets"}


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
    >>> site = ELMRegressor(50, feature_range=(-0.2, 0.2), keep_sums=True, random_state=0).fit(X, y)
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     streaming.save_sums(site, file.name)
    """
    check_sums(estimator)
    sums = estimator._stream
    about = {"version": VERSION, "terms": terms(estimator), "n": []}
    if is_classifier(estimator):
        about["classes"] = estimator.classes_.tolist()
        about["dtype"] = estimator.classes_.dtype.str
    arrays = {}
    for i, each in enumerate(sums if isinstance(sums, list) else [sums]):
        about["n"].append([each.n, getattr(each, "_n_added", each.n), each._squares_of_weights])
        if isinstance(each, ClassMoments):
            some = {name: getattr(each, attribute) for name, attribute in MOMENTS.items()}
            some["outer"] = packed(each._outer, 1)
        else:
            some = {name: getattr(each, attribute) for name, attribute in EQUATIONS.items()}
            some["gram"] = packed(each._gram, 1)
            if each.shifts is not None:
                some["unit_shift"], some["target_shift"] = each.shifts
        arrays |= {f"{i}_{name}": np.ascontiguousarray(array, "<f8") for name, array in some.items()}
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
        parameters determine the units: `feature_range` is given or None, or `landmarks` are given (and a
        width that is a number), and `random_state` is a number.

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
    >>> agreed = EEMClassifier(50, feature_range=streaming.bounds(X), keep_sums=True, random_state=0)
    >>> site = agreed.fit(X, y)
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     streaming.save_sums(site, file.name)
    ...     elsewhere = streaming.load_sums(file.name, agreed)
    >>> bool((elsewhere.predict(X) == site.predict(X)).all())
    True
    """
    check_learner(estimator)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _loaded(archive, estimator)
        except Exception as error:  # a damaged file can raise any exception
            raise ValueError(f"{path}: {' '.join(str(error).split())}") from error


def _loaded(archive: zipfile.ZipFile, estimator: Additive) -> Additive:
    about = _about(archive)
    estimator = _with_units(estimator, about["terms"])
    n_outputs = getattr(estimator, "_n_outputs", 1)
    if is_classifier(estimator):
        estimator.classes_ = _classes(about)
        n_outputs = class_targets(len(estimator.classes_)).shape[1]
    check_agreement(terms(estimator), about["terms"], "the file")
    n_units, of_classes = estimator._layer.where.shape[0], isinstance(estimator, AdditiveOverClasses)
    n_sums = len(estimator.classes_) if of_classes else 1
    counts = np.array(about["n"], dtype=np.float64)
    if counts.shape != (n_sums, 3) or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError(f"it does not say how many rows are in each of {n_sums} sums.")
    if of_classes:
        shapes = _moment_shapes(n_units)
    else:
        shapes = _equation_shapes(n_units, n_outputs, estimator.fit_intercept)
    wanted = {f"{i}_{name}": shape for i in range(n_sums) for name, shape in shapes.items()}
    others = {name.removesuffix(".npy") for name in archive.namelist()} ^ {*wanted, "about.json"}
    if others:
        raise ValueError(f"it does not have the members of such a file: {min(others)!r} is extra or missing.")
    sums = []
    for i, (n, n_added, squares) in enumerate(counts.tolist()):
        arrays = {name: _array(archive, f"{i}_{name}", shape) for name, shape in shapes.items()}
        each = _moments(arrays, n, n_added) if of_classes else _equations(arrays, n)
        each._squares_of_weights = squares
        if not (_is_possible(each) if n else _is_zero(arrays)):
            raise ValueError(f"no rows have such sums as its members {i}_*, even with rounding errors.")
        sums.append(each)
    estimator._stream = sums if of_classes else sums[0]
    return solve(estimator)


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
    estimator._forget()
    vars(estimator).pop("hidden_coef_", None)
    if hasattr(estimator, "_layer"):
        return estimator
    estimator._validate_params()
    needs = estimator._needs()
    if needs.n_sampled or needs.scale:
        raise ValueError(
            f"{type(estimator).__name__} draws its hidden units from rows, and there are none; accepted: a "
            "fitted one, a given feature_range, or given landmarks and a width that is a number."
        )
    n_features, names = said.get("n_features_in_"), said.get("feature_names_in_")
    if (
        not isinstance(n_features, int)
        or not 0 < n_features * getattr(estimator, "n_hidden", 1) <= MOST_DRAWN
    ):
        raise ValueError(
            f"n_features_in_={n_features!r}; accepted: a number for which units take up to 1 GiB."
        )
    if names is not None:
        estimator.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
    if is_regressor(estimator):
        estimator._n_outputs, estimator._one_value = said.get("_n_outputs"), said.get("_one_value")
        if not isinstance(estimator._n_outputs, int) or not 0 < estimator._n_outputs <= MOST_DRAWN:
            raise ValueError(f"y has {estimator._n_outputs!r} outputs; accepted: a positive integer.")
    estimator.n_features_in_ = n_features
    survey = Survey(n_features, np.dtype(np.float64))
    estimator._layer = estimator._layer_on(survey, check_random_state(estimator.random_state))
    if estimator._layer.where.shape[1] != n_features:
        raise ValueError(f"{n_features} features; the estimator has {estimator._layer.where.shape[1]}.")
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


def _moment_shapes(h: int) -> dict[str, tuple[int, ...]]:
    sums = {"sum": (h,), "outer": (_triangle(h),), "norm2": (1,), "norm4": (1,), "norm2_row": (1, h)}
    return {"shift": (h,), **sums}


def _equation_shapes(h: int, n_outputs: int, intercept: bool) -> dict[str, tuple[int, ...]]:
    shapes = {"gram": (_triangle(h),), "right": (h, n_outputs), "units": (h,), "targets": (n_outputs,)}
    return {**shapes, "unit_shift": (h,), "target_shift": (n_outputs,)} if intercept else shapes


def _triangle(order: int) -> int:
    return order * (order + 1) // 2


def _moments(arrays: dict, n: float, n_added: float) -> ClassMoments:
    moments = ClassMoments(len(arrays["shift"]), shift=arrays["shift"])
    moments.n, moments._n_added = n, n_added
    moments._outer = unpacked(arrays["outer"], len(moments.shift))
    for name, attribute in MOMENTS.items():
        setattr(moments, attribute, arrays[name])
    return moments


def _equations(arrays: dict, n: float) -> NormalEquations:
    shifts = (arrays["unit_shift"], arrays["target_shift"]) if "unit_shift" in arrays else None
    equations = NormalEquations(*arrays["right"].shape, shifts=shifts)
    equations.n, equations._gram = n, unpacked(arrays["gram"], len(arrays["units"]))
    for name, attribute in EQUATIONS.items():
        setattr(equations, attribute, arrays[name])
    return equations


def _is_zero(arrays: dict) -> bool:
    """Whether the sums over no rows are zero; shifts need not be."""
    return not any(array.any() for name, array in arrays.items() if "shift" not in name)


@np.errstate(over="ignore", invalid="ignore")
def _is_possible(sums: ClassMoments | NormalEquations) -> bool:
    """Whether sums of squares and fourth powers of rows can have these values, up to rounding."""
    square = sums.total_square()
    if square < 0 or cholesky(add_to_diagonal(sums.scatter(), sums.rounding())) is None:
        return False
    if isinstance(sums, NormalEquations):
        return True
    # With a = |x|²: sum a is the trace of sum xx', and by the inequality of Cauchy and Schwarz (sum a)² is at
    # most n sum a², and |sum a x|² at most (sum a²) (sum a).
    (norm2,), (norm4,), row = sums._norm2, sums._norm4, sums._norm2_row[0]
    most = (1 + WRONG_SHARE) * norm4
    return abs(norm2 - square) <= sums.rounding() and norm2**2 <= sums.n * most and row @ row <= most * square


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
