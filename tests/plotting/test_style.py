"""Files: the same bytes for the same figure, text that is text; looks that a print in grey keeps apart."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from entrolearn.plotting import ProcessDisplay, journal_style, process_axes, save_figure, svg_element
from entrolearn.plotting.style import CLASS_STYLES, CURVE_STYLES


@pytest.fixture
def draw(moons, machine):
    def again():
        with journal_style():
            return ProcessDisplay.from_estimator(machine, *moons).plot(process_axes()).figure_

    return again


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_figure_gives_the_same_bytes(draw, tmp_path, suffix):
    files = [tmp_path / f"{k}.{suffix}" for k in (1, 2)]
    for file in files:
        save_figure(draw(), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_text_of_an_svg_is_text_and_carries_no_date(draw, tmp_path):
    save_figure(draw(), tmp_path / "figure.svg")
    svg = (tmp_path / "figure.svg").read_text()
    assert ">threshold<" in svg
    assert "<dc:date>" not in svg
    assert not re.search(r"https?://(?!www\.w3\.org|purl\.org|creativecommons\.org)", svg)


def test_an_svg_element_is_a_document_by_itself_and_the_same_each_time(draw):
    element = svg_element(draw())
    assert ElementTree.fromstring(element).tag == "{http://www.w3.org/2000/svg}svg"
    assert element.startswith("<svg")
    assert element == svg_element(draw())


def test_a_journals_style_ends_with_its_block():
    before = matplotlib.rcParams["font.size"]
    with journal_style():
        assert matplotlib.rcParams["font.size"] == 8
    assert matplotlib.rcParams["font.size"] == before


@pytest.mark.parametrize("styles", [CLASS_STYLES, CURVE_STYLES])
def test_looks_differ_without_colour(styles):
    assert len({str(style["linestyle"]) for style in styles}) == len(styles)


def test_the_classes_differ_in_lightness():
    """Rec. 709 luma, what a grey print keeps."""
    luma = [np.dot([0.2126, 0.7152, 0.0722], to_rgb(style["color"])) for style in CLASS_STYLES]
    assert abs(luma[0] - luma[1]) > 0.05
    assert CLASS_STYLES[0]["marker"] != CLASS_STYLES[1]["marker"]


def test_without_matplotlib_the_error_says_what_to_install():
    program = "import sys; sys.modules['matplotlib'] = None; import entrolearn.plotting"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stderr.strip().endswith("which is not installed: pip install 'entrolearn[plot]'")
