"""What a docstring says, as paragraphs with code marked up."""

from itertools import chain

import pytest

from entrolab.report import docstrings
from entrolab.report.docstrings import described
from entrolab.report.models import learners

TEXT = """A machine & its ``kernel``.

As :class:`~entrolearn.LSSVC`, see [1]_,
on two lines.

Parameters
----------
C : float

Notes
-----
Minimises ``a < b``.

References
----------
.. [1] A. Author (2020). One.
   Pages 1-2.
.. [2] B. Author (2021). Two.
"""


@pytest.fixture
def said(monkeypatch):
    monkeypatch.setattr(docstrings, "documentation", {"entrolearn.Own": TEXT, "other.Own": TEXT}.get)
    return lambda path: {part: [str(line) for line in lines] for part, lines in described(path).items()}


def test_sections_become_paragraphs_and_code_is_marked(said):
    assert said("entrolearn.Own") == {
        "summary": [
            "A machine &amp; its <code>kernel</code>.",
            "As <code>entrolearn.LSSVC</code>, see, on two lines.",
        ],
        "notes": ["Minimises <code>a &lt; b</code>."],
        "references": ["A. Author (2020). One. Pages 1-2.", "B. Author (2021). Two."],
    }


@pytest.mark.parametrize("directive", [".. math:: {}", ".. math::\n\n    {}", ".. math::\n    {}"])
def test_an_equation_is_one_for_the_browser(directive, monkeypatch):
    equation = directive.format(r"(H^T H)^{-1} \beta")
    text = f"It solves\n\n{equation},\n\nwith :math:`x` in it."
    monkeypatch.setattr(docstrings, "documentation", lambda path: text)
    before, shown, after = map(str, described("entrolearn.Own")["summary"])
    assert before == "It solves"
    assert shown.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">')
    assert "<mi>β</mi>" in shown
    assert "<mi>x</mi>" in after
    assert 'display="block"' not in after


@pytest.mark.parametrize("tex", [r"\nosuchcommand{x}", r"x = 1 \\ \end{split}"])
def test_an_equation_that_cannot_be_read_stands_as_it_is_written(tex, monkeypatch):
    monkeypatch.setattr(docstrings, "documentation", lambda path: f".. math:: {tex}")
    (equation,) = described("entrolearn.Own")["summary"]
    assert str(equation) == f"<code>{tex}</code>"


def test_every_learner_of_the_papers_is_described(studies):
    paths = set(chain.from_iterable(map(learners, studies.values())))
    assert "sklearn.decomposition.NMF" in paths
    assert all(described(path)["summary"] for path in paths)


def test_of_others_learners_the_first_sentence_is_enough(said):
    assert said("other.Own") == {
        "summary": ["A machine &amp; its <code>kernel</code>."],
        "notes": [],
        "references": [],
    }


def test_docstrings_are_read_where_a_class_is_defined():
    assert str(described("sklearn.svm.SVC")["summary"][0]) == "C-Support Vector Classification."
    assert described("mine.Machine")["summary"] == []
