"""Read results for displays, and arrange displays as a figure with its table and its text."""

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
from entrolab.text import Unreadable, one_line
from entrolearn.path import describe
from entrolearn.plotting import panels_text, plot_panels

PERCENT = 100

logger = logging.getLogger(__name__)


class NothingToDraw(Exception):
    """Raised if a panel or a line has nothing to show; the message gives the reason."""


@dataclass(frozen=True)
class Drawing:
    """A figure, the table of its contents, and its alternative text.

    The table's column ``reason`` explains missing values.
    """

    figure: Any
    table: pd.DataFrame
    text: str


@dataclass(frozen=True)
class Line:
    """A line of a display, with additional columns of its table.

    The values have the form that the display expects. The reasons for missing values are one per row of the
    line's table, or one for all.
    """

    values: Any
    reasons: str | Sequence[str] = ""
    columns: Mapping = field(default_factory=dict)


class Grid(NamedTuple):
    """The scores of a run's candidates, in percent if the metric is a percentage.

    The scores have a row per repeat and fold, a column per point, ascending; NaN where a fit failed, for
    which each point has a reason.
    """

    scores: pd.DataFrame
    reasons: pd.Series


def attempt(make: Callable, *arguments):
    """The result of a function, or the reason for its failure; a damaged file fails the job."""
    try:
        return make(*arguments)
    except NothingToDraw as nothing:
        return str(nothing)
    except DataUnavailable as absence:
        return f"no data: {absence}"
    except Unreadable:
        raise
    except Exception as error:  # any exception of a learner is shown in the figure
        logger.exception("a part of the figure could not be drawn")
        return f"failed: {describe(error)}"


def table_of(panel, **columns) -> pd.DataFrame:
    """The table of a display, or one row with the reason for having none, with additional columns."""
    table = pd.DataFrame({"reason": [one_line(panel)]}) if isinstance(panel, str) else panel.to_frame()
    return table.assign(**{"reason": ""} | columns if "reason" not in table else columns)


def arranged(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables, with data set and model in the first columns and the reason in the last."""
    table = pd.concat(tables, ignore_index=True)
    table = table.loc[:, [column not in ("dataset", "model") or table[column].any() for column in table]]
    order = {"dataset": 0, "model": 1, "reason": 3}
    return table[sorted(table, key=lambda column: order.get(column, 2))]


def drawing_of(panels: Mapping, tables: Sequence[pd.DataFrame], **layout) -> Drawing:
    """A figure of panels by title, with their tables concatenated."""
    return Drawing(plot_panels(panels, **layout), arranged(tables), one_line(panels_text(panels)))


def draw_whole(display, axes) -> Drawing:
    """A figure of a single display, or of the reason for having none."""
    if isinstance(display, str):
        return drawing_of({"": display}, [table_of(display)])
    display.plot(axes)
    return Drawing(display.figure_, arranged([table_of(display)]), display.alternative_text())


def draw_lines(
    lines: Mapping[tuple[str, str, str], Line | str], display: Callable, *, empty: object, **layout
) -> Drawing:
    """A panel per data set.

    The keys of `lines` are data set, model and name of the line; a text is the reason for a missing line.
    `display` returns the display of a data set from the values of its lines by name. Missing lines have the
    values `empty`; None leaves them out. `layout` has keywords of `plot_panels`.
    """
    panels: dict[str, Any] = {}
    tables = []
    for dataset, keys in itertools.groupby(lines, key=lambda key: key[0]):
        mine: dict[str, tuple[str, Line | str]] = {}
        for key in keys:
            _, model, name = key
            mine[f"{name} ({model})" if name in mine else name] = model, lines[key]  # labels may be equal
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
    """The reasons for a missing line; empty if it has values."""
    if isinstance(line, str):
        return [line]
    return () if isinstance(line.reasons, str) or not all(line.reasons) else line.reasons


def runs_of(
    spec, sources: Sequence[str], records: Sequence[str]
) -> Iterator[tuple[tuple[str, str], tuple[str, ...], dict]]:
    """Yield the data set and the model, the files and the record of each run of a figure."""
    each = len(sources) // len(spec.runs)
    files = zip(*[iter(sources)] * each, strict=True)
    for run, own, record in zip(spec.runs, files, records, strict=True):
        yield run, own, read_json(record)


def selected_predictions(selection: str, predictions: str, record: Mapping, criterion: str) -> pd.DataFrame:
    """The predictions of the models that a criterion selected; `NothingToDraw` if there are none."""
    check_success(record)
    rows = read_frame(selection)
    chosen = rows[(rows["criterion"] == criterion) & rows["success"].astype(bool)]
    kept = read_frame(predictions).merge(chosen[["repeat", "fold", "point"]])
    if kept.empty:
        raise NothingToDraw("nothing was selected by this criterion")
    return kept


def candidates_of(file: str, record: Mapping) -> pd.DataFrame:
    """The candidates of a run; `NothingToDraw` if all failed."""
    candidates = read_frame(file)
    check_success({**record, "success": candidates["success"].any()})
    return candidates


def grid_of(file: str, record: Mapping, names: Sequence[str], metric: str) -> Grid:
    """The test scores of a run over all parameters of its grid; `NothingToDraw` if all fits failed."""
    candidates = candidates_of(file, record)
    points = pd.DataFrame(list(candidates["params"].map(json.loads)), index=candidates.index)[list(names)]
    score = as_shown(candidates[f"test_{metric}"].where(candidates["success"]), metric)
    fits = candidates[["repeat", "fold", "error"]].assign(score=score).join(points)
    scores = fits.pivot(index=["repeat", "fold"], columns=list(names), values="score").sort_index(axis=1)
    failed = fits[fits["score"].isna()].groupby(list(names))["error"].agg(most_common)
    return Grid(scores, failed.reindex(scores.columns, fill_value=""))


def most_common(errors: pd.Series) -> str:
    """The most frequent error of some fits, in one line."""
    return one_line(Counter(errors).most_common(1)[0][0])


def check_success(record: Mapping) -> None:
    """Raise `NothingToDraw` with the status of a run that has no result."""
    status, error = record["status"], record["error"]
    if not record["success"]:
        raise NothingToDraw(one_line(f"{status}: {error}" if status not in error else error))


def as_shown(scores, metric: str):
    """Scores as shown, that is, in percent if the metric is a percentage."""
    return PERCENT * scores if METRICS[metric].percent else scores
