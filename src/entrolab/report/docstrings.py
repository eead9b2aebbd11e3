"""The docstring of a learner as HTML paragraphs."""

import re
from itertools import islice

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from markupsafe import Markup, escape

from entrolab.jobs.source_analysis import documentation

# The underlined title of a section of numpydoc.
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_INLINE = re.compile(r":math:`(?P<math>[^`]+)`|``(.+?)``|:[\w:]+:`~?([^`]+)`|`([^`]+)`")
# An equation begins after its directive, on the same line or below.
_EQUATION = re.compile(r"^\.\. math::\s*(?P<math>.*)$", re.DOTALL)
_BELOW = re.compile(r"^( *\.\. math::)\n\s*\n", re.MULTILINE)
_LABEL = re.compile(r"^\.\. \[\w+\] *")
_CITED = re.compile(r" ?\[\w+\]_")


def described(import_path: str) -> dict[str, list[Markup]]:
    """The paragraphs of a class's docstring (summary, notes, references), without those on its parameters.

    Of reStructuredText, paragraphs, inline markup, equations and references are understood.
    """
    first, *rest = _SECTION.split(documentation(import_path))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    # Other packages have their own documentation.
    own = import_path.startswith("entrolearn.")
    return {
        "summary": _paragraphs(first, None if own else 1),
        "notes": _paragraphs(sections.get("Notes", "")) if own else [],
        "references": _paragraphs(sections.get("References", "")) if own else [],
    }


def _paragraphs(text: str, most: int | None = None) -> list[Markup]:
    parts = re.split(r"\n\s*\n|\n(?=\.\. \[)", _BELOW.sub(r"\1\n", text).strip())
    lines = (" ".join(_LABEL.sub("", part).split()) for part in parts)
    shown = (line for line in lines if line and (_EQUATION.match(line) or line[:3] != ".. "))
    return [_paragraph(line) for line in islice(shown, most)]


def _paragraph(line: str) -> Markup:
    equation = _EQUATION.match(line)
    return _mathml(equation["math"], as_block=True) if equation else _marked_up(line)


def _mathml(tex: str, *, as_block: bool = False) -> Markup:
    """An equation as MathML, or as code if it cannot be parsed."""
    try:
        return Markup(tex2mathml(tex, as_block=as_block))
    except (MathError, AttributeError):  # the latter if an environment ends that has not begun
        return Markup("<code>{}</code>").format(tex)


def _marked_up(line: str) -> Markup:
    """Markup of a line: text between backticks as code, equations as MathML, the rest as text."""
    line = _CITED.sub("", line)
    shown, end = Markup(), 0
    for part in _INLINE.finditer(line):
        name = next(filter(None, part.groups()))
        shown += escape(line[end : part.start()])
        shown += _mathml(name) if part["math"] else Markup("<code>{}</code>").format(name)
        end = part.end()
    return shown + escape(line[end:])
