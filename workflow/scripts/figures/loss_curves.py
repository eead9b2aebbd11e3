"""The objective after each iteration of the refitted models, a panel per data set, a line per model."""

from entrolab.figures.drawing import Line, draw_lines, lines_of
from entrolearn.plotting import LossCurvesDisplay


def draw(files):
    """Draw a figure of models."""

    first = {}  # the first model of each data set: other objectives than its do not share its axis

    def line(run):
        fitted = run.fitted_model()
        both = {"first": first.setdefault(run.dataset, fitted), "this": fitted}
        return Line(LossCurvesDisplay.from_estimators(both).losses["this"])

    def display(dataset, lines):
        return LossCurvesDisplay(lines)

    return draw_lines(lines_of(files, line), display, n_columns=2, width=10.0, common=False)
