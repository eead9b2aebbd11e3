"""Rows in the plane of a projection, drawn and as a page to hover over."""

import base64
import json
import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn.plotting import ProjectionDisplay, page_to_hover
from entrolearn.plotting.style import class_styles


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def plane(wine):
    return make_pipeline(StandardScaler(), PCA(2)).fit(wine[0])


@pytest.fixture(scope="module")
def display(wine, plane):
    return ProjectionDisplay.from_estimator(plane, *wine)


@pytest.fixture(scope="module")
def page(display):
    return page_to_hover({"": display}, title="Wine")


def traces(page):
    """What plotly is given to draw on a page."""
    found = re.search(r'Plotly\.newPlot\(\s*"rows",\s*(\[.*?\]),\s*\{"template"', page, re.DOTALL)
    return json.loads(found[1])


def values(coded):
    """plotly's arrays, which are lists or bytes in base 64."""
    if isinstance(coded, list):
        return np.array([np.nan if one is None else one for one in coded], dtype=float)
    return np.frombuffer(base64.b64decode(coded["bdata"]), np.dtype(coded["dtype"]))


# --------------------------------------------------------------------------------------------------- drawn


def test_rows_stand_where_the_transformer_puts_them(wine, plane, display):
    X, y = wine
    collections = display.plot().ax_.collections
    for c in range(3):
        assert_allclose(collections[c].get_offsets(), plane.transform(X)[y == c])


def test_rows_and_contours_are_within_the_picture_and_fill_it(display):
    ax = display.plot().ax_
    points = np.vstack([display.coordinates, *(line for c in range(3) for line in display.contours(c))])
    for side, (low, high) in enumerate((ax.get_xlim(), ax.get_ylim())):
        span = np.ptp(points[:, side])
        assert low < points[:, side].min() < low + 0.1 * span
        assert high - 0.1 * span < points[:, side].max() < high


def test_given_axes_get_no_legend_but_labels_for_one(display):
    given = plt.figure().subplots()
    display.plot(given)
    assert (given.get_legend(), given.figure.legends) == (None, [])
    assert given.get_legend_handles_labels()[1][:3] == ["class 0", "class 1", "class 2"]


def test_another_scale_of_the_input_moves_contours_with_the_rows(display):
    """A law of the estimate: what it shows does not depend on the units of the components."""
    scaled = ProjectionDisplay(display.coordinates * [10, 0.1], display.codes, display_labels="abc")
    for c in range(3):
        ours, theirs = (np.vstack(one.contours(c)) for one in (scaled, display))
        assert_allclose(ours.min(axis=0), theirs.min(axis=0) * [10, 0.1], rtol=0.05, atol=0.05)
        assert_allclose(ours.max(axis=0), theirs.max(axis=0) * [10, 0.1], rtol=0.05, atol=0.05)


def test_a_class_on_a_line_has_rows_and_no_contours_and_that_is_said():
    coordinates = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), [[0, 0], [1, 1], [2, 2]]])
    drawn = ProjectionDisplay(coordinates, np.repeat([0, 1], [20, 3]), display_labels=["a", "b"]).plot()
    assert [text.get_text() for text in drawn.ax_.texts] == ["b: rows on a line, no density"]
    assert drawn.contours(1) == []


def test_sparse_rows_and_a_search_are_drawn():
    X = csr_array(np.random.default_rng(0).poisson(0.5, size=(40, 30)).astype(float))
    y = np.arange(40) % 2
    drawn = ProjectionDisplay.from_estimator(TruncatedSVD(2, random_state=0).fit(X), X, y)
    assert drawn._row_texts()[3][-1] == "and 18 more"
    assert drawn._row_texts()[3][2] == f"feature 1 = {X.toarray()[3, 0]:g}"


