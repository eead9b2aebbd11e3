"""The description of a study on MLflow's page: what others have written is text there."""

import json

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from tracked_runs import STUDY

from entrolab.results.reader import RunContents
from entrolab.tables.making import Agreement
from entrolab.tracking.verdicts import note_of_study

HARM = (
    "![x](https://evil.example/1.png) <img src=//evil.example/2> [a](javascript:b)\n\n# c `d` | *e* \x1b[2J"
)
NOTHING = Agreement(0, 0, 0, 0, 0)


@pytest.mark.fault("Trust", "pictures, links and html in titles and references of studies", "shown as text")
def test_what_others_have_written_is_text_in_a_description():
    def shown(text: str) -> str:
        study = STUDY.model_copy(update={"title": text, "reference": text})
        note = note_of_study(study, {"table4": {"reproduced": 1}}, NOTHING, "#/artifacts")
        return MarkdownIt("commonmark", {"html": True}).enable("table").render(note)

    harmless, made = shown("harmless"), shown(HARM)
    for markup in ("<img", "<a ", "<h1", "<code", "<em", "<p", "<script"):
        assert made.count(markup) == harmless.count(markup)
    assert "![x](https://evil.example/1.png)" in made
    assert "&lt;img src=//evil.example/2&gt;" in made
    assert "\x1b" not in made


def test_the_address_of_a_study_is_a_link():
    study = STUDY.model_copy(update={"url": "https://a.example/b_c_d?e=*f*"})
    made = MarkdownIt().render(note_of_study(study, {}, NOTHING, ""))
    assert '<a href="https://a.example/b_c_d?e=*f*">https://a.example/b_c_d?e=*f*</a>' in made


@pytest.mark.parametrize(
    ("points", "success", "most"),
    [
        ([0, 1, 1], [True, False, False], ({"C": 0}, "1 of 3")),  # failed folds do not count
        ([1, 0, 0], [True, True, True], ({"C": 0}, "2 of 3")),
        ([1, 0, 2], [True, True, False], ({"C": 0}, "1 of 3")),  # of equals the earlier point
    ],
)
def test_the_parameters_of_a_run_are_those_selected_most_often(points, success, most):
    params = [json.dumps({"C": point}) for point in points]
    scores = pd.DataFrame({"criterion": "cv", "point": points, "params": params, "success": success})
    assert RunContents({}, {}, scores, pd.DataFrame(), []).most_chosen() == {"cv": most}
