"""The results of a study, read from its folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from entrolab.claims.rendering import read_claims
from entrolab.figure_types.making import read_figure
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.jobs.command import command_for
from entrolab.study.job_specs import study_runs
from entrolab.tables.making import as_asked, read_table
from entrolab.tables.types import table_spec


@dataclass(frozen=True)
class StudyResults:
    """The results of a study for the report."""

    key: str  # such as "eem"
    study: dict  # as `entrolab.study.config.load_study` returns it
    folder: Path  # such as results/eem
    tables: dict[str, pd.DataFrame]  # as `entrolab.tables.making.read_table` reads them, by key
    records: list[dict]
    selection: pd.DataFrame  # of all runs; empty without any
    figures: dict[str, pd.DataFrame] = field(default_factory=dict)  # the data of the figures drawn
    claims: pd.DataFrame | None = None  # as `entrolab.claims.rendering.read_claims` reads them
    settings: dict = field(default_factory=dict)  # settings that differ from the defaults

    def command(self, target: str | None = None) -> str:
        """The complete command, run in the folder of ``results``, that makes the study or one file again."""
        return command_for(self.study["file"], self.folder.absolute().parents[1], self.settings, target)


def read_results(
    key: str,
    study: dict,
    folder: str | Path,
    *,
    settings: Mapping[str, object] | None = None,
    with_selection: bool = True,
) -> StudyResults:
    """Read a study's tables, records and selections from its results folder.

    Only the study's current runs are read. Missing files are skipped, and cells added to the study after its
    table was made are marked as failed. `settings` are those of the run that differ from the defaults. The
    selections are only needed for the study's own page; `with_selection=False` leaves them out.
    """
    folder = Path(folder)
    tables = {
        name: as_asked(read_table(path), table_spec(key, study, name))
        for name in study["tables"]
        if (path := folder / "tables" / f"{name}.csv").exists()
    }
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
        {
            name: read_figure(path)
            for name in study.get("figures", {})
            if (path := folder / "figures" / f"{name}.csv").exists()
        },
        read_claims(claims) if (claims := folder / "claims.csv").exists() else None,
        dict(settings or {}),
    )


def _present(folder: Path, study: Mapping, stage: str, suffix: str) -> list[Path]:
    paths = (folder / stage / dataset / f"{model}.{suffix}" for dataset, model in study_runs(study))
    return [path for path in paths if path.exists()]


def trained(study: Mapping) -> dict[str, Mapping]:
    """The models of a study, without columns of only published or known values."""
    columns = {"published_only", "known"}
    return {name: model for name, model in study["models"].items() if not columns & {*model}}
