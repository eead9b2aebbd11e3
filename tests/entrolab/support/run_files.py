"""The files of a run of a study, for tests that write or read them."""

from pathlib import Path
from types import SimpleNamespace

from entrolab.results.reader import Results

STAGES = ("record", "candidates", "selection", "predictions", "models")


def files_of(study, dataset: str, model: str, folder: Path | str = "") -> SimpleNamespace:
    """The paths of a run by stage, those of its rows too, and the names of the run."""
    of_run = Results(study, folder)
    paths = {stage: of_run.file(stage, dataset=dataset, model=model) for stage in STAGES}
    rows = Path(folder, study.rows_of(dataset))
    key = f"{study.name}/{dataset}/{model}"
    return SimpleNamespace(study=study.name, dataset=dataset, model=model, key=key, rows=rows, **paths)
