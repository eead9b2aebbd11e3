"""What would not fit into memory is refused before it is made; what need not be there as a whole never is."""

import gc
import json
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_clusterer, is_regressor

from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    RSVR,
    CrossEntropySVC,
    CrossEntropySVR,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    ErrorEntropyMLPClassifier,
    KDEClassifier,
    KELMClassifier,
    KELMRegressor,
    KLClustering,
    MinimumEntropyClustering,
    OneNormSVC,
    OneNormSVR,
    RenyiEntropyClustering,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    kernels,
)
from entrolearn.kernels import check_memory, memory_limit
from entrolearn.machines import readouts
from entrolearn.manifold.exact import log_potential
from entrolearn.measures import cauchy_schwarz_kde, quadratic_entropy_kde
from entrolearn.measures.errors import error_entropy
from entrolearn.path import Partition, path

REFUSED = "refused before it is made: how large it is, what there is, and what takes less"
ON_LANDMARKS = "an estimator with landmarks, such as RKELM, needs less."
REDUCED = "train on fewer rows, or take an estimator with landmarks, such as RSVC and RSVR."
FEWER = "take fewer of them."

# Two distinct rows many times over, which take no memory; all pairs of them would take 75 GiB.
MANY = 100_000
ROWS = np.broadcast_to(np.array([[0.0, 1.0]]), (MANY, 2))
CODES = np.arange(MANY) % 2
# Clusterings make pairs of distinct rows only.
DISTINCT = np.linspace(0.0, 1.0, MANY)[:, np.newaxis]


def peak_mib(work) -> float:
    """The most memory that some work has taken at once, NumPy's arrays included."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.fault("Memory", "a matrix of all pairs that will not fit", REFUSED)
@pytest.mark.parametrize(
    ("estimator", "advice"),
    [
        (KELMClassifier(), ON_LANDMARKS),
        (KELMClassifier(alpha=[0.1, 1.0], kernel="poly"), ON_LANDMARKS),
        (KELMRegressor(), ON_LANDMARKS),
        (LSSVC(), ON_LANDMARKS),
        (LSSVR(kernel="laplacian"), ON_LANDMARKS),
        (OneNormSVC(), REDUCED),
        (OneNormSVR(), REDUCED),
        (CrossEntropySVC(), REDUCED),
        (CrossEntropySVR(), REDUCED),
        (RSVC(MANY), "lower n_landmarks, or take RKELM, which goes through the rows in blocks."),
        (RSVR(MANY), "lower n_landmarks, or take RKELM, which goes through the rows in blocks."),
        (RKELMClassifier(MANY), FEWER),
        (RKELMRegressor(MANY, alpha=[0.1, 1.0]), FEWER),
        (EEKMClassifier(n_landmarks=MANY), FEWER),
        (EEMClassifier(n_hidden=MANY), FEWER),
        (ELMClassifier(MANY), FEWER),
        (ELMRegressor(MANY), FEWER),
        (WELMClassifier(MANY), FEWER),
        (
            ErrorEntropyMLPClassifier(MANY),
            "take fewer units, or a perceptron that learns in batches, such as MSEMLPRegressor.",
        ),
        (RenyiEntropyClustering(bandwidth=1.0), "fit on a sample of the rows, and predict the others."),
        (
            MinimumEntropyClustering(init=CODES, radius=1.0),
            "lower radius, or fit on a sample of the rows and predict the others.",
        ),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_what_will_not_fit_is_refused_with_its_size_and_what_takes_less(estimator, advice, monkeypatch):
    monkeypatch.setattr(kernels, "physical_memory", lambda: 2.0**34)
    said = []

    def refused():
        with pytest.raises(MemoryError) as caught:
            estimator.fit(DISTINCT if is_clusterer(estimator) else ROWS, CODES)
        said.append(str(caught.value))

    assert peak_mib(refused) < 20
    (message,) = said
    assert message.endswith(f"; {advice}")
    assert f"GiB, more than the {memory_limit()[0] / 2**30:.3g} GiB" in message
    assert "\n" not in message


SOME = 500
SOME_ROWS = np.random.default_rng(0).normal(size=(SOME, 2))
SOME_VALUES = SOME_ROWS[:, 0] + 0.1 * np.random.default_rng(1).normal(size=SOME)
HOLDING_PAIRS = [
    KELMClassifier(),
    KELMClassifier(alpha=[0.1, 1.0]),
    KELMClassifier(kernel="poly"),
    KELMRegressor(alpha=0.0, kernel="linear"),  # of rank two: its eigendecomposition is made in the end
    KELMRegressor(kernel="laplacian"),
    LSSVC(),
    LSSVR(),
    RSVC(SOME, max_iter=2),
    RSVR(SOME // 2, max_iter=2),
    EEKMClassifier(n_landmarks=SOME, random_state=0),
    RKELMClassifier(SOME, fit_intercept=False),
    RKELMRegressor(SOME, alpha=[0.1, 1.0]),
    ELMRegressor(SOME, alpha=0.0),
]


def fit_some(estimator) -> None:
    y = SOME_VALUES if is_regressor(estimator) else (SOME_VALUES > 0).astype(int)
    estimator.fit(SOME_ROWS, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", HOLDING_PAIRS, ids=str)
def test_a_fit_is_refused_where_there_is_less_memory_than_it_takes(estimator, monkeypatch):
    """And not where there is a little more."""
    peak = 2**20 * peak_mib(lambda: fit_some(estimator))
    monkeypatch.setattr(kernels, "physical_memory", lambda: 0.75 * peak)
    with pytest.raises(MemoryError, match="takes .* GiB, more than the .* GiB of this machine"):
        fit_some(estimator)
    monkeypatch.setattr(kernels, "physical_memory", lambda: 1.25 * peak)
    fit_some(estimator)


@pytest.mark.filterwarnings("ignore:EEMClassifier. fewer than min_class_size")
def test_many_classes(monkeypatch):
    """A fit counts moments and projected covariances; labels do not take a number for each row and class."""
    y = np.arange(300) % 60
    X = np.random.default_rng(0).normal(size=(60, 5))[y] + np.random.default_rng(1).normal(size=(300, 5))
    machine = EEMClassifier(60, random_state=0)
    peak = 2**20 * peak_mib(lambda: machine.fit(X, y))
    monkeypatch.setattr(kernels, "physical_memory", lambda: 0.75 * peak)
    with pytest.raises(MemoryError, match="what 60 classes of 60 hidden units hold takes"):
        clone(machine).fit(X, y)
    monkeypatch.setattr(kernels, "physical_memory", lambda: 1.25 * peak)
    assert_array_equal(clone(machine).fit(X, y).predict(X), machine.predict(X))
    folds = Partition.cross_validation(np.arange(300) // 60)  # which share moments, or do not fit in that
    shared = clone(machine).set_params(bounds=(-5, 5), min_class_size=0)
    assert not any(point.error for point in path(shared, X, y, folds, [{}]))
    expected = machine.decision_function(X)
    monkeypatch.setattr(readouts, "DENSITIES", 60 * 50)  # rows of which are in memory at once
    found = []
    assert peak_mib(lambda: found.append(machine.predict(X))) < peak_mib(lambda: machine.decision_function(X))
    assert_array_equal(found[0], expected.argmax(axis=1))
    monkeypatch.setattr(kernels, "physical_memory", lambda: 8 * 300 * 60 - 1)
    with pytest.raises(MemoryError, match="the values of 300 rows for 60 classes takes"):
        machine.decision_function(X)


PROGRAM = """
import json, os, resource, sys, warnings
import numpy as np
from sklearn.base import is_regressor
from entrolearn import *

