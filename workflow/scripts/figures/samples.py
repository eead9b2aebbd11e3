"""The first rows of data sets as square images."""

import math

from entrolab.figures.drawing import draw_panels
from entrolearn.plotting import ImageGridDisplay


def draw(files, *, rows: int):
    """Draw a figure of rows with one pixel per feature."""

    def panel(source):
        data = source.data()
        X, y = data.X[:rows], data.y[:rows]
        captions = [data.classes[code] for code in y] if data.classes else [f"{value:g}" for value in y]
        return ImageGridDisplay.from_rows(X, 2 * [math.isqrt(X.shape[1])], captions=captions)

    return draw_panels(files, panel, n_columns=2, width=12.0, height=0.6, common=False)
