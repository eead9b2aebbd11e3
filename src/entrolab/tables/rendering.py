"""Render a table as HTML, LaTeX, Markdown and CSV.

All formats but CSV are rendered from `layout`, which arranges the frame by the table type's rows and columns.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, product
from pathlib import Path
from string import ascii_lowercase

import jinja2
import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolab.io.atomic import write_text
from entrolab.tables.base import NAN, TableSpec
from entrolab.tables.base import Cell as Address
from entrolab.tables.captions import BOLD, agreement, compares, explanation, meanings
from entrolab.tables.making import COLUMNS, agreement_of, counts
from entrolab.tables.number_format import Power, heading, number_of, title
from entrolab.tables.quantities import Quantity
from entrolab.tables.verdicts import KNOWN, VERDICTS
from entrolab.text import full_label, one_line

FORMATS = ("csv", "html", "tex", "md")


def render(
    table: pd.DataFrame,
    spec: TableSpec,
    format: str,
    best: Collection[Address] = (),
    seeds: Mapping | None = None,
) -> str:
    """The text of a table, of `make_table` or `read_table`, in one of `FORMATS`.

    "html" is a complete page; "tex" is a fragment for ``\\input`` that needs booktabs and xcolor with the
    option ``table``; "md" is GitHub's Markdown. The cells `best` are shown in bold; `seeds` are verdicts over
    seeds, of `entrolab.seeds.rendering.seeds_of`.
    """
    if format == "csv":
        return table[COLUMNS].to_csv(index=False, float_format="%.8g", lineterminator="\n")
    template = templates(format).get_template(f"table.{format}.j2")
    if format == "html":
        table = explain_zeros(table)
    return template.render(table=layout(table, spec, best, seeds))


def write_table(
    table: pd.DataFrame,
    spec: TableSpec,
    path: str | Path,
    best: Collection[Address] = (),
    seeds: Mapping | None = None,
) -> None:
    """Write a table atomically in the format of the path's suffix."""
    write_text(path, render(table, spec, Path(path).suffix.removeprefix("."), best, seeds))


@dataclass(frozen=True)
class Cell:
    """A rendered cell: formatted numbers, "" for missing ones."""

    verdict: str
    slug: str = ""
    mark: str = ""
    tex_mark: "Raw | str" = ""
    ours: str = ""
    ours_std: str = ""
    published: str = ""
    published_std: str = ""
    beside_published: str = ""
    difference: str = ""
    oracle: str = ""
    letters: str = ""
    reason: str = ""
    seeds: str = ""  # the verdict over seeds, in words
    value: str = ""  # ours with all digits, for sorting
    marked: bool = True  # whether the verdict is shown
    seconds: str = ""  # fit time, where the page shows it next to scores
    best: bool = False  # whether it is the best of its row or not significantly worse

    @property
    def text(self) -> str:
        """Our number without its ±, or what stands in its place."""
        if self.verdict == "no data":
            return "no data"
        return self.ours or ("" if self.verdict == "published only" else "–")

    @property
    def hover(self) -> str:
        """The verdict with the difference, the oracle and the verdict over seeds, then the reason."""
        oracle = f"oracle {self.oracle}" if self.oracle else ""
        said = ", ".join(filter(None, [self.verdict if self.marked else "", self.difference, oracle]))
        return "; ".join(filter(None, [said, self.seeds, self.reason]))

    @property
    def published_text(self) -> str:
        """The published value with its ±, or a dash."""
        if not self.published:
            return "–"
        spread = f" ±{self.published_std}" if self.published_std else ""
        return " · ".join(filter(None, [self.published + spread, self.beside_published]))


# Fills a position of the table that has no cell.
BLANK = Cell(verdict="")

_HEADS = {"dataset": "data set", "model": "model", "metric": ""}


# Why a score is zero in all folds, which looks like a failed fit; "" for metrics not listed here.
ZERO_IN_ALL_FOLDS = {
    "": "zero in every test fold: the fits succeeded",
    "gmean": "zero in every test fold: the model predicts no row of one of the classes correctly, so that "
    "the geometric mean of the recalls is zero",
}


