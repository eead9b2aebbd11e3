"""The files that a figure is drawn from, read when they are asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from entrolab.data.dataset import Dataset, load_dataset, load_folds
from entrolab.figures.spec import FigureSpec
from entrolab.fit.learners import FIRST_STEP, build
from entrolab.fit.protocols import protocol
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.text import one_line


class NothingToDraw(Exception):
    """Raised if a panel or a line has nothing to show; the message gives the reason."""


@dataclass(frozen=True)
class Source:
    """A data set, or a run, that a figure shows.

    Attributes
    ----------
    dataset, model : str
        The model is "" for a data set alone.
    files : mapping of str to str
        The files by stage.
    spec : FigureSpec
    """

    dataset: str
    model: str
    files: Mapping[str, str]
    spec: FigureSpec

    @property
    def name(self) -> str:
        """The label of the model."""
        return self.spec.name_of(self.model)

    def frame(self, stage: str) -> pd.DataFrame:
        """The rows of a parquet file."""
        return read_frame(self.files[stage])

    def data(self) -> Dataset:
        """The data set, scaled if the figure shows rows."""
        return load_dataset(self.files["scaled" if "scaled" in self.files else "data"])

    def training_rows(self) -> np.ndarray:
        """The indices of the rows that the refitted model was fitted on."""
        rows, _ = protocol(self.spec.refits[self.dataset, self.model].protocol).final_rows(
            load_folds(self.files["folds"])
        )
        return rows

    def learner(self):
        """The unfitted learner that the figure fits."""
        return build(self.spec.learners[self.dataset, self.model], self.spec.seed)

    def candidates(self) -> pd.DataFrame:
        """The candidates of a run; `NothingToDraw` if all failed."""
        candidates = self.frame("candidates")
        if not candidates["success"].any():
            raise NothingToDraw(self._status())
        return candidates

    def predictions(self, criterion: str) -> pd.DataFrame:
        """The predictions of the models that a criterion selected; `NothingToDraw` if there are none."""
        self.check_success()
        rows = self.frame("selection")
        selected = rows[(rows["criterion"] == criterion) & rows["success"].astype(bool)]
        predictions = self.frame("predictions").merge(selected[["repeat", "fold", "point"]])
        if predictions.empty:
            raise NothingToDraw("nothing was selected by this criterion")
        return predictions

    def fitted_model(self):
        """The model that the first criterion selected, refitted; `NothingToDraw` if there is none.

        It takes scaled rows and gives encoded classes: preprocessing, label encoding and a tuned threshold
        are left out.
        """
        from entrolab.io.model_reading import NoModel, load_fitted  # which imports skops

        self.check_success()
        criterion, parts, model_format, _ = self.spec.refits[self.dataset, self.model]
        try:
            fitted, *_ = load_fitted(self.files["models"], criterion, parts, model_format)
        except NoModel as error:
            raise NothingToDraw(str(error)) from None
        return of_scaled_rows(fitted)

    def check_success(self) -> None:
        """Raise `NothingToDraw` with the status of a run that has no result."""
        if not read_json(self.files["record"])["success"]:
            raise NothingToDraw(self._status())

    def _status(self) -> str:
        record = read_json(self.files["record"])
        status, error = record["status"], record["error"]
        return one_line(f"{status}: {error}" if status not in error else error)


@dataclass(frozen=True)
class Files:
    """The files of a figure: an iterable of its data sets or runs, panel by panel."""

    spec: FigureSpec
    paths: Sequence[str]

    @property
    def entry(self) -> Any:
        """The figure's entry in the study, a :class:`entrolab.figures.base.FigureType`."""
        return self.spec.entry

    def __iter__(self) -> Iterator[Source]:
        found: dict[tuple[str, str], dict[str, str]] = {}
        for (stage, dataset, model), path in zip(self.spec.sources, self.paths, strict=True):
            found.setdefault((dataset, model), {})[stage] = str(path)
        yield from (Source(*place, files, self.spec) for place, files in found.items())


def of_scaled_rows(fitted):
    """A model without its preprocessing and label encoding, for scaled rows and encoded classes."""
    from sklearn.model_selection import FixedThresholdClassifier
    from sklearn.pipeline import Pipeline

    from entrolearn.columns import ColumnEncoder, LabelEncodedClassifier

    if isinstance(fitted, (LabelEncodedClassifier, FixedThresholdClassifier)):
        return of_scaled_rows(fitted.estimator_)
    if not isinstance(fitted, Pipeline):
        return fitted
    *before, (name, learner) = fitted.steps
    kept = [step for step in before if step[0] != FIRST_STEP and not isinstance(step[1], ColumnEncoder)]
    learner = of_scaled_rows(learner)
    return Pipeline([*kept, (name, learner)]) if kept else learner
