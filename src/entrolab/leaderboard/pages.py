"""Leaderboard pages, one per board, computed from its file of scores only."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolab.io.atomic import write_text
from entrolab.leaderboard.ratings import DIGITS, win_rates
from entrolab.leaderboard.rows import Slice, read_board, slice_of
from entrolab.leaderboard.standings import N_RESAMPLES, standings
from entrolab.tables.ranking import draw_ranking, rank_models
from entrolab.tables.rendering import templates
from entrolearn.plotting import journal_style, svg_element

#: Board -> its metrics. Only the first metric also gets a leaderboard for each subset of the data sets.
METRICS_SHOWN = {
    "binary": ("gmean", "auc", "log_loss"),
    "multiclass": ("balanced_accuracy", "log_loss"),
    "regression": ("r2",),
}
TITLES = {"binary": "Two classes", "multiclass": "Many classes", "regression": "Regression"}
VARIANTS = {
    "default": "at their defaults",
    "threshold": "with a tuned threshold",
    "tuned": "tuned",
    "tuned threshold": "tuned, with a tuned threshold",
}
RARE, MANY_FEATURES, LEAST_SETS = 0.1, 30, 2
#: Subset of the data sets -> predicate on the facts of a data set.
SUBSETS = {
    "all sets": lambda of: True,
    "rarer class under 10 %": lambda of: of["rarest"] is not None and of["rarest"] < RARE,
    "rarer class 10 % or more": lambda of: of["rarest"] is not None and of["rarest"] >= RARE,
    "fewer than 30 features": lambda of: of["features"] < MANY_FEATURES,
    "30 features or more": lambda of: of["features"] >= MANY_FEATURES,
}
OURS = "entrolearn "  # before the commit, in the description of a machine
WIDTH, HEIGHT, MARGIN = 640, 320, 44  # of the scatter plot, in CSS pixels
FAR = 1.5  # its axis of scores ends this many interquartile ranges beyond the quartiles, as in a box plot


def write_pages(folder: str | Path, output: str | Path, n_resamples: int = N_RESAMPLES) -> list[Path]:
    """Write one page per board and a list of the pages; return their paths, the list of boards first.

    No model is fitted. `folder` contains ``header.json`` and one or more of ``binary.csv``,
    ``multiclass.csv``, ``regression.csv``, otherwise `FileNotFoundError` is raised; `output` is a subfolder
    of the report's.
    """
    folder, output = Path(folder), Path(output)
    files = [folder / f"{board}.csv" for board in METRICS_SHOWN if (folder / f"{board}.csv").exists()]
    if not files:
        raise FileNotFoundError(f"{folder}: found no board; run `python -m benchmarks.board` first")
    environment = templates("html")
    pages, written = [], []
    for file in files:
        page = _page(file, n_resamples)
        for section in page["sections"]:
            if section["diagram"]:
                write_text(output / section["diagram"]["file"], section["diagram"].pop("svg"))
        text = environment.get_template("leaderboard.html.j2").render(root="../", **page)
        write_text(output / f"{file.stem}.html", text)
        pages.append(page)
        written.append(output / f"{file.stem}.html")
    text = environment.get_template("leaderboards.html.j2").render(root="../", pages=pages)
    write_text(output / "index.html", text)
    return [output / "index.html", *written]


def _page(file: Path, n_resamples: int) -> dict:
    """The template variables of a board's page."""
    rows, header = read_board(file)
    board = file.stem
    sections = list(_sections(rows, header, board, n_resamples))
    for number, section in enumerate(sections):
        if section["diagram"]:
            section["diagram"]["file"] = f"{board}-{number}.svg"
    filters = {
        name: list(dict.fromkeys(section[name] for section in sections))
        for name in ("metric", "variant", "size", "sets")
    }
    runs = rows[rows["variant"] != "tuned threshold"]  # the same run as the row "tuned", with its search
    return {
        "board": board,
        "title": TITLES[board],
        "sections": sections,
        "filters": filters,
        "runs": len(runs),
        "failed": int(runs["reason"].notna().sum()),
        "hours": float(runs[["fit_s", "predict_s"]].sum().sum() / 3600),
        "made": _machines([header["made"][digest] for digest in rows["made"].dropna().unique()]),
        "protocol": header["protocol"],
    }


def _machines(made: list[Mapping]) -> dict[str, str]:
    """The machines and versions of runs -> the commits of this library that they were run with."""
    found: dict[str, list[str]] = {}
    for one in made:
        versions = [f"{name} {version}" for name, version in one["versions"].items()]
        parts = dict.fromkeys([*one["machine"].split(", "), *versions])
        said = ", ".join(part for part in parts if not part.startswith(OURS))
        commits = (part.removeprefix(OURS) for part in parts if part.startswith(OURS))
        found.setdefault(said, []).append(next(commits, "an unknown commit"))
    return {said: ", ".join(dict.fromkeys(commits)) for said, commits in found.items()}


