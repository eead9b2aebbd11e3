"""The pages of docs/: their examples run, and the API reference has every public name."""

import doctest
import importlib
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import entrolearn

DOCS = Path(__file__).parents[2] / "docs"


def examples(page: Path) -> str:
    """What a page shows as typed into Python, one after the other."""
    fences = (token for token in MarkdownIt().parse(page.read_text()) if token.type == "fence")
    return "\n".join(fence.content for fence in fences if fence.content.startswith(">>>"))


PAGES = {str(page.relative_to(DOCS)): page for page in DOCS.glob("**/*.md") if examples(page)}


@pytest.mark.parametrize("name", PAGES)
def test_examples_of_a_page_run(name):
    test = doctest.DocTestParser().get_doctest(examples(PAGES[name]), {}, name, name, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


FAMILIES = {page.stem: page for page in DOCS.glob("api/*.rst") if page.stem != "index"}


def documented() -> list[str]:
    """Full names in the tables of the API's pages."""
    names, module = [], None
    for page in FAMILIES.values():
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"   (\w+)$|\.\. autodata:: (\w+)", line):
                names.append(f"{module}.{found[1] or found[2]}")
    return names


def public() -> set[str]:
    """Names that a user may import: from the top, else from the family whose ``__all__`` has them."""
    names = {f"entrolearn.{name}" for name in entrolearn.__all__}
    for family in FAMILIES:
        there = getattr(importlib.import_module(f"entrolearn.{family}"), "__all__", [])
        names |= {f"entrolearn.{family}.{name}" for name in there if name not in entrolearn.__all__}
    return names


def test_api_has_every_public_name_once():
    names = documented()
    assert len(set(names)) == len(names)
    assert set(names) >= public()
