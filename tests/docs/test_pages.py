"""The site: examples run, texts stand on pages as they are written, the reference has all public names."""

import doctest
import runpy
import sys
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from documented_names import FAMILIES, documented
from markdown_it import MarkdownIt

import entrolearn

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def examples(page: Path) -> str:
    """What a page shows as typed into Python, one after the other."""
    fences = (token for token in MarkdownIt().parse(page.read_text()) if token.type == "fence")
    return "\n".join(fence.content for fence in fences if fence.content.startswith(">>>"))


# Tutorials have a test of their own, which runs their commands as well.
PAGES = {page.name: page for page in DOCS.glob("*.md") if examples(page)}


@pytest.mark.parametrize("name", PAGES)
def test_examples_of_a_page_run(name):
    test = doctest.DocTestParser().get_doctest(examples(PAGES[name]), {}, name, name, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


def texts() -> Iterator[str]:
    """What pages take from the studies and the catalog."""
    for file in (ROOT / "config" / "papers").glob("*.yaml"):
        for erratum in yaml.safe_load(file.read_text()).get("errata", []):
            yield from erratum.values()
        for entry in yaml.safe_load(file.read_text()).get("differences", []):
            yield from (entry["tried"], entry["gave"])
    for entry in yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text()).values():
        yield from (entry[name] for name in ("title", "reference", "note") if name in entry)


def test_errata_and_notes_are_shown_as_they_are_written(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # which conf.py adds to
    escaped = runpy.run_path(str(DOCS / "conf.py"))["escaped"]
    for text in texts():
        assert unescape(MarkdownIt().renderInline(escaped(text))) == " ".join(text.split())


def public() -> set[str]:
    """Names that a user may import: from the top, else from the family whose ``__all__`` has them."""
    names = {f"entrolearn.{name}" for name in entrolearn.__all__}
    for family in FAMILIES:
        there = getattr(import_module(f"entrolearn.{family}"), "__all__", [])
        names |= {f"entrolearn.{family}.{name}" for name in there if name not in entrolearn.__all__}
    return names


def test_api_has_every_public_name_once():
    names = documented()
    assert len(set(names)) == len(names)
    assert set(names) >= public()
