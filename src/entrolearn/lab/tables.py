"""Tables: ours beside the printed number, with a verdict per cell.

A table is built once, as a frame with one row per cell (`COLUMNS`), and rendered from that frame alone, so
that the csv file is the whole truth and the html, tex and md files are views of it.
"""

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from string import ascii_lowercase

import jinja2
import pandas as pd

from entrolearn.lab.atomic import replacing
from entrolearn.suggest import did_you_mean

COLUMNS = [
    "dataset",
    "model",
    "metric",
    "published",
    "published_std",
    "ours",
    "ours_std",
    "difference",
    "verdict",
    "oracle",
    "reason",
]


@dataclass(frozen=True)
class Verdict:
    """How a verdict is marked where colour is not seen, and what it means."""

    mark: str
    tex: str
    meaning: str


VERDICTS = {
    "reproduced": Verdict("≈", r"$\approx$", "ours lies within the printed ±"),
    "higher": Verdict("↑", r"$\uparrow$", "ours lies above the printed ±"),
    "lower": Verdict("↓", r"$\downarrow$", "ours lies below the printed ±"),
    "failed": Verdict("×", r"$\times$", "no score of ours; the footnote says why"),
    "no data": Verdict("∅", r"$\emptyset$", "the data set could not be had"),
    "ours alone": Verdict("○", r"$\circ$", "nothing is printed to compare with"),
}

CRITERIA = {
    "cv": "inner cross-validation on the training folds",
    "dcs_gaussian": "the Cauchy–Schwarz divergence of the projected training classes, taken as Gaussians",
    "dcs_kde": "the Cauchy–Schwarz divergence of the projected training classes, as kernel density estimates",
    "oracle": "the best mean score on the test folds (uses test data: a diagnostic only)",
}

METRICS = {"gmean": "GMEAN", "balanced_accuracy": "balanced accuracy", "accuracy": "accuracy"}

# What a row of scores holds beside its metrics.
_KEYS = {
    "paper",
    "dataset",
    "model",
    "repeat",
    "fold",
    "criterion",
    "point",
    "params",
    "criterion_value",
    "success",
    "error",
}

# A number printed without ± is reproduced when ours rounds to it at the one decimal that papers print.
ROUNDING = 0.05
# Percentages made of fractions carry rounding errors; a difference equal to the ± must count as within it.
SLACK = 1e-9


# --- which table: the study's entry with names resolved ------------------------------------------------


def table_spec(paper: str, study: Mapping, name: str, labels: Mapping[str, str] | None = None) -> dict:
    """Resolve one entry of a study's ``tables``: names of groups become data sets and models with labels.

    Parameters
    ----------
    paper : str
        The study's key, e.g. ``"eem"``.
    study : mapping
        The study, as `entrolearn.lab.config.load_study` returns it.
    name : str
        The table's key in the study, which is also its key in the published numbers.
    labels : mapping of data set keys to labels, optional
        As the catalog has them; a data set without a label is shown by its key.

    Returns
    -------
    dict
        Keys: paper, table, kind, caption, metric, criterion, notes (list of str), datasets (key -> label)
        and models (key -> {"label", "sublabel"}), both in the study's order.

    Raises
    ------
    ValueError
        If the study has no such table.
    """
    entry = _known(study["tables"], name, f"table of {paper}")
    labels = labels or {}
    models = study["models"]
    chosen = list(models) if entry["models"] == "all" else entry["models"]
    return {
        "paper": paper,
        "table": name,
        "kind": entry["kind"],
        "caption": entry["caption"],
        "metric": entry["metric"],
        "criterion": entry["criterion"],
        "notes": list(entry["notes"]),
        "datasets": {key: labels.get(key, key) for key in study["datasets"][entry["datasets"]]},
        "models": {
            key: {"label": models[key]["label"], "sublabel": models[key]["sublabel"]} for key in chosen
        },
    }


# --- building ------------------------------------------------------------------------------------------


def make_table(
    scores: pd.DataFrame, published: pd.DataFrame, records: Iterable[Mapping], spec: Mapping
) -> pd.DataFrame:
    """Build the table that `spec` asks for, by its kind (see `KINDS`).

    Parameters and result are those of `score_table`.
    """
    return _known(KINDS, spec["kind"], "kind of table")(scores, published, records, spec)


