"""The examples of the gallery. `make docs` runs them, except the study, which takes too long for a page."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = {script.stem: script for script in (ROOT / "examples").glob("*.py")}
STUDY = "study_from_python"
MOST_LINES = 60


def test_the_docs_run_all_examples_but_the_study():
    """tests/workflow/test_studies.py runs it."""
    assert {name for name in EXAMPLES if not name.startswith("plot_")} == {STUDY}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_short_and_has_a_title(name):
    text = EXAMPLES[name].read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    title, line, rest = (ast.get_docstring(ast.parse(text)) or "").split("\n", 2)
    assert line == "=" * len(title)
    assert rest.strip()
