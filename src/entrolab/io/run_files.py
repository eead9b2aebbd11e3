"""The files of a run, and their contents."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.predictions import read_scores
from entrolab.fit.selection import most_often
from entrolab.io.files import FILES
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json


@dataclass(frozen=True)
class StudyRun:
    """A run, data set × model of a study, and its files."""

    study: str
    dataset: str
    model: str
    record: Path
    candidates: Path
    selection: Path
    predictions: Path
    models: Path  # the folder of the refitted models
    rows: Path  # the data file that the run is fitted on: scaled, or as prepared

    @classmethod
    def at(cls, study, dataset: str, model: str, folder: Path | str = "") -> "StudyRun":
        """The run of a study with its files in a folder."""
        stages = ("record", "candidates", "selection", "predictions", "models")
        files = (
            FILES[stage].format(study=study.name, seed=study.seed, dataset=dataset, model=model)
            for stage in (*stages, "scaled" if study.scaling else "data")
        )
        return cls(study.name, dataset, model, *(Path(folder, file) for file in files))

    @property
    def key(self) -> str:
        return f"{self.study}/{self.dataset}/{self.model}"


@dataclass(frozen=True)
class RunContents:
    """The contents of a run's files; a run without a result may lack some. `facts` are of its first model."""

    record: dict
    facts: dict
    scores: pd.DataFrame
    candidates: pd.DataFrame
    metrics: list[str]  # metrics of the study that fit the task

    @classmethod
    def of(cls, run: StudyRun, study) -> "RunContents":
        record = read_json(run.record)
        entry = study.models[run.model]
        first = run.models / f"{entry.criteria[0]}.json" if entry.criteria else None
        facts = read_json(first) if first and first.exists() else {}
        metrics = metrics_of(study.tasks[run.dataset], study.metrics)
        scores = pd.DataFrame({"criterion": []})
        if run.selection.exists() and run.predictions.exists():
            scores = read_scores(run.selection, run.predictions, metrics)
        return cls(
            record=record,
            facts=facts,
            scores=scores,
            candidates=read_frame(run.candidates) if run.candidates.exists() else pd.DataFrame(),
            # Some metrics exist only for some learners, such as the share of support vectors.
            metrics=[
                name
                for name in metrics
                if name in scores and (METRICS[name].chooses or scores[name].notna().any())
            ],
        )

    def by_criterion(self) -> Iterator[tuple[str, pd.DataFrame]]:
        yield from self.scores.groupby("criterion", sort=False)

    def most_chosen(self) -> dict[str, tuple[dict, str]]:
        """The parameters that each criterion selected most often, and in how many folds."""
        found = {criterion: (most_often(rows), len(rows)) for criterion, rows in self.by_criterion()}
        return {name: (most[0], f"{most[1]} of {n_folds}") for name, (most, n_folds) in found.items() if most}
