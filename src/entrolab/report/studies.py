"""What a study has left behind, read from its folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from entrolab.figure_types.making import read_figure
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.jobs.peak_memory import Peak, peak_memory
from entrolab.study.job_specs import study_runs
from entrolab.tables.making import as_asked, read_table
from entrolab.tables.types import one_line, table_spec


@dataclass(frozen=True)
class StudyResults:
    """What a study has left behind, as the report needs it.

    Attributes
    ----------
    key : str
        The study's key, e.g. ``"eem"``.
    study : dict
        The study, as `entrolab.study.config.load_study` returns it.
    folder : Path
        Where its results are, e.g. ``results/eem``.
    tables : dict of str to DataFrame
        The tables, as `entrolab.tables.making.read_table` reads them, by their key in the study.
    records : list of dict
        The cells' records.
    selection : DataFrame
        What each criterion chose in each fold of all runs; empty if there is nothing.
    labels : dict of str to str
        Data set keys to the catalog's labels.
    figures : dict of str to DataFrame
        What the figures that have been drawn show, as `entrolab.figure_types.making.read_figure` reads it.
    peak : Peak or None
        The job that took most memory.
    """

    key: str
    study: dict
    folder: Path
    tables: dict[str, pd.DataFrame]
    records: list[dict]
    selection: pd.DataFrame
    labels: dict[str, str] = field(default_factory=dict)
    figures: dict[str, pd.DataFrame] = field(default_factory=dict)
    peak: Peak | None = None


def read_results(
    key: str,
    study: dict,
    folder: str | Path,
    labels: Mapping[str, str] | None = None,
    *,
    with_selection: bool = True,
) -> StudyResults:
    """Read a study's tables, records and selections from its results folder.

    Only cells that the study still has are read. A record or selection file that is absent is left out, since
    the tables say so; an absent table is an error. A cell that the study has gained since its table was made
    is shown as failed for that reason.

    Parameters
    ----------
    key : str
    study : dict
    folder : path
    labels : mapping of str to str, optional
    with_selection : bool, default=True
        Whether to read what was chosen, which a study's own page alone shows something of.

    Raises
    ------
    FileNotFoundError
        If a table of the study has not been made.
    """
    folder = Path(folder)
    tables = {}
    for name in study["tables"]:
        path = folder / "tables" / f"{name}.csv"
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: run `snakemake {key}` first")
        tables[name] = as_asked(read_table(path), table_spec(key, study, name))
    records = [read_json(path) for path in _present(folder, study, "records", "json")]
    files = _present(folder, study, "selection", "parquet") if with_selection else []
    chosen = [rows for rows in map(read_frame, files) if len(rows)]
    return StudyResults(
        key,
        study,
        folder,
        tables,
        records,
        pd.concat(chosen, ignore_index=True) if chosen else pd.DataFrame(),
        dict(labels or {}),
        {
            name: read_figure(path)
            for name in study.get("figures", {})
            if (path := folder / "figures" / f"{name}.csv").exists()
        },
        peak_memory(study, folder),
    )


def _present(folder: Path, study: Mapping, stage: str, suffix: str) -> list[Path]:
    paths = (folder / stage / dataset / f"{model}.{suffix}" for dataset, model in study_runs(study))
    return [path for path in paths if path.exists()]


def trained(study: Mapping) -> dict[str, Mapping]:
    """The models of a study that are more than a column of printed numbers."""
    return {name: model for name, model in study["models"].items() if not model.get("printed_only")}


def model_name(model: Mapping) -> str:
    """What a study calls a model."""
    return one_line(f"{model.get('label', '')} {model.get('sublabel', '')}")
