"""Write runs, measurements, and the tables and figures of a study to the tracking store."""

from pathlib import Path

import pandas as pd

from entrolab.experiments.measurement import Measurement
from entrolab.io.records import read_json, write_json
from entrolab.results.frames import read_findings
from entrolab.study.study import Study
from entrolab.tracking.contents import (
    content_of_run,
    contents_of_candidates,
    contents_of_measurement,
    mean_candidates,
)
from entrolab.tracking.ledger import Ledger, open_ledger
from entrolab.tracking.verdicts import (
    comparisons_of,
    counts_of_tables,
    metrics_of_study,
    note_of_study,
    params_of_study,
)


def track(job) -> None:
    """Write a run; the model and its aliases only with the configured seed."""
    study, at = job.params.study[0], job.wildcards
    with open_ledger(job.params.store, study) as ledger:
        run_ids = _write_run(ledger, study, int(at.seed), at.dataset, at.model)
    _write_receipt(job.output.receipt, ledger, run_ids)


def track_table(job) -> None:
    """Write what was measured for a table on a data set: a run per method."""
    study, measurement = job.params.study[0], Measurement(**job.params.measurement)
    with open_ledger(job.params.store, study) as ledger:
        run_ids = [ledger.write(content) for content in contents_of_measurement(study, measurement)]
    _write_receipt(job.output.receipt, ledger, run_ids)


def track_study(job) -> None:
    """Add the verdicts of a study's tables to its runs, and write the run of its tables and figures.

    Runs of the configured seed that are not in the store are written again: on a server, only this job asks.
    """
    study, files = job.params.study[0], job.input
    tables = [Path(file) for file in files.tables]
    folders = {"tables": tables, "figures": list(map(Path, files.figures)), "config": [Path(study.file)]}
    with open_ledger(job.params.store, study) as ledger:
        ledger.begin_study(params_of_study(study))
        _write_lost(ledger, study)
        compared, counts, agreed = counts_of_tables(study, tables)
        note = note_of_study(study, counts, agreed, ledger.artifacts)
        ledger.update_study(folders, metrics_of_study(counts), note)
        found = read_findings(files.findings[0]) if files.findings else pd.DataFrame()
        ledger.compare(comparisons_of(study, compared, found))
    _write_receipt(job.output.receipt, ledger, [ledger.parent])


def _write_lost(ledger: Ledger, study: Study) -> None:
    live = ledger.live()
    for dataset, model in study.runs():
        (receipt,) = study.files_at("tracked", dataset, model)
        if not live.issuperset(read_json(receipt)["runs"]):
            _write_receipt(receipt, ledger, _write_run(ledger, study, study.seed, dataset, model))
    for table, dataset in study.measurements():
        (receipt,) = study.files_at("tracked_measured", dataset, table=table)
        if not live.issuperset(read_json(receipt)["runs"]):
            measurement = study.measurement(table, dataset, study.seed)
            contents = contents_of_measurement(study, measurement)
            _write_receipt(receipt, ledger, [ledger.write(content) for content in contents])


def _write_run(ledger: Ledger, study: Study, seed: int, dataset: str, model: str) -> list[str]:
    """Write a run and its grid; runs of further seeds have neither models nor a grid. The ids of all runs."""
    is_configured = seed == study.seed
    study = study.model_copy(update={"seed": seed})
    content = content_of_run(study, dataset, model, with_models=is_configured)
    grid = mean_candidates(content) if is_configured else None
    as_table = study.log_candidates == "table"
    content.grid = grid if as_table else None
    run_id = ledger.write(content)
    points = [] if grid is None or as_table else [*contents_of_candidates(content, grid)]
    return [run_id, *ledger.write_candidates(content.key, run_id, points)]


def _write_receipt(file: str, ledger: Ledger, run_ids: list[str]) -> None:
    write_json(file, {"store": ledger.address, "runs": run_ids})
