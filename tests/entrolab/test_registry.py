"""Learners built from a study's entry, their grids and their seeds."""

import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from entrolab.fit.learners import (
    alternatives,
    build,
    expand_grid,
    grid_points,
    learner_at,
    made_of,
    searched,
    seed_from,
    step_params,
)
from entrolab.fit.run import Alternative, Learner
from entrolab.tables.entries import expand_short_form

ONE_OF = {
    "svm": {"estimator": "sklearn.svm.SVC", "params": {"tol": 0.01}, "grid": {"C": [1, 10]}},
    "knn": {
        "estimator": "sklearn.neighbors.KNeighborsClassifier",
        "params": {},
        "grid": {"n_neighbors": [3]},
    },
}
CHOOSING = Learner(
    steps=[{"estimator": "sklearn.decomposition.PCA"}], grid={"step1__n_components": [1, 2]}, one_of=ONE_OF
)


@pytest.mark.parametrize(
    "grid",
    [
        {},
        {"C": [1, 2]},
        {"gamma": [0.1, 1.0], "C": [1, 10], "kernel": ["rbf", "linear"]},
        {"b": [None], "a": [True, False]},
    ],
)
def test_expand_grid_has_the_order_of_scikit_learns(grid):
    assert expand_grid(grid) == list(ParameterGrid(grid))


@pytest.mark.parametrize("exponent", range(-10, 11))
def test_powers_of_ten_are_the_doubles_that_are_written_so(exponent):
    assert expand_short_form({"logspace": [exponent, exponent, 10]}) == [float(f"1e{exponent}")]


def test_powers_of_two_are_exact():
    assert expand_short_form({"logspace": [-3, 2, 2]}) == [0.125, 0.25, 0.5, 1, 2, 4]


def test_equal_steps_are_exact_and_stay_integers():
    assert expand_short_form({"range": [0, 0.3, 0.1]}) == [0.0, 0.1, 0.2, 0.3]
    assert expand_short_form({"range": [2, 2, 1]}) == [2]
    sizes = expand_short_form({"range": [5, 500, 5]})
    assert sizes == list(range(5, 505, 5))
    assert {type(size) for size in sizes} == {int}


@pytest.mark.parametrize("steps", [[0, 1, 0.3], [1, 0, 0.5]])
def test_steps_that_miss_the_end_are_refused(steps):
    with pytest.raises(ValueError, match="do not lead from"):
        expand_short_form({"range": steps})


@pytest.mark.parametrize(("params", "state"), [({"C": 3.0}, 7), ({"C": 3.0, "random_state": 1}, 1)])
def test_build_sets_parameters_and_the_seed_unless_the_study_gives_one(params, state):
    svc = build({"estimator": "sklearn.svm.SVC", "params": params}, seed=7)
    assert (type(svc).__name__, svc.C, svc.random_state) == ("SVC", 3.0, state)


def test_models_are_built_without_the_sums_that_would_update_them_unless_a_study_asks():
    eem = "entrolearn.EEMClassifier"
    assert build({"estimator": eem}, seed=7).store_sums is False
    assert build({"estimator": eem, "params": {"store_sums": True}}, seed=7).store_sums is True
    one_of = build({"one_of": {"eem": {"estimator": eem}}}, seed=7)
    assert one_of[-1].store_sums is False


def test_build_leaves_an_estimator_without_random_state_alone():
    lda = build({"estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"}, seed=7)
    assert "random_state" not in lda.get_params()


def test_steps_make_a_pipeline_that_takes_the_grids_names():
    spec = {
        "estimator": "sklearn.svm.SVC",
        "steps": [
            {"estimator": "sklearn.preprocessing.StandardScaler", "params": {"with_mean": False}},
            {"estimator": "sklearn.decomposition.PCA"},
        ],
    }
    point = {"C": 5.0, "step2__n_components": 3}
    pipeline = build(spec, seed=7).set_params(**step_params(spec, point))

    assert isinstance(pipeline, Pipeline)
    assert [type(step).__name__ for _, step in pipeline.steps] == ["StandardScaler", "PCA", "SVC"]
    assert (pipeline[0].with_mean, pipeline[1].random_state, pipeline[-1].C) == (False, 7, 5.0)
    assert pipeline["step2"].n_components == 3


def test_a_seed_depends_on_each_of_its_names_and_fits_numpys_generators():
    names = [0, "eem", "heart", "eem_rbf", 0]
    others = [[*names[:place], "x", *names[place + 1 :]] for place in range(len(names))]

    seeds = [seed_from(*one) for one in [names, *others]]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert seed_from(*names) == seeds[0]


def test_the_grid_of_alternatives_is_the_union_of_theirs_each_crossed_with_the_models_own():
    shown = [tuple(point.values()) for point in grid_points(CHOOSING)]
    assert shown == [
        ("svm", 1, 1),
        ("svm", 1, 2),
        ("svm", 10, 1),
        ("svm", 10, 2),
        ("knn", 3, 1),
        ("knn", 3, 2),
    ]
    assert grid_points(CHOOSING)[-1] == {"one_of": "knn", "n_neighbors": 3, "step1__n_components": 2}
    assert searched(CHOOSING) == ["step1__n_components", "one_of", "C", "n_neighbors"]
    plain = Learner(grid={"C": [1, 2]})
    assert (grid_points(plain), searched(plain)) == (expand_grid(plain.grid), ["C"])


@pytest.mark.parametrize("steps", [CHOOSING.steps, []])
def test_a_point_of_alternatives_becomes_the_pipeline_that_it_names(steps):
    spec = CHOOSING.model_copy(update={"steps": steps})
    learners = alternatives(spec, seed=7)
    point = {"one_of": "knn", "n_neighbors": 3} | ({"step1__n_components": 2} if steps else {})
    built = build(spec, seed=7).set_params(**step_params(spec, point, learners))

    assert [name for name, _ in built.steps] == [*(["step1"] if steps else []), "model"]
    assert (type(built[-1]).__name__, built[-1].n_neighbors) == ("KNeighborsClassifier", 3)
    if steps:
        assert (built[0].n_components, built[0].random_state) == (2, 7)
    svm = learners["svm"]
    assert (svm.tol, svm.random_state) == (0.01, 7)
    assert step_params(spec, {"one_of": "svm", "C": 1}, learners) == {"model": svm, "model__C": 1}


def test_a_run_of_alternatives_is_made_of_all_of_them():
    learners = [learner["estimator"] for learner in ONE_OF.values()]
    assert made_of(CHOOSING) == [*learners, "sklearn.decomposition.PCA"]
    assert learner_at(CHOOSING, {"one_of": "svm"}) == Alternative(**ONE_OF["svm"])
    assert learner_at({"estimator": "a.B"}, {"C": 1}) == Learner(estimator="a.B")
