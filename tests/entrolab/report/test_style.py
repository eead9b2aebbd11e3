"""Colours that everyone can read, on paper and in the dark."""

import re
from pathlib import Path

import pytest

import entrolab

TEMPLATES = Path(entrolab.__file__).parent / "templates"
STYLE = TEMPLATES / "style.css"
# What text stands on: the page, panels, and the colours of verdicts.
GROUNDS = ("paper", "panel", "reproduced", "higher", "lower", "equal", "differs", "failed")
GROUNDS += ("no-data", "hatch", "unit")
TEXTS = ("ink", "soft", "link")


def schemes() -> dict[str, dict[str, str]]:
    """The colours of each scheme; the dark one changes some of the light one's."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE.read_text(), re.DOTALL)
    colours = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in (light, dark)]
    return {"light": colours[0], "dark": colours[0] | colours[1]}


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_of_black_and_white_is_the_largest():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # WCAG's own example of a grey that is just enough on white.
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_they_stand_on(scheme, text, ground):
    colours = schemes()[scheme]
    assert contrast(colours[text], colours[ground]) >= 4.5


@pytest.mark.parametrize("verdict", ["reproduced", "higher", "lower", "equal", "differs", "failed"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_stand_out_from_the_page(scheme, verdict):
    colours = schemes()[scheme]
    assert contrast(colours[f"bar-{verdict}"], colours["paper"]) >= 3


@pytest.mark.parametrize("template", sorted(path.name for path in TEMPLATES.glob("*.html.j2")))
def test_templates_of_pages_have_no_logic(template):
    """Expressions are given values; conditions and loops are over given values as they are."""
    text = re.sub(r"\{#.*?#\}", "", (TEMPLATES / template).read_text(), flags=re.DOTALL)
    shown = re.findall(r"\{\{(.*?)\}\}", text)
    asked = re.findall(r"\{%-? (?:if|elif|for) (.*?)%\}", text)
    assert not [
        one for one in [*shown, *asked] if re.search(r"\||~|[=<>]=|[<>]| (if|or|and|is) |\bloop\b", one)
    ]
    assert "{% set" not in text
