"""Figures that are drawn for a test."""

from entrolab.figure_types.making import make_figure, read_figure
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolearn.plotting import description_of


def drawn(folder, spec, sources, records=()):
    """The csv of a figure that is written in every format, with its alternative text in the svg."""
    outputs = [folder / f"figure.{suffix}" for suffix in ("svg", "png", "csv")]
    paths = (list(map(str, files)) for files in (sources, records, outputs))
    drawing = make_figure(FIGURE_TYPES[spec["type"]], spec, *paths)
    assert all(output.stat().st_size for output in outputs)
    assert text_of(folder) == drawing.text != ""
    return read_figure(outputs[-1])


def text_of(folder):
    """The alternative text of the figure that was drawn there."""
    return description_of(folder / "figure.svg")
