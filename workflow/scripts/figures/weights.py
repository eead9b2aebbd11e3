"""The weights of linear classifiers as square images, one for each class."""

import math

from entrolab.figures.drawing import draw_panels
from entrolearn.plotting import ImageGridDisplay


def draw(files):
    """Draw a figure of models of data sets with one pixel per feature."""

    def panel(run):
        fitted, data = run.fitted_model(), run.data()
        shape = 2 * [math.isqrt(data.X.shape[1])]
        return ImageGridDisplay.from_estimator(fitted, shape, display_labels=data.classes, n_columns=5)

    return draw_panels(files, panel, n_columns=2, width=12.0, height=0.45, common=False)