def score_table(
    scores: pd.DataFrame, published: pd.DataFrame, records: Iterable[Mapping], spec: Mapping
) -> pd.DataFrame:
    """Compare mean scores, in percent, with the printed ones.

    Parameters
    ----------
    scores : DataFrame
        One row per data set × model × repeat × fold × criterion; metrics as fractions in [0, 1].
    published : DataFrame
        Columns table, dataset, model, metric, value, std; scores in percent.
    records : iterable of dict
        The cells' records, which say what failed and what was noted.
    spec : dict
        As `table_spec` returns it.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per data set × model in the study's order, whether or not there is a result.
        ``ours`` and ``ours_std`` are the mean and the standard deviation (ddof=1) over all repeats × folds,
        ``difference`` is ours - published. A cell of which one fold has no score is "failed": the mean of
        the other folds is not the number that the paper prints.

    Raises
    ------
    ValueError
        If the scores hold no such metric or criterion.
    """
    metric, criterion = spec["metric"], spec["criterion"]
    if len(scores):
        _known({name: name for name in scores.columns if name not in _KEYS}, metric, "metric in the scores")
        _known(dict.fromkeys(scores["criterion"]), criterion, "criterion in the scores")
    chosen = _cells(scores, criterion)
    diagnostic = _cells(scores, "oracle")
    printed = published[(published["table"] == spec["table"]) & (published["metric"] == metric)]
    printed = printed.set_index(["dataset", "model"])[["value", "std"]].T.to_dict("list")
    known = {(record["dataset"], record["model"]): record for record in records}

    rows = []
    for cell in ((dataset, model) for dataset in spec["datasets"] for model in spec["models"]):
        value, std = printed.get(cell, (math.nan, math.nan))
        kind, reason = _trouble(known.get(cell), chosen.get(cell), metric)
        if kind:
            ours = ours_std = oracle = math.nan
        else:
            ours, ours_std = _mean_std(chosen[cell][metric])
            oracle, _ = _mean_std(diagnostic[cell][metric]) if cell in diagnostic else (math.nan, math.nan)
            kind, reason = verdict(ours, value, std), _notes(known[cell])
        rows.append((*cell, metric, value, std, ours, ours_std, ours - value, kind, oracle, reason))
    return pd.DataFrame(rows, columns=COLUMNS)


KINDS: dict[str, Callable[..., pd.DataFrame]] = {"scores": score_table}


def verdict(ours: float, published: float, published_std: float) -> str:
    """Judge one cell: is `ours` within the printed ±, above or below it?

    A difference exactly equal to the ± is reproduced. Without a printed ± ours has to round to the printed
    number; without a printed number the verdict is "ours alone".

    Examples
    --------
    >>> verdict(87.0, 85.0, 2.0), verdict(87.1, 85.0, 2.0), verdict(82.9, 85.0, 2.0)
    ('reproduced', 'higher', 'lower')
    """
    if math.isnan(published):
        return "ours alone"
    difference = ours - published
    if abs(difference) <= (ROUNDING if math.isnan(published_std) else published_std) + SLACK:
        return "reproduced"
    return "higher" if difference > 0 else "lower"


def counts(table: pd.DataFrame) -> dict[str, int]:
    """Count the cells of each verdict, all verdicts listed, in the order of `VERDICTS`."""
    found = Counter(table["verdict"])
    return {name: found[name] for name in VERDICTS}


def _cells(scores: pd.DataFrame, criterion: str) -> dict[tuple[str, str], pd.DataFrame]:
    if not len(scores):
        return {}
    return dict(iter(scores[scores["criterion"] == criterion].groupby(["dataset", "model"], sort=False)))


def _mean_std(fractions: pd.Series) -> tuple[float, float]:
    return 100 * fractions.mean(), 100 * fractions.std(ddof=1)


def _trouble(record: Mapping | None, folds: pd.DataFrame | None, metric: str) -> tuple[str, str]:
    """Say why a cell has no number: its verdict and the reason, both empty if it has one."""
    if record is None:
        return "failed", "no record of this cell"
    if not record["success"]:
        kind = record.get("kind") or "failed"
        reason = _phrase(record.get("error") or kind)
        if kind == "time limit" and "time limit" not in reason:
            reason = f"time limit: {reason}"
        return ("no data" if kind == "no data" else "failed"), reason
    if folds is None:
        return "failed", "no scores by this criterion"
    lost = folds[~folds["success"].astype(bool) | folds[metric].isna()]
    if len(lost):
        errors = [_phrase(error) for error in lost["error"] if error]
        reason = f": {errors[0]}" if errors else ""
        return "failed", f"{len(lost)} of {len(folds)} folds have no score{reason}"
    return "", ""


def _phrase(text: object) -> str:
    """One part of a reason: the parts are joined with semicolons."""
    return one_line(text).replace(";", ",")


def _notes(record: Mapping) -> str:
    """Join the record's notes as ``"note in k of n fits; …"``."""
    fits = record.get("n_candidates", 0)
    found = dict(record.get("notes") or {})
    if record.get("n_failed"):
        found["no result"] = record["n_failed"]
    return "; ".join(f"{_phrase(note)} in {times} of {fits} fits" for note, times in found.items())


