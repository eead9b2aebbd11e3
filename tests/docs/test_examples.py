"""The examples of the gallery. `make docs` runs them, except the study, which takes too long for a page."""

import ast
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from entrolearn.plotting import description_of, save_figure

ROOT = Path(__file__).parents[2]
EXAMPLES = {script.stem: script for script in (ROOT / "examples").glob("*.py")}
STUDY = "study_from_python"
MOST_LINES = 60


def test_examples_that_the_docs_do_not_run_are_run_here():
    assert {name for name in EXAMPLES if not name.startswith("plot_")} == {STUDY}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_short_and_has_a_title(name):
    text = EXAMPLES[name].read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    title, line, rest = (ast.get_docstring(ast.parse(text)) or "").split("\n", 2)
    assert line == "=" * len(title)
    assert rest.strip()


@pytest.mark.workflow
def test_study_from_python_gives_the_scores_of_its_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(plt, "show", lambda: None)
    folds = runpy.run_path(str(EXAMPLES[STUDY]))["folds"]
    means = ", ".join(f"{model} {mean:.2f}" for model, mean in folds.mean().items())
    save_figure(plt.gcf(), tmp_path / "figure.svg", description=f"Mean balanced accuracy: {means}")
    picture = ROOT / "docs" / "images" / "study-from-python.svg"
    assert description_of(picture) == description_of(tmp_path / "figure.svg"), f"copy {tmp_path} to {picture}"
