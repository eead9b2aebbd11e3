"""Files: the same bytes for the same figure, text that is text; looks that a print in grey keeps apart."""

import importlib
import re
import sys
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn import RecursiveFeatureRegressor
from entrolearn.plotting import (
    FeatureImportancesDisplay,
    description_of,
    journal_style,
    save_figure,
    svg_element,
)
from entrolearn.plotting.style import CLASS_STYLES, CURVE_STYLES, name_classes


def drawn():
    """A small figure with all that gets a name in a file: lines, markers, a hatched area, a legend."""
    with journal_style():
        figure, ax = plt.subplots()
        ax.plot([0, 1, 2], [1, 3, 2], marker="o", label="threshold")
        ax.fill_between([0, 1, 2], [1, 3, 2], hatch="//", alpha=0.3)
        ax.legend()
    return figure


def test_the_same_figure_gives_the_same_bytes_and_an_svg_has_text_and_no_date(tmp_path):
    figures = drawn(), drawn()
    for suffix in ("svg", "png", "pdf"):
        files = [tmp_path / f"{k}.{suffix}" for k in (1, 2)]
        for figure, file in zip(figures, files, strict=True):
            save_figure(figure, file)
        assert files[0].read_bytes() == files[1].read_bytes()
    element = svg_element(figures[0])
    assert ElementTree.fromstring(element).tag == "{http://www.w3.org/2000/svg}svg"
    assert element.startswith("<svg")
    assert element == svg_element(figures[1])
    svg = (tmp_path / "1.svg").read_text()
    assert ">threshold<" in svg
    assert "<dc:date>" not in svg
    assert not re.search(r"https?://(?!www\.w3\.org|purl\.org|creativecommons\.org)", svg)


def test_a_suffix_in_capitals_is_that_format_and_others_are_matplotlibs(tmp_path):
    figure = drawn()
    for suffix in ("svg", "SVG", "pdf", "PDF", "jpg", "tif", "webp"):
        save_figure(figure, tmp_path / f"of_{suffix}.{suffix}", description="a curve")
    assert description_of(tmp_path / "of_SVG.SVG") == "a curve"
    for suffix in ("svg", "pdf"):
        lower, upper = (tmp_path / f"of_{each}.{each}" for each in (suffix, suffix.upper()))
        assert lower.read_bytes() == upper.read_bytes()


def test_a_label_that_begins_with_class_is_no_name_of_a_class():
    ax = Figure().add_subplot()
    name_classes(ax, ["classic", "class 2"])
    assert ax.get_legend_handles_labels()[1] == ["class classic", "class 2"]


def test_importances_are_those_of_the_last_step_of_a_pipeline():
    X = np.random.default_rng(0).normal(size=(60, 3))
    machine = make_pipeline(StandardScaler(), RecursiveFeatureRegressor(random_state=0)).fit(X, X[:, 1])
    display = FeatureImportancesDisplay.from_estimator(machine)
    assert_array_equal(display.importances, machine[-1].importances_)
    with pytest.raises(TypeError, match="StandardScaler has no importances_"):
        FeatureImportancesDisplay.from_estimator(machine[:-1])


def test_a_journals_style_ends_with_its_block():
    before = matplotlib.rcParams["font.size"]
    with journal_style():
        assert matplotlib.rcParams["font.size"] == 8
    assert matplotlib.rcParams["font.size"] == before


@pytest.mark.parametrize(
    ("styles", "shown"), [(CLASS_STYLES, "marker"), (CLASS_STYLES, "linestyle"), (CURVE_STYLES, "linestyle")]
)
def test_looks_differ_without_colour(styles, shown):
    assert len({str(style[shown]) for style in styles}) == len(styles)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if f"{name}.".startswith("entrolearn.plotting.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"which is not installed: pip install 'entrolearn\[plot\]'$"):
        importlib.import_module("entrolearn.plotting")
