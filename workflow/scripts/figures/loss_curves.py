"""The objective after each iteration of the refitted models, a panel per data set, a line per model."""

from entrolab.figures.drawing import Line, draw_lines, lines_of
from entrolearn.plotting import LossCurvesDisplay


def draw(files):
    """Draw a figure of models."""

    def line(run):
        fitted = run.fitted_model()
        return Line(LossCurvesDisplay.from_estimators({run.model: fitted}).losses[run.model])

    def display(dataset, lines):
        return LossCurvesDisplay(lines)

    return draw_lines(lines_of(files, line), display, n_columns=2, width=10.0, common=False)
