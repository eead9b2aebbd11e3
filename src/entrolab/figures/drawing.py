"""Arrange displays as a figure, with the table of its contents and its text."""

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from entrolab.data.dataset import DataUnavailable
from entrolab.figures.files import Files, NothingToDraw, Source
from entrolab.text import Unreadable, one_line
from entrolearn.path import describe
from entrolearn.plotting import panels_text, plot_panels

logger = logging.getLogger(__name__)


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


def draw_panels(
    files: Files, panel: Callable[[Source], Any], *, align: Callable = lambda displays: None, **layout
) -> Drawing:
    """A panel per data set and model; if `panel` raises an exception, its message is in the display's place.

    `panel` returns a display, or a display and additional columns of its table. `align` makes displays
    consistent before they are drawn. `layout` has keywords of `plot_panels`.
    """
    panels, tables = {}, []
    for source in files:
        found = attempt(panel, source)
        display, columns = found if isinstance(found, tuple) else (found, {})
        panels[files.spec.title_of(source.dataset, source.model)] = display
        tables.append(table_of(display, dataset=source.dataset, model=source.model, **columns))
    align([display for display in panels.values() if not isinstance(display, str)])
    return drawing_of(panels, tables, **layout)


def draw_whole(display, axes) -> Drawing:
    """A figure of a single display, or of the reason for having none."""
    if isinstance(display, str):
        return drawing_of({"": display}, [table_of(display)])
    display.plot(axes)
    return Drawing(display.figure_, arranged([table_of(display)]), display.alternative_text())


def lines_of(files: Files, line: Callable[[Source], Line | dict]) -> dict:
    """The lines of :func:`draw_lines`: the line of each run, or several by name.

    The message of an exception is the reason for having none.
    """
    lines: dict[tuple[str, str, str], Line | str] = {}
    for source in files:
        found = attempt(line, source)
        named = found if isinstance(found, dict) else {source.name: found}
        lines |= {(source.dataset, source.model, name): one for name, one in named.items()}
    return lines


def draw_lines(
    lines: Mapping[tuple[str, str, str], Line | str], display: Callable, *, empty: object = (), **layout
) -> Drawing:
    """A panel per data set.

    The keys of `lines` are data set, model and name of the line; a text is the reason for a missing line.
    `display` returns the display of a data set from the values of its lines by name. Missing lines have the
    values `empty`, so that they appear in the legend; None leaves them out. `layout` has keywords of
    `plot_panels`.
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


def drawing_of(panels: Mapping, tables: Sequence[pd.DataFrame], **layout) -> Drawing:
    """A figure of panels by title, with their tables concatenated."""
    return Drawing(plot_panels(panels, **layout), arranged(tables), one_line(panels_text(panels)))


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
