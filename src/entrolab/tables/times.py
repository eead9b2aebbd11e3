"""Tables of the cost of the selected models: seconds to fit and predict, their ratios, numbers stored."""

from entrolab.schema.sections import Heading, one_of
from entrolab.tables.base import PUBLISHED_ONLY, Found, phrase
from entrolab.tables.entries import ModelNames, OfData, Tolerance
from entrolab.tables.quantities import Quantity
from entrolab.tables.trained import OfModels

SECONDS, SPEEDUP = "fit_seconds", "speedup"
COSTS = {
    SECONDS: Quantity(
        "seconds",
        most=1,
        by_row="least",
        compared="ratio",
        explanation="Processor seconds to fit only the selected model on {learnt}, on one thread.",
    ),
    "predict_seconds": Quantity(
        "seconds",
        most=1,
        by_row="least",
        compared="ratio",
        explanation="Processor seconds in which the selected model predicts {predicted}, on one thread.",
    ),
    "n_stored_numbers": Quantity(
        "numbers",
        style="thousands",
        compared="ratio",
        explanation="Numbers that the selected model stores, fitted on {learnt}.",
    ),
    # A paper's own ratios are shown and not compared.
    SPEEDUP: Quantity(
        "times the seconds",
        by_row="least",
        compared="",
        explanation="Processor seconds to fit only the selected model on {learnt}, divided by those of the "
        "row's first column.",
    ),
}


class Times(OfModels):
    """What the selected models cost, judged by the ratio to the row's first model."""

    stages = ("models", "record")
    tolerance = Tolerance(factor=2)

    class Entry(OfData):
        caption: Heading = "Seconds to fit the selected models"
        datasets: str = "all"
        models: ModelNames = "all"
        cost: one_of(*COSTS) = SECONDS

    def metrics(self, table):
        return {table.cost: COSTS[table.cost]}

    def cell_value(self, cell, spec, results):
        dataset, model, metric = cell
        if metric != SPEEDUP:
            return super().cell_value(cell, spec, results)
        first = next(iter(spec.models))
        ours, base = (self.cell_value((dataset, name, SECONDS), spec, results) for name in (model, first))
        if {ours.status, base.status} != {"ok"} or not base.ours:
            return Found(status=PUBLISHED_ONLY)  # the table of the seconds has the reason
        return Found(ours.ours / base.ours)

    def value_of_run(self, cell, spec, results, record):
        dataset, model, metric = cell
        facts = results.facts(dataset, model)
        if metric not in facts:
            return Found(status="failed", reason=phrase(facts.get("error") or "no model is stored"))
        return Found(facts[metric])