warnings.simplefilter("ignore")
N = int(sys.argv[2])
X = np.random.default_rng(0).normal(size=(N, 2))
VALUES = X[:, 0] - X[:, 1]

def fitted_within(estimator, matrices):
    # What a child of this process says, which may take as many more bytes as that many matrices of all pairs.
    taken = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}[sys.argv[1]]
    pages = int(open("/proc/self/statm").read().split()[taken])
    limit = int(pages * resource.getpagesize() + 8 * matrices * N**2)
    read, write = os.pipe()
    if not os.fork():
        resource.setrlimit(getattr(resource, sys.argv[1]), (limit, resource.RLIM_INFINITY))
        try:
            estimator.fit(X, VALUES if is_regressor(estimator) else VALUES > 0)
            said = "fitted"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.wait()
    return os.read(read, 10_000).decode()

said = {}
for estimator in (
    KELMClassifier(), KELMClassifier(alpha=[0.1, 1.0]), LSSVC(), LSSVR(), RSVC(N, max_iter=2), OneNormSVC(),
    EEKMClassifier(n_landmarks=N), RKELMRegressor(N, alpha=0.1), ELMClassifier(N),
):
    estimator.fit(X[:50], VALUES[:50] if is_regressor(estimator) else VALUES[:50] > 0)  # loads libraries
    step = 5 if "OneNorm" in str(estimator) else 0.75
    said[str(estimator)] = outcomes = []
    while outcomes[-1:] != ["fitted"] and len(outcomes) < 12:
        outcomes.append(fitted_within(estimator, 0.5 + len(outcomes) * step))
