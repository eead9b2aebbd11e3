"""Figures of confusion matrices, from the stored predictions."""

from entrolab.figures.by_fold import OfPredictions
from entrolab.schema.sections import Heading


class ConfusionMatrix(OfPredictions):
    """Predicted classes of the test rows, in percent of each class, over all repeats and folds."""

    caption: Heading = "Confusion matrices, in percent of the rows of each class"
    tasks = ("binary", "multiclass")

    def panel(self, run):
        predictions = run.predictions(self.criterion)
        return Matrix(predictions["y"], predictions["prediction"], run.data().classes)


class Matrix:
    """scikit-learn's display of a confusion matrix, with its table and its text."""

    subject = "Predicted classes in percent of the rows of each class; rows on the diagonal are correct"

    def __init__(self, y, prediction, classes):
        from sklearn.metrics import confusion_matrix

        self.classes = classes
        self.counts = confusion_matrix(y, prediction, labels=range(len(classes)))
        rows = self.counts.sum(axis=1, keepdims=True)
        self.percent = 100 * self.counts / rows.clip(min=1)

    def plot(self, ax):
        from sklearn.metrics import ConfusionMatrixDisplay

        display = ConfusionMatrixDisplay(self.percent, display_labels=self.classes)
        display.plot(ax=ax, cmap="Blues", values_format=".0f", colorbar=False, im_kw={"vmin": 0, "vmax": 100})
        ax.set(xlabel="predicted", ylabel="true")
        self.ax_ = ax

    def summary(self) -> str:
        recognised = zip(self.classes, self.percent.diagonal(), self.counts.sum(axis=1), strict=True)
        return ", ".join(f"{name} {share:.1f}" if n else f"{name} no rows" for name, share, n in recognised)

    def to_frame(self):
        import pandas as pd

        rows = pd.MultiIndex.from_product([self.classes, self.classes], names=["true", "predicted"])
        columns = {"count": self.counts.ravel(), "percent": self.percent.ravel()}
        return pd.DataFrame(columns, index=rows).reset_index()
