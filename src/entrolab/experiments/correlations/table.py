"""Tables of rank correlations."""

import itertools
import math
from dataclasses import replace

from entrolab.experiments.base import Measured
from entrolab.study.entries import OfData
from entrolab.study.sections import Section, Whole, list_of, one_of, whole
from entrolab.tables.base import NAN, NOTHING, Head, TableType

Activation = one_of("sigmoid", "nsigmoid", "rbf", "sine", "hardlimit")
Weights = one_of("normal", "uniform")
Formula = one_of("right", "published")
Data = one_of("scaled", "raw")
Centres = one_of("means", "sums")


class Reading(Section):
    """One reading of the paper's computation."""

    activation: Activation
    weights: Weights
    formula: Formula
    data: Data
    # The centre of each class that the distance compares.
    centres: Centres = "means"


class Readings(Section):
    """Other readings, computed in all combinations for a group of data sets."""

    datasets: str
    activation: list_of(Activation)
    weights: list_of(Weights)
    formula: list_of(Formula)
    data: list_of(Data)
    centres: list_of(Centres) = ["means"]


class Correlations(Measured):
    """Rank correlation of the divergence of two classes with one of its terms: data sets × hidden sizes."""

    ROUNDING = 0.0005  # three decimals are published
    # The published number comes from as many random draws as ours, so it has the same standard error.
    OF_A_DIFFERENCE = math.sqrt(2)

    columns = ("metric",)
    measured_by = "entrolab.experiments.correlations.measure"
    parameters = ("sizes", "layers", "operators", "reading")
    usual_decimals = 3
    measures = "rank correlation"

    class Entry(OfData):
        sizes: list_of(Whole)
        layers: whole(ge=2)
        operators: Whole
        reading: Reading
        readings: Readings = None

    def names(self, table, study):
        if table.readings:
            yield "readings.datasets", table.readings.datasets, study.datasets, "group of data sets"

    def measurement(self, table, study, dataset):
        others = []
        if table.readings and dataset in study.datasets[table.readings.datasets]:
            axes = {name: getattr(table.readings, name) for name in Reading.model_fields}
            values = itertools.product(*axes.values())
            every = [Reading(**dict(zip(axes, one, strict=True))) for one in values]
            others = [reading for reading in every if reading != table.reading]
        return super().measurement(table, study, dataset) | {"readings": others}

    models = TableType.models

    def metrics(self, table):
        return {f"spearman_h{size}": Head(f"h = {size}") for size in table.sizes}

    def tolerance(self, cell, spec, ours, published):
        return max(self.ERRORS * self.OF_A_DIFFERENCE * ours.ours_std, self.ROUNDING)

    def judge(self, cell, spec, found, published_values):
        # An undefined error counts as 0, so that the tolerance is the rounding of the published number.
        ours = found[cell]
        if math.isnan(ours.ours_std):
            found = {**found, cell: replace(ours, ours_std=0.0)}
        return super().judge(cell, spec, found, published_values)

    def note(self, cell, found, published_values, verdict):
        """The reading closest to the published values of a row, with its numbers."""
        if verdict not in ("higher", "lower"):
            return ""
        row = {at: published_values.get(at, NOTHING).value for at in found if at[0] == cell[0]}
        row = {at: value for at, value in row.items() if not math.isnan(value)}
        readings = {"": [found[at].ours for at in row]}
        for name in found[next(iter(row))].readings:
            readings[name] = [found[at].readings.get(name, NAN) for at in row]
        distances = {
            name: sum(abs(value - published) for value, published in zip(values, row.values(), strict=True))
            for name, values in readings.items()
        }
        known = [name for name, distance in distances.items() if math.isfinite(distance)]
        closest = min(known, key=distances.get, default="")
        if closest:
            numbers = ", ".join(f"{value:z.3f}" for value in readings[closest])
            return f"closest to this row is the reading {closest}: {numbers}"
        return "no other reading comes closer to this row" if len(known) > 1 else ""

    def says(self, spec):
        entry, reading = spec.entry, spec.entry.reading
        return (
            f"Spearman's rank correlation over {entry.layers} random hidden layers × {entry.operators} "
            "random linear operators, ± its jackknife standard error over the layers. "
            f"Hidden units: {reading.activation}; weights of the operators: {reading.weights}; "
            f"eq. (3): {reading.formula}; data: {reading.data}; centres: class {reading.centres}."
        )

    def agreement(self, spec):
        return "within 2 s.e."

    def meanings(self, spec):
        return {
            "reproduced": "ours differs by less than two standard errors of the difference of two such "
            "measurements, or rounds to the published number",
            "higher": "ours lies further above",
            "lower": "ours lies further below",
        }
