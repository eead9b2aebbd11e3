"""Tables of the seconds and errors of evaluating an objective."""

from typing import Literal

from entrolab.experiments.base import Measured, OfGenerated
from entrolab.experiments.evaluations import EXACT, place_of
from entrolab.study.entries import TableEntry
from entrolab.study.sections import Whole, list_of, one_of, whole
from entrolab.tables.base import Head

WAYS = {
    EXACT: Head("exact"),
    "exact_float32": Head("exact", "single precision"),
    "binned": Head("binned"),
}


class Evaluations(OfGenerated):
    """Seconds and errors of methods to evaluate MELM's objective and gradient: numbers of rows × methods."""

    columns = ("model", "metric")
    measured_by = "entrolab.experiments.evaluations.measure"
    parameters = ("rows", "ways", "features", "components", "exact_up_to", "repeats")
    measurement = Measured.measurement

    class Entry(TableEntry):
        rows: list_of(whole(ge=10))
        exact_up_to: whole(ge=10)
        ways: list_of(one_of(*WAYS)) = list(WAYS)
        features: whole(ge=2) = 20
        components: Literal[1, 2] = 2
        repeats: Whole = 3

    def names(self, table, study):
        yield from ()

    def places(self, table):
        return {place_of(rows): Head(f"N = {rows:,}") for rows in table.rows}

    def models(self, table, study):
        return {way: WAYS[way] for way in table.ways}

    def metrics(self, table):
        return {
            "seconds": Head("seconds"),
            "value_error": Head("error", "of the value"),
            "gradient_error": Head("error", "of the gradient"),
        }

    def cells(self, spec):
        """The cells that are measured.

        Above `exact_up_to` rows only seconds of the other methods; the exact method has no errors.
        """
        small = {place_of(rows) for rows in spec.entry.rows if rows <= spec.entry.exact_up_to}
        return [
            (place, way, metric)
            for place, way, metric in super().cells(spec)
            if (place in small or not (way.startswith(EXACT) or metric != "seconds"))
            and not (way == EXACT and metric != "seconds")
        ]

    def says(self, spec):
        entry = spec.entry
        return (
            "Processor seconds (one thread) of one evaluation of the objective and its gradient, for a "
            f"random projection of {entry.features} features onto {entry.components}, the fastest of "
            f"{entry.repeats} runs, on two classes that are mixtures of three normal distributions each; "
            "errors are relative to the exact method in double precision."
        )

    def number(self, metric, value, digits):
        """Format a value with two significant digits, from 100 on as a whole number; `digits` is not used."""
        return f"{value:#.2g}" if value < 99.5 else f"{value:,.0f}"
