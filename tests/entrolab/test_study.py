"""What files of a configuration may say, and the schemas that editors check them by."""

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.study.__main__ import SCHEMAS, schema_of, text_of, with_reference
from entrolab.study.sections import ConfigError, Section, check, list_of, number, one_of, per_dataset, whole
from entrolab.tables.types import TABLE_TYPES

ROOT = Path(__file__).parents[2]
STUDIES = sorted(ROOT.glob("config/papers/*.yaml"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_those_of_the_definitions(name):
    """Made anew by ``python -m entrolab.study``."""
    assert (ROOT / "workflow/schemas" / name).read_text(encoding="utf-8") == text_of(name)


def test_the_key_reference_is_that_of_the_definitions():
    """Made anew by ``python -m entrolab.study``."""
    page = (ROOT / "config/README.md").read_text(encoding="utf-8")
    assert with_reference(page) == page
    assert "| protocol: folds | `folds` | whole number ≥ 2 | `5` |" in page


def test_editors_find_nothing_wrong_with_the_studies_and_the_catalog():
    studies, catalogs = (
        Draft202012Validator(schema_of("study.json")),
        Draft202012Validator(schema_of("catalog.json")),
    )
    for file in STUDIES:
        assert not [*studies.iter_errors(yaml.safe_load(file.read_text(encoding="utf-8")))], file
        assert file.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=../../workflow/")
    catalog = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))
    assert not [*catalogs.iter_errors(catalog)]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"type": "scors"}, "'scors' is not one of"),
        ({"type": "scores", "criterium": "cv"}, "'criterium' was unexpected"),
        ({"type": "growth", "caption": "x"}, "'datasets' is a required property"),
        ({"type": "starts", "caption": "x", "datasets": "a", "models": {"m": {}}, "starts": 3}, "3 is less"),
    ],
)
def test_editors_find_what_is_wrong_with_a_table(table, found):
    study = {"datasets": {"a": ["iris"]}, "models": {"m": "sklearn.svm.SVC"}, "tables": {"t": table}}
    errors = [error.message for error in Draft202012Validator(schema_of("study.json")).iter_errors(study)]
    assert any(found in error for error in errors), errors


def test_every_type_says_what_its_entries_have():
    for types in (TABLE_TYPES, FIGURE_TYPES):
        for name, one in types.items():
            assert {"type", "caption", "notes"} <= {*one.Entry.model_fields}, name


class Inner(Section):
    method: per_dataset(one_of("minmax", "maxabs"))


class Outer(Section):
    n: whole(ge=1, le=5)
    share: number(gt=0) = 1
    inner: Inner
    names: list_of(str, at_most=2) = []


def test_all_mistakes_of_a_file_are_told_each_in_one_line():
    with pytest.raises(ConfigError) as caught:
        check(Outer, {"n": 9, "share": 0, "inner": {"method": "minmaks"}, "names": ["a", "a"]}, "x.yaml")
    assert str(caught.value).splitlines() == [
        "x.yaml: n: found 9; accepted: at least 1 and at most 5",
        "x.yaml: share: found 0; accepted: more than 0",
        "x.yaml: inner.method: found 'minmaks', did you mean 'minmax'?; accepted: minmax, maxabs",
        "x.yaml: names: found ['a', 'a']; accepted: each value once",
    ]


def test_a_misspelt_key_is_told_beside_other_mistakes_and_not_as_missing():
    with pytest.raises(ConfigError) as caught:
        check(Outer, {"n": 9, "iner": {"method": "minmax"}, "names": [1]}, "x.yaml", "here")
    assert str(caught.value).splitlines() == [
        "x.yaml: here: unknown key 'iner', did you mean 'inner'?; accepted: n, share, inner, names",
        "x.yaml: here.n: found 9; accepted: at least 1 and at most 5",
        "x.yaml: here.names.0: found 1, expected a text",
    ]


def test_values_stay_as_they_are_written():
    """An integer stays one, defaults are filled in, and what has none is absent."""
    found = check(Outer, {"n": 2, "inner": {"method": {"of_dataset": "method"}}}, "x.yaml")
    assert found == {"n": 2, "share": 1, "inner": {"method": {"of_dataset": "method"}}, "names": []}
    assert isinstance(check(Outer, {"n": 2, "share": 3, "inner": {"method": "minmax"}}, "")["share"], int)
