"""Studies that could not be run, and the one line that says why."""

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


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("titel", "x", "unknown key 'titel', did you mean 'title'?"),
        ("models", None, "the key 'models' is missing"),
        ("protocol.fold", 3, "protocol: unknown key 'fold', did you mean 'folds'?"),
        ("protocol.folds", 1, "protocol.folds: found 1"),
        ("protocol.folds", "ten", "protocol.folds: found 'ten', expected a whole number"),
        ("scaling.method", "min-max", "scaling.method: found 'min-max', did you mean 'minmax'?"),
        ("criteria", ["cv", "dcs_gausian"], "criteria.1: found 'dcs_gausian', did you mean 'dcs_gaussian'?"),
        ("metrics", ["gmeen"], "metrics.0: found 'gmeen', did you mean 'gmean'?"),
        ("datasets.small", ["hart"], "datasets.small: unknown data set 'hart', did you mean 'heart'?"),
        ("models.svm.grid", {"C": 1}, "models.svm.grid.C: found 1, expected a list of values"),
        ("models.svm.grid", {"C": {"logspce": [0, 1, 10]}}, "expected a list of values, {logspace: ["),
        ("models.SVM", {"label": "x", "estimator": "a.B"}, "found 'SVM', expected a name of lower-case"),
        ("tables.table1.type", "skores", "tables.table1.type: found 'skores', did you mean 'scores'?"),
        ("tables.table1.models", ["svn"], "tables.table1.models: unknown model 'svn', did you mean 'svm'?"),
        ("tables.table1.metric", "balanced_accuracy", "unknown metric of this study 'balanced_accuracy'"),
        ("tables.table1.among", {"gama": {"max": 1}}, "unknown parameter in this table's grids 'gama'"),
        ("tables.table1.among", {"gamma": {"most": 1}}, "unknown key 'most'"),
        ("tables.table1.criterion", "dcs_kde", "unknown criterion of this study 'dcs_kde'"),
        ("tables.table1.sizes", [1], "tables.table1: unknown key 'sizes'"),
        ("tables.seconds.models", ["ldaa"], "seconds.models: unknown model 'ldaa', did you mean 'lda'?"),
        ("tables.counts.type", None, "tables.counts: the key 'type' is missing"),
        ("tables.counts.datasets", "smal", "tables.counts.datasets: unknown group of data sets 'smal'"),
        ("tables.ranks.params.layers", "1", "tables.ranks.params.layers: found '1', expected a whole number"),
        ("tables.ranks.params.weights", "norml", "ranks.params.weights: found 'norml', did you mean"),
        ("tables.growth.datasets", "small", "growth.datasets: unknown group of one data set 'small'"),
        ("tables.growth.models.svn", {}, "tables.growth.models: unknown model 'svn', did you mean 'svm'?"),
        ("published", "nowhere.csv", "published: the file "),
        ("models.eem.criteria", ["dcs_kde"], "models.eem.criteria: unknown criterion of this study"),
        ("models.eem.grid.n_hidden", {"range": [5, 21, 5]}, "steps of 5 do not lead from 5 to 21; accepted"),
        ("models.eem.grid.n_hidden", {"range": [5, 20, 0]}, "found {'range': [5, 20, 0]}, expected a list"),
        ("models.eem.grid", {"n_hidden": [5, "x"]}, "'eem' has n_hidden = 'x'; accepted: finite numbers"),
        ("models.eem.grid", {"n_hidden": [5, float("inf")]}, "has n_hidden = inf; accepted: finite numbers"),
        ("tables.table1.models", ["eem"], "unknown criterion of model 'eem' 'cv'; accepted: dcs_gaussian"),
        ("metrics", ["auc", "gmean", "accuracy"], "metrics: 'auc' is the first metric that fits 'heart'"),
        ("figures.figure1.type", "proces", "figures.figure1.type: found 'proces', did you mean 'process'?"),
        ("figures.figure1.dataset", "two-mons", "unknown data set 'two-mons', did you mean 'two-moons'?"),
        ("figures.figure1.model", "eemm", "figures.figure1.model: unknown model 'eemm', did you mean 'eem'?"),
        ("figures.figure1.model", None, "figures.figure1: the key 'model' is missing"),
        ("figures.figure1.metric", "gmean", "figures.figure1: unknown key 'metric'; accepted: type, caption"),
        ("figures.figure2.models", ["eemm"], "figure2.models: unknown model 'eemm', did you mean 'eem'?"),
        ("figures.figure2.models", [], "found [], expected a list of one to six model names"),
        ("figures.figure2.models", ["svm"], "figure2.parameter: the grid of model 'svm' is over gamma, C;"),
        ("figures.figure2.models", ["lda"], "the grid of model 'lda' is over nothing; accepted: models with"),
        ("figures.figure2.parameter", "gamma", "the grid of model 'eem' is over n_hidden; accepted: models"),
        ("figures.figure2.datasets", "mons", "unknown group of data sets 'mons', did you mean 'moons'?"),
        ("figures.figure2.metric", "acuracy", "unknown metric of this study 'acuracy', did you mean"),
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
        ("table", "tabel1", "figures.ranks.table: unknown table of type scores 'tabel1', did you mean"),
        ("table", "counts", "unknown table of type scores 'counts'; accepted: table1, table2"),
        ("metric", "accuracy", "ranks.metric: unknown metric of this table 'accuracy'; accepted: gmean"),
        ("metric", None, "figures.ranks: the key 'metric' is missing"),
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
        ("tables.chosen.models.ridge.lambda", "1/alfa", "unknown parameter of model 'ridge' 'alfa', did you"),
        ("tables.chosen.models.rigde", {"C": "C"}, "unknown model 'rigde', did you mean 'ridge'?"),
        ("tables.chosen.criterion", "dcs_kde", "unknown criterion of this study 'dcs_kde'"),
        (
            "tables.sparse.params",
            {"dims": [9], "densities": [1]},
            "tables.sparse.params: the key 'n_rows' is missing",
        ),
        ("tables.sizes.counts", ["n_trian"], "found 'n_trian', did you mean 'n_train'?"),
        ("tables.accuracies.tolerance", {"point": 1}, "unknown key 'point', did you mean 'points'?"),
        ("figures.density.table", "sprase", "unknown measured table 'sprase', did you mean"),
        ("figures.each.metric", ["f1"], "figures.each.metric: 'f1' does not fit 'sonar', a multiclass data"),
        ("figures.each.criterion", "dcs_kde", "unknown criterion of model 'ridge' 'dcs_kde'"),
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
        ("tables.taken.metric", "acuracy", "unknown metric of this study 'acuracy', did you mean"),
        ("tables.taken.metric", "fit_seconds", "taken.metric: unknown metric of this study 'fit_seconds'"),
        (
            "tables.taken.metric",
            ["rmse", "iterations"],
            "taken.metric: 'rmse' does not fit 'heart', a binary data set",
        ),
        ("metrics", ["accuracy", "f1", "rmse"], "unknown metric of this study 'iterations'; accepted"),
        ("tables.taken.tolerances.f1", {"points": 1}, "taken.tolerances: unknown metric of this table 'f1'"),
        ("tables.taken.tolerances.iterations.point", 1, "iterations: unknown key 'point', did you mean 'poi"),
        (
            "tables.taken.models",
            ["rigde"],
            "tables.taken.models: unknown model 'rigde', did you mean",
        ),
        ("tables.known.models", {"rigde": {}}, "tables.known.models: unknown model 'rigde', did you mean"),
        (
            "tables.known.models",
            {"other": {}},
            "model with a learner for binary, multiclass data 'other'; accepted",
        ),
        (
            "tables.known.models",
            {"chooses": {}},
            "model with a learner for binary, multiclass data 'chooses'; accepted",
        ),
        ("tables.known.params", {"reject": 1}, "tables.known.params.reject: found 1, expected a list"),
        ("protocol.shuffle", False, "protocol.shuffle: found false for 20 trials"),
        ("protocol.shuffle", "no", "protocol.shuffle: found 'no', expected true, false or {of"),
        ("protocol.shuffle", {"of_dataset": "ordered"}, "protocol.shuffle: unknown name of of_dataset"),
        ("protocol.shuffle", {"of_dataset": "inner"}, "expected true, false or {of_dataset: name}"),
        ("scaling.dtype", "float16", "scaling.dtype: found 'float16', did you mean 'float"),
        ("scaling.method", "joint-minmax", "found 'joint-minmax', did you mean 'joint_minmax'"),
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
        ("tables.speed.params.components", 3, "tables.speed.params.components: found 3; accepted: 1 or 2"),
        ("figures.planes.models", ["pcaa"], "figures.planes.models: unknown model 'pcaa', did you mean 'pca"),
        ("figures.planes.models", [], "found [], expected a list of one to twelve model names"),
        ("figures.maxima.params.against", "second", "against: found 'second', did you mean 'seconds'?"),
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
        ("protocol.train", {"of_dataset": "n_trian"}, "train: unknown name of of_dataset 'n_trian', did you"),
        ("protocol.train", {"of": "n_train"}, "train: found {'of': 'n_train'}, expected a whole number"),
        ("protocol.folds", 3, "protocol: unknown key 'folds'; accepted: trials, train, test, shuffle, inner"),
        ("protocol.inner.used", 5, "inner.used: found 5; accepted: at most the number of inner folds, 4"),
        ("protocol.inner.folds", 90, "protocol.inner: found 90 folds; accepted: at most its 80 training"),
        ("protocol.test", 101, "found 100 training and 101 test rows for 'heart'; accepted: at most its 200"),
        ("of_dataset.n_train", {"heart": 9}, "of_dataset.n_train: no value for the data set 'sonar', needed"),
        ("of_dataset.n_train.hart", 3, "of_dataset.n_train: unknown data set 'hart', did you mean 'heart'?"),
        ("of_dataset.n_train.sonar", 0, "protocol.train: found 0, expected a whole number from 1"),
        ("of_dataset.alpha.heart", 3, "models.ridge.grid.alpha: found 3 for 'heart', expected a list of"),
        ("models.ridge.params.max_iter", {"of_dataset": "sise"}, "ridge.params.max_iter: unknown name of"),
        ("models.ridge.estimator", "sklearn.svm.SVC", "found 'estimator' beside 'estimators'; accepted"),
        ("models.ridge.estimators.regresion", "a.B", "estimators: unknown key 'regresion', did you mean"),
        ("models.other.grid", {}, "models.other: found 'grid' beside 'published_only'"),
        ("models.svm.trials", 21, "models.svm.trials: found 21; accepted: at most the 20 of the protocol"),
        ("models.svm.trials", {"of_dataset": "n_train"}, "svm.trials: found 100; accepted: at most the 20"),
        ("tables.errors.metric", "f1", "errors.metric: 'f1' does not fit 'two-moons', a regression data set"),
        ("tables.accuracies.metric", "f1", "'f1' does not fit 'sonar', a multiclass data set; accepted: acc"),
        ("metrics", ["accuracy"], "tables.errors.metric: unknown metric of this study 'rmse'"),
        ("figures.curves.metric", "rmse", "curves.metric: 'rmse' does not fit 'heart', a binary data set"),
        ("figures.curves.models", ["other"], "curves: the model 'other' has no learner to run here"),
        ("figures.plane.model", "other", "plane: the model 'other' has no learner to run here; ac"),
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
        ("one_of.SVM", {"estimator": "a.B"}, "found 'SVM', expected a name of lower-case letters"),
        ("one_of.svm.estimator", None, "models.chooses.one_of.svm: the key 'estimator' is missing"),
        ("one_of.svm.steps", [], "one_of.svm: unknown key 'steps'; accepted: estimator, params, grid"),
        ("one_of.knn.grid", {"n_neighbors": {"range": [1, 4, 2]}}, "one_of.knn.grid.n_neighbors: steps of 2"),
        ("one_of.svm.grid", {"C": {"of_dataset": "svmc"}}, "one_of.svm.grid.C: unknown name of of_dataset"),
        ("estimator", "sklearn.svm.SVC", "found 'estimator' beside 'one_of'; accepted: one of them"),
        ("params", {"C": 1}, "found 'params' beside 'one_of'; accepted: one of them"),
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
        ("tables.chosen.models", {"chooses": {"k": "n_neighbour"}}, "did you mean 'n_neighbors'?"),
        ("tables.growth.models", {"chooses": {}}, "model with a learner for binary data 'chooses'; accepted"),
        ("figures.figure1.model", "chooses", "the model 'chooses' has no learner to run here"),
        ("figures.figure2.models", ["chooses"], "'chooses' is over step1__n_components, one_of, C,"),
        ("tables.table1.among", {"n_neighbour": {"max": 3}}, "did you mean 'n_neighbors'?"),
        ("tables.apart.models", ["choses"], "apart.models: unknown model 'choses', did you mean 'choo"),
        ("tables.apart.params", {"share": "half"}, "tables.apart.params.share: found 'half'"),
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
