"""Fits of small matrices leave BLAS one thread, and as many as before when they are done."""

from importlib.resources import files

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from entrolearn import LSSVC, EEMClassifier, ELMClassifier, EntropySearch, KELMClassifier, influence
from entrolearn.validation import SMALL, one_thread_where_small

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int)


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def three_threads():
    with threadpool_limits(3, user_api="blas"):
        yield
        assert n_threads() == {3}


class Asking:
    """A kernel of the rows' product that tells how many threads there are while a machine is fitted."""

    def __init__(self):
        self.found = []

    def __call__(self, x, z):
        if not self.found:
            self.found.append(n_threads())
        return x @ z


@pytest.mark.parametrize(
    "fit", [lambda m: m.fit(X, Y), lambda m: m.fit(X=X.tolist(), y=Y), lambda m: m.fit(y=Y, X=X)]
)
def test_a_small_fit_has_one_thread(fit):
    asking = Asking()
    fit(KELMClassifier(kernel=asking))
    assert asking.found == [{1}]
    assert n_threads() == {3}


@pytest.mark.parametrize(
    ("rows", "settings", "n"),
    [
        (X, {"n_hidden": 50, "C": 3000}, 1),
        (X, {"eem__n_hidden": SMALL + 1}, 3),
        (X, {"n_landmarks": "many"}, 1),  # which is refused inside
        (np.zeros((SMALL + 1, 2)), {}, 3),
        ([[1, 2], [3, 4]], {}, 1),
        (iter([1]), {}, 1),
    ],
)
def test_many_rows_or_units_have_all_threads(rows, settings, n):
    with one_thread_where_small(rows, settings):
        assert n_threads() == {n}


def test_a_search_has_one_thread():
    class Telling(LogisticRegression):
        found = []

        def fit(self, X, y):
            self.found.append(n_threads())
            return super().fit(X, y)

    EntropySearch(Telling(), {"C": [0.1, 1.0]}).fit(X, Y)
    assert Telling.found[:2] == [{1}, {1}]


def test_small_groups_of_many_rows_have_one_thread(monkeypatch):
    """On two busy cores and two threads a group of a model of 100 units took 16 ms, on one thread 1.3."""
    found, without = [], ELMClassifier._without
    many, labels = np.tile(X, (26, 1)), np.tile(Y, 26)  # more than SMALL

    def telling(*args):
        found.append(n_threads())
        return without(*args)

    monkeypatch.setattr(ELMClassifier, "_without", telling)
    machine = ELMClassifier(5, store_sums=True, random_state=0).fit(many, labels)
    influence(machine, many, labels, groups=np.arange(len(many)) // 520)
    assert found == [{1}, {1}]


def test_a_fit_that_fails_gives_the_threads_back():
    with pytest.raises(ValueError, match="one class"):
        LSSVC().fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="n_hidden"):
        EEMClassifier(n_hidden="many").fit(X, Y)
    assert n_threads() == {3}


@pytest.mark.parametrize("package", ["entrolearn", "entrolab"])
def test_type_checkers_are_told_that_there_are_types(package):
    assert files(package).joinpath("py.typed").is_file()