print(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to these limits")
@pytest.mark.fault("Memory", "a kernel matrix beyond what `ulimit` allows the process", REFUSED)
@pytest.mark.parametrize("limit", ["RLIMIT_DATA", "RLIMIT_AS"])
def test_the_limit_of_the_process_is_the_one_that_counts(limit):
    """With more and more memory each fit is refused in one line, until it is done."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, limit, "900"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for estimator, outcomes in json.loads(done.stdout).items():
        *refused, last = outcomes
        assert last == "fitted", estimator
        assert refused, estimator
        for said in refused:
            assert re.fullmatch(
                r"MemoryError: .* takes .* GiB, more than .* left of the .* that this process may take; .*",
                said,
            )


N = 6000
POINTS = np.random.default_rng(0).normal(size=(N, 2))
HALVES = (POINTS[:, 0] > 0).astype(int)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.fault("Memory", "all pairs of rows, where sums over them are wanted", "gone through in blocks")
@pytest.mark.parametrize(
    "work",
    [
        lambda: KDEClassifier().fit(POINTS, HALVES).predict(POINTS),
        lambda: log_potential(POINTS, POINTS, np.eye(2), same=True),
        lambda: cauchy_schwarz_kde(POINTS[:, 0], POINTS[:, 1], method="exact"),
        lambda: quadratic_entropy_kde(POINTS[:, 0], method="exact"),
        lambda: error_entropy(POINTS[:, 0], 0.1, method="exact"),
        lambda: MinimumEntropyClustering(2, max_iter=1, random_state=0).fit(POINTS).predict(POINTS),
        lambda: MinimumEntropyClustering(2, posterior="knn", init=HALVES, max_iter=1).fit(POINTS),
        lambda: RenyiEntropyClustering(2, n_init=1, random_state=0).fit(POINTS[:300]).predict(POINTS),
        lambda: KLClustering(3, n_init=1, random_state=0).fit(np.abs(POINTS)).transform(np.abs(POINTS)),
        lambda: RKELMClassifier(50, random_state=0).fit(POINTS, HALVES).predict(POINTS),
        lambda: EEKMClassifier(n_landmarks=50, random_state=0).fit(POINTS, HALVES).predict(POINTS),
        lambda: RSVC(50, random_state=0).fit(POINTS, HALVES).predict(POINTS),
    ],
    ids=range(12),
)
def test_all_pairs_are_never_there_at_once(work):
    assert peak_mib(work) < 8 * N**2 / 2**20 / 3


# --------------------------------------------------------------------------------------- what there is of it


def test_what_there_is_is_the_least_of_what_machine_container_and_process_have(monkeypatch):
    monkeypatch.setattr(kernels, "physical_memory", lambda: 3.0 * 2**30)
    monkeypatch.setattr(kernels, "_limit_of_container", lambda: 2.0 * 2**30)
    monkeypatch.setattr(kernels, "_limit_of_process", lambda: (np.inf, ""))
    assert memory_limit() == (2 * 2**30, "of this container")
    check_memory(2 * 2**30, "a matrix", "take another")
    with pytest.raises(
        MemoryError, match="^a matrix takes 2.5 GiB, more than the 2 GiB of this container; take"
    ):
        check_memory(2.5 * 2**30, "a matrix", "take another")
    monkeypatch.setattr(kernels, "_limit_of_process", lambda: (1.0, "of this process"))
    assert memory_limit()[1] == "of this process"


@pytest.mark.parametrize(
    ("own", "files", "limit"),
    [
        ("0::/a/b\n", {"a/memory.max": "500\n", "a/b/memory.max": "max\n"}, 500),
        ("0::/a/b\n", {"a/memory.max": "500\n", "a/b/memory.max": "300\n"}, 300),
        ("0::/\n", {"memory.max": "max\n"}, np.inf),
        ("0::/\n", {}, np.inf),
        ("3:cpu:/\n2:cpuset,memory:/docker/c0\n", {"memory/memory.limit_in_bytes": "700\n"}, 700),
        ("2:memory:/docker/c0\n1:name=x:/\n", {"memory/docker/c0/memory.limit_in_bytes": "600\n"}, 600),
    ],
)
def test_a_containers_limit_is_read_in_either_version(tmp_path, own, files, limit):
    (tmp_path / "own").write_text(own)
    for name, content in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(content)
    assert_allclose(kernels._limit_of_container(tmp_path / "own", tmp_path / "groups"), limit)


def test_where_there_are_no_control_groups_there_is_no_limit(tmp_path):
    assert kernels._limit_of_container(tmp_path / "own", Path("/")) == np.inf
