"""Training a spec: what its rows hold, and what becomes of fits that fail."""

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from logistic_run import changed, logistic_run
from made_studies import made_study
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrolab.data.dataset import Dataset, save_dataset, save_folds
from entrolab.fit import training
from entrolab.fit.learners import drawn_points
from entrolab.fit.metrics import METRICS
from entrolab.fit.protocols import Folds, InTime, Trials
from entrolab.fit.run import Run
from entrolab.fit.scoring import SCORES, scores
from entrolab.fit.training import FACTS, without_data
from entrolab.io.limits import LimitError, Limits
from entrolab.io.records import peak_mib
from entrolearn.metrics import gmean_score
from entrolearn.path import path

METRIC_NAMES = ["gmean", "balanced_accuracy", "accuracy"]


class Moody(ClassifierMixin, BaseEstimator):
    """Fails, sleeps or guesses, as it is told."""

    def __init__(self, mood="good"):
        self.mood = mood

    def fit(self, X, y):
        if self.mood == "bad":
            raise ValueError("not today")
        if self.mood == "worse":
            raise RuntimeError("never\nagain")
        if self.mood == "endless":
            time.sleep(1000)
        if self.mood == "huge":
            np.ones(2**33)
        if self.mood == "fatal":
            os._exit(3)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)

    def decision_function(self, X):
        return X[:, 0]


class PointByPoint(Moody):
    """Goes through all training sets with one point of the grid before it takes the next."""


@path.register
def _point_by_point(estimator: PointByPoint, X, y, partition, grid):
    for params in grid:
        yield from path.dispatch(object)(estimator, X, y, partition, [params])


class AllAtOnce(Moody):
    """Wants memory for all fits before the first."""


