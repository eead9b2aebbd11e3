"""What all displays have in common: a table, a text, a legend, and room for every word of the picture."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from entrolearn import EEMClassifier, plotting
from entrolearn.plotting import description_of, panels_text, plot_panels, save_figure

X, y = make_moons(60, noise=0.2, random_state=0)
NAN = float("nan")


def of_digits():
    digits = load_digits(n_class=3)
    return plotting.ImageGridDisplay.from_estimator(RidgeClassifier().fit(digits.data, digits.target), (8, 8))


def of_iris():
    iris = load_iris()
    return plotting.ProjectionDisplay.from_estimator(PCA(2).fit(iris.data), iris.data, iris.target)


def of_a_machine(kind):
    return kind.from_estimator(EEMClassifier(20, random_state=0).fit(X, y), X, y)


def of_errors():
    net = MLPClassifier(hidden_layer_sizes=(3,), random_state=0, solver="lbfgs")
    return plotting.ErrorDensityDisplay.from_estimator(net, X, y, epochs=[1, 2])


# Each with the columns of its table, something that its text says, and its legend.
DISPLAYS = {
    "AgreementDisplay": (
        lambda kind: kind([80, 90], [81, 95], ["reproduced", "higher"], name="accuracy"),
        ["verdict", "published", "ours"], "1 higher, 1 reproduced",
        ["equal", "reproduced", "higher"],
    ),
    "ClusteringsDisplay": (
        lambda kind: kind({"moons": X}, {"moons": y}, {"moons": {"classes": y, "none": "failed"}}),
        ["set", "series", "x", "y", "class", "cluster", "ari"], "moons: classes 1.00",
        [],
    ),
    "CriticalDifferenceDisplay": (
        lambda kind: kind({"b": 2.5, "a": 1.2, "c": 2.3}, [["b", "c"]]),
        ["series", "rank", "bars"], "a 1.20, c 2.30, b 2.50; joined by a bar: b, c",
        [],
    ),
    "DifferencesDisplay": (
        lambda kind: kind(["iris", "wine"], [150, 178], [1, -2], x_name="rows", y_name="gain", line=(1, 0)),
        ["series", "value", "difference"], "gain against rows. above zero 1 of 2 times, below 1, median -0.5",
        ["no difference", "trend"],
    ),
    "ErrorDensityDisplay": (
        lambda kind: of_errors(), ["time", "error", "density", "mean", "std"], "at epoch 2",
        ["epoch 1", "epoch 2"],
    ),
    "EvaluationsDisplay": (
        lambda kind: kind({"exact": ([1, 9], [2, 4], [NAN] * 2), "binned": ([1, 9], [3, 3], [0.1, 0.2])}),
        ["series", "rows", "seconds", "error"],
        "exact from 2 at 1 to 4 at 9; binned from 3 at 1 to 3 at 9; relative error of binned at most 0.2",
        ["exact", "binned"],
    ),
    "ExpectedMaximumDisplay": (
        lambda kind: kind({"solver": [1.0, 2.0, NAN]}, relative=True),
        ["series", "starts", "expected", "percent_of_best"], "solver 75 with 1.",
        ["solver", "16 starts", "95 % of the best"],
    ),
    "FeatureImportancesDisplay": (
        lambda kind: kind([[0.5, 0.3, 0.2], [0.8, 0.1, 0.1]], n_features=1),
        ["series", "round", "importance"],
        "Importances of features against rounds. x0 from 0.5 at 0 to 0.8 at 1",
        ["x0"],
    ),
    "GridCurveDisplay": (
        lambda kind: kind({"m": ([1, 2, 4], [[NAN, 4, 6], [5, 6, 8]])}, param_name="C", score_name="score"),
        ["series", "value", "mean", "std", "folds", "parameter"], "score against C. m from 5 at 2 to 7 at 4",
        ["m", "± 1 standard deviation over 2 folds"],
    ),
    "GridSurfaceDisplay": (
        lambda kind: kind([1, 2], [3, 4], [[1, 2], [3, NAN]], x_name="C", y_name="L", score_name="score"),
        ["x_parameter", "x", "y_parameter", "y", "mean"], "from 1 at C = 1, L = 3 to 3 at C = 1, L = 4",
        [],
    ),
    "HiddenSpaceDisplay": (
        of_a_machine, ["series", "x", "y"], "% of the variance",
        ["class 0", "class 1", "± 1 and 2 standard deviations"],
    ),
    "ImageGridDisplay": (
        lambda kind: of_digits(), ["image", "series", "line", "column", "value"], "3 of 8 x 8 pixels",
        [],
    ),
    "LossCurvesDisplay": (
        lambda kind: kind({"net": [3.0, 2.0, NAN]}),
        ["series", "iteration", "loss"], "net from 3 at 1 to 2 at 2",
        ["net"],
    ),
    "ProcessDisplay": (
        of_a_machine, ["panel", "series", "x", "y"], "thresholds: ",
        ["class 0", "class 1", "histogram of rows", "threshold", "± 1 and 2 standard deviations", "boundary"],
    ),
    "ProjectedDensityDisplay": (
        of_a_machine, ["series", "x", "y"], "thresholds: ",
        ["class 0", "class 1", "histogram of rows", "threshold"],
    ),
    "ProjectionDisplay": (
        lambda kind: of_iris(), ["series", "x", "y", "row"], "means are apart. ",
        ["class 0", "class 1", "class 2", "contours of 25, 50, 75 % of a class"],
    ),
    "StartsDisplay": (
        lambda kind: kind({"solver": [1.0, 2.0, NAN]}),
        ["series", "start", "objective"], "1, 1.5, 2 in 2 starts",
        ["solver"],
    ),
    "SupportVectorDisplay": (
        lambda kind: kind.from_estimator(SVC().fit(X, y), X, y),
        ["series", "x", "y"], "of 60 rows are support",
        ["class 0", "support vectors of 0", "class 1", "support vectors of 1", "boundary", "margins"],
    ),
    "TimingDisplay": (
        lambda kind: kind({"ridge": ([1, 2], [3, NAN])}, param_name="density"),
        ["series", "density", "seconds"], "Seconds against density. ridge 3 at 1.",
        ["ridge"],
    ),
    "TradeoffDisplay": (
        lambda kind: kind({"svm": ([10, 20], [5, 4])}, x_name="support", y_name="error"),
        ["series", "x", "y", "x_name", "y_name"], "svm from 5 at 10 to 4 at 20",
        ["svm"],
    ),
    "TrialsDisplay": (
        lambda kind: kind({"svm": [1.0, 3.0]}, score_name="score"),
        ["series", "trial", "score"], "svm 2 ± 1.4",
        ["svm"],
    ),
}  # fmt: skip


def made(name):
    return DISPLAYS[name][0](getattr(plotting, name))


def test_every_display_is_here():
    assert set(DISPLAYS) == {name for name in plotting.__all__ if name.endswith("Display")}


def boxes(figure):
    """The texts of a figure as they are drawn, with their extents."""
    figure.draw_without_rendering()
    drawn = []
    for ax in figure.axes:
        parts = [ax.title, ax._left_title, ax._right_title, *ax.texts]
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            labels = [tick.label1 for tick in axis._update_ticks()] + [
                tick.label2 for tick in axis._update_ticks()
            ]
            parts += [axis.label, *labels]
        drawn += parts
    drawn += [text for legend in figure.legends for text in legend.get_texts()]
    return [
        (text.get_text(), text.get_window_extent())
        for text in drawn
        if text.get_text() and text.get_visible()
    ]


def assert_room_for_all(figure):
    """Every text is within the figure, no text overlaps another, and no legend lies on axes."""
    found = boxes(figure)
    for k, (text, box) in enumerate(found):
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, text
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, text
        assert not [other for other, one in found[:k] if one.overlaps(box)], text
    for legend in figure.legends:
        assert not any(legend.get_window_extent().overlaps(ax.get_window_extent()) for ax in figure.axes)


@pytest.mark.filterwarnings("ignore:lbfgs failed")
@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_has_a_table_a_text_a_legend_and_room_for_its_words(name):
    display = made(name)
    _, columns, said, named = DISPLAYS[name]
    frame = display.to_frame()
    assert frame.columns.tolist() == columns
    assert len(frame) > 1
    text = display.alternative_text()
    assert said in text
    assert text.startswith(display.subject)
    figure = display.plot().figure_
    assert display.to_frame().equals(frame)  # drawing changes nothing
    assert [entry.get_text() for legend in figure.legends for entry in legend.get_texts()] == named
    assert_room_for_all(figure)


LONG = ["benign tumour of the left upper lobe", "malignant tumour of the left upper lobe"]
AWKWARD = {
    "captions": lambda: plotting.ImageGridDisplay(np.eye(4)[:, None].repeat(3, axis=1), captions=LONG * 2),
    "sets": lambda: plotting.ClusteringsDisplay({LONG[0]: X}, {LONG[0]: y}, {LONG[0]: {LONG[1]: y}}),
    "eight classes": lambda: plotting.ProjectionDisplay(
        np.arange(48.0).reshape(24, 2) ** 1.5 % 7, np.arange(24) % 8, display_labels=list("abcdefgh")
    ),
    "long classes": lambda: plotting.ProcessDisplay.from_estimator(
        EEMClassifier(20, random_state=0).fit(X, y), X, y, display_labels=LONG
    ),
    "less than two decades": lambda: plotting.LossCurvesDisplay({LONG[0]: [NAN, *np.linspace(3, 1, 50)]}),
    "two decades": lambda: plotting.TimingDisplay({"a": ([100, 10_000], [1, 2])}, param_name="rows"),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_long_names_and_many_of_them_have_room(name):
    assert_room_for_all(AWKWARD[name]().plot().figure_)


def test_more_curves_than_looks_are_refused():
    seven = {str(k): ([1], [1.0]) for k in range(7)}
    for display in (
        plotting.TradeoffDisplay(seven, x_name="x", y_name="y"),
        plotting.EvaluationsDisplay({name: (*curve, [1.0]) for name, curve in seven.items()}),
        plotting.StartsDisplay({name: [1.0] for name in seven}),
        plotting.ExpectedMaximumDisplay({name: [1.0] for name in seven}),
    ):
        with pytest.raises(ValueError, match="7 .* in one panel; accepted: at most 6"):
            display.plot()


def test_many_notes_cover_three_lines():
    lacking = {f"learner {k}": [NAN, 1.0] for k in range(5)}
    (note,) = plotting.LossCurvesDisplay(lacking).plot().ax_.texts
    assert note.get_text().splitlines()[:2] == [f"learner {k}: no number at 1 of 2" for k in (0, 1)]
    assert len(note.get_text().splitlines()) == 3


def test_the_points_of_a_table_are_the_points_of_the_picture():
    display = made("TradeoffDisplay").plot()
    np.testing.assert_array_equal(display.ax_.lines[0].get_xydata(), display.to_frame()[["x", "y"]])
    display = made("SupportVectorDisplay").plot()
    drawn = sorted(tuple(at) for one in display.ax_.collections for at in one.get_offsets().data)
    frame = display.to_frame()
    rows = frame[frame["series"].str.contains(" of ")]
    assert drawn == sorted(rows[["x", "y"]].itertuples(index=False, name=None))


def test_a_table_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"TrialsDisplay.to_frame .* pip install pandas"):
        made("TrialsDisplay").to_frame()


def test_panels_have_one_text_which_a_file_keeps(tmp_path):
    curve, other = made("TimingDisplay"), made("TimingDisplay")
    panels = {"a": curve, "b": "no data: <404>", "c": other}
    text = panels_text(panels)
    assert text == "Seconds against density. a: ridge 3 at 1. c: ridge 3 at 1."
    save_figure(plot_panels(panels), tmp_path / "figure.svg", description=text)
    assert description_of(tmp_path / "figure.svg") == text
    save_figure(Figure(), tmp_path / "other.svg")
    assert description_of(tmp_path / "other.svg") == ""
    assert panels_text({"a": "failed: singular", "b": "failed: singular"}) == "failed: singular"
