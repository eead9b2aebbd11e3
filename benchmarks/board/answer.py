"""Write the results of the boards into docs/which-learner.md, README.md and the study `today`.

They stand between markers.

``python -m benchmarks.board.answer`` fits no model. A board has a table once all its runs with default
parameters on at most 1,000 rows exist; the text in README.md is kept until the board of two classes has one.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from benchmarks.board.learners import LEARNERS
from benchmarks.board.protocol import FOLDS
from benchmarks.board.running import FOLDER, REPEATS
from benchmarks.board.sets import BOARDS, SIZES, TUNED, facts, sets_of
from benchmarks.data import ROOT
from entrolab.fit.metrics import METRICS
from entrolab.leaderboard.pages import METRICS_SHOWN, TITLES
from entrolab.leaderboard.ratings import DIGITS
from entrolab.leaderboard.rows import Slice, read_board, slice_of
from entrolab.leaderboard.standings import standings
from entrolab.tables.ranking import TESTS, rank_models

__all__ = ["BEGIN", "END", "PAGES", "TEXTS", "between", "page_text", "readme_text", "study_text"]

PAGES = {
    "docs": ROOT / "docs/which-learner.md",
    "readme": ROOT / "README.md",
    "study": ROOT / "config/papers/today.yaml",
}
BEGIN, END = "the boards: python -m benchmarks.board.answer", "end of the boards"
SIZE = SIZES[0]
SHOWN = ("rank", "elo", "elo_low", "elo_high", "fit_s", "predict_s", "front")
#: Lines of README.md by the metric that they are about, and the variants that each compares.
README = {
    "gmean": ("GMEAN", ("default", "threshold")),
    "log_loss": ("Probabilities (log loss)", ("default",)),
}
VARIANTS = {
    "default": "At their defaults",
    "threshold": "With thresholds tuned on the training rows",
    "tuned": "Tuned with ten configurations each",
    "tuned threshold": "Tuned, with tuned thresholds",
}


def main() -> None:
    """Write all pages."""
    boards = read_boards(FOLDER)
    for name, write in TEXTS.items():
        page, text = PAGES[name].read_text(encoding="utf-8"), write(boards)
        if text is not None:
            PAGES[name].write_text(between(page, text), encoding="utf-8")


def read_boards(folder: Path) -> dict[str, tuple[pd.DataFrame, dict[str, Mapping]]]:
    """The rows of each board that has rows, and the facts of its data sets."""
    files = {board: folder / f"{board}.csv" for board in BOARDS}
    facts_of = {name: facts(name) for board in BOARDS for name in sets_of(board)}
    return {board: (read_board(file)[0], facts_of) for board, file in files.items() if file.exists()}


def between(page: str, text: str) -> str:
    """A page with the text between its markers replaced.

    Raises
    ------
    ValueError
        If the markers are not there, once and in order.
    """
    found = re.fullmatch(rf"(.*{BEGIN}[^\n]*\n)(.*?)([^\n]*{END}.*)", page, flags=re.DOTALL)
    if found is None or page.count(BEGIN) + page.count(END) > 2:
        raise ValueError(f"the page needs the lines {BEGIN!r} and {END!r}, once each and in this order")
    return f"{found[1]}{text}{found[3]}"


def page_text(boards: Mapping) -> str:
    """The text on all boards for docs/which-learner.md."""
    parts = []
    for board in BOARDS:
        done, planned = _draws(boards, board)
        if done < planned:
            parts.append(f"{TITLES[board]}: no table before its {planned} draws are computed.\n")
            continue
        slices = _slices(*boards[board], board)
        lines = _lines(slices, board)
        text = f"{_sentences(slices, lines, board)}\n\n{_table(lines, board, linked=True)}"
        parts.append(f"### {TITLES[board]}\n\n{text}")
    return "\n" + "\n".join(parts) + "\n"


def readme_text(boards: Mapping) -> str | None:
    """The answer in README.md, from the board of two classes; None before it is computed."""
    done, planned = _draws(boards, "binary")
    if done < planned:
        return None
    slices = _slices(*boards["binary"], "binary")
    n_sets = len(slices["default", METRICS_SHOWN["binary"][0]].by_set)
    lines = [
        f"On {n_sets} two-class sets of at most 1,000 rows, beside boosting, xRFM, forests, kernel machines",
        "and linear models of other libraries ([how](docs/which-learner.md#the-boards)):",
        "",
    ]
    lines += [f"- **{label}**: {text}." for label, text in _leaders(slices)]
    standing = _lines(slices, "binary")
    front = standing[standing["front"]].sort_values("fit_s")
    members = ", ".join(
        f"{_named(name, 'binary', False)} ({line.fit_s:.2g} s)" for name, line in front.iterrows()
    )
    lines.append(
        f"- **Time**: none is better in GMEAN at defaults and faster to fit 1,000 rows than {members}."
    )
    return "\n".join(lines) + "\n"


def study_text(boards: Mapping) -> str | None:
    """The first sentence of the answer in the study `today`, as :func:`readme_text`."""
    done, planned = _draws(boards, "binary")
    if done < planned:
        return None
    slices = _slices(*boards["binary"], "binary")
    n_sets = len(slices["default", METRICS_SHOWN["binary"][0]].by_set)
    by_metric = " ".join(f"{label}: {text}." for label, text in _leaders(slices))
    text = (
        f"On {n_sets} two-class sets of at most 1,000 rows, beside learners of other libraries. {by_metric}"
    )
    lines = textwrap.wrap(text.replace("`", ""), 114, break_on_hyphens=False)
    return "\n".join(["  - >-", *(f"    {line}" for line in lines)]) + "\n"


def _leaders(slices: Mapping[tuple[str, str], Slice]) -> Iterator[tuple[str, str]]:
    """Yield each metric of the answer with the learners that rank first, at defaults and tuned."""
    for metric, (label, variants) in README.items():
        found = [
            f"{VARIANTS[v].lower()}, {_compared(slices[v, metric])}"
            for v in variants
            if (v, metric) in slices
        ]
        yield label, "; ".join(found)


def _compared(of: Slice) -> str:
    """The learner that ranks first and the best of the others', or of this library, in a clause."""
    by_set = of.by_set.round(DIGITS)
    ranks = _mean_ranks(by_set)
    first = ranks.index[0]
    text = f"{_named(first, 'binary', False)} has the best mean rank, {ranks[first]:.1f} of {len(ranks)}"
    rivals = [name for name in ranks.index if LEARNERS[name].ours is not LEARNERS[first].ours]
    if not rivals:
        return text
    best, ranking = rivals[0], rank_models(by_set)
    differs = ""
    if ranking is not None:
        differs = ", not significantly worse" if best in ranking.beside(first) else ", significantly worse"
    whose = "the other libraries" if LEARNERS[first].ours else "this library"
    return f"{text}, and {_named(best, 'binary', False)} the best of {whose}, {ranks[best]:.1f}{differs}"


