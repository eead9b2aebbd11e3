"""The page of all keys, and the schemas by which editors check configuration files."""

import importlib.util
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
STUDIES = sorted(ROOT.glob("config/papers/*.yaml"))
SPEC = importlib.util.spec_from_file_location("keys", ROOT / "docs" / "_extensions" / "keys.py")
keys = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(keys)
schema_of = keys.schema_of


def test_the_reference_has_a_line_for_a_key_with_its_values_and_default():
    assert "| protocol: folds | `folds` | whole number ≥ 2 | `5` |" in keys.reference()


def test_schemas_are_written_to_a_folder(tmp_path):
    keys.write_schemas(tmp_path / "schemas")
    for name in keys.SCHEMAS:
        written = yaml.safe_load((tmp_path / "schemas" / name).read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(written)
        assert written == schema_of(name)


def test_editors_find_nothing_wrong_with_the_studies_and_the_catalog():
    studies, catalogs = (
        Draft202012Validator(schema_of("study.json")),
        Draft202012Validator(schema_of("catalog.json")),
    )
    for file in STUDIES:
        assert not [*studies.iter_errors(yaml.safe_load(file.read_text(encoding="utf-8")))], file
    catalog = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))
    assert not [*catalogs.iter_errors(catalog)]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"type": "scors"}, "'scors' is not one of"),
        ({"type": "scores", "criterium": "cv"}, "'criterium' was unexpected"),
        ({"type": "measured", "caption": "x"}, "'script' is a required property"),
        ({"type": "measured", "script": "growth", "metrics": {"m": ""}, "task": "many"}, "'many' is not one"),
    ],
)
def test_editors_find_what_is_wrong_with_a_table(table, found):
    study = {"datasets": {"a": ["iris"]}, "models": {"m": "sklearn.svm.SVC"}, "tables": {"t": table}}
    errors = [error.message for error in Draft202012Validator(schema_of("study.json")).iter_errors(study)]
    assert any(found in error for error in errors), errors
