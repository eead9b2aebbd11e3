"""The learners on arrays of other libraries are the learners on NumPy's.

Tolerances are relative to the largest output. Two double-precision fits differ by the rounding of their sums
times the condition of the system that is solved: the settings here have a ridge that keeps it moderate.
"""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.covariance import LedoitWolf
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.utils._array_api import move_estimator_to

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    RecursiveFeatureClassifier,
    RecursiveFeatureRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    streaming,
)
from entrolearn.machines.base import codes_among
from entrolearn.validation import device_of

MACHINES = {
    "eem": EEMClassifier(40, random_state=0),
    "eem sigmoid": EEMClassifier(40, activation="sigmoid", covariance="oas", random_state=0),
    "eem nsigmoid": EEMClassifier(40, activation="nsigmoid", covariance=0.1, random_state=0),
    "eem sine": EEMClassifier(40, activation="sine", random_state=0),
    "eem callable": EEMClassifier(40, activation=lambda Z: Z * Z, random_state=0),
    "eekm": EEKMClassifier(30, random_state=0),
    "eekm auto": EEKMClassifier(30, gamma="auto", covariance=0.01, random_state=0),
    "welm": WELMClassifier(30, solver="cholesky", alpha=1.0, random_state=0),
    "elm": ELMClassifier(30, alpha=1.0, random_state=0),
    "elm hard limit": ELMClassifier(30, activation="hardlimit", alpha=1.0, random_state=0),
    "elm of several ridges": ELMClassifier(30, activation="rbf", alpha=[1e-1, 1.0], random_state=0),
    "eekm exponential": EEKMClassifier(30, kernel="exponential_power", covariance=0.01, random_state=0),
    "rkelm": RKELMClassifier(30, alpha=1e-2, random_state=0),
    "rkelm of widths": RKELMClassifier(30, alpha=1e-2, per_landmark_gamma=True, random_state=0),
    "rkelm polynomial": RKELMClassifier(10, kernel="poly", gamma=0.125, alpha=1.0, random_state=0),
    "elm regressor": ELMRegressor(30, alpha=1.0, random_state=0),
    "rkelm regressor": RKELMRegressor(30, alpha=[1e-2, 1.0], random_state=0),
}
STREAMED = ("eem", "elm", "rkelm", "elm regressor")


def data(n_classes: int, machine) -> tuple[np.ndarray, np.ndarray]:
    """Rows in [0, 1] with labels; with two values each for a regressor."""
    X, y = make_classification(500, 8, n_informative=6, n_classes=n_classes, random_state=0)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return (X, np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])) if is_regressor(machine) else (X, y)


def outputs(machine, X):
    return machine.predict(X) if is_regressor(machine) else machine.decision_function(X)


