"""Studies that could not be run, and the one line that says why."""

import copy
from collections.abc import Iterator

import pytest
from refused_studies import refused

from entrolab.schema.sections import ConfigError

A_MISTAKE = pytest.mark.fault(
    "Configuration", "a mistake in a study", "one line with its place and what is accepted, before any job"
)


def changed(study: dict, place: str, value) -> dict:
    """The study itself, its value at a dotted place set, or removed if that is None."""
    *parents, last = place.split(".")
    node = study
    for parent in parents:
        node = node[parent]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return study


# Keys whose values name a part of the study, or are one of some words.
NAMING = {
    "method",
    "dtype",
    "metrics",
    "criteria",
    "type",
    "datasets",
    "dataset",
    "models",
    "model",
}
NAMING |= {"metric", "criterion", "table", "script", "of", "parameter", "of_dataset", "against", "counts"}
NAMING |= {"rows", "columns", "weights", "formula", "data", "small", "moons", "classes", "values", "all"}


def names_in(node, place: tuple = ()) -> Iterator[tuple]:
    """Yield the place of each text that is the value of a key in `NAMING`, or in a list of one."""
    for key, one in node.items() if isinstance(node, dict) else enumerate(node):
        at = (*place, key)
        if isinstance(one, dict | list):
            yield from names_in(one, at)
        elif isinstance(one, str) and [part for part in at if isinstance(part, str)][-1] in NAMING:
            yield at