def _sections(rows: pd.DataFrame, header: Mapping, board: str, n_resamples: int) -> Iterator[dict]:
    """Yield a leaderboard per metric, variant and number of rows; for the first metric also per subset."""
    facts, ours = header["sets"], set(header.get("ours", ()))
    for metric in METRICS_SHOWN[board]:
        for variant, said in VARIANTS.items():
            for size in sorted(rows["size"].unique()):
                of = slice_of(rows, facts, metric, variant, int(size))
                if of is None:
                    continue
                subsets = SUBSETS if metric == METRICS_SHOWN[board][0] else {"all sets": SUBSETS["all sets"]}
                for subset, belongs in subsets.items():
                    names = [name for name in of.by_set.index if belongs(facts[name])]
                    if len(names) >= (1 if subset == "all sets" else LEAST_SETS):
                        part = of.of_sets(names)
                        yield {
                            "metric": METRICS[metric].label,
                            "variant": said,
                            "size": f"{size:,}",
                            "sets": subset,
                            "names": names,
                            **_section(part, ours, n_resamples, whole=subset == "all sets"),
                        }


def _section(of: Slice, ours: set[str], n_resamples: int, whole: bool) -> dict:
    """The lines of a leaderboard and, if `whole`, its plot, matrix of win rates and diagram."""
    lines = standings(of, n_resamples)
    metric = METRICS[of.metric]
    sign = 1 if metric.greater_is_better else -1
    shown = {
        "lines": [
            {"name": name, "ours": name in ours, **line} for name, line in lines.to_dict("index").items()
        ],
        "scale": 100 * sign if metric.percent else sign,
        "digits": 1 if metric.percent else metric.digits,
        "unit": f"{metric.label}, %" if metric.percent else metric.label,
        "greater": metric.greater_is_better,
    }
    if not whole:
        return {**shown, "plot": None, "rates": None, "diagram": None}
    rates = win_rates(of.by_set).loc[lines.index, lines.index]
    return {
        **shown,
        "plot": _plot(lines, shown["scale"]),
        "rates": rates.to_numpy().tolist(),
        "diagram": _diagram(of.by_set),
    }


def _diagram(by_set: pd.DataFrame) -> dict | None:
    """The critical-difference diagram, its alt text and rule; None if data sets or learners are too few."""
    ranking = rank_models(by_set.round(DIGITS))
    if ranking is None:
        return None
    labels = {name: name for name in ranking.average.index}
    with journal_style():
        picture = svg_element(draw_ranking(ranking, labels))
    return {"svg": picture, "alt": ranking.in_words(labels), "rule": ranking.rule()}


def _plot(lines: pd.DataFrame, scale: float) -> dict | None:
    """Points and axis ticks of a scatter plot of score against fit time (log scale), in pixels.

    Learners whose median run failed are left out; None if that is all of them.
    """
    shown = lines[np.isfinite(lines["fit_s"])]
    if shown.empty:
        return None
    seconds = np.log10(shown["fit_s"].clip(lower=1e-6))
    score = scale * shown["score"]
    x_axis = np.floor(seconds.min()), max(np.ceil(seconds.max()), np.floor(seconds.min()) + 1)
    x_ticks = np.arange(x_axis[0], x_axis[1] + 1)
    first, third = score.quantile([0.25, 0.75])
    most = FAR * (third - first) or np.inf
    within = score.clip(first - most, third + most)  # one learner far off would hide the others' differences
    low, high = within.min(), within.max()
    room = 0.06 * (high - low) or 1.0
    across, up = (MARGIN, WIDTH - MARGIN), (HEIGHT - MARGIN, MARGIN / 2)
    x = _placed(seconds, *x_axis, *across)
    y = _placed(within, low - room, high + room, *up)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "margin": MARGIN,
        "x_ticks": [(_placed(tick, *x_axis, *across), f"{10.0**tick:g}") for tick in x_ticks],
        "y_ticks": [(_placed(tick, low - room, high + room, *up), f"{tick:g}") for tick in _ticks(low, high)],
        "points": [
            {"name": name, "x": x[name], "y": y[name], "front": bool(shown["front"][name])}
            | {"outside": None if score[name] == within[name] else score[name]}
            for name in shown.index
        ],
    }


def _ticks(low: float, high: float) -> np.ndarray:
    """Round numbers from `low` to `high`, at most six, and one at least if they differ."""
    if low == high:
        return np.array([low])
    power = 10.0 ** np.floor(np.log10((high - low) / 5))
    step = power * next(factor for factor in (1, 2, 5, 10) if 5 * factor * power >= high - low)
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)


def _placed(values, low: float, high: float, start: float, end: float):
    """Map values linearly from [`low`, `high`] to [`start`, `end`]."""
    return start + (values - low) / (high - low) * (end - start)