def assert_near(found, expected, tolerance):
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize(
    ("name", "metric"),
    [("eem", "diagonal"), ("eem sigmoid", "full"), ("eekm", "diagonal"), ("rkelm regressor", "full")],
)
def test_a_metric_is_learnt_from_arrays_of_other_libraries(place, name, metric):
    """The answer depends on two features of eight, or one direction, so that a round is chosen."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(600, 8)), rng.integers(0, 3, 600).astype(float)
    y = X[:, 1] * X[:, 4] if metric == "diagonal" else (X[:, 1] + X[:, 4]) ** 2 - 1
    base = clone(MACHINES[name])
    machine = RecursiveFeatureRegressor(base, metric=metric, selection_rows=500, random_state=0)
    if not is_regressor(base):
        y = (y > 0).astype(int)
        machine = RecursiveFeatureClassifier(base, metric=metric, selection_rows=500, random_state=0)
    numpys = clone(machine).fit(X, y, sample_weight=weights)
    theirs = clone(machine).fit(place(X), place(y), sample_weight=weights)
    assert theirs.n_rounds_ == numpys.n_rounds_ > 0
    assert type(theirs.metric_) is type(theirs.importances_) is type(place(X))
    assert_near(place.numbers(theirs.metric_), numpys.metric_, 1e-6)
    assert_near(place.numbers(theirs.importances_), numpys.importances_, 1e-6)
    assert_near(place.numbers(outputs(theirs, place(X[:50]))), outputs(numpys, X[:50]), 1e-6)
    gradient = numpys.input_gradient(X[:20])
    assert_near(place.numbers(theirs.input_gradient(place(X[:20]))), gradient, 1e-5)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", MACHINES)
def test_double_precision_is_numpys(place, name, n_classes):
    machine = MACHINES[name]
    X, y = data(n_classes, machine)
    numpys, theirs = clone(machine).fit(X, y), clone(machine).fit(place(X), place(y))
    assert theirs.solver_info_ == numpys.solver_info_
    assert type(theirs.hidden_coef_) is type(place(X))
    assert_near(place.numbers(outputs(theirs, place(X))), outputs(numpys, X), 1e-10)
    if hasattr(machine, "input_gradient"):
        found = place.numbers(theirs.input_gradient(place(X[:20])))
        assert_near(found, numpys.input_gradient(X[:20]), 1e-8)
    predicted = theirs.predict(place(X))
    assert type(predicted) is type(place(X))
    if not is_regressor(machine):
        assert_array_equal(place.numbers(predicted), numpys.predict(X))
    if hasattr(machine, "predict_proba"):
        assert_allclose(place.numbers(theirs.predict_proba(place(X))), numpys.predict_proba(X), atol=1e-10)
        found = place.numbers(theirs.predict_log_proba(place(X)))
        assert_allclose(found, numpys.predict_log_proba(X), rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", [name for name in MACHINES if name.startswith("eem")])
def test_single_precision_is_as_near_to_double_as_numpys(place, name, n_classes):
    machine = MACHINES[name]
    X, y = data(n_classes, machine)
    X = X.astype(np.float32)
    double = outputs(clone(machine).fit(X.astype(np.float64), y), X.astype(np.float64))
    numpys = outputs(clone(machine).fit(X, y), X)
    theirs = clone(machine).fit(place(X), place(y))
    found = place.numbers(outputs(theirs, place(X)))
    scale = np.abs(double).max()
    assert np.abs(found - double).max() <= 3 * np.abs(numpys - double).max() + 1e-6 * scale
    assert np.abs(found - double).max() < 2e-3 * scale
    decided = double > 0 if double.ndim == 1 else double.argmax(axis=1)
    assert np.mean((found > 0 if found.ndim == 1 else found.argmax(axis=1)) == decided) >= 0.998


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", [name for name in MACHINES if not name.startswith("eem")])
def test_machines_of_double_precision_take_single_rows_to_it(place, name):
    machine = MACHINES[name]
    X, y = data(2, machine)
    X = X.astype(np.float32)
    theirs = clone(machine).fit(place(X), place(y))
    assert_near(place.numbers(outputs(theirs, place(X))), outputs(clone(machine).fit(X, y), X), 1e-10)


@pytest.mark.usefixtures("dispatch")
def test_covariance_that_single_precision_cannot_factor_is_done_again_in_double(place):
    X, y = data(2, EEMClassifier())
    X = X.astype(np.float32)
    machine = EEMClassifier(
        150, activation="sigmoid", unit_scale="uniform", covariance="empirical", random_state=0
    )
    numpys, theirs = clone(machine).fit(X, y), machine.fit(place(X), place(y))
    assert numpys.solver_info_["dtype"] == theirs.solver_info_["dtype"] == "float64"


@pytest.mark.usefixtures("dispatch")
def test_where_there_is_no_double_precision_sums_are_kept_by_numpy(single):
    X, y = data(3, EEMClassifier())
    X = X.astype(np.float32)
    numpys, theirs = EEMClassifier(40, random_state=0).fit(X, y), EEMClassifier(40, random_state=0)
    theirs.fit(single(X), single(y))
    expected = numpys.decision_function(X)
    found = single.numbers(theirs.decision_function(single(X)))
    assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    assert np.mean(single.numbers(theirs.predict(single(X))) == numpys.predict(X)) >= 0.998


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", ["eekm", "welm", "elm", "rkelm", "elm regressor"])
def test_machine_of_double_precision_refuses_a_device_without(single, name):
    machine = MACHINES[name]
    X, y = data(2, machine)
    with pytest.raises(TypeError, match="no_float64.*accepted: NumPy arrays, and other devices"):
        clone(machine).fit(single(X, np.float32), single(y.astype(np.float32)))


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", STREAMED)
def test_stream_is_fitted_where_its_chunks_live(place, name):
    machine = MACHINES[name]
    X, y = data(2, machine)
    announced = {} if is_regressor(machine) else {"classes": [0, 1]}
    numpys, theirs = clone(machine), clone(machine)
    for some in (slice(200), slice(200, 350), slice(350, 500)):
        numpys.partial_fit(X[some], y[some], **announced)
        theirs.partial_fit(place(X[some]), place(y[some]), **announced)
    assert_near(place.numbers(outputs(theirs, place(X))), outputs(numpys, X), 1e-9)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_codes_of_a_stream_stay_on_the_labels_device(place, dtype):
    labels = place([7, 2, 7], dtype=dtype)
    codes = codes_among(np.array([2, 5, 7]), labels)
    assert type(codes) is type(labels)
    assert device_of(codes) == device_of(labels)
    assert_array_equal(place.numbers(codes), [2, 0, 2])
    with pytest.raises(ValueError, match="7"):
        codes_among(np.array([2, 5]), labels)


ON_DISK = ("eem", "eem sigmoid", "eekm", "welm", "elm", "rkelm", "elm regressor")


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ON_DISK)
def test_rows_on_disk_are_fitted_and_predicted_on_the_device(place, tmp_path, name, weighted):
    machine = clone(MACHINES[name])
    X, y = data(2, machine)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    rows = streaming.rows(tmp_path / "X.npy", tmp_path / "y.npy", chunk_rows=120)
    weights = np.arange(len(y)) % 3 if weighted else None
    numpys = clone(machine).fit(X, y, sample_weight=weights)
    streaming.fit(machine, rows, sample_weight=weights, like=place(np.empty(0)))
    assert type(machine.hidden_coef_) is type(place(X))
    assert_near(place.numbers(outputs(machine, place(X))), outputs(numpys, X), 1e-9)
    answers = streaming.predict(machine, rows)
    assert isinstance(answers, np.ndarray)
    assert_near(answers, place.numbers(machine.predict(place(X))), 1e-12)
    if name != "elm regressor":
        assert_array_equal(answers, numpys.predict(X))


@pytest.mark.usefixtures("dispatch")
def test_single_precision_is_read_again_in_double_where_it_has_no_digits(place):
    X, y = data(2, EEMClassifier())
    machine = EEMClassifier(
        150, activation="sigmoid", unit_scale="uniform", covariance="empirical", random_state=0
    )
    rows = streaming.rows(X.astype(np.float32), y, chunk_rows=200)
    assert streaming.fit(machine, rows, like=place(np.empty(0))).solver_info_["dtype"] == "float64"


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("module", ["eem", "layered", "welm"])
def test_with_scikit_learn_1_7_only_numpy_arrays_are_accepted(monkeypatch, module, place):
    monkeypatch.setattr("entrolearn.validation.ARRAY_API", False)
    monkeypatch.setattr(f"entrolearn.machines.{module}.ARRAY_API", False)
    learners = {
        "eem": EEMClassifier(),
        "layered": RKELMClassifier(),
        "welm": WELMClassifier(solver="cholesky"),
    }
    X, y = data(2, learners[module])
    with pytest.raises(TypeError, match=r"with a scikit-learn older than 1\.8 accepts only NumPy arrays"):
        learners[module].fit(place(X), place(y))


@pytest.mark.usefixtures("dispatch")
def test_rows_on_disk_need_a_device_that_the_fit_can_use(place, single):
    X, y = data(2, EEMClassifier())
    there = place(np.empty(0))
    with pytest.raises(TypeError, match="like= is not accepted with Pipeline; accepted: other sources, a"):
        streaming.fit(make_pipeline(EEMClassifier()), X, y, like=there)
    with pytest.raises(TypeError, match="rows 0 to 499: sparse rows cannot be moved"):
        streaming.fit(EEMClassifier(), csr_array(X), y, like=there)
    with pytest.raises(TypeError, match="rows 0 to 499: .*accepts only NumPy arrays"):
        streaming.fit(EEKMClassifier(kernel="laplacian"), X, y, like=there)
    with pytest.raises(TypeError, match="rows 0 to 499: .*no_float64.*RKELMClassifier computes"):
        streaming.fit(RKELMClassifier(), X, y, like=single(np.empty(0, np.float32)))
    with config_context(array_api_dispatch=False), pytest.raises(ValueError, match="computed by NumPy"):
        streaming.fit(EEMClassifier(), X, y, like=there)


@pytest.mark.usefixtures("dispatch")
def test_words_are_predicted_as_numpys_array(place):
    X, y = data(3, EEMClassifier())
    words = np.array(["a", "b", "c"])[y]
    machine = EEMClassifier(40, random_state=0).fit(place(X), words)
    assert_array_equal(machine.predict(place(X)), EEMClassifier(40, random_state=0).fit(X, words).predict(X))


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", ["eem", "elm", "elm regressor"])
def test_targets_may_live_elsewhere_than_the_rows(place, name):
    machine = MACHINES[name]
    X, y = data(2, machine)
    together, apart = clone(machine).fit(place(X), place(y)), clone(machine).fit(place(X), y)
    assert_array_equal(place.numbers(apart.hidden_coef_), place.numbers(together.hidden_coef_))
    numpys = clone(machine).fit(X, place(y))  # and labels on a device go to rows of NumPy's
    assert_array_equal(numpys.hidden_coef_, clone(machine).fit(X, y).hidden_coef_)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", MACHINES)
def test_numpys_arrays_get_the_same_bits_with_the_dispatch_as_without(name):
    machine = MACHINES[name]
    X, y = data(4, machine)
    with_dispatch = outputs(clone(machine).fit(X, y), X)
    with config_context(array_api_dispatch=False):
        assert_array_equal(with_dispatch, outputs(clone(machine).fit(X, y), X))


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", ["eem", "eekm", "welm", "elm", "rkelm", "elm regressor"])
def test_rows_that_live_elsewhere_than_the_machine_are_refused(place, name):
    machine = clone(MACHINES[name])
    X, y = data(2, machine)
    machine.fit(place(X), place(y))
    kind = type(machine).__name__
    with pytest.raises(ValueError, match=rf"{kind}.predict\(\) must use the same .* X is on NumPy\. Move X"):
        machine.predict(X)
    machine.fit(X, y)
    with pytest.raises(
        ValueError, match=rf"{kind}.predict\(\) must use the same .* fitted on NumPy, X is on "
    ):
        machine.predict(place(X))


@pytest.mark.usefixtures("dispatch")
def test_two_devices_of_a_library_are_two_places():
    import array_api_strict as strict

    X, y = data(2, EEMClassifier())
    there, elsewhere = (strict.asarray(X, device=strict.Device(f"device{i}")) for i in (1, 2))
    machine = EEMClassifier(20, random_state=0).fit(there, y)
    with pytest.raises(ValueError, match="'device1'.*X is on array_api_strict, device .*'device2'"):
        machine.decision_function(elsewhere)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", ["eem", "eekm", "rkelm of widths", "elm regressor"])
def test_machine_moves_to_numpy_and_is_pickled(place, name):
    machine = clone(MACHINES[name])
    X, y = data(2, machine)
    machine.fit(place(X), place(y))
    expected = place.numbers(outputs(machine, place(X)))
    again = pickle.loads(pickle.dumps(machine))
    assert_array_equal(place.numbers(outputs(again, place(X))), expected)
    moved = move_estimator_to(machine, np, "cpu")
    assert isinstance(moved.hidden_coef_, np.ndarray)
    with config_context(array_api_dispatch=False):
        assert_near(outputs(pickle.loads(pickle.dumps(moved)), X), expected, 1e-10)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize(
    "machine",
    [
        KELMClassifier(),
        WELMClassifier(solver="pinv"),
        EEMClassifier(covariance=LedoitWolf()),
        EEKMClassifier(kernel="laplacian"),
        RKELMClassifier(kernel=lambda x, z: x @ z),
    ],
    ids=["learner", "solver", "covariance", "scikit-learn's kernel", "kernel that is a function"],
)
def test_what_computes_on_numpys_arrays_alone_says_so(place, machine):
    X, y = data(2, machine)
    with pytest.raises(TypeError, match="with these parameters accepts only NumPy arrays"):
        machine.fit(place(X), place(y))


@pytest.mark.usefixtures("dispatch")
def test_bad_numbers_are_refused_as_numpys_are(place):
    X, y = data(2, EEMClassifier())
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        EEMClassifier().fit(place(X), place(y))
    X[3, 1] = -1e80
    with pytest.raises(ValueError, match=r"X holds .*e\+80; EEMClassifier accepts numbers up to 1e\+70"):
        EEMClassifier().fit(place(X), place(y))
    with pytest.raises(ValueError, match="only one class: 0"):
        EEMClassifier().fit(place(X[5:]), place(np.zeros(495, dtype=int)))


@pytest.mark.usefixtures("dispatch")
def test_hidden_rows_and_their_gaussians_live_where_the_machine_does(place):
    X, y = data(3, EEMClassifier())
    numpys, theirs = EEMClassifier(15, random_state=0).fit(X, y), EEMClassifier(15, random_state=0)
    theirs.fit(place(X), place(y))
    assert_allclose(place.numbers(theirs.hidden(place(X))), numpys.hidden(X), rtol=1e-12)
    for found, expected in zip(
        theirs.hidden_gaussians(place(X), place(y)), numpys.hidden_gaussians(X, y), strict=True
    ):
        assert_allclose(place.numbers(found), expected, rtol=1e-9, atol=1e-13)


def test_tensor_becomes_numpys_array_without_the_dispatch(dispatch):
    torch = pytest.importorskip("torch", reason="it takes gigabytes, and the lock does without")
    X, y = data(2, EEMClassifier())
    there = EEMClassifier(20, random_state=0).fit(torch.asarray(X), torch.asarray(y))
    with config_context(array_api_dispatch=False):
        here = EEMClassifier(20, random_state=0).fit(torch.asarray(X), torch.asarray(y))
        assert isinstance(here.hidden_coef_, np.ndarray)
        assert_array_equal(here.hidden_coef_, EEMClassifier(20, random_state=0).fit(X, y).hidden_coef_)
        assert isinstance(here.predict(torch.asarray(X)), np.ndarray)
        with pytest.raises(ValueError, match="X is on NumPy, because array_api_dispatch is off"):
            there.predict(torch.asarray(X))


AS_A_USER = """
import array_api_strict as xp, numpy as np, sklearn
from entrolearn import EEMClassifier
sklearn.set_config(array_api_dispatch=True)
rng = np.random.default_rng(0)
X = rng.random((200, 3)); y = (X[:, 0] > X[:, 1]).astype(int)
machine = EEMClassifier(20, random_state=0).fit(xp.asarray(X), xp.asarray(y))
print(machine.score(xp.asarray(X), xp.asarray(y)) == EEMClassifier(20, random_state=0).fit(X, y).score(X, y))
"""


@pytest.mark.parametrize(("variable", "says"), [("1", "True"), ("0", "SCIPY_ARRAY_API=1")])
def test_user_sets_a_variable_before_python_starts(variable, says):
    environment = {"SCIPY_ARRAY_API": variable, "PATH": "", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", AS_A_USER], capture_output=True, text=True, check=False, env=environment
    )
    assert says in (run.stdout if variable == "1" else run.stderr)
