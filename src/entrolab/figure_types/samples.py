"""Figures of the first rows of data sets as images."""

from entrolab.figure_types.base import OfImages, OfRows, Shape
from entrolab.study.entries import Entry
from entrolab.study.sections import whole


class Samples(OfImages, OfRows):
    """The first rows of data sets as images."""

    class Entry(Entry):
        datasets: str
        shape: Shape
        rows: whole(ge=1, le=200)

    layout = {"n_columns": 2, "width": 12.0, "height": 0.6, "common": False}

    def of_rows(self, data, place, spec):
        from entrolearn.plotting import ImageGridDisplay

        X, y = data.X[: spec.entry.rows], data.y[: spec.entry.rows]
        captions = [data.classes[code] for code in y] if data.classes else [f"{value:g}" for value in y]
        return ImageGridDisplay.from_rows(X, spec.shapes[place[0]], captions=captions)