@A_MISTAKE
@pytest.mark.parametrize(
    ("reads", "fixture", "parts"),
    [
        ("load", "study", ""),
        ("load", "study_of_alternatives", "chooses chosen apart"),
        ("load", "study_of_projections", "pca mixture centres starts speed planes maxima"),
        (
            "load_trials",
            "study_of_all_trials",
            "method train inner ridge accuracies chosen sparse sizes each density",
        ),
        ("load_trials", "study_of_training", "taken known"),
    ],
)
def test_a_misspelt_name_is_one_line_with_its_place_and_the_right_one(request, reads, fixture, parts):
    load, study = map(request.getfixturevalue, (reads, fixture))
    places = [at for at in names_in(study) if not parts or at[1] in parts.split()]
    assert len(places) > 5
    for *parents, last in places:
        spoilt = copy.deepcopy(study)
        node = spoilt
        for parent in parents:
            node = node[parent]
        right, node[last] = node[last], f"{node[last]}x"
        _, place, line = refused(load, spoilt).split(": ", 2)
        at = ".".join(map(str, [*parents, last]))
        # A step's value for a data set is looked up where the model is fitted.
        assert at.startswith(place) or last == "of_dataset", line
        assert f"did you mean {right!r}" in line or last in ("models", "parameter"), line


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("models", None, "the key 'models' is missing"),
        ("protocol.folds", 1, "protocol.folds: found 1"),
        ("models.svm.grid", {"C": 1}, "models.svm.grid.C: found 1, expected a list of values"),
        ("models.svm.grid", {"C": {"logspce": [0, 1, 10]}}, "expected a list of values, {logspace: ["),
        ("models.SVM", {"label": "x", "estimator": "a.B"}, "found 'SVM', expected a name of lower-case"),
        ("tables.growth.datasets", "small", "growth.datasets: unknown group of one data set 'small'"),
        ("tables.growth.models.svn", {}, "tables.growth.models: unknown model 'svn', did you mean 'svm'?"),
        ("tables.table1.models", ["eem"], "unknown criterion of model 'eem' 'cv'; accepted: dcs_gaussian"),
        ("tables.table1.among", {"gama": {"max": 1}}, "unknown parameter in this table's grids 'gama'"),
        ("models.eem.criteria", ["dcs_kde"], "models.eem.criteria: unknown criterion of this study"),
        ("tables.ranks.params.layers", "1", "tables.ranks.params.layers: found '1', expected a whole number"),
        ("published", "nowhere.csv", "published: the file "),
        ("models.eem.grid.n_hidden", {"range": [5, 21, 5]}, "steps of 5 do not lead from 5 to 21; accepted"),
        ("models.eem.grid.n_hidden", {"range": [5, 20, 0]}, "found {'range': [5, 20, 0]}, expected a list"),
        ("models.eem.grid", {"n_hidden": [5, "x"]}, "'eem' has n_hidden = 'x'; accepted: finite numbers"),
        ("metrics", ["auc", "gmean", "accuracy"], "metrics: 'auc' is the first metric that fits 'heart'"),
        ("figures.figure2.models", ["svm"], "figure2.parameter: the grid of model 'svm' is over gamma, C;"),
        ("figures.figure2.models", ["lda"], "the grid of model 'lda' is over nothing; accepted: models with"),
        ("figures.figure2.parameter", "gamma", "the grid of model 'eem' is over n_hidden; accepted: models"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(tmp_path, load, study, place, value, line):
    message = refused(load, changed(study, place, value))
    assert line in message
    assert message.startswith(f"{tmp_path / 'mine.yaml'}: ")


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("table", "counts", "unknown table of type scores 'counts'; accepted: table1, table2"),
        ("metric", "accuracy", "ranks.metric: unknown metric of this table 'accuracy'; accepted: gmean"),
    ],
)
def test_a_mistake_in_a_figure_of_ranks_is_one_line(load, study, place, value, message):
    study["figures"]["ranks"] = {
        "type": "critical_difference",
        "caption": "",
        "table": "table1",
        "metric": "gmean",
    }
    assert message in refused(load, changed(study, f"figures.ranks.{place}", value))


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (
            "tables.sparse.params",
            {"dims": [9], "densities": [1]},
            "tables.sparse.params: the key 'n_rows' is missing",
        ),
        ("tables.chosen.models.ridge.lambda", "1/alfa", "unknown parameter of model 'ridge' 'alfa', did you"),
        ("figures.each.metric", ["f1"], "figures.each.metric: 'f1' does not fit 'sonar', a multiclass data"),
        ("figures.curves.by", "gamma", "the grid of model 'svm' is over C; accepted: models with a grid ove"),
        ("figures.curves.by", "C", "accepted: models with a grid over only 'C' and 'C'"),
    ],
)
def test_a_mistake_in_a_kind_of_trials_is_one_line(load_trials, study_of_all_trials, place, value, message):
    assert message in refused(load_trials, changed(study_of_all_trials, place, value))


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("tables.taken.metric", "fit_seconds", "taken.metric: unknown metric of this study 'fit_seconds'"),
        ("tables.taken.tolerances.f1", {"points": 1}, "taken.tolerances: unknown metric of this table 'f1'"),
        (
            "tables.taken.metric",
            ["rmse", "iterations"],
            "taken.metric: 'rmse' does not fit 'heart', a binary data set",
        ),
        (
            "tables.known.models",
            {"other": {}},
            "model with a learner for binary, multiclass data 'other'; accepted",
        ),
        ("tables.known.params", {"reject": 1}, "tables.known.params.reject: found 1, expected a list"),
        ("protocol.shuffle", False, "protocol.shuffle: found false for 20 trials"),
        ("protocol.shuffle", "no", "protocol.shuffle: found 'no', expected true, false or {of"),
        ("protocol.shuffle", {"of_dataset": "inner"}, "expected true, false or {of_dataset: name}"),
    ],
)
def test_a_mistake_in_what_is_trained_in_the_order_of_the_files_is_one_line(
    load_trials, study_of_training, place, value, message
):
    assert message in refused(load_trials, changed(study_of_training, place, value))


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("tables.starts.params", {"start": 20}, "unknown key 'start', did you mean 'starts'?"),
    ],
)
def test_a_mistake_in_what_projects_is_one_line(load, study_of_projections, place, value, message):
    assert message in refused(load, changed(study_of_projections, place, value))


