"""The rules of the workflow: they hold no code but the names of functions."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from entrolab.study import config

ROOT = Path(__file__).parents[2]
RULES = [ROOT / "workflow" / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
GIVEN = "input, output, params, wildcards, resources, log"


@pytest.mark.parametrize("file", RULES, ids=lambda path: path.name)
def test_a_rule_runs_a_function_of_its_name(file):
    """All else is in the package, where tests reach it."""
    text = file.read_text()
    for rule, body in re.findall(r"\nrule (\w+):\n(.*?)(?=\n\n\n|\Z)", text, flags=re.DOTALL):
        body = re.sub(r"\(\n +(.*)\n +\)", r"(\1)", body.rstrip())  # a call on three lines
        called = re.findall(r"\n    run:\n        run_job\(\"(\w+):(\w+)\", (.*)\)\Z", body)
        assert [(name, given) for _, name, given in called] == [(rule, GIVEN)] * ("run:" in body)
        for module, name, _ in called:
            assert callable(getattr(import_module(f"entrolab.stages.{module}"), name))
    assert not re.search(r"^    (script|shell|notebook|wrapper):", text, flags=re.MULTILINE)


def test_no_study_can_have_the_name_of_a_rule():
    rules = "\n".join(file.read_text() for file in RULES)
    names = re.findall(r"^(?:rule|checkpoint|use rule \w+ as) (\w+)", rules, flags=re.MULTILINE)
    assert set(names) == config.RULES
