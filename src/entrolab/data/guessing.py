"""Guesses about a table: the options with which pandas reads its file, and columns that are no features."""

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mode

import numpy as np
import pandas as pd

from entrolab.data.table_formats import says_more
from entrolab.data.user_columns import IDENTIFIERS_FROM
from entrolab.data.user_files import OPENERS

SEPARATORS = ("\t", ";", "|", ",", r"\s+")  # those that text between others rarely contains come first
HEAD = 2**18  # characters that show the separator
# Share of the rows with as many values as there are names; the reader of tables refuses the others.
ALIKE, MOSTLY_ALIKE = 0.9, 0.5
CELLS = 2**21  # values in memory at once
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
LIKE_A_DATE = re.compile(r"(\d{1,4}|[A-Za-z]{3,9})[-/., ]+(\d{1,2}|[A-Za-z]{3,9})\b.*")
ISO = tuple("%Y-%m-%d" + time for time in ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S"))
DATES = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y/%m/%d", "%Y.%m.%d", "%Y-%m", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y"),
    *("%B %d, %Y", "%b %Y", "%B %Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = (*ISO, "%Y-%m-%d %H:%M:%S %Z", *(date + time for time in TIMES for date in DATES))
COMPACT = "%Y%m%d"
# What pandas raises for rows that have not as many values as names, or for an empty file.
RAGGED = (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError)
# Words in the name of a column that numbers what a row is about.
OF_IDS = re.compile(
    "ids?|nr|number|uuid|key|patient|subject|participant|respondent|person|customer|client|user|animal|"
    "household|family|school|session|batch"
)
FEWEST_GROUPS = 5
FEW = 50  # columns that show whether rows may be equal


def guess_options(path: Path, given: Mapping | None = None) -> dict:
    """Options of pandas.read_csv with which a file of delimited text is read as its owner means it.

    `given` are options that are known. Only what differs from pandas' defaults is returned, with what is
    given. Between two readings that fit all values, none is chosen. A file that is no text raises a
    `ValueError`.
    """
    given = dict(given or {})
    layout = _layout(path, given)
    try:
        numbers = _numbers(path, layout)
    except RAGGED:  # which the reader of tables explains
        return layout | given
    codes, compact = _codes(path, layout, numbers)
    words = _words(path, layout, numbers.named("words"))
    marks, read = _style(path, layout, given, words, numbers.named("fractions"))
    formats = {name: one.formats[0] for name, one in words.items() if len(one.formats) == 1}
    dates = {name: one for name, one in formats.items() if one not in ISO} | dict.fromkeys(compact, COMPACT)
    dates |= given.pop("date_format", {})
    found = {
        "na_values": sorted(numbers.markers.union(*(words[name].markers for name in (*read, *formats)))),
        "dtype": dict.fromkeys(codes, "str"),
        "parse_dates": list(dates),
        "date_format": dates,
    }
    return layout | marks | {name: one for name, one in found.items() if one} | given


# --------------------------------------------------------------------------------------- encoding and layout


def _layout(path: Path, given: Mapping) -> dict:
    """The encoding, the separator and the lines above the names, where they are not pandas' defaults."""
    encoding = given.get("encoding") or _encoding(path)
    with _text(path, encoding) as file:
        head = file.read(HEAD)
    lines = io.StringIO(head, newline=None).readlines()
    lines = lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines
    stated = re.fullmatch(r'\ufeff?"?sep=(.)"?\s*', lines[0], re.IGNORECASE) if lines else None  # by Excel
    n_above = 1 if stated else 0
    lines = lines[n_above:]
    asked = given.get("sep") or (stated and stated[1])
    found = _separated(lines, [asked] if asked else SEPARATORS)
    sep, n_skipped = found or (asked or ",", 0)
    layout = {"sep": sep, "encoding": encoding, "skiprows": n_above + n_skipped}
    return {name: one for name, one in layout.items() if one not in (",", "utf-8", 0)}


def _text(path: Path, encoding: str):
    return OPENERS.get(path.suffix.lower(), open)(path, "rt", encoding=encoding, newline="")


def _encoding(path: Path) -> str:
    """UTF-16 if a file begins with its mark, else UTF-8, else the one of Windows in Western Europe."""
    with _text(path, "latin-1") as file:
        if file.read(2) in ("\xff\xfe", "\xfe\xff"):
            return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        try:
            with _text(path, encoding) as file:
                while file.read(2**20):
                    pass
        except UnicodeDecodeError:
            continue
        return encoding
    raise ValueError("found neither UTF-8 nor UTF-16 nor cp1252; accepted: its encoding by --encoding")


def _separated(lines: Sequence[str], separators: Sequence[str]) -> tuple[str, int] | None:
    """The first separator that divides the names and the rows into as many values, and the lines above them.

    Lines above the names are shorter than the names, which are all different and no numbers.
    """
    tables = [(sep, rows) for sep in separators if (rows := _rows(lines, sep))]
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


def _rows(lines: Sequence[str], sep: str) -> list[tuple[int, list[str]]]:
    """The values of each line that is not empty, with its number."""
    if sep == r"\s+":
        return [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]
    csv.field_size_limit(2**31 - 1)  # a text may be long
    reader = csv.reader(lines, delimiter=sep, skipinitialspace=True)
    return [(reader.line_num, row) for row in reader if row]


# ------------------------------------------------------------------------------------------------- columns


@dataclass
class Numbers:
    """What pandas' default options find: columns of whole numbers, fractions, words, or neither (truth)."""

    kinds: dict[str, str]
    markers: set[str]  # numbers that stand for missing values, and are no values of another column
    may_be_dates: set[str]

    def named(self, kind: str) -> list[str]:
        return [name for name, one in self.kinds.items() if one == kind]


def _chunks(path: Path, layout: Mapping, **options) -> Iterator[pd.DataFrame]:
    """Parts of the file with a limited number of values each."""
    width = len(options.get("usecols", ())) or len(read_delimited(path, **layout, **options, nrows=0).columns)
    chunks = read_delimited(path, **layout, **options, chunksize=max(1, CELLS // max(width, 1)))
    with chunks, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        yield from chunks


def read_delimited(path: Path, **options):
    """What pandas.read_csv gives, with an error of `RAGGED` for rows that are too long."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(path, index_col=False, low_memory=False, skipinitialspace=True, **options)


def _numbers(path: Path, layout: Mapping) -> Numbers:
    for place, chunk in enumerate(_chunks(path, layout)):
        if not place:
            names = list(chunk.columns)
            is_number, is_truth = np.ones((2, len(names)), bool)
            is_fraction = np.zeros(len(names), bool)
            lowest, highest = np.full(len(names), np.inf), np.full(len(names), -np.inf)
            marked = np.zeros((len(NUMERIC_MARKERS), len(names)), int)
        kinds = np.array([dtype.kind for dtype in chunk.dtypes])
        numeric = np.isin(kinds, ["i", "u", "f"])
        is_number, is_truth = is_number & numeric, is_truth & (kinds == "b")
        values = chunk.loc[:, numeric].to_numpy(dtype=float)
        known = np.isfinite(values) & ~np.isin(values, NUMERIC_MARKERS)
        is_fraction[numeric] |= (known & (values % 1 != 0)).any(axis=0)
        ends = {"axis": 0, "where": known}
        lowest[numeric] = np.minimum(lowest[numeric], values.min(initial=np.inf, **ends))
        highest[numeric] = np.maximum(highest[numeric], values.max(initial=-np.inf, **ends))
        for marker, found in zip(NUMERIC_MARKERS, marked, strict=True):
            found[numeric] += (values == marker).sum(axis=0)
    kinds = np.select([is_truth, ~is_number, is_fraction], ["truth", "words", "fractions"], "whole")
    # A marker is there several times, and far below all other values.
    is_far = (lowest > np.array(NUMERIC_MARKERS)[:, np.newaxis] / 2) & np.isfinite(lowest) & is_number
    is_marker = (is_far | (marked == 0)).all(axis=1) & (marked.sum(axis=1) > 1)
    texts = np.array([f"{marker:g}" for marker in NUMERIC_MARKERS])
    return Numbers(
        dict(zip(names, kinds.tolist(), strict=True)),
        {*texts[is_marker].tolist()},
        {names[column] for column in np.flatnonzero((lowest > 19000100) & (highest < 21001232))},
    )


def _codes(path: Path, layout: Mapping, numbers: Numbers) -> tuple[list[str], list[str]]:
    """The columns of whole numbers that are codes, whose text would be lost, and those that are dates."""
    names = numbers.named("whole")
    if not names:
        return [], []
    is_code = np.zeros(len(names), bool)
    dates = {name for name in names if name in numbers.may_be_dates}
    for chunk in _chunks(path, layout, usecols=names, dtype=str):
        is_code |= _any_text(chunk[names], _is_lost)
        dates = {name for name in dates if _all_dates(chunk[name].dropna(), COMPACT)}
    return [name for name, one in zip(names, is_code, strict=True) if one], [
        name for name in names if name in dates
    ]


@dataclass
class Words:
    """What a column of texts may be read as, after all rows."""

    styles: list[tuple[str, str]] = field(default_factory=lambda: list(STYLES))
    used: set[str] = field(default_factory=set)  # thousands marks
    formats: list[str] = field(default_factory=lambda: list(FORMATS))
    markers: set[str] = field(default_factory=set)
    has_values: bool = False

    def add(self, texts: set[str]) -> None:
        """Remove the styles and formats that do not fit some texts."""
        markers = {text for text in texts if text.lower() in MARKERS}
        self.markers |= markers
        texts -= markers
        if not texts:
            return
        self.has_values = True
        self.styles = [one for one in self.styles if all(map(NUMBERS[one].fullmatch, texts))]
        self.used |= {mark for _, mark in self.styles if any(mark in text for text in texts)}
        if not self.formats or not all(map(LIKE_A_DATE.fullmatch, texts)):
            self.formats = []
            return
        dates = pd.Series(list(texts))
        self.formats = [one for one in self.formats if _all_dates(dates[:3], one) and _all_dates(dates, one)]


def _words(path: Path, layout: Mapping, names: Sequence[str]) -> dict[str, Words]:
    """The columns of texts, and what each may be read as."""
    found = {name: Words() for name in names}
    if not names:
        return {}
    for chunk in _chunks(path, layout, usecols=list(names), dtype=str):
        columns = chunk[list(names)].to_numpy(dtype=object).T
        for one, column in zip(found.values(), columns, strict=True):
            if one.styles or one.formats:
                one.add({text.strip() for text in {*column} if isinstance(text, str)})
    for one in found.values():
        one.formats = one.formats if one.has_values else []
        if {text.replace("%B", "%b") for text in one.formats} == {*one.formats[:1]}:
            one.formats = one.formats[:1]  # "May" is long and short
    return found


def _is_lost(texts: pd.Series) -> pd.Series:
    """Whether the number of each text is not all that the text says."""
    lost = ~texts.str.fullmatch(r"-?(0|[1-9]\d{0,14})")  # most are such, and the other check is slow
    lost[lost] = texts[lost].map(says_more).astype(bool)
    return lost


def _any_text(chunk: pd.DataFrame, matches: Callable[[pd.Series], pd.Series]) -> np.ndarray:
    """Whether some text of each column matches; at once, since a wide table has very many columns."""
    texts = pd.Series(chunk.to_numpy(dtype=object).ravel(order="F"), dtype="str").str.strip()
    found = texts.notna().to_numpy() & matches(texts.fillna("0")).to_numpy(dtype=bool)
    return found.reshape(chunk.shape, order="F").any(axis=0)


def _all_dates(texts: pd.Series, form: str) -> bool:
    if form == COMPACT and not texts.str.fullmatch(r"\d{8}").all():
        return False
    return bool(pd.to_datetime(texts, format=form, errors="coerce").notna().all())


def _style(
    path: Path, layout: Mapping, given: Mapping, words: Mapping[str, Words], fractions: Sequence[str]
) -> tuple[dict, list[str]]:
    """The decimal and thousands marks that read most columns as numbers, and the columns of texts among them.

    Pandas' defaults if they read as many, or if two other choices do.
    """
    found: dict[tuple, tuple[int, list[str]]] = {(): (0, [])}
    for style in STYLES:
        decimal, mark = style
        if any(given.get(name, one) != one for name, one in (("decimal", decimal), ("thousands", mark))):
            continue
        reads = [name for name, one in words.items() if style in one.styles and one.has_values]
        is_used = any(mark in words[name].used for name in reads)
        marks = (("decimal", decimal),) if decimal != "." else ()
        marks += (("thousands", mark),) if is_used else ()
        kept = len(fractions)
        if decimal == "," and kept:
            kept = _n_grouped(path, layout, fractions, style) if is_used else 0
        found[marks] = max(found.get(marks, (0, [])), (len(reads) + kept, reads))
    most = max(score for score, _ in found.values())
    best = [marks for marks, (score, _) in found.items() if score == most]
    if layout.get("sep", ",") == ",":  # in such files, few write decimals with a comma
        best = [marks for marks in best if ("decimal", ",") not in marks] or best
    if () in best or len(best) > 1:
        best = [()]
    return dict(best[0]), found[best[0]][1]


def _n_grouped(path: Path, layout: Mapping, names: Sequence[str], style: tuple[str, str]) -> int:
    """The number of columns of fractions whose points may all be thousands marks, by the first rows."""
    texts = read_delimited(path, **layout, usecols=names, dtype=str, nrows=1000)
    return int((~_any_text(texts, lambda one: ~one.str.fullmatch(NUMBERS[style].pattern))).sum())


# ------------------------------------------------------------------------------------------ columns and rows


@dataclass
class Oddities:
    """Rows that repeat others, columns of one value, and columns of identifiers."""

    n_repeated: int
    constants: list[str]
    identifiers: list[str]  # that differ in all rows
    repeated: dict[str, int]  # those that do not, with the number of their values


def oddities(frame: pd.DataFrame, features: Collection[str], label: str) -> Oddities:
    """What a look at the features finds that a study might be misled by."""
    frame = frame[[*features, label]]
    alike = frame[frame.iloc[:, -FEW:].duplicated(keep=False)]
    numbers = frame[[*features]].select_dtypes("number")
    constants = {*numbers.columns[numbers.max() == numbers.min()]}
    constants |= {name for name in features if name not in numbers and frame[name].nunique() < 2}
    identifiers, repeated = [], {}
    for name in features:
        values = frame[name].dropna()
        words = (word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name))
        if (
            name in constants
            or not any(map(OF_IDS.fullmatch, words))
            or (name in numbers and (values % 1 != 0).any())
        ):
            continue
        n_values = values.nunique()
        if n_values == len(values) >= IDENTIFIERS_FROM:
            identifiers.append(name)
        elif n_values >= FEWEST_GROUPS and n_values < len(values):
            repeated[name] = n_values
    in_order = [name for name in features if name in constants]
    return Oddities(int(alike.duplicated().sum()), in_order, identifiers, repeated)
