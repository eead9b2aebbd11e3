"""The results of a study by data set and model, each file read once."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pandas as pd
from scipy.sparse import issparse

from entrolab.data.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.fit.metrics import metrics_of
from entrolab.fit.predictions import read_scores
from entrolab.fit.selection import choose_within
from entrolab.io.files import FILES
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json

KEPT_VARIANCE = 0.95


class Results:
    """The results of a study in the folder with ``results``."""

    def __init__(self, study, home: str | os.PathLike = "."):
        self._study, self._home = study, Path(home)
        # A table reads a file once per column.
        self.characteristics = cache(self._characteristics)
        self.division = cache(self._division)
        self.features = cache(self._features)
        self.measured = cache(self._measured)
        self._scores = cache(self._of_predictions)

    def record(self, dataset: str, model: str) -> dict:
        """The record of a run; empty if it has none."""
        file = self._file("record", dataset=dataset, model=model)
        return read_json(file) if file.exists() else {}

    def facts(self, dataset: str, model: str, criterion: str | None = None) -> dict:
        """Facts about the refitted model of a run that a criterion selected, by default the first one."""
        criteria = self._study.models[model].criteria
        if not criteria:
            return {"error": "no criterion selects from this grid: all of it is shown"}
        folder = self._file("models", dataset=dataset, model=model)
        file = folder / f"{criterion if criterion in criteria else criteria[0]}.json"
        return read_json(file) if file.exists() else {}

    def selection(self, dataset: str, model: str) -> dict[str, pd.DataFrame]:
        """The selection in each fold, by criterion."""
        rows = read_frame(self._file("selection", dataset=dataset, model=model))
        return dict(iter(rows.groupby("criterion", sort=False)))

    def scores(self, dataset: str, model: str, among: Mapping[str, Mapping]) -> dict[str, pd.DataFrame]:
        """The scores of folds by criterion, selected from part of the grid if `among` has limits."""
        if not among:
            return self._scores(dataset, model)
        rows = choose_within(self._file("candidates", dataset=dataset, model=model), among, self._study)
        return dict(iter(rows.groupby("criterion", sort=False)))

    def _of_predictions(self, dataset: str, model: str) -> dict[str, pd.DataFrame]:
        metrics = metrics_of(self._study.tasks[dataset], self._study.metrics)
        files = (self._file(stage, dataset=dataset, model=model) for stage in ("selection", "predictions"))
        return dict(iter(read_scores(*files, metrics).groupby("criterion", sort=False)))

    def _characteristics(self, dataset: str) -> dict:
        """The numbers of features and of rows, in all and by class; or ``absent``, the reason for none."""
        try:
            data = load_dataset(self._file("data", dataset=dataset))
        except DataUnavailable as absence:
            return {"absent": str(absence)}
        found = {"absent": "", "n_features": data.n_features, "n_samples": data.n_samples}
        if data.task != "regression":
            found["n_classes"] = len(data.classes)
        if data.task == "binary":
            n_positive = int((data.y == 1).sum())
            found |= {"n_negative": data.n_samples - n_positive, "n_positive": n_positive}
        return found

    def _division(self, dataset: str) -> dict:
        """The numbers of training and test rows in the first split."""
        assignment = load_folds(self._file("folds", dataset=dataset))[0]
        return {"n_train": int((assignment > 0).sum()), "n_test": int((assignment == 0).sum())}

    def _features(self, dataset: str) -> dict:
        """The share of nonzeros and the dimensions of the scaled data, for all rows and each class."""
        data = load_dataset(self._file("scaled", dataset=dataset))
        found = {"density": float((data.X != 0).mean()), "n_dims": _dimensions(data.X)}
        if data.task == "binary":
            found |= {
                f"n_dims_{name}": _dimensions(data.X[data.y == label])
                for label, name in enumerate(("negative", "positive"))
            }
        return found

    def _measured(self, table: str, dataset: str) -> list:
        """The rows that were measured for a table, named tuples."""
        return [*read_frame(self._file("measured", table=table, dataset=dataset)).itertuples(index=False)]

    def _file(self, stage: str, **names: str) -> Path:
        return self._home / FILES[stage].format(study=self._study.name, seed=self._study.seed, **names)


def _dimensions(X) -> int:
    """The number of principal components that keep more than 95 % of the variance."""
    from sklearn.decomposition import PCA  # imported late: few tables need it

    return int(PCA(KEPT_VARIANCE, svd_solver="full").fit(X.toarray() if issparse(X) else X).n_components_)
