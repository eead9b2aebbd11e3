"""Guess the options with which pandas reads a table's file."""

import io
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode

import numpy as np
import pandas as pd

from entrolab.data.user_columns import ISO, are_dates, date_formats
from entrolab.data.user_files import encoding_of, opened, values_of

SEPARATORS = ("\t", ";", "|", ",", r"\s+")  # those that text between others rarely contains come first
HEAD = 2**18  # characters that show the separator
# Share of the rows with as many values as there are names; the reader of tables refuses the others.
ALIKE, MOSTLY_ALIKE = 0.9, 0.5
# Decimal and thousands mark. Each style also reads numbers without a thousands mark.
STYLES = ((".", ","), (".", "'"), (".", " "), (",", "."), (",", "'"), (",", " "))
# The numbers of each style, without zeros in front, and not longer than doubles hold.
NUMBERS = {
    (point, mark): re.compile(
        rf"[+-]?(?:(?:0|[1-9]\d{{0,14}}|[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+)(?:[{point}]\d*)?|[{point}]\d+)"
        r"(?:[eE][+-]?\d+)?"
    )
    for point, mark in STYLES
}
# Missing values in columns of numbers and dates, besides those of pandas: texts, in lower case, and numbers.
MARKERS = {"?", "-", "--", ".", "*", "na", "n.a.", "k.a.", "none", "missing", "unknown", "0000-00-00"}
NUMERIC_MARKERS = (-99.0, -999.0, -9999.0, -99999.0)
COMPACT = "%Y%m%d"
# What pandas raises for rows that have not as many values as names, or for an empty file.
RAGGED = (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError)


def guess_options(path: Path, label: str | None = None) -> dict:
    """Options of pandas.read_csv with which a file of delimited text is read as its owner means it.

    The column `label` has no dates. Only what differs from pandas' defaults is returned. Between two readings
    that fit all values, none is chosen. A file that is no text raises a `ValueError`.
    """
    layout = _layout(path)
    try:
        frame = _read(path, **layout)
    except RAGGED:  # which the reader of tables explains
        return layout
    frame.columns = frame.columns.str.strip()
    if not frame.columns.is_unique:
        return layout
    words = {str(name): _words(frame[name]) for name in frame.select_dtypes(exclude=["number", "bool"])}
    fractions, compact, markers = _numbers(path, layout, frame)
    marks, read = _style(path, layout, words, frame.columns.get_indexer(fractions))
    formats = {name: one.formats[0] for name, one in words.items() if len(one.formats) == 1}
    dates = {name: one for name, one in formats.items() if one not in ISO} | dict.fromkeys(compact, COMPACT)
    dates.pop(label, None)
    found = {
        "na_values": sorted(markers.union(*(words[name].markers for name in (*read, *formats)))),
        "parse_dates": list(dates),
        "date_format": dates,
    }
    return layout | marks | {name: one for name, one in found.items() if one}


# --------------------------------------------------------------------------------------- encoding and layout


def _layout(path: Path) -> dict:
    """The encoding, the separator and the lines above the names, where they are not pandas' defaults."""
    encoding = encoding_of(path)
    if encoding is None:
        raise ValueError("found neither UTF-8 nor UTF-16 nor cp1252; accepted: a text file in one of them")
    with opened(path, encoding) as file:
        head = file.read(HEAD)
    lines = io.StringIO(head, newline=None).readlines()
    lines = lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines
    stated = re.fullmatch(r'\ufeff?"?sep=(.)"?\s*', lines[0], re.IGNORECASE) if lines else None  # by Excel
    n_above, separators = (1, [stated[1]]) if stated else (0, SEPARATORS)
    sep, n_skipped = _separated(lines[n_above:], separators) or (stated[1] if stated else ",", 0)
    layout = {"sep": sep, "encoding": encoding, "skiprows": n_above + n_skipped}
    return {name: one for name, one in layout.items() if one not in (",", "utf-8", 0)}


def _separated(lines: Sequence[str], separators: Sequence[str]) -> tuple[str, int] | None:
    """The first separator that divides the names and the rows into as many values, and the lines above them.

    Lines above the names are shorter than the names, which are all different and no numbers.
    """
    tables = [(sep, rows) for sep in separators if (rows := [*values_of(lines, sep)])]
    for may_skip, share in ((False, ALIKE), (True, ALIKE), (False, MOSTLY_ALIKE)):
        for sep, rows in tables:
            width = mode(len(row) for _, row in rows)
            start = next(place for place, (_, row) in enumerate(rows) if len(row) == width)
            above, (line, names) = rows[:start], rows[start]
            is_alike = sum(len(row) == width for _, row in rows[start:]) >= share * len(rows[start:])
            if width < 2 or not is_alike or bool(above) != may_skip:
                continue
            if not above:
                return sep, 0
            are_names = len({*names}) == width and not any(re.fullmatch(r"[\d.,+-]*", name) for name in names)
            if are_names and all(len(row) < width for _, row in above):
                return sep, line - 1
    return None


