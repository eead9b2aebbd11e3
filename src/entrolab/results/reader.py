"""The only reader of a study's results: runs by data set and model, tables, figures and claims."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from scipy.sparse import issparse

from entrolab.data.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.predictions import read_scores
from entrolab.fit.selection import most_often, restrict_grid, select
from entrolab.io.files import FILES
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.results.frames import read_claims, read_figure, read_findings, read_table
from entrolab.schema.sections import Section, plain

KEPT_VARIANCE = 0.95


@dataclass(frozen=True)
class RunContents:
    """The contents of a run's files; a run without a result may lack some. `facts` are of its first model."""

    record: dict
    facts: dict
    scores: pd.DataFrame
    candidates: pd.DataFrame
    metrics: list[str]  # metrics of the study that fit the task

    def by_criterion(self) -> Iterator[tuple[str, pd.DataFrame]]:
        yield from self.scores.groupby("criterion", sort=False)

    def most_chosen(self) -> dict[str, tuple[dict, str]]:
        """The parameters that each criterion selected most often, and in how many folds."""
        found = {criterion: (most_often(rows), len(rows)) for criterion, rows in self.by_criterion()}
        return {name: (most[0], f"{most[1]} of {n_folds}") for name, (most, n_folds) in found.items() if most}


class Results:
    """The results of a study in the folder with ``results``; data, tables and scores are read once."""

    def __init__(self, study, home: str | os.PathLike = "."):
        self.study, self.home = study, Path(home)
        # A table reads a file once per column.
        self.characteristics = cache(self._characteristics)
        self.division = cache(self._division)
        self.features = cache(self._features)
        self.measured = cache(self._measured)
        self._scores = cache(self._of_predictions)
        self.table = cache(self._table)
        self.figure = cache(self._figure)

    def record(self, dataset: str, model: str) -> dict:
        """The record of a run; empty if it has none."""
        file = self.file("record", dataset=dataset, model=model)
        return read_json(file) if file.exists() else {}

    def facts(self, dataset: str, model: str, criterion: str | None = None) -> dict:
        """Facts about the refitted model of a run that a criterion selected, by default the first one."""
        criteria = self.study.models[model].criteria
        if not criteria:
            return {"error": "no criterion selects from this grid: all of it is shown"}
        folder = self.file("models", dataset=dataset, model=model)
        file = folder / f"{criterion if criterion in criteria else criteria[0]}.json"
        return read_json(file) if file.exists() else {}

    def selection(self, dataset: str, model: str) -> dict[str, pd.DataFrame]:
        """The selection in each fold, by criterion."""
        rows = read_frame(self.file("selection", dataset=dataset, model=model))
        return dict(iter(rows.groupby("criterion", sort=False)))

    def scores(self, dataset: str, model: str, among: Mapping[str, Section]) -> dict[str, pd.DataFrame]:
        """The scores of folds by criterion, selected from part of the grid if `among` has limits."""
        if not among:
            return self._scores(dataset, model)
        candidates = read_frame(self.file("candidates", dataset=dataset, model=model))
        metrics = [metric for metric in self.study.metrics if f"test_{metric}" in candidates]
        criteria = self.study.models[model].criteria
        rows = select(restrict_grid(candidates, plain(among)), criteria, metrics)
        return dict(iter(rows.groupby("criterion", sort=False)))

    def predictions(self, dataset: str, model: str) -> pd.DataFrame:
        """The predictions of the selected models of a run."""
        return read_frame(self.file("predictions", dataset=dataset, model=model))

    def run(self, dataset: str, model: str) -> RunContents:
        """All contents of a run but its predictions and models; it has a record."""
        metrics = metrics_of(self.study.tasks[dataset], self.study.metrics)
        files = {
            stage: self.file(stage, dataset=dataset, model=model)
            for stage in ("selection", "predictions", "candidates")
        }
        has_scores = files["selection"].exists() and files["predictions"].exists()
        has_candidates = files["candidates"].exists()
        scores = self._score_rows(dataset, model) if has_scores else pd.DataFrame({"criterion": []})
        return RunContents(
            record=read_json(self.file("record", dataset=dataset, model=model)),
            facts=self.facts(dataset, model) if self.study.models[model].criteria else {},
            scores=scores,
            candidates=read_frame(files["candidates"]) if has_candidates else pd.DataFrame(),
            # Some metrics exist only for some learners, such as the share of support vectors.
            metrics=[
                name
                for name in metrics
                if name in scores and (METRICS[name].chooses or scores[name].notna().any())
            ],
        )

    def claims(self) -> pd.DataFrame | None:
        """The outcomes of the study's claims; None if they have not been tested."""
        file = self.home / FILES["claims"].format(study=self.study.name)
        return read_claims(file) if file.exists() else None

    def findings(self) -> pd.DataFrame | None:
        """What the checks of the study found; None if it has no checks, or they have not been run."""
        file = self.home / FILES["findings"].format(study=self.study.name)
        return read_findings(file) if file.exists() else None

    def _table(self, name: str) -> pd.DataFrame:
        """A table of the study."""
        return read_table(self.home / FILES["tables"].format(study=self.study.name, table=name))

    def _figure(self, name: str) -> pd.DataFrame:
        """The data of a figure of the study."""
        return read_figure(self.home / FILES["figures"].format(study=self.study.name, figure=name))

    def _of_predictions(self, dataset: str, model: str) -> dict[str, pd.DataFrame]:
        return dict(iter(self._score_rows(dataset, model).groupby("criterion", sort=False)))

    def _score_rows(self, dataset: str, model: str) -> pd.DataFrame:
        metrics = metrics_of(self.study.tasks[dataset], self.study.metrics)
        files = (self.file(stage, dataset=dataset, model=model) for stage in ("selection", "predictions"))
        return read_scores(*files, metrics)

    def _characteristics(self, dataset: str) -> dict:
        """The numbers of features and of rows, in all and by class; or ``absent``, the reason for none."""
        try:
            data = load_dataset(self.file("data", dataset=dataset))
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
        assignment = load_folds(self.file("folds", dataset=dataset))[0]
        return {"n_train": int((assignment > 0).sum()), "n_test": int((assignment == 0).sum())}

    def _features(self, dataset: str) -> dict:
        """The share of nonzeros and the dimensions of the scaled data, for all rows and each class."""
        data = load_dataset(self.file("scaled", dataset=dataset))
        found = {"density": float((data.X != 0).mean()), "n_dims": _dimensions(data.X)}
        if data.task == "binary":
            found |= {
                f"n_dims_{name}": _dimensions(data.X[data.y == label])
                for label, name in enumerate(("negative", "positive"))
            }
        return found

    def _measured(self, table: str, dataset: str) -> list:
        """The rows that were measured for a table, named tuples."""
        return [*read_frame(self.file("measured", table=table, dataset=dataset)).itertuples(index=False)]

    def file(self, stage: str, **names: str) -> Path:
        """The file or folder of a stage."""
        return self.home / FILES[stage].format(study=self.study.name, seed=self.study.seed, **names)


def _dimensions(X) -> int:
    """The number of principal components that keep more than 95 % of the variance."""
    from sklearn.decomposition import PCA  # imported late: few tables need it

    return int(PCA(KEPT_VARIANCE, svd_solver="full").fit(X.toarray() if issparse(X) else X).n_components_)
