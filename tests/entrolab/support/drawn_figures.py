"""Figures that are drawn for a test."""

from dataclasses import fields

from entrolab.figure_types.base import FigureSpec
from entrolab.figure_types.making import make_figure, read_figure
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolearn.plotting import description_of


def figure_spec(type, seed=0, datasets=(), runs=(), **values):
    """The spec of a figure; values that are no fields of it are those of its entry."""
    own = {field.name: values.pop(field.name) for field in fields(FigureSpec) if field.name in values}
    entry = FIGURE_TYPES[type].Entry.model_construct(type=type, **values)
    return FigureSpec(entry, seed, datasets, runs, **own)


def drawn(folder, spec, sources, records=()):
    """The csv of a figure that is written in every format, with its alternative text in the svg.

    `spec` has the arguments of `figure_spec`.
    """
    outputs = [folder / f"figure.{suffix}" for suffix in ("svg", "png", "csv")]
    paths = (list(map(str, files)) for files in (sources, records, outputs))
    drawing = make_figure(FIGURE_TYPES[spec["type"]], figure_spec(**spec), *paths)
    assert all(output.stat().st_size for output in outputs)
    assert text_of(folder) == drawing.text != ""
    return read_figure(outputs[-1])


def text_of(folder):
    """The alternative text of the figure that was drawn there."""
    return description_of(folder / "figure.svg")
