"""Tables: ours beside the printed number, with a verdict per cell.

A table is built once, as a frame with one row per cell (`COLUMNS`), and rendered from that frame alone (see
`entrolearn.lab.rendering`), so that the csv file is the whole truth and the html, tex and md files are views.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

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
        Keys: paper, table, kind, printed (the table of the published numbers), caption, metric, criterion,
        notes (list of str), datasets (key -> label) and models (key -> {"label", "sublabel"}), both in the
        study's order.

    Raises
    ------
    ValueError
        If the study has no such table.
    """
    entry = look_up(study["tables"], name, f"table of {paper}")
    labels = labels or {}
    models = study["models"]
    chosen = list(models) if entry["models"] == "all" else entry["models"]
    return {
        "paper": paper,
        "table": name,
        "kind": entry["kind"],
        "printed": entry["printed"],
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
    return look_up(KINDS, spec["kind"], "kind of table")(scores, published, records, spec)


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
        look_up({name: name for name in scores.columns if name not in _KEYS}, metric, "metric in the scores")
        look_up(dict.fromkeys(scores["criterion"]), criterion, "criterion in the scores")
    chosen = _cells(scores, criterion)
    diagnostic = _cells(scores, "oracle")
    printed = published[(published["table"] == spec["printed"]) & (published["metric"] == metric)]
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


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table's csv file back."""
    text = {"dataset": str, "model": str, "metric": str, "verdict": str, "reason": str}
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=dict.fromkeys(_NUMBERS, [""]))
    return table[COLUMNS]


_NUMBERS = ["published", "published_std", "ours", "ours_std", "difference", "oracle"]


def one_line(text: object, limit: int = 300) -> str:
    """Collapse white space, so that a message or a folded note is one line, and cut what is very long."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def look_up(table: Mapping, name: str, what: str):
    """Look `name` up, or say in one line what there is."""
    if name in table:
        return table[name]
    raise ValueError(f"unknown {what} {name!r}{did_you_mean(name, table)}; known: {', '.join(table)}")
