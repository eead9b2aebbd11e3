"""Notes on MLflow's page: what others have written is text there, and makes no browser ask anybody."""

import json
import math
from types import SimpleNamespace

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from tracked_runs import STUDY

from entrolab.io.run_files import RunContents, StudyRun
from entrolab.tracking.comparisons import headline
from entrolab.tracking.notes import experiment_note, registered_note, run_note, study_note

HARM = (
    "![x](https://evil.example/1.png) <img src=//evil.example/2> [a](javascript:b)\n\n# c `d` | *e* \x1b[2J"
)
RUN = StudyRun.at(STUDY, "moons", "svm_rbf")


def study_of(harm: str):
    """A study with a text in the place of each that is free."""
    return STUDY.model_copy(update={"title": harm, "reference": harm})


def files_of(harm: str, success: bool) -> SimpleNamespace:
    """What a run's files say, with a text in the place of each that is free."""
    record = {"estimator": "sklearn.svm.SVC", "success": success, "status": "failed", "error": harm}
    return SimpleNamespace(
        record=record | {"notes": {harm: 1}, "n_candidates": 2},
        facts={"error": harm},
        without_model=harm,
        most_chosen=lambda: {"cv": ({"kernel": harm}, "1 of 1")},
    )


NOTES = {
    "a study": lambda harm: experiment_note(study_of(harm)),
    "its tables": lambda harm: study_note(study_of(harm), {}, ""),
    "its models": lambda harm: registered_note(study_of(harm), "moons"),
    "a model": lambda harm: run_note(study_of(harm), RUN, harm, files_of(harm, True), []),
    "a failure": lambda harm: run_note(study_of(harm), RUN, harm, files_of(harm, False), []),
}


@pytest.mark.fault("Trust", "pictures, links and html in titles, labels and errors of runs", "shown as text")
@pytest.mark.parametrize("note", NOTES)
def test_what_others_have_written_is_text_in_a_note(note):
    as_browsers_see_it = MarkdownIt("commonmark", {"html": True}).enable("table").render
    harmless, made = (as_browsers_see_it(NOTES[note](text)) for text in ("harmless", HARM))
    for markup in ("<img", "<a ", "<h1", "<code", "<em", "<p", "<script"):
        assert made.count(markup) == harmless.count(markup)
    assert "![x](https://evil.example/1.png)" in made
    assert "&lt;img src=//evil.example/2&gt;" in made
    assert "\x1b" not in made


def test_the_address_of_a_study_is_a_link():
    made = MarkdownIt().render(
        experiment_note(STUDY.model_copy(update={"url": "https://a.example/b_c_d?e=*f*"}))
    )
    assert '<a href="https://a.example/b_c_d?e=*f*">https://a.example/b_c_d?e=*f*</a>' in made


@pytest.mark.parametrize(
    ("points", "success", "most"),
    [
        ([0, 1, 1], [True, False, False], ({"C": 0}, "1 of 3")),  # failed folds do not count
        ([1, 0, 0], [True, True, True], ({"C": 0}, "2 of 3")),
        (
            [1, 0, 2],
            [True, True, False],
            ({"C": 0}, "1 of 3"),
        ),  # of equals the earlier point
    ],
)
def test_the_parameters_of_a_run_are_those_selected_most_often(points, success, most):
    params = [json.dumps({"C": point}) for point in points]
    scores = pd.DataFrame({"criterion": "cv", "point": points, "params": params, "success": success})
    contents = RunContents({}, {}, scores, pd.DataFrame(), [], None, None, "")
    assert contents.most_chosen() == {"cv": most}


def test_the_first_comparison_with_a_published_value_stands_for_a_run():
    alone, beside = SimpleNamespace(published=math.nan), SimpleNamespace(published=80.0)
    assert headline([alone, beside, alone]) is beside
    assert headline([alone]) is alone
    assert headline([]) is None
