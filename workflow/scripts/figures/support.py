"""The training rows of refitted models in the plane, with the support vectors marked."""

from entrolab.figures.drawing import draw_panels
from entrolearn.plotting import SupportVectorDisplay


def draw(files):
    """Draw a figure of models, on data sets of two classes and two features."""

    def panel(run):
        fitted, data, rows = run.fitted_model(), run.data(), run.training_rows()
        return SupportVectorDisplay.from_estimator(
            fitted, data.X[rows], data.y[rows], display_labels=data.classes
        )

    return draw_panels(files, panel, n_columns=3, width=10.0)
