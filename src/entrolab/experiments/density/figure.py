"""The figure of the density table: seconds of some learners against the density of the data."""

from entrolab.experiments.density import place_of
from entrolab.experiments.density.table import Density as DensityTable
from entrolab.figure_types.base import OfTable, name_of_model


class Density(OfTable):
    """Seconds against the density of the data, a panel per dimension, a line per model."""

    of, table_type, shown = "density", DensityTable(), ("dims", "densities")

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import Line, draw_lines
        from entrolab.io.parquet import read_frame
        from entrolearn.plotting import TimingDisplay

        (source,) = sources
        measured = read_frame(source)
        densities = sorted(spec["densities"])
        lines = {}
        for dim in spec["dims"]:
            places = [place_of(dim, density) for density in densities]
            for model in spec["models"]:
                seconds, reasons = zip(*(_seconds(measured, place, model) for place in places), strict=True)
                line = Line((densities, seconds), reasons)
                lines[f"d = {dim:,}", model, name_of_model(spec, model)] = line
        return draw_lines(
            lines, lambda dim, lines: TimingDisplay(lines, param_name="density"), empty=None, n_columns=3
        )


def _seconds(measured, place: str, model: str) -> tuple[float, str]:
    """The seconds of a model at a place, and why there are none; what failed for all names neither."""
    from entrolab.text import one_line

    found = measured[measured["reading"].isin(["", place]) & measured["model"].isin(["", model])]
    if found.empty:
        return float("nan"), "not measured"
    return found["value"].iloc[0], one_line(found["error"].iloc[0])