# --- rendering -----------------------------------------------------------------------------------------


def render(table: pd.DataFrame, spec: Mapping, format: str) -> str:
    """Write `table` out as text.

    Parameters
    ----------
    table : DataFrame
        As `make_table` returns it or `read_table` reads it.
    spec : dict
        As `table_spec` returns it.
    format : {"csv", "html", "tex", "md"}
        html is a page of its own; tex a fragment for ``\\input`` that needs booktabs and xcolor with the
        option ``table``; md is GitHub's.

    Raises
    ------
    ValueError
        If the format is unknown.
    """
    return _known(FORMATS, format, "format of a table")(table, spec)


def write_table(table: pd.DataFrame, spec: Mapping, path: str | Path) -> None:
    """Render `table` in the format that the suffix of `path` names, and put it there atomically."""
    text = render(table, spec, Path(path).suffix.removeprefix("."))
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table's csv file back."""
    text = {"dataset": str, "model": str, "metric": str, "verdict": str, "reason": str}
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=dict.fromkeys(_NUMBERS, [""]))
    return table[COLUMNS]


_NUMBERS = ["published", "published_std", "ours", "ours_std", "difference", "oracle"]


def _csv(table: pd.DataFrame, spec: Mapping) -> str:
    return table[COLUMNS].to_csv(index=False, float_format="%.4f", lineterminator="\n")


def _html(table: pd.DataFrame, spec: Mapping) -> str:
    return templates("html").get_template("table.html.j2").render(table=layout(table, spec))


def _tex(table: pd.DataFrame, spec: Mapping) -> str:
    return templates("tex").get_template("table.tex.j2").render(table=layout(table, spec))


def _md(table: pd.DataFrame, spec: Mapping) -> str:
    return templates("md").get_template("table.md.j2").render(table=layout(table, spec))


FORMATS: dict[str, Callable[[pd.DataFrame, Mapping], str]] = {
    "csv": _csv,
    "html": _html,
    "tex": _tex,
    "md": _md,
}


@dataclass(frozen=True)
class Cell:
    """One cell as it is shown: numbers already formatted, "" where there is none."""

    verdict: str
    ours: str
    ours_std: str
    published: str
    published_std: str
    difference: str
    oracle: str
    letters: str
    reason: str

    @property
    def mark(self) -> str:
        return VERDICTS[self.verdict].mark

    @property
    def tex_mark(self) -> "Raw":
        return Raw(VERDICTS[self.verdict].tex)

    @property
    def slug(self) -> str:
        return self.verdict.replace(" ", "-")


def layout(table: pd.DataFrame, spec: Mapping) -> dict:
    """Arrange a table as the paper does, data sets in rows and models in columns, as plain texts.

    This is what the templates of every format see; they add nothing but markup.
    """
    decimals = _decimals(table)
    letters = _footnote_letters(table["reason"])
    cells = {
        (row.dataset, row.model): Cell(
            verdict=row.verdict,
            ours=_number(row.ours, decimals),
            ours_std=_number(row.ours_std, decimals),
            published=_number(row.published, decimals),
            published_std=_number(row.published_std, decimals),
            difference=_number(row.difference, decimals, sign="+"),
            oracle=_number(row.oracle, decimals),
            letters=",".join(letters[text] for text, _ in _parts(row.reason)),
            reason=row.reason,
        )
        for row in table.itertuples(index=False)
    }
    total = counts(table)
    present = {cell.verdict for cell in cells.values()}
    criterion = CRITERIA.get(spec["criterion"], spec["criterion"])
    return {
        "paper": spec["paper"],
        "name": spec["table"],
        "title": _title(spec["table"]),
        "caption": one_line(spec["caption"]),
        "metric": METRICS.get(spec["metric"], spec["metric"].replace("_", " ")),
        "criterion": criterion,
        "notes": [one_line(note) for note in spec["notes"]],
        "columns": [
            {
                "label": one_line(model["label"]),
                "sublabel": one_line(model["sublabel"]),
                **_within(table[table["model"] == key]),
            }
            for key, model in spec["models"].items()
        ],
        "rows": [
            {"label": one_line(label), "cells": [cells[dataset, model] for model in spec["models"]]}
            for dataset, label in spec["datasets"].items()
        ],
        "legend": [
            {
                "verdict": name,
                "slug": name.replace(" ", "-"),
                "mark": entry.mark,
                "tex_mark": Raw(entry.tex),
                "meaning": entry.meaning,
                "count": total[name],
            }
            for name, entry in VERDICTS.items()
            if name in present
        ],
        "footnotes": _footnotes(table["reason"], letters),
        "has_oracle": bool(table["oracle"].notna().any()) and spec["criterion"] != "oracle",
        **_within(table),
    }


