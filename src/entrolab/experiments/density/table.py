"""Tables of the seconds of fits on sparse data."""

import itertools

from entrolab.experiments.base import OfGenerated
from entrolab.experiments.density import place_of
from entrolab.study.entries import ModelsWithParams, TableEntry, Task
from entrolab.study.sections import Whole, list_of, number, whole
from entrolab.tables.base import Found, Head


class Density(OfGenerated):
    """Seconds to fit sparse data, and ratios to the first model: dimensions and densities × models."""

    columns = ("model", "metric")
    measured_by = "entrolab.experiments.density.measure"
    parameters = ("rows", "task", "repeats", "gib", "dims", "densities")

    class Entry(TableEntry):
        models: ModelsWithParams
        dims: list_of(Whole)
        densities: list_of(number(gt=0, le=1))
        rows: whole(ge=2)
        task: Task = "binary"
        repeats: Whole = 3
        gib: number(gt=0) = 8

    def places(self, table):
        return {
            place_of(dim, density): Head(f"d = {dim:,}, density {density:g}")
            for dim, density in itertools.product(table.dims, table.densities)
        }

    def metrics(self, table):
        return {"fit_seconds": Head("seconds"), "ratio": Head("ratio")}

    def cells(self, spec):
        """All cells, except the ratio of the first model to itself."""
        first = next(iter(spec.models))
        return [cell for cell in super().cells(spec) if cell[1:] != (first, "ratio")]

    def found(self, cell, spec, results):
        place, model, metric = cell
        if metric != "ratio":
            return super().found(cell, spec, results)
        first = next(iter(spec.models))
        ours, base = (self.found((place, name, "fit_seconds"), spec, results) for name in (model, first))
        return next((one for one in (ours, base) if one.status != "ok"), None) or Found(ours.ours / base.ours)

    def says(self, spec):
        first = next(iter(spec.models.values()))
        return (
            f"Processor seconds to fit {spec.entry.rows:,} generated rows on one thread, the fastest of "
            f"{spec.entry.repeats} fits, and their ratio to those of {first.label}."
        )
