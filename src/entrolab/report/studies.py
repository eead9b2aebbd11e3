"""The results of a study, read from its folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from entrolab.io.commands import command_for
from entrolab.results.reader import Results
from entrolab.study.cell_numbers import with_numbers
from entrolab.study.definition import Model
from entrolab.study.study import Study


@dataclass(frozen=True)
class StudyResults:
    """The results of a study for the report."""

    key: str  # such as "eem"
    study: Study
    folder: Path  # such as results/eem
    tables: dict[str, pd.DataFrame]  # by key, as `entrolab.results.frames.read_table` reads them
    records: list[dict]
    figures: dict[str, pd.DataFrame] = field(default_factory=dict)  # the data of the figures drawn
    claims: pd.DataFrame | None = None  # as `entrolab.results.frames.read_claims` reads them
    findings: pd.DataFrame | None = None  # as `entrolab.results.frames.read_findings` reads them
    settings: dict = field(default_factory=dict)  # settings that differ from the defaults

    def command(self, part: str | None = None) -> str:
        """The command, run in the folder of ``results``, that makes the study or a table or figure again."""
        return command_for(self.study.file, self.folder.absolute().parents[1], self.settings, part)


def read_results(
    key: str, study: Study, folder: str | Path, settings: Mapping[str, object] | None = None
) -> StudyResults:
    """Read a study's tables, figures, claims and the records of its current runs from its results folder.

    `settings` are those of the run that differ from the defaults.
    """
    folder = Path(folder)
    results = Results(study, folder.absolute().parents[1])
    tables = {name: results.table(name) for name in study.tables}
    return StudyResults(
        key,
        with_numbers(study, tables),
        folder,
        tables,
        [results.record(*run) for run in study.runs()],
        {name: results.figure(name) for name in study.figures},
        results.claims(),
        results.findings(),
        dict(settings or {}),
    )


def trained(study: Study) -> dict[str, Model]:
    """The models of a study, without columns of only published or known values."""
    return {name: one for name, one in study.models.items() if not (one.published_only or one.known)}
