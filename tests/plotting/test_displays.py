"""What all displays have in common: a table of what is drawn, and a text of it."""

import sys

import numpy as np
import pytest
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


# Each with the columns of its table and something that its text says.
DISPLAYS = {
    "AgreementDisplay": (
        lambda kind: kind([80, 90], [81, 95], ["reproduced", "higher"], name="accuracy"),
        ["verdict", "published", "ours"], "1 higher, 1 reproduced",
    ),
    "ClusteringsDisplay": (
        lambda kind: kind({"moons": X}, {"moons": y}, {"moons": {"classes": y, "none": "failed"}}),
        ["set", "series", "x", "y", "class", "cluster", "ari"], "moons: classes 1.00",
    ),
    "CriticalDifferenceDisplay": (
        lambda kind: kind({"b": 2.5, "a": 1.2, "c": 2.3}, [["b", "c"]]),
        ["series", "rank", "bars"], "a 1.20, c 2.30, b 2.50; joined by a bar: b, c",
    ),
    "DifferencesDisplay": (
        lambda kind: kind(["iris", "wine"], [150, 178], [1.5, -0.5], x_name="rows", y_name="gain"),
        ["series", "value", "difference"], "gain against rows. above zero 1 of 2 times, below 1, median 0.5",
    ),
    "ErrorDensityDisplay": (
        lambda kind: of_errors(), ["time", "error", "density", "mean", "std"], "at epoch 2"
    ),
    "EvaluationsDisplay": (
        lambda kind: kind({"exact": ([1, 9], [2, 4], [NAN] * 2), "binned": ([1, 9], [3, 3], [0.1, 0.2])}),
        ["series", "rows", "seconds", "error"],
        "exact from 2 at 1 to 4 at 9; binned from 3 at 1 to 3 at 9; relative error of binned at most 0.2",
    ),
    "ExpectedMaximumDisplay": (
        lambda kind: kind({"solver": [1.0, 2.0, NAN]}, relative=True),
        ["series", "starts", "expected", "percent_of_best"], "solver 75 with 1.",
    ),
    "FeatureImportancesDisplay": (
        lambda kind: kind([[0.5, 0.3, 0.2], [0.8, 0.1, 0.1]], n_features=1),
        ["series", "round", "importance"],
        "Importances of features against rounds. x0 from 0.5 at 0 to 0.8 at 1",
    ),
    "GridCurveDisplay": (
        lambda kind: kind({"m": ([1, 2, 4], [[NAN, 4, 6], [5, 6, 8]])}, param_name="C", score_name="score"),
        ["series", "value", "mean", "std", "folds", "parameter"], "score against C. m from 5 at 2 to 7 at 4",
    ),
    "GridSurfaceDisplay": (
        lambda kind: kind([1, 2], [3, 4], [[1, 2], [3, NAN]], x_name="C", y_name="L", score_name="score"),
        ["x_parameter", "x", "y_parameter", "y", "mean"], "from 1 at C = 1, L = 3 to 3 at C = 1, L = 4",
    ),
    "HiddenSpaceDisplay": (of_a_machine, ["series", "x", "y"], "% of the variance"),
    "ImageGridDisplay": (
        lambda kind: of_digits(), ["image", "series", "line", "column", "value"], "3 of 8 x 8 pixels"
    ),
    "LossCurvesDisplay": (
        lambda kind: kind({"net": [3.0, 2.0, NAN]}),
        ["series", "iteration", "loss"], "net from 3 at 1 to 2 at 2"
    ),
    "ProcessDisplay": (of_a_machine, ["panel", "series", "x", "y"], "thresholds: "),
    "ProjectedDensityDisplay": (of_a_machine, ["series", "x", "y"], "thresholds: "),
    "ProjectionDisplay": (lambda kind: of_iris(), ["series", "x", "y", "row"], "means are apart. "),
    "StartsDisplay": (
        lambda kind: kind({"solver": [1.0, 2.0, NAN]}),
        ["series", "start", "objective"], "1, 1.5, 2 in 2 starts"
    ),
    "SupportVectorDisplay": (
        lambda kind: kind.from_estimator(SVC().fit(X, y), X, y),
        ["series", "x", "y"], "of 60 rows are support"
    ),
    "TimingDisplay": (
        lambda kind: kind({"ridge": ([1, 2], [3, NAN])}, param_name="density"),
        ["series", "density", "seconds"], "Seconds against density. ridge 3 at 1.",
    ),
    "TradeoffDisplay": (
        lambda kind: kind({"svm": ([10, 20], [5, 4])}, x_name="support", y_name="error"),
        ["series", "x", "y", "x_name", "y_name"], "svm from 5 at 10 to 4 at 20",
    ),
    "TrialsDisplay": (
        lambda kind: kind({"svm": [1.0, 3.0]}, score_name="score"),
        ["series", "trial", "score"], "svm 2 ± 1.4"
    ),
}  # fmt: skip


def made(name):
    return DISPLAYS[name][0](getattr(plotting, name))


def test_every_display_is_here():
    assert set(DISPLAYS) == {name for name in plotting.__all__ if name.endswith("Display")}


@pytest.mark.filterwarnings("ignore:lbfgs failed")
@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_has_a_table_and_a_text(name):
    display = made(name)
    _, columns, said = DISPLAYS[name]
    frame = display.to_frame()
    assert frame.columns.tolist() == columns
    assert len(frame) > 1
    text = display.alternative_text()
    assert said in text
    assert text.startswith(display.subject)
    display.plot()
    assert display.to_frame().equals(frame)  # drawing changes nothing


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
    save_figure(plot_panels(panels), tmp_path / "other.svg")
    assert description_of(tmp_path / "other.svg") == ""
    assert panels_text({"a": "failed: singular", "b": "failed: singular"}) == "failed: singular"