def explain_zeros(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a footnote on each score of ours that is zero in all folds."""
    is_zero = (table["ours"] == 0) & (table["ours_std"] == 0) & table["metric"].isin([*METRICS])
    whys = table["metric"].map(ZERO_IN_ALL_FOLDS).fillna(ZERO_IN_ALL_FOLDS[""])
    noted = [f"{reason}; {why}" if reason else why for reason, why in zip(table["reason"], whys, strict=True)]
    return table.assign(reason=table["reason"].mask(is_zero, noted))


def bar(found: Mapping[str, int], slugs: Mapping[str, str] | None = None) -> dict:
    """A bar of counts by verdict: its segments, the counts in words and their sum.

    `slugs` are the CSS classes and names of other things than verdicts.
    """
    total = sum(found.values())
    segments = [
        {
            "verdict": name,
            "count": number,
            "hover": f"{name}: {number} of {total}",
            **({"slug": slugs[name], "mark": ""} if slugs else marks_of(name)),
        }
        for name, number in found.items()
        if number
    ]
    said = ", ".join(f"{one['count']} {one['verdict']}" for one in segments)
    return {"segments": segments, "said": said, "total": total}


def layout(
    table: pd.DataFrame,
    spec: TableSpec,
    best: Collection[Address] = (),
    seeds: Mapping | None = None,
) -> dict:
    """The content of a table in rows and columns as plain text, for the templates of all formats."""
    table_type = spec.type
    footnotes = _footnotes(table["reason"])
    has_published = bool(table["published"].notna().any())
    # Not marked in a table without any published value.
    unsaid = {KNOWN} if has_published else {KNOWN, "ours only"}
    # The oracle is only shown next to published values; the CSV file always contains it.
    shown_table = table if has_published else table.assign(oracle=NAN)
    says_more = compares(spec) if has_published else BOLD if best else ""
    over_seeds = seeds["cells"] if seeds else {}
    cells = _cells(shown_table, spec, footnotes, unsaid, best, over_seeds)
    agreed = {
        column: agreement_of(counts(cells_of, published=True))
        for column, cells_of in table.groupby(list(table_type.columns))
    }
    rows, columns = _lines(table, table_type.rows, spec), _lines(table, table_type.columns, spec)
    # A part that is the same in all rows has no heading.
    shown = table_type.rows if len({row[1:] for row in rows}) > 1 else table_type.rows[:1]
    return {
        "study": spec.study.name,
        "name": spec.name,
        "title": title(spec.name),
        "number": number_of(spec.name),
        "heading": heading(spec.name, one_line(spec.entry.caption)),
        "caption": one_line(spec.entry.caption),
        "says": " ".join(filter(None, [explanation(spec), says_more])),
        "seeds": seeds,
        "has_published": has_published,
        "agreement": agreement(spec),
        "notes": [one_line(note, limit=2000) for note in spec.entry.notes],
        "heads": [_HEADS[part] for part in shown],
        "n_heads": len(shown),
        "formats": FORMATS,
        "config": "",  # the link to the study's file, on a page of the report
        "columns": [
            {
                **_column(column, table_type.columns, spec),
                "agreed": agreed[column],
                "agreeing": f"{agreed[column].agreeing}/{agreed[column].compared}"
                if agreed[column].compared
                else "–",
            }
            for column in columns
        ],
        "groups": _groups(columns, spec) if len(table_type.columns) > 1 else [],
        "rows": [
            {
                "at": dict(zip(table_type.rows, row, strict=True)),
                "heads": heads,
                "cells": [cells.get((row, column), BLANK) for column in columns],
            }
            for row, heads in zip(rows, _row_heads(rows, shown, spec), strict=True)
        ],
        # Rows that share a head stay together, in the study's order.
        "sortable": len(rows) > 2 and len({row[0] for row in rows}) == len(rows),
        "legend": [
            entry
            for entry in legend(meanings(spec), counts(table))
            if entry["count"] and entry["verdict"] not in unsaid
        ],
        "footnotes": list(footnotes.values()),
        "remarks": [
            *((note["letter"], note["text"]) for note in footnotes.values()),
            *(("", one_line(note, limit=2000)) for note in spec.entry.notes),
        ],
        "has_oracle": has_published and bool(table["oracle"].notna().any()),
        "agreed": agreement_of(counts(table, published=True)),
    }


def legend(meanings: Mapping[str, str], found: Mapping[str, int]) -> list[dict]:
    """Every verdict with its mark, count and meaning; meanings not in `meanings` are from `VERDICTS`."""
    return [
        {
            "verdict": name,
            **marks_of(name),
            "meaning": meanings.get(name, entry.meaning),
            "said": f"{name}: {meanings.get(name, entry.meaning)}",
            "count": found.get(name, 0),
            "of_published": name not in ("ours only", KNOWN),
        }
        for name, entry in VERDICTS.items()
    ]


def marks_of(verdict: str) -> dict[str, str]:
    """The CSS class and the marks of a verdict."""
    entry = VERDICTS[verdict]
    return {"slug": verdict.replace(" ", "-"), "mark": entry.mark, "tex_mark": Raw(entry.tex)}


# The parts of an address that the cells of a row or a column share.
Line = tuple[str, ...]


def _lines(table: pd.DataFrame, parts: Sequence[str], spec: TableSpec) -> list[Line]:
    """The rows or columns with any cell that is not blank, in the study's order."""
    present = set(table.loc[table["verdict"] != "", list(parts)].itertuples(index=False, name=None))
    return [line for line in product(*map(spec.heads, parts)) if line in present]


def _row_heads(rows: Sequence[Line], parts: Sequence[str], spec: TableSpec) -> list[list[dict]]:
    """The heads of each row: texts with the number of rows that they span, 0 under a spanning head."""
    spans, heads = Counter(row[0] for row in rows), []
    for row in rows:
        first, *rest = (full_label(spec.heads(part)[key]) for part, key in zip(parts, row, strict=False))
        span = spans.pop(row[0], 0)
        head = {"text": first if span else "", "span": span, "is_part": False}
        heads.append([head, *({"text": name, "span": 1, "is_part": True} for name in rest)])
    return heads


def _column(line: Line, parts: Sequence[str], spec: TableSpec) -> dict[str, str]:
    first, *rest = (spec.heads(part)[key] for part, key in zip(parts, line, strict=True))
    if not rest:
        return {"key": line[0], "label": one_line(first.label), "sublabel": one_line(first.sublabel)}
    return {"key": line[0], "label": full_label(first), "sublabel": " ".join(map(full_label, rest))}


def _groups(columns: Sequence[Line], spec: TableSpec) -> list[dict]:
    """The models above the columns, each with the number of columns that it spans."""
    spans = Counter(column[0] for column in columns)
    return [{"label": full_label(spec.models[model]), "span": span} for model, span in spans.items()]


def _cells(
    table: pd.DataFrame,
    spec: TableSpec,
    footnotes: Mapping[str, Mapping],
    unsaid: Collection[str],
    best: Collection[Address],
    over_seeds: Mapping[Address, str],
) -> dict[tuple[Line, Line], Cell]:
    """The rendered cells by row and column; verdicts that are `unsaid` have no mark."""
    digits, sides = digits_of(table, spec), (spec.type.rows, spec.type.columns)
    has_published = bool(table["published"].notna().any())
    cells = {}
    for _, rows in table.groupby([*dict.fromkeys([*spec.type.rows, "metric"])], sort=False):
        metric = rows["metric"].iloc[0]
        numbers, spread = rows["ours"].dropna(), rows["ours_std"].dropna()
        of_row = spec.metrics[metric].row_digits(numbers, spread, digits[metric], has_published)
        for row in rows.itertuples(index=False):
            place = tuple(tuple(getattr(row, part) for part in parts) for parts in sides)
            of_cell = (of_row, digits[metric])
            cells[place] = _cell(row, spec.metrics[metric], of_cell, footnotes, unsaid, best, over_seeds)
    return cells


def digits_of(table: pd.DataFrame, spec: TableSpec) -> dict[str, int]:
    """The decimals of the numbers of each metric in a table, those of its published values."""
    return {
        metric: spec.metrics[metric].digits(
            pd.concat([rows["published"], rows["published_std"]]).dropna().tolist()
        )
        for metric, rows in table.groupby("metric")
    }


def _cell(
    row,
    quantity: Quantity,
    digits: tuple[int, int],
    footnotes: Mapping[str, Mapping],
    unsaid: Collection[str],
    best: Collection[Address],
    over_seeds: Mapping[Address, str],
) -> Cell:
    """The rendered cell of a row of the frame; `digits` are those of our numbers and of the others."""
    of_ours, of_others = digits

    def shown(write: Callable[..., str], value: float, *more: float, digits: int = of_others) -> str:
        return "" if pd.isna(value) else write(value, *more, digits)

    marks = marks_of(row.verdict) if row.verdict else {}
    if row.verdict in unsaid:
        marks |= {"mark": "", "tex_mark": Raw("")}
    return Cell(
        verdict=row.verdict,
        **marks,
        ours=shown(quantity.number, row.ours, digits=of_ours),
        ours_std=shown(quantity.number, row.ours_std, digits=of_ours),
        published=shown(quantity.published_number, row.published),
        published_std=shown(quantity.published_number, row.published_std),
        beside_published=quantity.beside_published(row.difference, row.published),
        difference=shown(quantity.difference, row.difference, row.published),
        oracle=shown(quantity.number, row.oracle, digits=of_ours),
        letters=",".join(footnotes[text]["letter"] for text, _ in _parts(row.reason)),
        reason=row.reason,
        seeds=over_seeds.get((row.dataset, row.model, row.metric), ""),
        value="" if pd.isna(row.ours) else f"{row.ours:.8g}",
        marked=row.verdict not in unsaid,
        best=(row.dataset, row.model, row.metric) in best,
    )


# A reason is "text; text in 3 of 110 fits; …": notes that differ only in their counts share one footnote.
_COUNTED = re.compile(r"(?P<text>.*) in (?P<times>\d+) of (?P<fits>\d+) fits")


def _parts(reason: str) -> list[tuple[str, tuple[int, int] | None]]:
    """The texts of a reason, each with (times, fits) if it is counted."""
    parts = []
    for part in filter(None, reason.split("; ")):
        counted = _COUNTED.fullmatch(part)
        times = (int(counted["times"]), int(counted["fits"])) if counted else None
        parts.append((counted["text"] if counted else part, times))
    return parts


def _footnotes(reasons: Iterable[str]) -> dict[str, dict[str, str]]:
    """Footnotes by the text of a reason: a letter (a … z, aa, bb …) and the text."""
    found: dict[str, list[tuple[int, int]]] = {}
    for text, times in chain.from_iterable(map(_parts, reasons)):
        found.setdefault(text, []).extend([times] if times else [])
    letters = (letter * repeat for repeat in count(1) for letter in ascii_lowercase)
    return {
        text: {"letter": letter, "text": text + _in_fits(times)}
        for letter, (text, times) in zip(letters, found.items(), strict=False)
    }


def _in_fits(times: list[tuple[int, int]]) -> str:
    if not times:
        return ""
    shares = sorted(times, key=lambda pair: pair[0] / max(pair[1], 1))
    low, high = (f"{k} of {n}" for k, n in (shares[0], shares[-1]))
    return f" in {low} fits" if low == high else f" in {low} to {high} fits of a cell"


# --- text in and around markup -------------------------------------------------------------------------


class Raw(str):
    """Markup, which templates do not escape."""


_TEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "…": r"\ldots{}"}
    | {"±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$", "·": r"$\cdot$", "×": r"$\times$"}
    | {"⟨": r"$\langle$", "⟩": r"$\rangle$", "−": r"$-$", "≈": r"$\approx$"}
)