# ------------------------------------------------------------------------------------------------- columns


def _read(path: Path, **options):
    """What pandas.read_csv gives, with an error of `RAGGED` for rows that are too long."""
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        return pd.read_csv(path, index_col=False, low_memory=False, skipinitialspace=True, **options)


def _numbers(path: Path, layout: Mapping, frame: pd.DataFrame) -> tuple[list[str], list[str], set[str]]:
    """The columns of fractions, those of dates such as 20251231, and numbers that mark missing values.

    A marker is there several times, and far below all other values of each column that has it.
    """
    fractions, dates = [], []
    marked: Counter[float] = Counter()
    values_of_a_column = set()
    for name in frame.select_dtypes("number"):
        values = frame[name].to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        is_marker = np.isin(values, NUMERIC_MARKERS)
        rest, found = values[~is_marker], Counter(values[is_marker].tolist())
        marked += found
        lowest, highest = (rest.min(), rest.max()) if len(rest) else (-np.inf, -np.inf)
        values_of_a_column |= {marker for marker in found if lowest <= marker / 2}
        if (rest % 1 != 0).any():
            fractions.append(name)
        elif lowest > 19000100 and highest < 21001232 and not found:
            place = frame.columns.get_loc(name)
            texts = _read(path, **layout, usecols=[place], dtype=str).iloc[:, 0].dropna()
            if texts.str.fullmatch(r"\d{8}").all() and are_dates(texts, COMPACT):
                dates.append(name)
    several = {marker for marker, count in marked.items() if count > 1}
    return fractions, dates, {f"{marker:g}" for marker in several - values_of_a_column}


@dataclass
class Words:
    """What a column of texts may be read as."""

    styles: list[tuple[str, str]]  # of numbers
    used: set[str]  # thousands marks
    formats: list[str]  # of dates
    markers: set[str]  # of missing values, which are left out of the others


def _words(column: pd.Series) -> Words:
    texts = {text.strip() for text in column.unique() if isinstance(text, str)}
    markers = {text for text in texts if text.lower() in MARKERS}
    texts -= markers
    styles = [style for style in STYLES if texts and all(map(NUMBERS[style].fullmatch, texts))]
    used = {mark for _, mark in styles if any(mark in text for text in texts)}
    return Words(styles, used, date_formats(texts), markers)


def _style(
    path: Path, layout: Mapping, words: Mapping[str, Words], fractions: Sequence[int]
) -> tuple[dict, list[str]]:
    """The decimal and thousands marks that read most columns as numbers, and the columns of texts among them.

    Pandas' defaults if they read as many, or if two other choices do. `fractions` are the places of the
    columns that pandas' defaults read as fractions.
    """
    found: dict[tuple, tuple[int, list[str]]] = {(): (0, [])}
    for style in STYLES:
        decimal, mark = style
        reads = [name for name, one in words.items() if style in one.styles]
        is_used = any(mark in words[name].used for name in reads)
        marks = (("decimal", decimal),) if decimal != "." else ()
        marks += (("thousands", mark),) if is_used else ()
        kept = len(fractions)
        if decimal == "," and kept:  # of fractions, whose points may be thousands marks
            kept = _n_grouped(path, layout, fractions, style) if is_used else 0
        found[marks] = max(found.get(marks, (0, [])), (len(reads) + kept, reads))
    most = max(score for score, _ in found.values())
    best = [marks for marks, (score, _) in found.items() if score == most]
    if layout.get("sep", ",") == ",":  # in such files, few write decimals with a comma
        best = [marks for marks in best if ("decimal", ",") not in marks] or best
    if () in best or len(best) > 1:
        best = [()]
    return dict(best[0]), found[best[0]][1]


def _n_grouped(path: Path, layout: Mapping, places: Sequence[int], style: tuple[str, str]) -> int:
    """The number of columns of fractions whose points may all be thousands marks, by the first rows."""
    texts = _read(path, **layout, usecols=places, dtype=str, nrows=1000)
    return sum(texts[name].dropna().str.fullmatch(NUMBERS[style].pattern).all() for name in texts)
