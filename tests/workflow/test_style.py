"""The workflow's files: scripts that are adapters, rules that snakemake's own linter passes."""

import ast
import re
import runpy
from pathlib import Path

import pytest

from entrolab.study import config

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_an_adapter(script):
    """Short, importable without snakemake, with a main; all else is in the package, where tests reach it."""
    assert len(script.read_text().splitlines()) <= 40
    assert ast.get_docstring(ast.parse(script.read_text()))
    assert callable(runpy.run_path(str(script))["main"])


@pytest.mark.parametrize("file", RULES, ids=lambda path: path.name)
def test_no_rule_holds_code(file):
    assert "\n    run:" not in file.read_text()


def test_every_script_has_its_rule():
    used = "".join(file.read_text() for file in RULES)
    assert [script.name for script in SCRIPTS if f'"../scripts/{script.name}"' not in used] == []


def test_no_study_can_have_the_name_of_a_rule():
    rules = "\n".join(file.read_text() for file in RULES)
    names = re.findall(r"^(?:rule|checkpoint|use rule \w+ as) (\w+)", rules, flags=re.MULTILINE)
    assert set(names) == config.RULES
