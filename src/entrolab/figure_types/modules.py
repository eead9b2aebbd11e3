"""Kinds of figures: what each draws, the table of what it shows, and what is said of it in words.

Each is a module with ``draw(spec, sources, records)``, which gives a `Drawing`, and
``in_words(spec, table)``. Where rows are drawn that may be hovered over, there is
``to_hover(spec, table, sources)`` too, which gives the displays by their titles.
"""

from types import ModuleType

from entrolab.experiments.density import figure as density
from entrolab.experiments.evaluations import figure as evaluations
from entrolab.experiments.starts import expected_maximum
from entrolab.experiments.starts import figure as starts
from entrolab.figure_types import (
    by_data,
    clusterings,
    critical_difference,
    error_densities,
    grid_curves,
    grid_surface,
    loss_curves,
    process,
    projections,
    samples,
    support,
    tradeoff,
    trials,
    weights,
)

__all__ = ["KINDS"]

KINDS: dict[str, ModuleType] = {
    "process": process,
    "grid_curves": grid_curves,
    "grid_surface": grid_surface,
    "trials": trials,
    "density": density,
    "support": support,
    "tradeoff": tradeoff,
    "by_data": by_data,
    "projections": projections,
    "starts": starts,
    "expected_maximum": expected_maximum,
    "evaluations": evaluations,
    "samples": samples,
    "weights": weights,
    "clusterings": clusterings,
    "error_densities": error_densities,
    "loss_curves": loss_curves,
    "critical_difference": critical_difference,
}
