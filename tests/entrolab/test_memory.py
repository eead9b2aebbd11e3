"""Cells that would take more memory than they may: what is said of them, and what does instead."""

import numpy as np
import pytest
from logistic_run import logistic_run

from entrolab.data.dataset import Dataset
from entrolab.fit.protocols import Folds
from entrolab.fit.training import train_run
from entrolab.io.limits import Limits

N = 30_000  # of which a kernel matrix takes 6.71 GiB
GIB = 4  # the process of the tests, whose child a spec is, has some already


@pytest.fixture(scope="module")
def dataset():
    X = np.random.default_rng(0).normal(size=(N, 2))
    y = (X[:, 0] > X[:, 1]).astype(np.int64)
    return Dataset(X, y, ["a", "b"], "binary", ["no", "yes"], np.zeros(N, np.int8))


def outcome(dataset, estimator: str, params: dict) -> dict:
    protocol = {"folds": 2, "repeats": 1}
    spec = logistic_run(
        estimator=estimator, params=params, grid={}, metrics=["gmean"], candidates=["cv"], protocol=protocol
    )
    parts = Folds(2, repeats=1).draw(dataset.y, seed=0)
    _, record, *_ = train_run(dataset, parts, spec, Limits(seconds=3600, gib=GIB))
    return record


@pytest.mark.fault(
    "Memory", "a kernel matrix beyond a run's limit_gib", "its cell is a footnote that names size and limit"
)
@pytest.mark.parametrize("estimator", ["KELMClassifier", "LSSVC", "OneNormSVC"])
def test_a_run_whose_kernel_matrix_is_beyond_its_limit_says_so(dataset, estimator):
    record = outcome(dataset, f"entrolearn.{estimator}", {"gamma": 1.0})
    assert (record["success"], record["data"]["n_samples"]) == (False, N)
    assert f" GiB left of the {GIB} GiB that this process may take; " in record["error"]


@pytest.mark.fault(
    "Memory", "a kernel matrix beyond a run's limit_gib", "its cell is a footnote that names size and limit"
)
def test_the_learner_that_is_named_instead_keeps_to_the_limit(dataset):
    record = outcome(dataset, "entrolearn.RKELMClassifier", {"n_landmarks": 20})
    assert record["success"], record["error"]
