"""The parts of a study that decide a table are enough to make it, and nothing else is among them."""

import pytest

from entrolab.study.lookup import protocol_of
from entrolab.study.parts import for_claims, for_table
from entrolab.tables.types import table_spec


@pytest.fixture
def whole(load_trials, study_of_all_trials) -> dict:
    """A study of many types of tables, whose protocol depends on the data set."""
    return load_trials(study_of_all_trials)


def test_a_part_gives_a_table_the_spec_of_the_whole_study(whole):
    for table in whole["tables"]:
        part = for_table(whole, table)
        assert table_spec("mine", part, table) == table_spec("mine", whole, table)
        for dataset in whole["tasks"]:
            assert protocol_of(part, dataset) == protocol_of(whole, dataset)


def test_a_part_does_not_change_with_other_tables_or_with_parameters_of_models(whole):
    first, *others = whole["tables"]
    models = {name: {**model, "params": {"C": 3}} for name, model in whole["models"].items()}
    other = {**whole, "tables": {first: whole["tables"][first]}, "models": models, "title": "Other"}
    assert for_table(other, first) == for_table(whole, first)
    assert len(others) > 3


def test_claims_have_the_tables_and_figures_that_they_test_alone(whole, tmp_path):
    tables, figures = ([*whole[part]] for part in ("tables", "figures"))
    claims = [{"id": "one", "tests": [{"tables": [tables[0]], "against_tables": [figures[0]]}]}]
    part = for_claims({**whole, "claims": claims}, "mine", tmp_path)
    assert ([*part["tables"]], [*part["figures"]]) == (tables[:1], figures[:1])
