"""The parts of a study that decide a table are enough to make it, and nothing else is among them."""

import pytest

from entrolab.fit.learners import searched
from entrolab.results.reader import Results
from entrolab.study.claims import Better, Claim
from entrolab.study.study import Study


@pytest.fixture
def whole(load_trials, study_of_all_trials) -> Study:
    """A study of many types of tables, whose protocol depends on the data set."""
    study_of_all_trials["models"] |= {
        "best": {"known": {"heart": {"accuracy": 99}}},
        "any": {"one_of": {"svm": {"estimator": "sklearn.svm.SVC", "grid": {"C": [1, 2]}}}},
    }
    return load_trials(study_of_all_trials)


def test_a_part_gives_a_table_the_spec_of_the_whole_study(whole):
    for table in whole.tables:
        part = whole.part_for(table)
        assert part.spec_of_table(table) == whole.spec_of_table(table)
        assert part.files_of_table(table) == whole.files_of_table(table)
        for dataset in whole.tasks:
            assert part.protocol_of(dataset) == whole.protocol_of(dataset)
        for model, entry in whole.models.items():
            assert part.models[model].known == entry.known
            assert searched(part.models[model]) == searched(entry)
            assert [part.runs_on(one, model) for one in whole.tasks] == [
                whole.runs_on(one, model) for one in whole.tasks
            ]
            assert Results(part).facts("none", model) == Results(whole).facts("none", model)


def test_a_part_does_not_change_with_other_tables_or_with_parameters_of_models(whole):
    first, *others = whole.tables
    models = {name: model.model_copy(update={"params": {"C": 3}}) for name, model in whole.models.items()}
    changed = {"tables": {first: whole.tables[first]}, "models": models, "title": "Other"}
    other = whole.model_copy(update=changed)
    assert repr(other.part_for(first)) == repr(whole.part_for(first))
    reseeded = whole.model_copy(update={"seed": 1})
    assert repr(reseeded.part_for(first)) != repr(whole.part_for(first))
    assert len(others) > 3


def test_claims_have_the_tables_and_figures_that_they_test_alone(whole):
    (table, *_), (figure, *_) = whole.tables, whole.figures
    test = Better.model_construct(tables=[table], against_tables=[figure])
    claims = [Claim.model_construct(id="one", tests=[test])]
    part = whole.model_copy(update={"claims": claims}).part_for_claims()
    assert ([*part.tables], [*part.figures]) == ([table], [figure])
