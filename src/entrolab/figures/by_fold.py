"""Figures of the predictions of the selected models on the test rows, for any study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from entrolab.figures.base import FigureType, task_mistakes
from entrolab.fit.learners import learners_of
from entrolab.fit.run import BASELINE
from entrolab.schema.sections import Heading
from entrolab.tables.entries import ModelNames

if TYPE_CHECKING:
    from entrolab.figures.files import Source

PERCENT = 100
# The reason if the values that a figure shows are missing.
LACKS = {"decision": "the learner has no decision values", "probability": "the learner has no probabilities"}


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
        yield from task_mistakes(study.datasets[self.datasets], self.tasks, study)
        if not self.models:
            yield f"models: found no model with the criterion {self.criterion!r}; accepted: one or more"
        yield from super().mistakes(study, catalog)

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


class ByFold(OfPredictions):
    """A curve, or points, per fold.

    `shows` is the column of the predictions that is shown; `subject` is the first sentence of the alternative
    text, `score` the name of the folds' scores; `style` is Matplotlib's of lines and markers; `known` names
    the reference line.
    """

    shows: ClassVar[str] = "decision"
    subject: ClassVar[str]
    x_label: ClassVar[str]
    y_label: ClassVar[str]
    score: ClassVar[str]
    style: ClassVar[str] = "-"
    known: ClassVar[str] = "chance"  # the reference line

    def curve(self, rows) -> Curve:
        """The curve of the predictions of a fold."""
        raise NotImplementedError

    def reference(self, predictions, curves: Sequence[Curve]) -> tuple[Sequence[float], Sequence[float]]:
        """The ends of the reference line, in x and in y."""
        return (0, PERCENT), (0, PERCENT)

    def panel(self, run):
        from entrolab.figures.files import NothingToDraw

        predictions = run.predictions(self.criterion)
        if predictions[self.shows].isna().any():
            raise NothingToDraw(LACKS[self.shows])
        curves = [self.curve(rows) for _, rows in predictions.groupby(["repeat", "fold"])]
        return FoldsDisplay(self, curves, self.reference(predictions, curves))


@dataclass
class FoldsDisplay:
    """A thin curve, or points, per fold, and a reference line."""

    figure: ByFold
    folds: Sequence[Curve]
    reference: tuple[Sequence[float], Sequence[float]]

    def plot(self, ax) -> None:
        ax.plot(
            *self.reference, color="0.6", linestyle="--", linewidth=0.8, zorder=0, label=self.figure.known
        )
        for k, fold in enumerate(self.folds):
            label = "_" if k else "a fold, each in its colour"
            ax.plot(fold.x, fold.y, self.figure.style, linewidth=0.8, markersize=2.5, alpha=0.7, label=label)
        # Several panels share a legend, and each has a score of its own.
        said, _, range_ = self.summary().partition(" (")
        said = f"{said}\n({range_}" if range_ else said
        ax.text(0.97, 0.03, said, transform=ax.transAxes, ha="right", va="bottom", fontsize="small")
        ax.set(xlabel=self.figure.x_label, ylabel=self.figure.y_label)
        self.ax_, self.figure_ = ax, ax.figure

    @property
    def subject(self) -> str:
        """The first sentence of the alternative text."""
        return self.figure.subject

    def summary(self) -> str:
        """The mean of the folds' scores, and their range."""
        found = [fold.score for fold in self.folds]
        mean = sum(found) / len(found)
        return f"{self.figure.score} {mean:.4g} ({min(found):.4g} to {max(found):.4g} by the fold)"

    def to_frame(self):
        """One row per point of each fold, with columns ``series`` (its index), ``x`` and ``y``."""
        import pandas as pd

        return pd.concat(
            [pd.DataFrame({"series": str(k), "x": one.x, "y": one.y}) for k, one in enumerate(self.folds)],
            ignore_index=True,
        )


class Roc(ByFold):
    """The true positive rate against the false positive rate."""

    caption: Heading = "Receiver operating characteristics"
    subject = "True positive rate against false positive rate, a curve per fold"
    x_label, y_label, score = "false positive rate, %", "true positive rate, %", "AUC"

    def curve(self, rows):
        from sklearn.metrics import roc_auc_score, roc_curve

        false, true, _ = roc_curve(rows["y"], rows["decision"])
        return Curve(PERCENT * false, PERCENT * true, PERCENT * roc_auc_score(rows["y"], rows["decision"]))


class PrecisionRecall(ByFold):
    """Precision against recall over all thresholds; the reference line is the share of positive rows."""

    caption: Heading = "Precision against recall"
    subject = "Precision against recall over all thresholds, a curve per fold"
    x_label, y_label, score = "recall, %", "precision, %", "average precision"

    def curve(self, rows):
        from sklearn.metrics import average_precision_score, precision_recall_curve

        precision, recall, _ = precision_recall_curve(rows["y"], rows["decision"])
        score = average_precision_score(rows["y"], rows["decision"])
        return Curve(PERCENT * recall, PERCENT * precision, PERCENT * score)

    def reference(self, predictions, curves):
        share = PERCENT * predictions["y"].sum() / len(predictions)
        return (0, PERCENT), (share, share)


class Calibration(ByFold):
    """The share of positive rows against their mean probability, in ten bins of almost equal size."""

    caption: Heading = "Calibration of probabilities"
    subject = "Share of positive rows against their mean probability in ten bins, a curve per fold"
    x_label, y_label, score = "mean probability", "share of positive rows", "calibration error"
    shows, style, known = "probability", "o-", "calibrated"

    def curve(self, rows):
        from sklearn.calibration import calibration_curve

        from entrolab.fit.probabilities import calibration_error

        y, probability = rows["y"].to_numpy(), rows["probability"].to_numpy()
        share, mean = calibration_curve(y, probability, n_bins=10, strategy="quantile")
        return Curve(mean, share, calibration_error(y, probability))

    def reference(self, predictions, curves):
        return (0, 1), (0, 1)


class Residuals(ByFold):
    """The true minus the predicted value, against the predicted value, a point per test row."""

    caption: Heading = "Residuals"
    subject = "True minus predicted values against predicted values, a point per test row"
    x_label, y_label, score = "predicted value", "true minus predicted value", "RMSE"
    tasks, shows, style, known = ("regression",), "prediction", "o", "no error"

    def curve(self, rows):
        predicted = rows["prediction"].to_numpy(dtype=float)
        residual = rows["y"].to_numpy(dtype=float) - predicted
        return Curve(predicted, residual, float((residual**2).mean() ** 0.5))

    def reference(self, predictions, curves):
        return (min(curve.x.min() for curve in curves), max(curve.x.max() for curve in curves)), (0, 0)
