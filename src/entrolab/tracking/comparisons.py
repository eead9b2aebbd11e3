"""Comparisons of a run's scores with the published values, from the CSV files of the study's score tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from entrolab.io.run_files import StudyRun
from entrolab.study.study import Study


def comparisons_of(study: Study, run: StudyRun, tables: Mapping[str, pd.DataFrame]) -> list[Any]:
    """The rows of a run in some score tables that have scores of ours, in order.

    Each row is a named tuple of the table's columns and of ``table``, ``criterion`` and ``restricted``
    (whether selection is restricted to a part of the grid).
    """
    rows = []
    for name, table in tables.items():
        entry = study.tables[name]
        mine = (table["dataset"] == run.dataset) & (table["model"] == run.model)
        scored = table[mine & ~table["verdict"].isin(["", "published only"])]
        scored = scored.assign(table=name, criterion=entry.criterion, restricted=bool(entry.among))
        rows += scored.itertuples(index=False)
    return rows


def is_published(comparison: Any) -> bool:
    """Whether a comparison has a published value."""
    return not math.isnan(comparison.published)


def headline(comparisons: Sequence[Any]) -> Any | None:
    """The comparison shown for a run: the first with a published value, else the first."""
    return next(filter(is_published, comparisons), next(iter(comparisons), None))
