"""Base class and display of figures of stored predictions per fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from entrolab.figure_types.base import OfSelectedModels, PanelPerModel, RunsEntry

# The reason if the values that a figure shows are missing.
LACKS = {"decision": "the learner has no decision values", "probability": "the learner has no probabilities"}


class ByFold(PanelPerModel, OfSelectedModels):
    """A curve, or points, per fold, from the predictions of its selected model on its test rows.

    `shows` is the column of the predictions that is shown.
    """

    class Entry(RunsEntry):
        criterion: str

    stages = ("selection", "predictions")
    layout = {"n_columns": 3, "width": 10.0, "common": False}
    tasks: tuple[str, ...] = ("binary",)
    shows = "decision"

    def mistakes(self, figure, study, catalog):
        for dataset in self.datasets(figure, study):
            task = study.tasks[dataset]
            if task not in self.tasks:
                yield (
                    f"datasets: {dataset!r} is a {task} data set; "
                    f"accepted: {' and '.join(self.tasks)} data sets"
                )
        yield from super().mistakes(figure, study, catalog)

    def panel(self, dataset, model, files, record, spec):
        from entrolab.figure_types.drawing import NothingToDraw, selected_predictions

        kept = selected_predictions(*files, record, spec.entry.criterion)
        if kept[self.shows].isna().any():
            raise NothingToDraw(LACKS[self.shows])
        return self.display([rows for _, rows in kept.groupby(["repeat", "fold"])])

    def display(self, folds: Sequence) -> "FoldsDisplay":
        """The display of the predictions of each fold."""
        raise NotImplementedError


class Curve(NamedTuple):
    """A fold's curve or points, and its score."""

    x: Any
    y: Any
    score: float


@dataclass
class FoldsDisplay:
    """A thin curve, or points, per fold, and a reference line.

    `subject` is the first sentence of the alternative text, `score` the name of the folds' scores;
    `reference` has the ends of the reference line, in x and in y; `style` is Matplotlib's of lines and
    markers.
    """

    folds: Sequence[Curve]
    subject: str
    x_label: str
    y_label: str
    score: str = ""
    reference: tuple[tuple[float, float], tuple[float, float]] = ((0, 1), (0, 1))
    style: str = "-"

    def plot(self, ax) -> None:
        ax.plot(*self.reference, color="0.6", linestyle="--", linewidth=0.8, zorder=0)
        for fold in self.folds:
            ax.plot(fold.x, fold.y, self.style, linewidth=0.8, markersize=2.5, alpha=0.7)
        ax.set(xlabel=self.x_label, ylabel=self.y_label)
        self.ax_, self.figure_ = ax, ax.figure

    def summary(self) -> str:
        """The mean of the folds' scores, and their range."""
        found = [fold.score for fold in self.folds]
        mean = sum(found) / len(found)
        return f"{self.score} {mean:.4g} ({min(found):.4g} to {max(found):.4g} by the fold)"

    def to_frame(self):
        """One row per point of each fold, with columns ``fold`` (its index), ``x`` and ``y``."""
        import pandas as pd

        return pd.concat(
            [pd.DataFrame({"series": str(k), "x": one.x, "y": one.y}) for k, one in enumerate(self.folds)],
            ignore_index=True,
        )
