"""The density of a learner's errors after some epochs, each from a fit with the same seed."""

from entrolab.figures.drawing import draw_panels
from entrolearn.plotting import ErrorDensityDisplay


def draw(files, *, epochs: list[int]):
    """Draw a figure of rows, with models that have ``max_iter``."""

    def panel(source):
        data = source.data()
        return ErrorDensityDisplay.from_estimator(source.learner(), data.X, data.y, epochs=epochs)

    return draw_panels(files, panel, n_columns=3, width=10.0, common=False)
