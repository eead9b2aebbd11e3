"""The figure of the density table: seconds of some learners against the density of the data."""

import itertools

from entrolab.experiments.base import found_among
from entrolab.experiments.density import place_of
from entrolab.experiments.density.table import Density as DensityTable
from entrolab.figure_types.base import OfTable


class Density(OfTable):
    """Seconds against the density of the data, a panel per dimension, a line per model."""

    of, table_type, shown = "density", DensityTable(), ("dims", "densities")

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import Line, draw_lines
        from entrolab.io.parquet import read_frame
        from entrolearn.plotting import TimingDisplay

        rows = [*read_frame(sources[0]).itertuples(index=False)]
        densities = sorted(spec.table.densities)
        lines = {}
        for dim, model in itertools.product(spec.table.dims, spec.models):
            places = [place_of(dim, density) for density in densities]
            found = [found_among(rows, model, "fit_seconds", place) for place in places]
            line = Line((densities, [one.ours for one in found]), [one.reason for one in found])
            lines[f"d = {dim:,}", model, spec.name_of(model)] = line
        return draw_lines(
            lines, lambda dim, lines: TimingDisplay(lines, param_name="density"), empty=None, n_columns=3
        )