@path.register
def _all_at_once(estimator: AllAtOnce, X, y, partition, grid):
    estimator.set_params(**grid[0]).fit(X, y)
    yield from path.dispatch(object)(estimator, X, y, partition, grid)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The learners above by an import path: tests are not modules that can be imported by name."""
    for learner in (Moody, PointByPoint, AllAtOnce):
        monkeypatch.setattr(training, learner.__name__, learner, raising=False)


@pytest.fixture(scope="module")
def dataset():
    X, y = make_classification(120, 4, n_redundant=0, class_sep=0.6, weights=[0.6], random_state=0)
    return Dataset(X, y.astype(np.int64), list("abcd"), "binary", ["no", "yes"], np.zeros(120, np.int8))


@pytest.fixture(scope="module")
def parts(dataset):
    return Folds(4, repeats=2).draw(dataset.y, seed=0)


def train_run(dataset, parts, spec, limits=Limits(seconds=3600), **options):  # noqa: B008  it is frozen
    return training.train_run(dataset, parts, spec, limits, **options)


def a_spec(**changes) -> Run:
    own = {
        "metrics": METRIC_NAMES,
        "protocol": {"folds": 4, "repeats": 2},
        "candidates": ["cv", "dcs_gaussian"],
    }
    return logistic_run(**own | changes)


@pytest.fixture(scope="module")
def trained(dataset, parts) -> SimpleNamespace:
    """Candidates and record of the plain run, and what it said of its progress."""
    done = []
    candidates, record, *_ = train_run(dataset, parts, a_spec(), progress=lambda *at: done.append(at))
    return SimpleNamespace(candidates=candidates, record=record, done=done)


def moody(*moods, **changes) -> Run:
    return a_spec(estimator="entrolab.fit.training.Moody", grid={"mood": list(moods)}, **changes)


def test_a_class_that_is_not_there_does_not_count():
    assert scores(np.array([1, 1]), np.array([1, 0]), METRIC_NAMES) == dict.fromkeys(METRIC_NAMES, 0.5)


def test_the_entropy_of_errors_is_blind_to_their_mean_and_grows_with_their_logarithm():
    errors = np.random.default_rng(0).normal(scale=0.5, size=4000)

    def entropy(errors):
        return scores(np.zeros(len(errors)), errors, ["error_entropy"])["error_entropy"]

    gaussian = 0.5 * np.log(2 * np.pi * np.e * 0.25)
    assert entropy(errors) == pytest.approx(gaussian, abs=0.03)
    assert entropy(errors + 3) == pytest.approx(entropy(errors))
    assert entropy(10 * errors) == pytest.approx(entropy(errors) + np.log(10))


def test_every_metric_is_computed():
    of_fits = [name for name, metric in METRICS.items() if not metric.of_probabilities]
    assert [*SCORES, *FACTS] == of_fits
    assert [name for name, metric in METRICS.items() if metric.of_fit] == list(FACTS)


def test_there_is_a_row_for_every_repeat_fold_and_grid_point(dataset, trained):
    candidates, record = trained.candidates, trained.record
    assert len(candidates) == 2 * 4 * 2
    assert not candidates.duplicated(["repeat", "fold", "point"]).any()
    assert list(candidates["params"].unique()) == ['{"C": 0.001}', '{"C": 1.0}']
    assert candidates["success"].all()
    assert (record["n_candidates"], record["n_failed"], record["success"]) == (16, 0, True)
    assert record["data"]["n_positive"] == dataset.y.sum()


def test_scores_and_criteria_are_those_of_a_naive_loop(dataset, parts, trained):
    """Cross-validation written out: two nested loops over folds, a fresh fit in each."""
    X, y = dataset.X, dataset.y

    for row in trained.candidates.iloc[::3].itertuples():
        part = parts[row.repeat]
        test, params = part == row.fold, json.loads(row.params)
        model = LogisticRegression(**params).fit(X[~test], y[~test])
        assert row.test_gmean == pytest.approx(gmean_score(y[test], model.predict(X[test])))
        inner = []
        for other in set(range(4)) - {row.fold}:
            seen, validation = ~test & (part != other), part == other
            fitted = LogisticRegression(**params).fit(X[seen], y[seen])
            inner.append(gmean_score(y[validation], fitted.predict(X[validation])))
        assert row.cv_gmean == pytest.approx(np.mean(inner))


def test_the_gaussian_criterion_is_the_divergence_of_the_training_projections(dataset, parts):
    """Eq. (3), put right as config/papers/eem.yaml says, on the moments of the projected classes."""
    candidates, *_ = train_run(dataset, parts[:1], a_spec(grid={"C": [1.0]}, candidates=["dcs_gaussian"]))
    for row in candidates.itertuples():
        train = parts[0] != row.fold
        model = LogisticRegression(C=1.0).fit(dataset.X[train], dataset.y[train])
        projected, y = model.decision_function(dataset.X[train]), dataset.y[train]
        (m0, s0), (m1, s1) = ((projected[y == k].mean(), projected[y == k].var()) for k in (0, 1))
        expected = np.log(0.5 * (s0 + s1) / np.sqrt(s0 * s1)) + (m1 - m0) ** 2 / (s0 + s1)
        assert row.dcs_gaussian == pytest.approx(expected)


def test_without_cv_there_are_no_inner_fits(dataset, parts):
    done = []
    candidates, *_ = train_run(
        dataset,
        parts,
        a_spec(candidates=["dcs_gaussian"]),
        progress=lambda fits, total: done.append((fits, total)),
    )

    assert candidates[["cv_gmean", "dcs_kde"]].isna().all().all()
    assert done[-1] == (2 * 4 * 2, 2 * 4 * 2)


def test_where_there_is_one_point_there_is_nothing_to_choose_and_no_inner_fit(dataset, parts):
    done = []
    candidates, record, *_ = train_run(
        dataset, parts, a_spec(grid={"C": [1.0]}, candidates=["cv"]), progress=lambda *at: done.append(at)
    )
    assert record["success"]
    assert done[-1] == (2 * 4, 2 * 4)  # repeats x folds
    assert candidates["test_accuracy"].notna().all()
    assert candidates["cv_gmean"].isna().all()


def test_with_cv_each_pair_of_folds_is_left_out_once(trained):
    # Two repeats, two grid points; four folds and their six pairs.
    assert trained.done[-1] == (2 * 2 * (4 + 6), 2 * 2 * (4 + 6))


def test_the_same_input_gives_the_same_rows(dataset, parts):
    spec = a_spec(estimator="sklearn.linear_model.SGDClassifier", grid={"alpha": [0.01, 1.0]})
    (once, *_), (twice, *_) = (train_run(dataset, parts[:1], spec) for _ in range(2))

    assert once.drop(columns="path_seconds").equals(twice.drop(columns="path_seconds"))


def test_a_multiclass_data_set_has_scores_and_no_divergence(dataset, parts):
    y = np.arange(dataset.n_samples) % 3
    three = Dataset(dataset.X, y, list("abcd"), "multiclass", list("abc"), dataset.part)
    candidates, record, *_ = train_run(
        three, Folds(3, 1).draw(y, 0), a_spec(protocol={"folds": 3, "repeats": 1})
    )

    assert record["success"]
    assert candidates[["test_gmean", "cv_gmean"]].notna().all().all()
    assert candidates[["dcs_gaussian", "dcs_kde"]].isna().all().all()


# -------------------------------------------------------------------------------------------- alternatives

ONE_OF = {
    "svm": {"estimator": "sklearn.svm.SVC", "params": {"gamma": 0.5}, "grid": {"C": [0.1, 10.0]}},
    "lda": {
        "estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "params": {},
        "grid": {},
    },
}


def choosing(**changes) -> Run:
    return a_spec(
        estimator=None,
        steps=[{"estimator": "sklearn.decomposition.PCA"}],
        grid={"step1__n_components": [1, 2]},
        one_of=ONE_OF,
        candidates=["cv"],
        **changes,
    )


def test_each_point_of_alternatives_is_scored_as_in_a_naive_loop(dataset, parts):
    candidates, record, *_ = train_run(dataset, parts[:1], choosing())
    X, y, part = dataset.X, dataset.y, parts[0]

    assert (record["success"], record["estimator"]) == (
        True,
        "sklearn.svm.SVC or sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    )
    assert record["one_of"] == ONE_OF
    assert len(candidates) == 4 * (2 + 1) * 2
    for row in candidates.iloc[::4].itertuples():
        params = json.loads(row.params)
        last = SVC(C=params["C"], gamma=0.5) if params["one_of"] == "svm" else LinearDiscriminantAnalysis()
        pipeline = make_pipeline(PCA(params["step1__n_components"], random_state=row.seed), last)
        test = part == row.fold
        pipeline.fit(X[~test], y[~test])
        assert row.test_accuracy == pytest.approx(pipeline.score(X[test], y[test]))
        inner = []
        for other in set(range(4)) - {row.fold}:
            pipeline.fit(X[~test & (part != other)], y[~test & (part != other)])
            inner.append(gmean_score(y[part == other], pipeline.predict(X[part == other])))
        assert row.cv_gmean == pytest.approx(np.mean(inner))


def test_a_failing_alternative_takes_no_other_with_it(dataset, parts):
    one_of = ONE_OF | {
        "moody": {"estimator": "entrolab.fit.training.Moody", "grid": {"mood": ["bad", "good"]}}
    }
    candidates, record, *_ = train_run(dataset, parts[:1], changed(choosing(), {"one_of": one_of}))
    failed = candidates[~candidates["success"]]
    assert record["success"]
    assert set(failed["params"].map(lambda text: json.loads(text).get("mood"))) == {"bad"}
    assert set(failed["error"]) == {"ValueError: not today"}
    assert len(failed) == 4 * 2


# -------------------------------------------------------------------------------------------------- trials

TRIALS = {"trials": 3, "train": 60, "test": 25, "inner": {"folds": 4, "used": 2}}


@pytest.fixture(scope="module")
def trials():
    return Trials(3, 60, 25, folds=4, used=2).draw(np.zeros(120), seed=0)


@pytest.fixture(scope="module")
def in_trials(dataset, trials) -> pd.DataFrame:
    """The candidates of a run of three trials."""
    candidates, record, *_ = train_run(dataset, trials, a_spec(protocol=TRIALS))
    assert record["success"]
    return candidates


def test_trials_are_scored_as_in_a_naive_loop(dataset, trials, in_trials):
    candidates, X, y = in_trials, dataset.X, dataset.y

    assert candidates[["repeat", "fold", "point"]].to_numpy().tolist() == [
        [trial, 0, point] for trial in range(3) for point in range(2)
    ]
    for row in candidates.itertuples():
        part, model = trials[row.repeat], LogisticRegression(**json.loads(row.params))
        test = part == 0
        model.fit(X[part > 0], y[part > 0])
        assert row.test_gmean == pytest.approx(gmean_score(y[test], model.predict(X[test])))
        inner = []
        for fold in (1, 2):
            seen, validation = (part > 0) & (part != fold), part == fold
            model.fit(X[seen], y[seen])
            inner.append(gmean_score(y[validation], model.predict(X[validation])))
        assert row.cv_gmean == pytest.approx(np.mean(inner))


@pytest.mark.parametrize(
    ("kernel", "steps"),
    [
        ("linear", []),  # the default path
        ("rbf", []),  # the path that shares a kernel matrix
        ("rbf", [{"estimator": "sklearn.preprocessing.StandardScaler"}]),
    ],
)
def test_support_vectors_are_counted_among_the_training_rows(dataset, trials, kernel, steps):
    params = {"kernel": kernel, "gamma": 0.5}
    spec = a_spec(
        estimator="sklearn.svm.SVC", params=params, steps=steps, metrics=["error_rate"], protocol=TRIALS
    )
    candidates, *_ = train_run(dataset, trials, spec)
    X, y = dataset.X, dataset.y
    for row in candidates.itertuples():
        part, machine = trials[row.repeat], SVC(**params, **json.loads(row.params))
        model = make_pipeline(StandardScaler(), machine) if steps else machine
        model.fit(X[part > 0], y[part > 0])
        assert row.test_support == len(machine.support_) / 60
        assert row.test_error_rate == pytest.approx(1 - model.score(X[part == 0], y[part == 0]))


@pytest.mark.parametrize("steps", [[], [{"estimator": "sklearn.preprocessing.StandardScaler"}]])
def test_iterations_are_those_of_each_fits_solver(dataset, trials, steps):
    candidates, *_ = train_run(dataset, trials, a_spec(steps=steps, metrics=["accuracy"], protocol=TRIALS))
    for row in candidates.itertuples():
        part, machine = trials[row.repeat], LogisticRegression(**json.loads(row.params))
        model = make_pipeline(StandardScaler(), machine) if steps else machine
        model.fit(dataset.X[part > 0], dataset.y[part > 0])
        assert row.test_iterations == machine.n_iter_.item()


def test_a_learner_in_closed_form_has_neither_support_vectors_nor_iterations(dataset, trials):
    lda = "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"
    spec = a_spec(estimator=lda, grid={}, metrics=["error_rate"], protocol=TRIALS)
    candidates, record, *_ = train_run(dataset, trials, spec)
    assert record["success"]
    assert candidates["test_error_rate"].notna().all()
    assert candidates[["test_support", "test_iterations"]].isna().all(axis=None)


def test_a_model_of_fewer_trials_takes_the_first_ones(dataset, trials, in_trials):
    two, *_ = train_run(dataset, trials, a_spec(protocol=TRIALS | {"trials": 2}))
    first = in_trials[in_trials["repeat"] < 2]
    assert two.drop(columns="path_seconds").equals(first.drop(columns="path_seconds"))


# ------------------------------------------------------------------------------------------------ failures


def test_a_grid_point_that_fails_takes_no_other_with_it(dataset, parts):
    candidates, record, *_ = train_run(dataset, parts, moody("bad", "good"))

    bad, good = (candidates[candidates["point"] == point] for point in (0, 1))
    assert not bad["success"].any()
    assert set(bad["error"]) == {"ValueError: not today"}
    assert good["success"].all()
    assert good["cv_gmean"].notna().all()
    assert (record["success"], record["n_failed"]) == (True, len(bad))


def test_a_path_that_breaks_off_fails_what_it_had_not_reached(dataset, parts):
    """RuntimeError is no error that the default path expects of a fit: it ends the path."""
    candidates, record, *_ = train_run(dataset, parts, moody("good", "worse"))

    first = candidates[candidates["repeat"] == 0]
    assert first["success"].tolist() == [True] + [False] * 7
    assert set(first.loc[~first["success"], "error"]) == {"RuntimeError: never"}
    assert not record["success"]


@pytest.mark.fault(
    "Configuration",
    "a learner of one's own whose module raises",
    "its runs are footnotes that say what it raised",
)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class Other: pass\n", "has no attribute 'Mine'"),
        ("raise RuntimeError('not on this machine')\n", "RuntimeError: not on this machine"),
        ("import os\nos._exit(7)\n", "the process ended without a result (exit status 7)"),
        ("raise SystemExit(9)\n", "the process ended without a result (exit status 9)"),
    ],
)
def test_a_learner_that_cannot_be_imported_is_a_failed_cell(
    tmp_path, monkeypatch, dataset, parts, source, said
):
    (tmp_path / "of_my_own.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    _, record, *_ = train_run(dataset, parts, a_spec(estimator="of_my_own.Mine"))

    assert (record["success"], record["status"]) == (False, "failed")
    assert said in record["error"]


@pytest.fixture
def fits_until_the_limit(monkeypatch) -> Callable[[int], None]:
    """A function that lets a number of fits of a run, in this process, be done until its time is up."""

    def let(number: int) -> None:
        left = iter(range(number))

        def within(limits, work, *arguments):
            for value in work(*arguments):
                if next(left, None) is None:
                    raise LimitError("time limit", "")
                yield value

        monkeypatch.setattr(training, "within", within)

    return let


@pytest.mark.parametrize("done", [3, 11])  # in the first of two repeats, and in the second
def test_the_time_limit_leaves_what_was_done_and_says_so(dataset, parts, fits_until_the_limit, done):
    fits_until_the_limit(done)
    candidates, record, *_ = train_run(
        dataset, parts, a_spec(candidates=["dcs_gaussian"]), Limits(seconds=0.9)
    )
    left = candidates[~candidates["success"]]
    assert len(candidates) - len(left) == done
    assert set(left["error"]) == {record["error"]}
    assert record["error"] == f"time limit of 0.9 s, after {done} of 16 fits"


def test_a_fit_that_never_ends_is_ended(dataset, parts):
    begun = time.monotonic()
    _, record, *_ = train_run(dataset, parts, moody("endless"), Limits(seconds=0.5))
    assert time.monotonic() - begun < 10
    assert (record["status"], record["error"]) == ("time limit", "time limit of 0.5 s, after 0 of 8 fits")


def test_a_grid_cut_short_is_no_result(dataset, parts, fits_until_the_limit):
    """One point has been tried on every fold of the only repeat, but not the rest of the grid."""
    fits_until_the_limit(5)
    spec = moody("good", "fine", candidates=["dcs_gaussian"])
    spec = changed(spec, {"estimator": "entrolab.fit.training.PointByPoint"})
    candidates, record, *_ = train_run(dataset, parts[:1], spec)
    assert candidates.groupby("fold")["success"].any().all()
    assert (record["success"], record["status"]) == (False, "time limit")


def test_memory_that_a_fit_may_not_have_fails_that_fit(dataset, parts):
    candidates, record, *_ = train_run(dataset, parts, moody("huge", "good"), Limits(seconds=3600, gib=1))
    assert record["success"]
    assert record["n_failed"] == len(candidates) / 2
    (reason,) = candidates["error"][~candidates["success"]].unique()
    assert reason.startswith("MemoryError: Unable to allocate 64.0 GiB")


def test_memory_that_a_path_may_not_have_is_the_cells_limit(dataset, parts):
    spec = moody("huge")
    spec = changed(spec, {"estimator": "entrolab.fit.training.AllAtOnce"})
    _, record, *_ = train_run(dataset, parts, spec, Limits(seconds=3600, gib=1))
    assert record["status"] == "memory limit"
    assert re.match(r"memory limit of 1 GiB: .*Unable to allocate 64.0 GiB .*, after 0 of", record["error"])


def test_a_fit_that_takes_the_process_with_it_is_a_failed_cell(dataset, parts):
    _, record, *_ = train_run(dataset, parts, moody("fatal"))
    assert record["status"] == "failed"
    assert "the process ended without a result (exit status 3)" in record["error"]


def test_a_data_set_that_could_not_be_had_is_a_record():
    candidates, record, *_ = without_data(a_spec(), "heart: 404 Not Found")

    assert candidates.empty
    assert candidates["test_gmean"].dtype == float
    assert (record["success"], record["status"], record["error"]) == (
        False,
        "no data",
        "heart: 404 Not Found",
    )
    assert record["key"] == "mine/points/logistic"


def fit_to_files(folder, data, parts, spec) -> dict:
    """The record of a run with its files."""
    save_dataset(folder / "data.npz", data)
    save_folds(folder / "folds.npz", parts)
    outputs = {name: folder / name for name in ("candidates", "predictions", "record")}
    files, limits = (folder / "data.npz", folder / "folds.npz"), Limits(60, 8)
    training.fit_grid(*files, outputs, spec, limits, lambda done, total: None)

    def refused(constant):
        raise AssertionError(f"{constant} is not strict JSON")

    return json.loads(outputs["record"].read_text(), parse_constant=refused)


def test_the_peak_of_memory_is_that_of_the_larger_process(monkeypatch):
    """The operating system counts in KiB, on macOS in bytes."""
    used = {resource.RUSAGE_SELF: 3 << 20, resource.RUSAGE_CHILDREN: 5 << 20}
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=used[who]))
    for platform, mib in (("linux", 5120), ("darwin", 5)):
        monkeypatch.setattr(sys, "platform", platform)
        assert peak_mib() == mib


@pytest.mark.parametrize("changes", [{"grid": {"C": [1.0, np.inf]}}, {"grid": {}, "params": {"C": np.inf}}])
def test_a_parameter_may_be_infinite(tmp_path, dataset, parts, changes):
    spec = a_spec(candidates=["cv"], protocol={"folds": 4, "repeats": 1}, **changes)
    record = fit_to_files(tmp_path, dataset, parts[:1], spec)
    assert record["success"]
    assert 10 < record["peak_mib"] <= peak_mib()
    assert "Infinity" in json.dumps([record["params"], record["grid"]])
    candidates = pd.read_parquet(tmp_path / "candidates")
    assert candidates["success"].all()


@pytest.mark.parametrize(("metric", "estimator"), [("r2", "Ridge"), ("error_entropy", "DummyRegressor")])
def test_a_run_without_a_finite_mean_score_is_a_success(tmp_path, dataset, metric, estimator):
    """R² of one row, and the entropy of equal errors."""
    values = Dataset(dataset.X[:8], np.ones(8), list("abcd"), "regression", [], dataset.part[:8])
    module = "dummy" if estimator == "DummyRegressor" else "linear_model"
    spec = a_spec(
        estimator=f"sklearn.{module}.{estimator}",
        grid={},
        metrics=[metric],
        candidates=["cv"],
        protocol={"folds": 4, "repeats": 1},
    )
    record = fit_to_files(tmp_path, values, Folds(4, repeats=1).draw(values.y, seed=0), spec)
    assert record["success"]


def test_notes_are_counted(dataset, parts):
    """SVC stopped by its iteration cap says so in the note of each fit (see entrolearn.path)."""
    spec = a_spec(
        estimator="sklearn.svm.SVC",
        params={"kernel": "rbf", "max_iter": 1, "gamma": 1.0},
        grid={"C": [1e6]},
        candidates=["dcs_gaussian"],
    )
    _, record, *_ = train_run(dataset, parts, spec)
    assert record["notes"] == {"stopped at 1 iterations": 8}


# ------------------------------------------------------------------------------------------- random search

GRID = {"C": [0.001, 0.1, 1.0, 10.0]}


def by_params(candidates) -> dict:
    rows = candidates[["repeat", "fold", "params", f"cv_{METRIC_NAMES[0]}", f"test_{METRIC_NAMES[0]}"]]
    return {tuple(row[:3]): row[3:] for row in rows.itertuples(index=False)}


def test_a_random_search_fits_a_sample_of_the_grid_as_the_whole_grid_is_fitted(dataset, parts):
    whole = by_params(train_run(dataset, parts[:1], a_spec(grid=GRID)).candidates)
    for n_points, n_fitted in ((3, 3), (100, 4)):
        search = {"points": n_points, "seconds": None}
        found = by_params(train_run(dataset, parts[:1], a_spec(grid=GRID, search=search)).candidates)
        assert len(found) == n_fitted * 4  # folds
        assert found == {place: whole[place] for place in found}


def test_a_search_draws_without_repetition_by_the_seed_alone():
    spec = a_spec(grid=GRID, search={"points": 3, "seconds": None}, named_seeds=False)
    drawn = [point["C"] for point in drawn_points(spec)]
    assert len(set(drawn)) == 3
    assert drawn_points(changed(spec, {"study": "another", "dataset": "another"})) == drawn_points(spec)
    others = [drawn_points(changed(spec, {"seed": seed})) for seed in range(1, 6)]
    assert any(other != drawn_points(spec) for other in others)


def test_no_point_begins_after_the_seconds_of_a_search_and_those_begun_are_complete(dataset, parts):
    search = {"points": 4, "seconds": 1e-9}
    candidates, record, *_ = train_run(dataset, parts[:1], a_spec(grid=GRID, search=search))
    assert candidates.groupby(["repeat", "fold"]).size().tolist() == [1] * 4
    assert candidates["success"].all()
    assert record["success"]
    whole = by_params(train_run(dataset, parts[:1], a_spec(grid=GRID)).candidates)
    assert all(whole[place] == found for place, found in by_params(candidates).items())


def test_random_is_short_for_a_search_of_twenty_points():
    model = {"estimator": "sklearn.svm.SVC", "grid": {"C": {"logspace": [-20, 20, 2]}}}
    for given, n_points in ((None, 41), ("random", 20), ({"points": 5}, 5)):
        entry = model | ({"search": given} if given else {})
        study = made_study({"datasets": {"one": ["one"]}, "models": {"svm": entry}})
        assert len(drawn_points(study.run("one", "svm", 0))) == study.n_points() == n_points


class Broken(Moody):
    """Fails at one value as no fit may."""

    def fit(self, X, y):
        if self.mood == "broken":
            raise NotImplementedError("not yet")
        return super().fit(X, y)


def test_an_error_within_a_search_is_no_end_of_its_seconds(dataset, parts, monkeypatch):
    monkeypatch.setattr(training, "Broken", Broken, raising=False)
    spec = a_spec(
        estimator="entrolab.fit.training.Broken",
        grid={"mood": ["broken", "calm", "sunny"]},
        search={"points": 3, "seconds": 1000},
        candidates=["cv"],
    )
    candidates, *_ = train_run(dataset, parts, spec)
    assert candidates.groupby(["repeat", "fold"]).size().tolist() == [3] * 8
    failed = candidates[~candidates["success"]]
    assert len(failed) >= 8
    assert failed["error"].str.contains("not yet").all()


def test_the_seconds_of_a_search_are_shared_by_its_parts(dataset, monkeypatch):
    found = []
    monkeypatch.setattr(training, "_in_turn", lambda points, seconds: found.append(seconds) or [points])
    monkeypatch.setattr(training, "within", lambda limits, work, *arguments: work(*arguments))
    in_time = {"method": "time", "folds": 4, "repeats": 1}
    spec = a_spec(grid=GRID, search={"points": 2, "seconds": 8}, protocol=in_time, candidates=["cv"])
    train_run(dataset, InTime(4).draw(dataset.y, seed=0), spec)
    assert found == [2.0] * 4