@A_MISTAKE
def test_rows_without_classes_and_models_that_project_nothing_are_not_drawn(load_trials, study_of_trials):
    figure = {"type": "projections", "caption": "", "datasets": "values", "models": ["eem"]}
    study_of_trials["figures"]["planes"] = figure
    with pytest.raises(
        ConfigError, match="'two-moons' is a regression data set; accepted: binary and multiclass data"
    ):
        load_trials(study_of_trials)
    figure |= {"datasets": "classes", "models": ["ridge"]}
    with pytest.raises(ConfigError, match="planes: the model 'ridge' has no learner to run here"):
        load_trials(study_of_trials)


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("protocol.folds", 3, "protocol: unknown key 'folds'; accepted: trials, train, test, shuffle, inner"),
        ("protocol.train", {"of": "n_train"}, "train: found {'of': 'n_train'}, expected a whole number"),
        ("protocol.inner.used", 5, "inner.used: found 5; accepted: at most the number of inner folds, 4"),
        ("protocol.inner.folds", 90, "protocol.inner: found 90 folds; accepted: at most its 80 training"),
        ("protocol.test", 101, "found 100 training and 101 test rows for 'heart'; accepted: at most its 200"),
        ("of_dataset.n_train", {"heart": 9}, "of_dataset.n_train: no value for the data set 'sonar', needed"),
        ("of_dataset.n_train.sonar", 0, "protocol.train: found 0, expected a whole number from 1"),
        ("of_dataset.alpha.heart", 3, "models.ridge.grid.alpha: found 3 for 'heart', expected a list of"),
        ("models.ridge.estimator", "sklearn.svm.SVC", "found 'estimator' beside 'estimators'; accepted"),
        ("models.other.grid", {}, "models.other: found 'grid' beside 'published_only'"),
        ("models.svm.trials", 21, "models.svm.trials: found 21; accepted: at most the 20 of the protocol"),
        ("models.svm.trials", {"of_dataset": "n_train"}, "svm.trials: found 100; accepted: at most the 20"),
        ("tables.errors.metric", "f1", "errors.metric: 'f1' does not fit 'two-moons', a regression data set"),
        ("tables.accuracies.metric", "f1", "'f1' does not fit 'sonar', a multiclass data set; accepted: acc"),
        ("figures.curves.metric", "rmse", "curves.metric: 'rmse' does not fit 'heart', a binary data set"),
        ("figures.curves.models", ["other"], "curves: the model 'other' has no learner to run here"),
        ("tables.growth.models", {"svm": {}}, "model with a learner for regression data 'svm'; accepted"),
    ],
)  # fmt: skip
def test_a_mistake_in_what_differs_between_data_sets_is_one_line(
    tmp_path, load_trials, study_of_trials, place, value, line
):
    message = refused(load_trials, changed(study_of_trials, place, value))
    assert line in message
    assert message.startswith(f"{tmp_path / 'mine.yaml'}: ")


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("one_of", {}, "models.chooses.one_of: found {}"),
        ("one_of.knn.grid", {"n_neighbors": {"range": [1, 4, 2]}}, "one_of.knn.grid.n_neighbors: steps of 2"),
        ("estimator", "sklearn.svm.SVC", "found 'estimator' beside 'one_of'; accepted: one of them"),
    ],
)  # fmt: skip
def test_a_mistake_in_alternatives_is_one_line(tmp_path, load, study_of_alternatives, place, value, line):
    message = refused(load, changed(study_of_alternatives, f"models.chooses.{place}", value))
    assert line in message
    assert message.startswith(f"{tmp_path / 'mine.yaml'}: ")


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("tables.growth.models", {"chooses": {}}, "model with a learner for binary data 'chooses'; accepted"),
        ("figures.figure1.model", "chooses", "the model 'chooses' has no learner to run here"),
        ("figures.figure2.models", ["chooses"], "'chooses' is over step1__n_components, one_of, C,"),
        ("tables.apart.params", {"subsets": "half"}, "tables.apart.params.subsets: found 'half'"),
        ("tables.apart.rows", ["seen"], "apart.rows.0: found 'seen'; accepted: dataset, model, metric"),
    ],
)  # fmt: skip
def test_alternatives_are_no_single_learner(load, study_of_alternatives, place, value, line):
    assert line in refused(load, changed(study_of_alternatives, place, value))


@A_MISTAKE
def test_data_sets_that_no_metric_fits_are_refused_where_models_are_trained(load_trials, study_of_trials):
    study_of_trials["metrics"] = ["accuracy"]
    study_of_trials["tables"]["errors"] = {
        "type": "times", "caption": "", "datasets": "values", "models": ["ridge"]
    }  # fmt: skip
    with pytest.raises(ConfigError, match="metrics: none of them fits 'two-moons', a regression data set"):
        load_trials(study_of_trials)


def test_mistakes_of_models_tables_and_figures_are_told_at_once(load, study):
    changed(study, "models.eem.criteria", ["dcs_kde"])
    changed(study, "tables.counts.datasets", "smal")
    changed(study, "figures.figure1.dataset", "two-mons")
    with pytest.raises(ConfigError) as caught:
        load(study)
    places = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert places == ["models.eem.criteria", "tables.counts.datasets", "figures.figure1.dataset"]
