"""A cell's scores beside the printed numbers, as the study's tables have them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolab.io.run_files import Cell
from entrolab.tables.making import read_table

__all__ = ["Comparison", "comparisons_of", "headline", "read_score_tables"]


@dataclass(frozen=True)
class Comparison:
    """A cell of a score table: its numbers, its verdict, and what the table says of them."""

    table: str
    criterion: str
    metric: str
    ours: float
    ours_std: float
    printed: float  # NaN where nothing is
    printed_std: float
    difference: float
    verdict: str
    restricted: bool  # to a part of the grid

    @property
    def is_printed(self) -> bool:
        return not math.isnan(self.printed)

    @property
    def gain(self) -> float:
        """Ours, or its negative where less is better."""
        return self.ours if METRICS[self.metric].greater_is_better else -self.ours

    @property
    def digits(self) -> int:
        return 2 if METRICS[self.metric].percent else METRICS[self.metric].digits


def read_score_tables(files: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Some tables' csv files, by the name of each table."""
    return {Path(file).stem: read_table(file) for file in files}


def comparisons_of(study: Mapping, cell: Cell, tables: Mapping[str, pd.DataFrame]) -> list[Comparison]:
    """A cell's numbers in some score tables, in their order."""
    result = []
    for name, table in tables.items():
        entry = study["tables"][name]
        mine = table[(table["dataset"] == cell.dataset) & (table["model"] == cell.model)]
        result += [
            Comparison(
                name,
                entry["criterion"],
                row.metric,
                row.ours,
                row.ours_std,
                row.published,
                row.published_std,
                row.difference,
                row.verdict,
                bool(entry.get("among")),
            )
            for row in mine.itertuples(index=False)
            if row.verdict not in ("", "printed alone")
        ]
    return result


def headline(comparisons: Sequence[Comparison]) -> Comparison | None:
    """The one that a run is known by: the first whose number is printed, else the first of all."""
    return next((one for one in comparisons if one.is_printed), next(iter(comparisons), None))