def _within(table: pd.DataFrame) -> dict[str, int]:
    """How many of the cells with a printed number are within its ±."""
    return {
        "within": int((table["verdict"] == "reproduced").sum()),
        "printed": int(table["published"].notna().sum()),
    }


def _title(name: str) -> str:
    numbered = re.fullmatch(r"table(\d+)", name)
    return f"Table {numbered[1]}" if numbered else name.replace("_", " ").capitalize()


def _decimals(table: pd.DataFrame) -> int:
    """As many decimals as the printed numbers have: one at least, two at most."""
    printed = pd.concat([table["published"], table["published_std"]]).dropna()
    return 1 if (printed.round(1) - printed).abs().max() < SLACK or printed.empty else 2


def _number(value: float, decimals: int, sign: str = "") -> str:
    # "z" keeps a rounded-away minus from being shown as -0.0.
    return "" if pd.isna(value) else f"{value:{sign}z.{decimals}f}"


# A reason is "text; text in 3 of 110 fits; …": notes that differ by their counts alone share one footnote.
_COUNTED = re.compile(r"(?P<text>.*) in (?P<times>\d+) of (?P<fits>\d+) fits")


def _parts(reason: str) -> list[tuple[str, tuple[int, int] | None]]:
    """Split a reason into its texts, each with (times, fits) if it has been counted."""
    parts = []
    for part in filter(None, reason.split("; ")):
        counted = _COUNTED.fullmatch(part)
        times = (int(counted["times"]), int(counted["fits"])) if counted else None
        parts.append((counted["text"] if counted else part, times))
    return parts


def _footnote_letters(reasons: Iterable[str]) -> dict[str, str]:
    texts = dict.fromkeys(text for reason in reasons for text, _ in _parts(reason))
    return dict(zip(texts, _letters(), strict=False))


def _letters() -> Iterable[str]:
    """a … z, aa, bb …"""
    return (letter * repeat for repeat in count(1) for letter in ascii_lowercase)


def _footnotes(reasons: Iterable[str], letters: Mapping[str, str]) -> list[dict[str, str]]:
    found: dict[str, list[tuple[int, int]]] = {text: [] for text in letters}
    for reason in reasons:
        for text, times in _parts(reason):
            if times:
                found[text].append(times)
    return [{"letter": letters[text], "text": text + _in_fits(times)} for text, times in found.items()]


def _in_fits(times: list[tuple[int, int]]) -> str:
    if not times:
        return ""
    shares = sorted(times, key=lambda pair: pair[0] / max(pair[1], 1))
    low, high = (f"{k} of {n}" for k, n in (shares[0], shares[-1]))
    return f" in {low} fits" if low == high else f" in {low} to {high} fits of a cell"


# --- text in and around markup -------------------------------------------------------------------------


def one_line(text: object, limit: int = 300) -> str:
    """Collapse white space, so that a message or a folded note is one line, and cut what is very long."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


class Raw(str):
    """Text that is markup already: templates do not escape it."""


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "×": r"$\times$",
        "−": r"$-$",
        "≈": r"$\approx$",
        "…": r"\ldots{}",
    }
)


def escape_tex(value: object) -> str:
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> print(escape_tex("50% of {x_1}"))
    50\% of \{x\_1\}
    """
    return value if isinstance(value, Raw) else str(value).translate(_TEX)


def escape_md(value: object) -> str:
    r"""Escape text for a cell of a GitHub table.

    Examples
    --------
    >>> print(escape_md("a|b *c* <d>"))
    a\|b \*c\* &lt;d&gt;
    """
    if isinstance(value, Raw):
        return value
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", html.escape(str(value), quote=False))


# One escape per format, applied to every expression of a template by the environment itself: a template
# cannot forget it. The delimiters of tex and md keep clear of what those languages use.
_PLAIN = {
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "block_start_string": "<%",
    "block_end_string": "%>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}
_ENVIRONMENTS = {
    "html": {"autoescape": True},
    "tex": {"finalize": escape_tex, **_PLAIN},
    "md": {"finalize": escape_md, **_PLAIN},
}


def templates(format: str) -> jinja2.Environment:
    """Return the jinja2 environment of a format, which escapes what a template is given."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("entrolearn.lab"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **_ENVIRONMENTS[format],
    )


def _known(table: Mapping, name: str, what: str):
    """Look `name` up, or say in one line what there is."""
    if name in table:
        return table[name]
    raise ValueError(f"unknown {what} {name!r}{did_you_mean(name, table)}; known: {', '.join(table)}")
