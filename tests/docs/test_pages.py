"""The site: examples run, texts stand on pages as they are written, the reference has all public names."""

import ast
import doctest
import re
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


FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "config/README.md"]


@pytest.mark.parametrize("page", [*FRONT, *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_python_of_a_page_is_valid_and_imports_what_exists(page):
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "fence" and token.info == "python" and not token.content.startswith(">>>"):
            tree = ast.parse(token.content)
            for node in (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)):
                if node.module.partition(".")[0] in ("entrolearn", "entrolab"):
                    module = import_module(node.module)
                    for name in (alias.name for alias in node.names):
                        assert hasattr(module, name) or import_module(f"{node.module}.{name}")


def test_first_example_of_the_readme_scores_as_it_says_on_raw_data():
    tokens = MarkdownIt().parse((ROOT / "README.md").read_text(encoding="utf-8"))
    code = next(token.content for token in tokens if token.type == "fence" and token.info == "python")
    *before, last = code.splitlines()
    exec("\n".join(before), found := {})  # noqa: S102  of our own page
    expression, said = last.split("#")
    assert round(eval(expression, found), 2) == float(said)  # noqa: S307


@pytest.mark.parametrize("page", FRONT, ids=lambda page: page.name)
def test_links_between_files_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]*)(?:#[\w-]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_readme_is_read_in_minutes():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def texts() -> Iterator[str]:
    """What pages take from the studies and the catalog."""
    for file in (ROOT / "config" / "papers").glob("*.yaml"):
        for erratum in yaml.safe_load(file.read_text()).get("errata", []):
            yield from (erratum[name] for name in ("where", "published", "taken", "evidence"))
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
