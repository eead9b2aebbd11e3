"""Figures of the predictions of the selected models on the test rows, for any study."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from entrolab.figures.base import FigureType, task_mistakes
from entrolab.fit.learners import learners_of
from entrolab.fit.run import BASELINE
from entrolab.schema.sections import Heading
from entrolab.tables.entries import ModelNames
from entrolab.text import four_digits

if TYPE_CHECKING:
    from entrolab.figures.files import Source

PERCENT = 100


class OfPredictions(FigureType):
    """A panel per data set and model; by default of all models that the study's first criterion selects."""

    of = "predictions"
    datasets: str = "all"
    models: ModelNames = "all"
    criterion: str = None
    tasks: ClassVar[tuple[str, ...]] = ("binary",)

    def with_defaults(self, study):
        criterion = self.criterion or study.criteria[0]
        models = self.models
        if models == "all":
            trained = {name: one for name, one in study.models.items() if learners_of(one)}
            models = [name for name, one in trained.items() if criterion in one.criteria and name != BASELINE]
        return self.model_copy(update={"criterion": criterion, "models": models})

    def mistakes(self, study, catalog):
        yield from super().mistakes(study, catalog)
        yield from task_mistakes(study.datasets[self.datasets], self.tasks, study)
        if not self.models:
            yield f"models: found no model with the criterion {self.criterion!r}; accepted: one or more"

    def panel(self, run: "Source"):
        """The display of a run."""
        raise NotImplementedError

    def draw(self, files):
        from entrolab.figures.drawing import draw_panels

        return draw_panels(files, self.panel, n_columns=3, width=10.0, common=False)


class Curve(NamedTuple):
    """A fold's curve or points, and its score."""

    x: Any
    y: Any
    score: float


@dataclass
class FoldsDisplay:
    """A thin curve, or points, per fold, and a reference line.

    `subject` is the first sentence of the alternative text, `score` the name of the folds' scores;
    `reference` has the name of the line and its ends, in x and in y; `style` is Matplotlib's.
    """

    folds: Sequence[Curve]
    subject: str
    labels: tuple[str, str]
    score: str
    reference: tuple[str, Sequence[float], Sequence[float]]
    style: str = "-"

    def plot(self, ax) -> None:
        known, *ends = self.reference
        ax.plot(*ends, color="0.6", linestyle="--", linewidth=0.8, zorder=0, label=known)
        for k, fold in enumerate(self.folds):
            label = "_" if k else "a fold, each in its colour"
            ax.plot(fold.x, fold.y, self.style, linewidth=0.8, markersize=2.5, alpha=0.7, label=label)
        # Several panels share a legend, and each has a score of its own.
        said, _, range_ = self.summary().partition(" (")
        said = f"{said}\n({range_}" if range_ else said
        ax.text(0.97, 0.03, said, transform=ax.transAxes, ha="right", va="bottom", fontsize="small")
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        self.ax_, self.figure_ = ax, ax.figure

    def summary(self) -> str:
        """The mean of the folds' scores, and their range."""
        found = [fold.score for fold in self.folds]
        mean, low, high = map(four_digits, (sum(found) / len(found), min(found), max(found)))
        return f"{self.score} {mean} ({low} to {high} by the fold)"

    def to_frame(self):
        """One row per point of each fold, with columns ``series`` (its index), ``x`` and ``y``."""
        import pandas as pd

        return pd.concat(
            [pd.DataFrame({"series": str(k), "x": one.x, "y": one.y}) for k, one in enumerate(self.folds)],
            ignore_index=True,
        )


def by_fold(predictions, curve: Callable[..., Curve]) -> list[Curve]:
    """The curve of the predictions of each fold."""
    return [curve(rows) for _, rows in predictions.groupby(["repeat", "fold"])]


class Roc(OfPredictions):
    """The true positive rate against the false positive rate."""

    caption: Heading = "Receiver operating characteristics"

    def panel(self, run):
        from sklearn.metrics import roc_auc_score, roc_curve

        from entrolab.figures.files import NothingToDraw

        def curve(rows):
            false, true, _ = roc_curve(rows["y"], rows["decision"])
            return Curve(
                PERCENT * false, PERCENT * true, PERCENT * roc_auc_score(rows["y"], rows["decision"])
            )

        predictions = run.predictions(self.criterion)
        if predictions["decision"].isna().any():
            raise NothingToDraw("the learner has no decision values")
        return FoldsDisplay(
            by_fold(predictions, curve),
            subject="True positive rate against false positive rate, a curve per fold",
            labels=("false positive rate, %", "true positive rate, %"),
            score="AUC",
            reference=("chance", (0, PERCENT), (0, PERCENT)),
        )


class Residuals(OfPredictions):
    """The true minus the predicted value, against the predicted value, a point per test row."""

    caption: Heading = "Residuals"
    tasks = ("regression",)

    def panel(self, run):
        def points(rows):
            predicted = rows["prediction"].to_numpy(dtype=float)
            residual = rows["y"].to_numpy(dtype=float) - predicted
            return Curve(predicted, residual, float((residual**2).mean() ** 0.5))

        folds = by_fold(run.predictions(self.criterion), points)
        ends = min(fold.x.min() for fold in folds), max(fold.x.max() for fold in folds)
        return FoldsDisplay(
            folds,
            subject="True minus predicted values against predicted values, a point per test row",
            labels=("predicted value", "true minus predicted value"),
            score="RMSE",
            reference=("no error", ends, (0, 0)),
            style="o",
        )
