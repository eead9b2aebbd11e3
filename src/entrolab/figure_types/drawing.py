"""From results to displays, and from displays to a figure with its table and its text."""

import itertools
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from entrolab.data.dataset import DataUnavailable
from entrolab.fit.metrics import METRICS
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.text import one_line
from entrolearn.path import describe
from entrolearn.plotting import panels_text, plot_panels

PERCENT = 100

logger = logging.getLogger(__name__)


class NothingToDraw(Exception):
    """A panel that has nothing to show; the message says why."""


@dataclass(frozen=True)
class Drawing:
    """A figure, the table of what it shows, and its alternative text.

    The table's ``reason`` says why something is not there.
    """

    figure: Any
    table: pd.DataFrame
    text: str


@dataclass(frozen=True)
class Line:
    """A line of a display.

    Attributes
    ----------
    values : object
        What the display takes for a line.
    reasons : str or list of str
        Why values are missing, one for each row of the line's table, or one for all.
    columns : mapping
        Further columns of that table.
    """

    values: Any
    reasons: str | Sequence[str] = ""
    columns: Mapping = field(default_factory=dict)


class Grid(NamedTuple):
    """The scores of a run's candidates, as they are shown.

    Attributes
    ----------
    scores : DataFrame, shape (n_fits, n_points)
        A row per repeat and fold, a column per point, ascending; NaN where a fit failed.
    reasons : Series, shape (n_points,)
        Why a score is missing.
    """

    scores: pd.DataFrame
    reasons: pd.Series


def attempt(make: Callable, *arguments):
    """What a function returns, or the reason why it could not."""
    try:
        return make(*arguments)
    except NothingToDraw as nothing:
        return str(nothing)
    except DataUnavailable as absence:
        return f"no data: {absence}"
    except Exception as error:  # a learner may fail in any way; the figure says how
        logger.exception("a part of the figure could not be drawn")
        return f"failed: {describe(error)}"


def table_of(panel, **columns) -> pd.DataFrame:
    """The table of a display, or a row with the reason why there is none; `columns` are added."""
    table = pd.DataFrame({"reason": [one_line(panel)]}) if isinstance(panel, str) else panel.to_frame()
    return table.assign(**{"reason": ""} | columns if "reason" not in table else columns)


def arranged(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables as one, what a row belongs to in its first columns, the reason in its last."""
    table = pd.concat(tables, ignore_index=True)
    table = table.loc[:, [column not in ("dataset", "model") or table[column].any() for column in table]]
    order = {"dataset": 0, "model": 1, "reason": 3}
    return table[sorted(table, key=lambda column: order.get(column, 2))]


def drawing_of(panels: Mapping, tables: Sequence[pd.DataFrame], **layout) -> Drawing:
    """A figure of small multiples, with the tables of its panels as one."""
    return Drawing(plot_panels(panels, **layout), arranged(tables), one_line(panels_text(panels)))


def draw_whole(display, axes, **columns) -> Drawing:
    """A figure of one display that fills it, or of the reason why there is none."""
    if isinstance(display, str):
        return drawing_of({"": display}, [table_of(display, **columns)])
    display.plot(axes)
    return Drawing(display.figure_, arranged([table_of(display, **columns)]), display.alternative_text())


def draw_lines(
    lines: Mapping[tuple[str, str, str], Line | str], display: Callable, *, empty: object, **layout
) -> Drawing:
    """A panel per data set.

    Parameters
    ----------
    lines : mapping
        By data set, model and the name of the line; a text says why there is none.
    display : callable
        From a data set and the values of its lines by their names to a display.
    empty : object
        What the display takes for a line that there is none of; None leaves it out.
    layout : keywords of plot_panels
    """
    panels: dict[str, Any] = {}
    tables = []
    for dataset, keys in itertools.groupby(lines, key=lambda key: key[0]):
        mine: dict[str, tuple[str, Line | str]] = {}
        for key in keys:
            _, model, name = key
            mine[f"{name} ({model})" if name in mine else name] = model, lines[key]  # labels may be the same
        missing = [_missing(line) for _, line in mine.values()]
        values = {name: line.values if isinstance(line, Line) else empty for name, (_, line) in mine.items()}
        if any(isinstance(line, Line) for _, line in mine.values()):
            panels[dataset] = display(dataset, {name: one for name, one in values.items() if one is not None})
            table = panels[dataset].to_frame()
        if all(missing):
            panels[dataset] = "; ".join(dict.fromkeys(itertools.chain.from_iterable(missing)))
        for name, (model, line) in mine.items():
            if isinstance(line, str):
                rows = table_of(line)
            else:
                rows = table[table["series"] == name].assign(**line.columns, reason=line.reasons)
            tables.append(rows.assign(dataset=dataset, model=model))
    return drawing_of(panels, tables, **layout)


def _missing(line: Line | str) -> Sequence[str]:
    """Why nothing of a line is there; empty where something is."""
    if isinstance(line, str):
        return [line]
    return () if isinstance(line.reasons, str) or not all(line.reasons) else line.reasons


def runs_of(
    spec: Mapping, sources: Sequence[str], records: Sequence[str]
) -> Iterator[tuple[tuple[str, str], tuple[str, ...], dict]]:
    """The data set and the model, the files and the record of each run that a figure shows."""
    each = len(sources) // len(spec["runs"])
    files = zip(*[iter(sources)] * each, strict=True)
    for run, own, record in zip(spec["runs"], files, records, strict=True):
        yield tuple(run), own, read_json(record)


def grid_of(file: str, record: Mapping, names: Sequence[str], metric: str) -> Grid | str:
    """The test scores of a run over all parameters of its grid, or why there are none."""
    candidates = read_frame(file)
    if not candidates["success"].any():
        return status_of(record)
    points = pd.DataFrame(list(candidates["params"].map(json.loads)), index=candidates.index)[list(names)]
    score = as_shown(candidates[f"test_{metric}"].where(candidates["success"]), metric)
    fits = candidates[["repeat", "fold", "error"]].assign(score=score).join(points)
    scores = fits.pivot(index=["repeat", "fold"], columns=list(names), values="score").sort_index(axis=1)
    failed = fits[fits["score"].isna()].groupby(list(names))["error"].agg(most_common)
    return Grid(scores, failed.reindex(scores.columns, fill_value=""))


def most_common(errors: pd.Series) -> str:
    """The error that most fits failed by, in one line."""
    return one_line(Counter(errors).most_common(1)[0][0])


def status_of(record: Mapping) -> str:
    """Why a run has nothing to show."""
    status, error = record["status"], record["error"]
    return one_line(f"{status}: {error}" if status not in error else error)


def as_shown(scores, metric: str):
    """Scores in percent, or as they are."""
    return PERCENT * scores if METRICS[metric].percent else scores
