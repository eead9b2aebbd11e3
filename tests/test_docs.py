"""The site: its examples run, its reference has every public name, and docstrings tell what they should."""

import doctest
import inspect
import re
import runpy
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import entrolearn

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


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


def texts() -> Iterator[str]:
    """What pages take from the studies and the catalog."""
    for file in (ROOT / "config" / "papers").glob("*.yaml"):
        for erratum in yaml.safe_load(file.read_text()).get("errata", []):
            yield from erratum.values()
    for entry in yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text()).values():
        yield from (entry[name] for name in ("title", "reference", "note") if name in entry)


def test_errata_and_notes_are_shown_as_they_are_written(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # which conf.py adds to
    escaped = runpy.run_path(str(DOCS / "conf.py"))["escaped"]
    for text in texts():
        assert unescape(MarkdownIt().renderInline(escaped(text))) == " ".join(text.split())


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
        there = getattr(import_module(f"entrolearn.{family}"), "__all__", [])
        names |= {f"entrolearn.{family}.{name}" for name in there if name not in entrolearn.__all__}
    return names


def test_api_has_every_public_name_once():
    names = documented()
    assert len(set(names)) == len(names)
    assert set(names) >= public()


# Of numpydoc's checks all are held but these.
NOT_HELD = {
    "EX01": "an example; asked of classes and functions below, not of each method",
    "ES01": "more than a summary; many need no more",
    "SA01": "See Also; many have no relative",
    "SS05": "a verb in the infinitive; a summary may be a noun in the plural",
    "PR07": "each parameter described; X, y and the like are, by their shapes; asked of learners below",
    "PR08": "a capital letter at the beginning; it may be a symbol",
    "RT02": "no names of what is returned; scikit-learn gives them",
    "RT03": "what is returned described; its name and shape may tell it",
    "RT04": "a capital letter at the beginning of that; it may be a symbol",
}

# Parts of a search, tools and axes: what needs them shows them.
WITHOUT_EXAMPLE = {
    "entrolearn.kernels.check_memory",
    "entrolearn.kernels.memory_limit",
    "entrolearn.kernels.physical_memory",
    "entrolearn.optimize.CrossEntropyIteration",
    "entrolearn.optimize.CrossEntropyResult",
    "entrolearn.optimize.Family",
    "entrolearn.path.PathPoint",
    "entrolearn.plotting.clustering_axes",
    "entrolearn.plotting.evaluation_axes",
    "entrolearn.plotting.page_to_hover",
    "entrolearn.plotting.plot_panels",
    "entrolearn.plotting.process_axes",
    "entrolearn.plotting.save_figure",
}


def resolved(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


API = {
    name: value
    for name in documented()
    if inspect.isroutine(value := resolved(name)) or inspect.isclass(value)
}


def methods(cls: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties of a class but those that have a base's docstring."""
    for member in inspect.classify_class_attrs(cls):
        ours = member.defining_class.__module__.startswith("entrolearn.")
        if ours and member.kind != "data" and not member.name.startswith("_"):
            value = getattr(cls, member.name)
            if value.__doc__ or inspect.getdoc(value) is None:
                yield member.name, value


def told_by_signature(value: object) -> bool:
    """Whether every parameter, and what is returned, has its type in the signature: a summary may then do."""
    if not inspect.isroutine(value):
        return False
    signature = inspect.signature(value)
    given = [each.annotation for each in signature.parameters.values() if each.name not in {"self", "cls"}]
    return inspect.Signature.empty not in [*given, signature.return_annotation]


def faults(name: str, value: object) -> list[str]:
    """What is wrong with a docstring, a line for each fault."""
    held = {code: text for code, text in validate(name)["errors"] if code not in NOT_HELD}
    sections = Validator(get_doc_object(value))
    if told_by_signature(value) and not sections.doc_parameters and not sections.returns:
        held = {code: text for code, text in held.items() if code not in {"PR01", "RT01", "YD01"}}
    if is_dataclass(value):  # a result, whose fields are what it has
        told = {attribute.name for attribute in sections.doc["Attributes"]}
        if {field.name for field in fields(value)} <= told:
            held.pop("PR01", None)
    if getattr(value, "_is_protocol", False):  # which is never made
        held.pop("PR01", None)
    return [f"{name}: {code} {text}" for code, text in held.items()]


@pytest.mark.parametrize("name", API)
def test_docstring_tells_what_it_should(name):
    found = faults(name, API[name])
    if inspect.isclass(API[name]):
        found += [
            fault for method, value in methods(API[name]) for fault in faults(f"{name}.{method}", value)
        ]
    assert found == []


@pytest.mark.parametrize("name", [name for name in API if name not in WITHOUT_EXAMPLE])
def test_docstring_has_an_example(name):
    assert Validator(get_doc_object(API[name])).examples


@pytest.mark.parametrize("name", [name for name in entrolearn.__all__ if name[0].isupper()])
def test_every_parameter_of_a_learner_is_described(name):
    assert [text for code, text in validate(f"entrolearn.{name}")["errors"] if code == "PR07"] == []
