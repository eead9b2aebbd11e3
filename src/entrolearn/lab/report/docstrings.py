"""What the docstring of a learner says, for a page."""

import re

from markupsafe import Markup, escape

from entrolearn.lab.sources import documentation

__all__ = ["described"]

# The title of a section of numpydoc stands on a line that is underlined.
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_CODE = re.compile(r"``(.+?)``|:[\w:]+:`~?([^`]+)`|`([^`]+)`")
_LABEL = re.compile(r"^\.\. \[\w+\] *")
_CITED = re.compile(r" ?\[\w+\]_")


def described(import_path: str) -> dict[str, list[Markup]]:
    """The paragraphs of a class's docstring that tell a reader what it is.

    Returns
    -------
    dict
        Keys summary (all before the parameters), notes and references; empty lists where there are none.
    """
    first, *rest = _SECTION.split(documentation(import_path))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    # Of others' learners the first sentence will do: their own documentation has the rest.
    own = import_path.startswith("entrolearn.")
    return {
        "summary": _paragraphs(first) if own else _paragraphs(first)[:1],
        "notes": _paragraphs(sections.get("Notes", "")) if own else [],
        "references": _paragraphs(sections.get("References", "")) if own else [],
    }


def _paragraphs(text: str) -> list[Markup]:
    parts = re.split(r"\n\s*\n|\n(?=\.\. \[)", text.strip())
    lines = (" ".join(_LABEL.sub("", part).split()) for part in parts)
    return [_marked_up(line) for line in lines if line and not line.startswith(".. ")]


def _marked_up(line: str) -> Markup:
    """Code between backticks as code, everything else as text."""
    line = _CITED.sub("", line)
    shown, end = Markup(), 0
    for code in _CODE.finditer(line):
        name = next(filter(None, code.groups()))
        shown += escape(line[end : code.start()]) + Markup("<code>{}</code>").format(name)
        end = code.end()
    return shown + escape(line[end:])
