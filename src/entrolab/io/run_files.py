"""The files of a run."""

from dataclasses import dataclass
from pathlib import Path

from entrolab.io.files import FILES


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
    home: Path  # the folder with ``results``

    @classmethod
    def at(cls, study, dataset: str, model: str, folder: Path | str = "") -> "StudyRun":
        """The run of a study with its files in a folder."""
        stages = ("record", "candidates", "selection", "predictions", "models")
        files = (
            FILES[stage].format(study=study.name, seed=study.seed, dataset=dataset, model=model)
            for stage in (*stages, "scaled" if study.scaling else "data")
        )
        return cls(study.name, dataset, model, *(Path(folder, file) for file in files), Path(folder))

    @property
    def key(self) -> str:
        return f"{self.study}/{self.dataset}/{self.model}"
