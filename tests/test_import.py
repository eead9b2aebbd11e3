"""The flat public face of the package: light to import, complete, and the same for editors as for Python."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import entrolearn

PROJECT = Path(__file__).parents[1]


def fresh_interpreter(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_the_package_loads_none_of_the_libraries():
    heavy = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "mlflow", "snakemake"}
    run = fresh_interpreter("import sys, entrolearn; print(*{name.split('.')[0] for name in sys.modules})")
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert "entrolearn" in loaded
    assert not loaded & heavy


@pytest.mark.parametrize("name", entrolearn.__all__)
def test_public_name_resolves_and_says_where_it_lives(name):
    value = getattr(entrolearn, name)
    home = importlib.import_module(entrolearn._MODULES[name])
    assert value is getattr(home, name)
    # Classes and functions know their module; a name re-exported from elsewhere would mislead the workflow.
    if isinstance(value, type) or hasattr(value, "__code__"):
        assert value.__module__ == entrolearn._MODULES[name]


def test_public_names_can_be_discovered():
    assert set(entrolearn.__all__) <= set(dir(entrolearn))
    assert len(set(entrolearn.__all__)) == len(entrolearn.__all__)


def test_table_of_names_is_a_literal_and_agrees_with_what_type_checkers_see():
    tree = ast.parse(Path(entrolearn.__file__).read_text())
    (table,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["_MODULES"]
    )
    (checked,) = (
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {
        alias.asname: statement.module
        for statement in checked.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname == alias.name
    }
    assert ast.literal_eval(table) == seen == entrolearn._MODULES


@pytest.mark.parametrize(("name", "module"), entrolearn._IN_SUBPACKAGES.items())
def test_a_name_in_a_subpackage_is_defined_in_it_and_not_at_the_top(name, module):
    assert getattr(importlib.import_module(module), name).__module__.startswith(module)
    assert not hasattr(entrolearn, name)


def test_unknown_name_is_an_attribute_error_that_suggests_the_nearest_public_name():
    with pytest.raises(AttributeError, match="module 'entrolearn' has no attribute 'EEMClasifier'"):
        _ = entrolearn.EEMClasifier
    assert not hasattr(entrolearn, "__wrapped__")
    run = fresh_interpreter("import entrolearn; entrolearn.EEMClasifier")
    assert run.returncode == 1
    assert run.stderr.strip().endswith("Did you mean: 'EEMClassifier'?")


def test_name_that_no_public_name_resembles_gets_no_suggestion():
    run = fresh_interpreter("import entrolearn; entrolearn.zzz")
    assert run.stderr.strip().endswith("module 'entrolearn' has no attribute 'zzz'")


def test_version_is_the_projects():
    with (PROJECT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert entrolearn.__version__ == project["version"]
