"""Make tables of a study by the functions of the workflow, in this process."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

from entrolab.data.dataset import save_dataset, save_folds
from entrolab.data.prepare import prepare
from entrolab.data.scale import scale
from entrolab.fit.learners import parts_seed
from entrolab.fit.protocols import protocol
from entrolab.fit.selection import select
from entrolab.fit.training import FACTS, fit_grid
from entrolab.io.files import FILES
from entrolab.io.limits import Limits
from entrolab.io.parquet import read_frame, write_frame
from entrolab.stages.tables import table as make_table
from entrolab.study.study import Study

STAGES = ("candidates", "predictions", "record")


def make_tables(study: Study, catalog: Mapping[str, Mapping], tables: Iterable[str]) -> None:
    """Fit and select all runs of a study with seed 0, and write tables, in the working folder."""

    def file_of(stage: str, **names: str) -> Path:
        file = Path(FILES[stage].format(study=study.name, seed=0, **names))
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    runs = study.runs()
    for dataset in dict.fromkeys(dataset for dataset, _ in runs):
        data = prepare(dataset, catalog[dataset])
        save_dataset(file_of("data", dataset=dataset), data)
        save_dataset(file_of("scaled", dataset=dataset), scale(data, **study.scaling_of(dataset)))
        parts = protocol(study.protocol_of(dataset)).draw(data.y, parts_seed(0, study.name, dataset))
        save_folds(file_of("folds", dataset=dataset), parts)
    for dataset, model in runs:
        rows, folds = (file_of(stage, dataset=dataset) for stage in ("scaled", "folds"))
        outputs = {stage: file_of(stage, dataset=dataset, model=model) for stage in STAGES}
        spec = study.run(dataset, model, seed=0)
        fit_grid(rows, folds, outputs, spec, Limits(3600, 8), print)
        candidates = read_frame(outputs["candidates"])
        selection = select(candidates, study.criteria_of(model), [*FACTS])
        write_frame(file_of("selection", dataset=dataset, model=model), selection)
    for table in tables:
        job = SimpleNamespace(
            wildcards=SimpleNamespace(study=study.name, table=table),
            params=SimpleNamespace(study=[study]),
            input=SimpleNamespace(published=[], seeds=[]),
            output=[file_of("tables", table=table)],
        )
        make_table(job)