def _mean_ranks(by_set: pd.DataFrame) -> pd.Series:
    """Mean ranks of the learners, the best first."""
    return by_set.rank(axis=1, ascending=False).mean().sort_values(kind="stable")


def _best_of_ours(ranks: pd.Series) -> str | None:
    return next((name for name in ranks.index if LEARNERS[name].ours), None)


def _draws(boards: Mapping, board: str) -> tuple[int, int]:
    """The number of draws with runs of every learner with default parameters, and the number planned."""
    planned = _planned(board, "default")
    if board not in boards:
        return 0, planned
    of = slice_of(*boards[board], METRICS_SHOWN[board][0], "default", SIZE)
    return (0 if of is None else len(of.scores)), planned


def _planned(board: str, variant: str) -> int:
    """The number of draws of a variant."""
    kind = variant.split()[0]  # "tuned threshold" is made with "tuned"
    names = TUNED[board] if kind == "tuned" else sets_of(board)
    return len(names) * REPEATS[kind, SIZE] * FOLDS


def _slices(rows: pd.DataFrame, facts_of: Mapping, board: str) -> dict[tuple[str, str], Slice]:
    """The complete slices of a board, by variant and metric."""
    wanted = [("default", metric) for metric in METRICS_SHOWN[board]]
    wanted += [(variant, METRICS_SHOWN[board][0]) for variant in ("threshold", "tuned", "tuned threshold")]
    found = {key: slice_of(rows, facts_of, key[1], key[0], SIZE) for key in wanted}
    complete = {
        key for key, of in found.items() if of is not None and len(of.scores) >= _planned(board, key[0])
    }
    return {key: found[key] for key in wanted if key in complete}