def escape_tex(value: object) -> str:
    r"""The text escaped for LaTeX.

    Examples
    --------
    >>> print(escape_tex("50% of {x_1}, H(T|Y)"))
    50\% of \{x\_1\}, H(T\textbar{}Y)
    """
    if isinstance(value, Power):
        return value.raised(lambda base, exponent: f"${base}^{{{exponent}}}$")
    return value if isinstance(value, Raw) else str(value).translate(_TEX)


def escape_md(value: object) -> str:
    r"""The text escaped for a cell of a GitHub table.

    Examples
    --------
    >>> print(escape_md("a|b *c* <d>"))
    a\|b \*c\* &lt;d&gt;
    """
    if isinstance(value, Raw):
        return value
    if isinstance(value, Power):
        return value.__html__()
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", html.escape(str(value), quote=False))


# The environment of a format escapes every expression of a template. The delimiters of tex and md differ
# from the syntax of those languages.
_PLAIN = {
    **{"variable_start_string": "<<", "variable_end_string": ">>"},
    **{"block_start_string": "<%", "block_end_string": "%>"},
    **{"comment_start_string": "<#", "comment_end_string": "#>"},
}
_ENVIRONMENTS = {
    "html": {"autoescape": True},
    "tex": {"finalize": escape_tex, **_PLAIN},
    "md": {"finalize": escape_md, **_PLAIN},
}


def templates(format: str) -> jinja2.Environment:
    """The jinja2 environment of a format, which escapes every expression."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("entrolab"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **_ENVIRONMENTS[format],
    )
