"""The results of a study, read from its folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from entrolab.claims.rendering import read_claims
from entrolab.figures.making import read_figure
from entrolab.jobs.command import command_for
from entrolab.study.cell_numbers import with_numbers
from entrolab.study.definition import Model
from entrolab.study.study import Study
from entrolab.tables.making import read_table
from entrolab.tables.results import Results


@dataclass(frozen=True)
class StudyResults:
    """The results of a study for the report."""

    key: str  # such as "eem"
    study: Study
    folder: Path  # such as results/eem
    tables: dict[str, pd.DataFrame]  # as `entrolab.tables.making.read_table` reads them, by key
    records: list[dict]
    figures: dict[str, pd.DataFrame] = field(default_factory=dict)  # the data of the figures drawn
    claims: pd.DataFrame | None = None  # as `entrolab.claims.rendering.read_claims` reads them
    settings: dict = field(default_factory=dict)  # settings that differ from the defaults

    def command(self, target: str | None = None) -> str:
        """The complete command, run in the folder of ``results``, that makes the study or one file again."""
        return command_for(self.study.file, self.folder.absolute().parents[1], self.settings, target)


def read_results(
    key: str, study: Study, folder: str | Path, settings: Mapping[str, object] | None = None
) -> StudyResults:
    """Read a study's tables, figures, claims and the records of its current runs from its results folder.

    `settings` are those of the run that differ from the defaults.
    """
    folder = Path(folder)
    claims = folder / "claims.csv"
    results = Results(study, folder.absolute().parents[1])
    tables = {name: read_table(folder / "tables" / f"{name}.csv") for name in study.tables}
    return StudyResults(
        key,
        with_numbers(study, tables),
        folder,
        tables,
        [results.record(*run) for run in study.runs()],
        {name: read_figure(folder / "figures" / f"{name}.csv") for name in study.figures},
        read_claims(claims) if claims.exists() else None,
        dict(settings or {}),
    )


def trained(study: Study) -> dict[str, Model]:
    """The models of a study, without columns of only published or known values."""
    return {name: one for name, one in study.models.items() if not (one.published_only or one.known)}