def _lines(slices: Mapping[tuple[str, str], Slice], board: str) -> pd.DataFrame:
    """One line per learner: standings by the first metric, and the means of the other metrics."""
    first = METRICS_SHOWN[board][0]
    lines = standings(slices["default", first])[list(SHOWN)]
    for (variant, metric), of in slices.items():
        if variant in ("default", "threshold"):
            sign = 1 if METRICS[metric].greater_is_better else -1
            lines[f"{variant} {metric}"] = sign * of.by_set.mean()
    return lines


def _table(lines: pd.DataFrame, board: str, linked: bool) -> str:
    """The lines as Markdown, with links to the classes in the documentation."""
    scores = [column for column in lines if " " in column]
    heads = ["mean rank", "Elo", *map(_head, scores), "fit, s / 1,000 rows", "predict, s / 1,000 rows"]
    shown = [f"| learner | {' | '.join(heads)} |", "| --- |" + " --: |" * len(heads)]
    for name, line in lines.iterrows():
        cells = [f"{line['rank']:.1f}", f"{line.elo:.0f} [{line.elo_low:.0f}, {line.elo_high:.0f}]"]
        cells += [_score(line[column], column.split()[-1]) for column in scores]
        cells += [
            "over the limit" if line[key] == float("inf") else f"{line[key]:.2g}"
            for key in ("fit_s", "predict_s")
        ]
        shown.append(f"| {_named(name, board, linked)} | {' | '.join(cells)} |")
    return "\n".join(shown) + "\n"


def _head(column: str) -> str:
    variant, metric = column.split()
    unit = ", %" if METRICS[metric].percent else ""
    return f"{METRICS[metric].label}{' with a tuned threshold' if variant == 'threshold' else ''}{unit}"


def _score(value: float, metric: str) -> str:
    if value != value:
        return "–"
    return f"{100 * value:.1f}" if METRICS[metric].percent else f"{value:.3f}"


def _named(name: str, board: str, linked: bool) -> str:
    learner = LEARNERS[name]
    path = learner.regressor if board == "regression" else learner.classifier
    if not learner.ours or not path.startswith("entrolearn."):
        return name
    return f"{{class}}`~{path}`" if linked else f"`{path.removeprefix('entrolearn.')}`"


def _sentences(slices: Mapping[tuple[str, str], Slice], lines: pd.DataFrame, board: str) -> str:
    """A text on the leaders of each variant, those that do not differ significantly, and the Pareto front."""
    first = METRICS_SHOWN[board][0]
    leaders = [_leader(start, slices[v, first]) for v, start in VARIANTS.items() if (v, first) in slices]
    return "\n".join([*leaders, _front(lines, first)])


def _front(lines: pd.DataFrame, metric: str) -> str:
    front = lines[lines["front"]].sort_values("fit_s")
    members = ", ".join(f"{name} ({line.fit_s:.2g} s)" for name, line in front.iterrows())
    return f"- Pareto front of {METRICS[metric].label} and seconds to fit 1,000 rows: {members}."


def _leader(start: str, of: Slice) -> str:
    by_set, label = of.by_set.round(DIGITS), METRICS[of.metric].label
    ranks = _mean_ranks(by_set)
    first, best = ranks.index[0], _best_of_ours(ranks)
    text = f"- {start}, {first} has the best mean rank by {label}, {ranks[first]:.1f} of {len(ranks)}"
    ranking = rank_models(by_set)
    if ranking is None:
        return f"{text}; {len(by_set)} sets are too few to test differences."
    beside = ", ".join(ranking.beside(first))
    tested = f"by {TESTS[ranking.shown_test]} on {len(by_set)} sets"
    text += f"; {tested} {f'these do not differ significantly: {beside}' if beside else 'all others differ'}."
    return text if best in (first, None) else f"{text} The best of this library is {best}, {ranks[best]:.1f}."


#: Page -> its text from the boards.
TEXTS = {"docs": page_text, "readme": readme_text, "study": study_text}

if __name__ == "__main__":
    main()
