"""What the workflow's rules name: what a job depends on, and what it does not."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from entrolab.fit.metrics import METRICS
from entrolab.jobs.cluster_requests import MARGIN_MINUTES, UNKNOWN
from entrolab.jobs.plan import Plan
from entrolab.study.config import load_configuration
from entrolab.study.definition import Preprocessing

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plan() -> Plan:
    settings = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    return Plan(*load_configuration(ROOT, settings))


def at(**names) -> SimpleNamespace:
    return SimpleNamespace(**names)


def test_a_data_set_depends_on_the_reader_of_its_own_format_alone(plan):
    """Editing another reader prepares nothing anew, so that nothing is trained again."""
    readers = {}
    for dataset, entry in plan.catalog.items():
        modules = plan.code_of_data(at(dataset=dataset))
        found = {name for name in modules if name.startswith("entrolab.data.formats.")}
        own = {f"entrolab.data.formats.{entry['format']['name']}"} if "format" in entry else set()
        assert found == own
        readers |= dict.fromkeys(found)
    assert len(readers) > 3  # of several formats


def test_a_run_depends_on_its_learner_and_on_no_reader(plan):
    code = plan.code_of_run(at(study="eem", dataset="sonar", model="eem_rbf"))
    assert {"entrolab.fit.training", "entrolearn.machines.eem", "entrolearn.machines.moments"} <= code.keys()
    assert not any(name.startswith(("entrolab.data.formats", "entrolab.data.prepare")) for name in code)
    assert "entrolab.fit.metrics" not in code


def test_a_run_that_learns_its_preprocessing_depends_on_its_code(plan):
    run = at(study="eem", dataset="sonar", model="eem_rbf")
    study = plan.studies["eem"].model_copy(update={"scaling": None, "preprocessing": Preprocessing()})
    learning = Plan(plan.catalog, plan.studies | {"eem": study}, plan.settings)
    more = learning.code_of_run(run).keys() - plan.code_of_run(run).keys()
    assert {"entrolab.data.preprocessing", "entrolearn.columns"} <= more


@pytest.mark.parametrize(
    ("of_study", "setting", "seconds"), [(None, None, 3600), (9e4, None, 9e4), (9e4, 60, 60)]
)
def test_the_time_requested_from_a_cluster_follows_the_limit_of_the_study(plan, of_study, setting, seconds):
    study = plan.studies["eem"].model_copy(update={"limit_seconds": of_study})
    limited = Plan(plan.catalog, plan.studies | {"eem": study}, plan.settings | {"limit_seconds": setting})
    run = at(study="eem", dataset="sonar", model="eem_rbf")
    assert limited.limit_seconds(run) == seconds
    assert limited.limit_seconds(at(dataset="sonar")) == (setting or 3600)  # of no study
    assert limited.asked(lambda _: UNKNOWN)["runtime"](run, attempt=1) == seconds / 60 + MARGIN_MINUTES


def test_a_table_asks_for_the_runs_that_it_shows_alone(plan):
    """The linear machines of CE SVM's table 2, and none of the polynomial and Gaussian ones."""
    files = plan.sources_of_table(at(study="ce_svm", table="table2"))
    shown = set(plan.studies["ce_svm"]["tables"]["table2"]["models"])
    assert {file.rpartition("/")[2].partition(".")[0] for file in files} <= shown
    assert shown < set(plan.studies["ce_svm"]["models"])


@pytest.mark.parametrize("paper", ["demo", "eem", "ce_svm", "rkelm", "today"])
def test_of_the_metrics_a_run_knows_the_one_that_selects_and_those_shown_of_candidates(plan, paper):
    study = plan.studies[paper]
    more = study.model_copy(
        update={"metrics": [*study.metrics, *(name for name in METRICS if name not in study.metrics)]}
    )
    after = Plan(plan.catalog, {**plan.studies, paper: more}, plan.settings)
    dataset = next(iter(study["tasks"]))
    for model in (model for one, model in study.runs() if one == dataset):
        where = at(study=paper, dataset=dataset, model=model)
        assert after.run_spec(where) == plan.run_spec(where)


def test_input_functions_name_the_files_of_their_runs(plan):
    where = at(study="demo", dataset="gaussians")
    assert plan.of_study("record")(where)[-1] == "results/demo/records/gaussians-unequal/svm_rbf.json"
    assert plan.score_tables(where) == [
        f"results/demo/tables/{table}.csv" for table in ("demo_cv", "demo_gaussian", "demo_kde")
    ]
    assert plan.receipt(where) == []
    assert len(plan.of_study("selection")(where)) == 25
    shown = plan.records_of_figure(at(study="demo", figure="demo_sizes"))
    assert set(shown) < set(plan.of_study("record")(where))


def test_a_table_knows_the_protocol_of_each_of_its_data_sets(plan):
    """The best of a row are tested over its folds or trials, whose sizes may depend on the data set."""
    for study in plan.studies.values():
        for table in study.tables:
            shown = study.part_for_table(table)
            for dataset in shown.tasks:
                assert shown.protocol_of(dataset) == study.protocol_of(dataset)


def test_every_result_of_a_study_is_a_target_so_that_a_deleted_one_is_made_again(plan):
    for name, study in plan.studies.items():
        targets, where = set(plan.study_files(name)), at(study=name)
        for stage in ("candidates", "selection", "predictions", "record", "model", "facts"):
            assert targets >= set(plan.of_study(stage)(where))
        for dataset, _ in study.runs():
            rows = plan.rows_of_run(at(study=name, dataset=dataset))
            assert targets >= {f"results/data/{dataset}.npz", f"results/{name}/folds/{dataset}.npz", rows}
        for table in study["tables"]:
            assert targets >= set(plan.sources_of_table(at(study=name, table=table)))
        for figure in study["figures"]:
            assert targets >= set(plan.sources_of_figure(at(study=name, figure=figure)))
