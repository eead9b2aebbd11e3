"""`Check`, and what checks look at: a data set with its splits, or a run with its scores by fold."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from entrolab.claims.numbers import Numbers
from entrolab.data.dataset import Dataset
from entrolab.fit.metrics import METRICS
from entrolab.fit.protocols import Folds, protocol, splits
from entrolab.fit.run import BASELINE, Run
from entrolab.fit.selection import first_metric
from entrolab.study.study import Study


@dataclass(frozen=True)
class Check:
    """A check of data sets or of runs.

    Attributes
    ----------
    title : str
        What is wrong if it finds something.
    why : str
        Why that matters.
    remedy : str
        What to do.
    source : str
        Where its threshold is from.
    find : function
        Of a `CheckedData` or a `CheckedRun`; what was found, in words, or nothing.
    """

    title: str
    why: str
    remedy: str
    source: str
    find: Callable[..., str | None]


@dataclass(frozen=True)
class CheckedData:
    """A data set of a study, its entry, and its training and test rows in each split.

    `entry` is that of a user's table; empty for a data set of the catalog.
    """

    study: Study
    name: str
    data: Dataset
    assignments: np.ndarray  # shape (n_repeats, n_samples)
    entry: Mapping

    def splits(self) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """The name of each split, its training rows and its test rows."""
        scheme = protocol(self.study.protocol_of(self.name))
        for repeat, assignment in enumerate(self.assignments):
            several = len(self.assignments) > 1
            for fold, learnt, tested in splits(scheme, assignment):
                name = f"part {repeat + 1}" if several else "the test part"
                if isinstance(scheme, Folds):
                    name = f"fold {fold + 1}" + (f" of repeat {repeat + 1}" if several else "")
                yield name, learnt, tested

    @cached_property
    def counts(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """The name of each split, and its rows of each class for training and for testing."""
        n_classes = len(self.data.classes)
        return [
            (name, *(np.bincount(self.data.y[rows], minlength=n_classes) for rows in (train, test)))
            for name, train, test in self.splits()
        ]


@dataclass(frozen=True)
class CheckedRun:
    """A run of a study, its candidates, and the rows of them that the first criterion chose."""

    study: Study
    dataset: str
    model: str
    numbers: Numbers

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """The candidates that have a result."""
        found = self.numbers.results.run(self.dataset, self.model).candidates
        return found[found["success"]]

    @cached_property
    def selection(self) -> pd.DataFrame:
        """The choice in each fold."""
        by_criterion = self.numbers.results.selection(self.dataset, self.model)
        found = by_criterion[self.study.models[self.model].criteria[0]]
        return found[found["success"]]

    @cached_property
    def chosen(self) -> pd.DataFrame:
        """The candidate of each fold that was chosen."""
        at = ["repeat", "fold", "point"]
        return self.selection[at].merge(self.candidates, on=at)

    @cached_property
    def spec(self) -> Run:
        """The run, with the values for its data set."""
        return self.study.run(self.dataset, self.model, self.study.seed)

    @property
    def metric(self) -> str:
        """The metric that selects."""
        return first_metric(self.candidates)

    @property
    def sign(self) -> int:
        """1 if more of the metric is better, else -1."""
        return 1 if METRICS[self.metric].greater_is_better else -1

    @cached_property
    def baseline(self) -> float | None:
        """The mean score of the baseline on test rows; None if the study has none, or for that itself."""
        if self.model == BASELINE or (self.dataset, BASELINE) not in self.study.runs():
            return None
        found = self.numbers.results.run(self.dataset, BASELINE).candidates
        return float(found[f"test_{self.metric}"].mean()) if len(found) else None
