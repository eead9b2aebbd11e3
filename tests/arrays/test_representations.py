"""The same numbers in every kind of array that they come in: the same results, and the array as it was.

Results of rows that are the same numbers in double precision are the same to the last bit. Sparse rows are
computed otherwise than dense ones and differ from them by rounding, but not from other sparse ones. Where an
estimator computes in single precision what comes in single precision, the tolerance is stated.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from many_cases import for_each
from numpy.testing import assert_allclose, assert_array_equal
from public_estimators import NAMED, quick
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from entrolearn import (
    LSSVC,
    EEMClassifier,
    EntropySearch,
    ErrorEntropyMLPClassifier,
    ErrorEntropyMLPRegressor,
)
from entrolearn.networks import (
    CoherentFeatures,
    IncoherentFeatures,
    MSEMLPClassifier,
    MSEMLPRegressor,
    SoftmaxRegression,
)

pytestmark = pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")

N_ROWS, N_FEATURES = 30, 4

# Rows in single precision stay so in these.
SINGLE = (
    EEMClassifier,
    ErrorEntropyMLPClassifier,
    ErrorEntropyMLPRegressor,
    LSSVC,
    MSEMLPClassifier,
    MSEMLPRegressor,
    SoftmaxRegression,
)

OUTPUTS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "project", "transform")


def classes() -> np.ndarray:
    return np.arange(N_ROWS) % 2


def rows(kind: str) -> np.ndarray:
    """Rows of two classes in double precision, of numbers that shorter types hold exactly."""
    rng = np.random.default_rng(8)
    wholes = rng.integers(0, 8, size=(N_ROWS, N_FEATURES)) + classes()[:, np.newaxis]
    match kind:
        case "fractions":
            return (8 * wholes + rng.integers(0, 8, size=wholes.shape)) / 128
        case "wholes":
            return wholes.astype(np.float64)
        case "flags":
            return (wholes > 4).astype(np.float64)
        case "sparse":
            some = wholes * (rng.uniform(size=wholes.shape) < 0.5)
            some[7] = 0  # a row without an entry
            return some.astype(np.float64)


def values() -> np.ndarray:
    """What a regressor learns: whole numbers of which no short type holds the sums or the negatives."""
    return rows("wholes") @ [9.0, 3.0, 1.0, 1.0]


def takes_values(estimator) -> bool:
    return is_regressor(estimator) or isinstance(estimator, CoherentFeatures | IncoherentFeatures)


def targets(estimator) -> np.ndarray:
    return values() if takes_values(estimator) else classes()


def seeded(estimator):
    has_seed = "random_state" in estimator.get_params()
    return clone(estimator).set_params(**({"random_state": 0} if has_seed else {}))


# Where results are the same to the last bit, they need not be the best ones.
LEARNERS = {learner: quick(estimator) for learner, estimator in NAMED.items()}


def results(estimator, X, y) -> dict[str, np.ndarray]:
    """All that an estimator says of the rows that it was fitted to."""
    fitted = clone(estimator).fit(X, y)
    said = {name: getattr(fitted, name)(X) for name in OUTPUTS if hasattr(fitted, name)}
    return {**said, "labels": fitted.labels_} if hasattr(fitted, "labels_") else said


@cache
def expected(learner: str, kind: str) -> dict[str, np.ndarray]:
    """Those of the rows as everybody has them: in double precision, in C order, or as canonical CSR."""
    X = sp.csr_matrix(rows(kind)) if kind == "sparse" else rows(kind)
    return results(LEARNERS[learner], X, targets(LEARNERS[learner]))


def content(data) -> list[np.ndarray]:
    """A copy of every number that an array is made of, in its order."""
    if not sp.issparse(data):
        return [np.array(data)]
    names = ("data", "row", "col") if data.format == "coo" else ("data", "indices", "indptr")
    return [np.array(getattr(data, name)) for name in names]


def same(found: dict, wanted: dict) -> None:
    assert found.keys() == wanted.keys()
    for name, output in wanted.items():
        assert_array_equal(found[name], output, err_msg=name)


def backwards(X):
    return np.ascontiguousarray(X[::-1])[::-1]


def with_steps(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X.flags.writeable = False
    return X


def memory_mapped(X, file):
    np.save(file, X)
    return np.load(file, mmap_mode="r")


def of_several_types(X):
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.astype({"a": "int8", "b": "float32", "c": "Float64", "d": "uint16"})


# What the table of faults calls it -> the numbers that it can hold, and how they get there.
DENSE = {
    "rows of big-endian numbers": ("fractions", lambda X: X.astype(">f8")),
    "rows of big-endian numbers in single precision": ("fractions", lambda X: X.astype(">f4")),
    "rows of int8": ("wholes", lambda X: X.astype(np.int8)),
    "rows of uint8": ("wholes", lambda X: X.astype(np.uint8)),
    "rows of truth values": ("flags", lambda X: X.astype(bool)),
    "rows of Python objects": ("wholes", lambda X: X.astype(int).astype(object)),
    "rows in Fortran order": ("fractions", np.asfortranarray),
    "a view of every other row": ("fractions", with_steps),
    "a view that runs backwards": ("fractions", backwards),
    "a list of lists": ("fractions", lambda X: X.tolist()),
    "a pandas frame": ("fractions", lambda X: pd.DataFrame(X, columns=list("abcd"))),
    "a pandas frame of nullable numbers": ("fractions", lambda X: pd.DataFrame(X).astype("Float64")),
    "a pandas frame of several types": ("wholes", of_several_types),
    "a polars frame": ("fractions", lambda X: pl.DataFrame(X, schema=list("abcd"))),
}


def each(table: dict, outcome: str):
    """A parameter for each line of a table, which is also a line of the table of faults."""
    return [
        pytest.param(*value, id=name, marks=pytest.mark.fault("Representations", name, outcome))
        for name, value in table.items()
    ]


def of_each(learners: list[str]) -> Callable:
    """Decorate a test to check some learners, all at once."""
    return lambda test: pytest.mark.parametrize("cases", [learners], ids=[""])(for_each("learner")(test))


# Rows are checked and converted by the same code in all settings of a class.
FIRST_OF_CLASS = [learner for learner in NAMED if learner.endswith("-1")]


@pytest.mark.parametrize(("kind", "made"), each(DENSE, "the same results to the last bit, rows unchanged"))
@of_each(FIRST_OF_CLASS)
def test_the_same_numbers_give_the_same_results(kind, made, learner):
    X, y = made(rows(kind)), targets(LEARNERS[learner])
    before = content(X)
    same(results(LEARNERS[learner], X, y), expected(learner, kind))
    for now, then in zip(content(X), before, strict=True):
        assert_array_equal(now, then)


@pytest.mark.fault("Representations", "memory-mapped rows", "the same results to the last bit")
@of_each(FIRST_OF_CLASS)
def test_rows_in_a_file_give_the_same_results(tmp_path, learner):
    X = memory_mapped(rows("fractions"), tmp_path / f"{learner}.npy")
    same(results(LEARNERS[learner], X, targets(LEARNERS[learner])), expected(learner, "fractions"))


# How far off, relative to the largest, results of rows in a lower precision may be where it is computed in.
LOWER = {
    "rows in single precision": (np.float32, SINGLE, 1e-3),
    "rows in half precision": (np.float16, (), 1e-2),
}


@pytest.mark.parametrize(
    ("dtype", "computed_in", "tolerance"),
    each(LOWER, "the same results to the last bit, or to this precision where it is computed in"),
)
@of_each(list(NAMED))
def test_a_lower_precision_costs_no_more_than_its_digits(dtype, computed_in, tolerance, learner):
    estimator, X = seeded(NAMED[learner]), rows("fractions")
    y = targets(estimator) / 128 if takes_values(estimator) else targets(estimator)
    found, wanted = results(estimator, X.astype(dtype), y), results(estimator, X, y)
    if not isinstance(estimator, (*computed_in, EntropySearch)):
        same(found, wanted)
        return
    for name, output in wanted.items():  # a search computes in what its estimator does, a pipeline's scaler
        if name == "predict" and is_classifier(estimator):
            assert_array_equal(found[name], output)
        else:
            assert_allclose(found[name], output, rtol=0, atol=tolerance * np.abs(output).max(), err_msg=name)


@pytest.mark.fault("Representations", "rows as a np.matrix", "one line that names np.matrix")
@of_each(FIRST_OF_CLASS)
def test_a_matrix_is_refused(learner):
    with pytest.warns(PendingDeprecationWarning):  # NumPy's, of itself
        X = np.asmatrix(rows("fractions"))
    with pytest.raises(TypeError, match=r"^np.matrix is not supported"):
        LEARNERS[learner].fit(X, targets(LEARNERS[learner]))


# --- sparse rows --------------------------------------------------------------------------------------


def stored_twice(X):
    """Every entry as two halves, which are no entries of their own."""
    coo = sp.coo_matrix(X)
    order = np.argsort(np.tile(coo.row, 2), kind="stable")
    indptr = np.concatenate([[0], np.cumsum(2 * np.bincount(coo.row, minlength=len(X)))])
    data, indices = np.tile(coo.data / 2, 2)[order], np.tile(coo.col, 2)[order]
    return sp.csr_matrix((data, indices, indptr), shape=X.shape)


def with_zeros(X):
    """Every number stored, those that are zero too."""
    n, d = X.shape
    return sp.csr_matrix((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape)


def unsorted(X):
    """The entries of each row from the last to the first."""
    csr = sp.csr_matrix(X)
    backwards = np.concatenate([np.arange(*ends)[::-1] for ends in pairwise(csr.indptr)])
    return sp.csr_matrix((csr.data[backwards], csr.indices[backwards], csr.indptr), shape=X.shape)


def with_long_indices(X):
    csr = sp.csr_matrix(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def read_only_csr(X):
    csr = sp.csr_matrix(X)
    for part in (csr.data, csr.indices, csr.indptr):
        part.flags.writeable = False
    return csr


SPARSE = {
    "CSR rows, some of them empty": (sp.csr_matrix,),
    "a CSC matrix": (sp.csc_matrix,),
    "a COO array": (sp.coo_array,),
    "CSR rows with explicit zeros": (with_zeros,),
    "CSR rows with unsorted indices": (unsorted,),
    "CSR rows with entries stored in two parts": (stored_twice,),
    "CSR rows with long indices": (with_long_indices,),
    "CSR rows of int8": (lambda X: sp.csr_matrix(X.astype(np.int8)),),
    "read-only CSR rows": (read_only_csr,),
}


@pytest.mark.parametrize(
    "made", each(SPARSE, "the same results to the last bit, or one line that asks for dense rows")
)
@of_each(FIRST_OF_CLASS)
def test_sparse_rows_give_the_same_results_or_are_refused(made, learner):
    estimator, X = LEARNERS[learner], made(rows("sparse"))
    before = content(X)
    if not get_tags(estimator).input_tags.sparse:
        with pytest.raises(TypeError, match=r"(?i)dense.*is required|does not support sparse"):
            estimator.fit(X, targets(estimator))
        return
    same(results(estimator, X, targets(estimator)), expected(learner, "sparse"))
    for now, then in zip(content(X), before, strict=True):
        assert_array_equal(now, then)


taking_sparse = [learner for learner in NAMED if get_tags(LEARNERS[learner]).input_tags.sparse]


@of_each(taking_sparse)
def test_sparse_rows_give_the_results_of_dense_ones_up_to_rounding(learner):
    estimator, X, y = seeded(NAMED[learner]), rows("sparse"), targets(LEARNERS[learner])
    dense = results(estimator, X, y)
    for name, output in results(estimator, sp.csr_matrix(X), y).items():
        assert_allclose(output, dense[name], rtol=1e-6, atol=1e-6 * np.abs(dense[name]).max(), err_msg=name)


# --- targets ------------------------------------------------------------------------------------------

with_targets = [learner for learner in FIRST_OF_CLASS if get_tags(LEARNERS[learner]).target_tags.required]
of_classes = [learner for learner in with_targets if not takes_values(LEARNERS[learner])]
of_values = [learner for learner in with_targets if takes_values(LEARNERS[learner])]
of_several_values = [learner for learner in of_values if get_tags(LEARNERS[learner]).target_tags.multi_output]


words = np.array(["no", "yes"])

# The lower label stands for the class 0 of the others.
LABELS = {
    "labels of uint8": (np.array([0, 1], dtype=np.uint8), None),
    "negative labels": (np.array([-7, -3], dtype=np.int8), None),
    "labels that are truth values": (np.array([False, True]), None),
    "labels that are whole floats": (np.array([1.0, 2.0]), None),
    "labels in half precision": (np.array([1.0, 2.0], dtype=np.float16), None),
    "labels that are words": (words, None),
    "labels that are objects": (words.astype(object), None),
    "labels in a list of words": (words, lambda y: y.tolist()),
    "big-endian labels": (np.array([0, 1], dtype=">i8"), None),
    "labels in a pandas series": (np.array([3, 5]), pd.Series),
    "labels in a pandas series of words": (words, pd.Series),
    "labels in a pandas series of nullable numbers": (
        np.array([3, 5]),
        lambda y: pd.Series(y, dtype="Int64"),
    ),
    "labels in a pandas series of categories": (words, lambda y: pd.Series(y, dtype="category")),
    "labels in a polars series": (np.array([3, 5]), pl.Series),
    "labels in a polars series of words": (words, pl.Series),
    "read-only labels": (np.array([3, 5]), read_only),
}


@pytest.mark.parametrize(
    ("labels", "made"), each(LABELS, "the same results to the last bit, in the labels given")
)
@of_each(of_classes)
def test_the_same_classes_give_the_same_results(labels, made, learner):
    labels, wanted = np.asarray(labels), dict(expected(learner, "fractions"))
    y = labels[classes()]
    if "predict" in wanted:
        wanted["predict"] = labels[wanted["predict"]]
    same(results(LEARNERS[learner], rows("fractions"), y if made is None else made(y)), wanted)


VALUES = {
    "values in a list": (lambda y: y.tolist(),),
    "values of int8": (lambda y: y.astype(np.int8),),
    "values of uint8": (lambda y: y.astype(np.uint8),),
    "values of int64": (lambda y: y.astype(np.int64),),
    "values in half precision": (lambda y: y.astype(np.float16),),
    "values in single precision": (lambda y: y.astype(np.float32),),
    "big-endian values": (lambda y: y.astype(">f8"),),
    "values in a pandas series": (pd.Series,),
    "values in a pandas series of nullable numbers": (lambda y: pd.Series(y, dtype="Float64"),),
    "values in a polars series": (pl.Series,),
    "read-only values": (read_only,),
    "values with steps between them": (lambda y: np.repeat(y, 2)[::2],),
}


@pytest.mark.parametrize("made", each(VALUES, "the same results to the last bit"))
@of_each(of_values)
def test_the_same_values_give_the_same_results(made, learner):
    y = made(values())
    same(results(LEARNERS[learner], rows("fractions"), y), expected(learner, "fractions"))
    assert_array_equal(np.asarray(y, dtype=np.float64), values())


@pytest.mark.fault("Representations", "several values in Fortran order", "the same results to the last bit")
@of_each(of_several_values)
def test_the_order_of_several_values_does_not_matter(learner):
    X, Y = rows("fractions"), np.column_stack([values(), rows("wholes")[:, 0]])
    same(results(LEARNERS[learner], X, np.asfortranarray(Y)), results(LEARNERS[learner], X, Y))