def test_lists_are_shown_as_arrays(wine):
    X, y = (table.to_numpy() for table in wine)
    plane = PCA(2).fit(X)
    drawn, expected = (
        ProjectionDisplay.from_estimator(plane, *rows) for rows in ((X.tolist(), y.tolist()), (X, y))
    )
    assert drawn._row_texts() == expected._row_texts()
    assert_allclose(drawn.coordinates, expected.coordinates)


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (PCA(2), NotFittedError, "This PCA instance is not fitted yet"),
        ("classifier", TypeError, "GaussianNB has no transform; accepted: transformers with two"),
        ("three", ValueError, r"PCA maps to rows of shape \(3,\); accepted: transformers with two component"),
        ("one", ValueError, r"LinearDiscriminantAnalysis maps to rows of shape \(1,\); accepted"),
    ],
)
def test_what_has_no_plane_is_refused(wine, estimator, error, message):
    X, y = wine
    fitted = {
        "classifier": lambda: GaussianNB().fit(X, y),
        "three": lambda: PCA(3).fit(X),
        "one": lambda: LinearDiscriminantAnalysis(n_components=1).fit(X, y),
    }
    with pytest.raises(error, match=message):
        ProjectionDisplay.from_estimator(
            fitted[estimator]() if isinstance(estimator, str) else estimator, X, y
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": [0, 1]}, "codes are of 2 rows; accepted: as many as there are coordinates, 4"),
        ({"row_names": ["a"]}, "row_names are of 1 rows"),
        ({"features": np.zeros((5, 2))}, "features are of 5 rows"),
        ({"display_labels": ["one"]}, r"display_labels are \['one'\]; accepted: one for each of the 2 class"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(change, message):
    parts = {"coordinates": np.eye(4)[:, :2], "codes": [0, 1, 0, 1], **change}
    with pytest.raises(ValueError, match=message):
        ProjectionDisplay(**parts).plot()


def test_more_than_ten_classes_are_refused():
    with pytest.raises(ValueError, match="11 classes"):
        ProjectionDisplay(np.eye(11)[:, :2], np.arange(11), display_labels="abcdefghijk").plot()


# ------------------------------------------------------------------------------------------ to hover over


def test_a_row_tells_its_name_its_class_and_its_features(wine, plane):
    X, y = wine[0].copy(), wine[1]
    names = [f"bottle {k}" for k in range(len(X))]
    X.index = names
    display = ProjectionDisplay.from_estimator(plane, X, y, display_labels=["A", "B", "C"])
    row = display._row_texts()[60]
    assert row[:3] == ["row bottle 60", "class B", f"alcohol = {X.iloc[60, 0]:.4g}"]
    assert row[-1] == "and 1 more"
    assert len(row) == 2 + 12 + 1


def test_rows_are_called_by_the_index_of_a_table_or_by_their_numbers(wine, plane):
    X, y = wine
    some = ProjectionDisplay.from_estimator(plane, X.iloc[5:], y.iloc[5:])
    assert some._row_texts()[0][0] == "row 5"
    bare = ProjectionDisplay([[0.0, 1.0]], [0], display_labels=["a"])
    assert bare._row_texts() == [["row 0", "class a"]]


def test_the_page_shows_the_same_rows_looks_and_contours_as_the_picture(display, page):
    drawn = traces(page)
    assert [one["mode"] for one in drawn] == ["lines", "markers"] * 3
    for c, style in enumerate(class_styles(3)):
        lines, rows = drawn[2 * c : 2 * c + 2]
        assert_allclose(values(rows["x"]), display.coordinates[display.codes == c, 0])
        assert_allclose(values(rows["y"]), display.coordinates[display.codes == c, 1])
        assert rows["marker"]["color"] == lines["line"]["color"] == style["color"]
        points = np.column_stack([values(lines["x"]), values(lines["y"])])
        assert_allclose(points[np.isfinite(points[:, 0])], np.vstack(display.contours(c)))
    assert [one["marker"]["symbol"] for one in drawn[1::2]] == ["circle", "triangle-up-open", "square"]
    assert [one["line"]["dash"] for one in drawn[::2]][0] == "solid"
    assert drawn[1]["text"][0].startswith("row 0<br>class 0<br>alcohol = 14.23<br>")


def test_the_page_is_one_file_that_asks_no_network_and_is_the_same_each_time(display, page, tmp_path):
    display.to_html(tmp_path / "wine.html", title="Wine")
    assert page == (tmp_path / "wine.html").read_text(encoding="utf-8")
    assert "<title>Wine</title>" in page
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", page)
    assert "Plotly.newPlot" in page
    # Nor does it offer to send the rows to the makers of plotly.
    assert '"showSendToCloud": false' in page


@pytest.mark.fault("Trust", "</script> in a name, on a page to hover over", "shown as text")
def test_what_rows_are_called_cannot_break_the_page(page):
    plain = page
    name = "</script><b onload=x>&"
    display = ProjectionDisplay(
        np.eye(3)[:, :2], [0, 0, 1], display_labels=["<i>", "b"], row_names=[name] * 3
    )
    page = page_to_hover({"": display}, title=name)
    assert name not in page
    assert page.count("</script>") == plain.count("</script>")
    (rows,) = [one for one in traces(page) if one["mode"] == "markers" and one["legendgroup"] == "<i>"]
    assert rows["text"][0] == "row &lt;/script&gt;&lt;b onload=x&gt;&amp;<br>class &lt;i&gt;"


def test_panels_share_one_entry_of_the_legend_for_each_class_and_a_text_stands_for_what_is_absent(display):
    page = page_to_hover({"one": display, "two": display, "three": "no data: 404"}, title="Two", n_columns=2)
    drawn = traces(page)
    assert [one["name"] for one in drawn if one["showlegend"]] == ["0", "1", "2"]
    assert {one["legendgroup"] for one in drawn} == {"0", "1", "2"}
    assert "no data: 404" in page


def test_without_plotly_the_picture_is_drawn_and_the_page_says_what_to_install(display, monkeypatch):
    loaded = [name for name in sys.modules if name.partition(".")[0] == "plotly"]
    for name in {"plotly", *loaded}:
        monkeypatch.setitem(sys.modules, name, None)
    display.plot()
    with pytest.raises(ImportError) as caught:
        page_to_hover({"": display})
    assert "entrolearn.plotting draws pages to hover over with plotly" in str(caught.value)
    assert str(caught.value).endswith("which is not installed: pip install 'entrolearn[plot]'")
