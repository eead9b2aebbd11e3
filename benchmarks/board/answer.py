"""Write the results of the boards into README.md and the study `today`; ``make docs`` shows their tables.

``python -m benchmarks.board.answer`` fits no model and replaces the text between the markers of each page. A
board has a table once all its runs with default parameters on at most 1,000 rows exist; README.md and the
study keep their text until the board of two classes has one.
"""

import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchmarks.board.learners import LEARNERS
from benchmarks.board.running import FOLDER, N_RUNS
from benchmarks.board.sets import BOARDS, SIZES, TUNED, n_rows, sets_of
from benchmarks.board.standings import Slice, slice_of, standings
from benchmarks.data import ROOT
from entrolab.fit.metrics import METRICS
from entrolab.tables.ranking import TESTS

#: Board -> its metrics; learners are ranked by the first.
METRICS_SHOWN = {
    "binary": ("gmean", "auc", "log_loss"),
    "multiclass": ("balanced_accuracy", "log_loss"),
    "regression": ("r2",),
}
TITLES = {"binary": "Two classes", "multiclass": "Many classes", "regression": "Regression"}
TEXTS = dict.fromkeys(("set", "learner", "variant", "reason", "made"), "string")  # columns of the rows
SIZE = SIZES[0]
#: Metric -> its label in README.md and in the study, and the variants that are compared there, in words.
ANSWERED = {
    "gmean": ("GMEAN", {"default": "at defaults", "threshold": "with tuned thresholds"}),
    "log_loss": ("Probabilities (log loss)", {"default": "at defaults"}),
}
VARIANTS = {
    "default": "At their defaults",
    "threshold": "With thresholds tuned on the training rows",
    "tuned": "Tuned with ten configurations each",
    "tuned threshold": "Tuned, with tuned thresholds",
}
DATA = "data sets (at most 1,000 rows drawn from each, half of them for training)"

Slices = Mapping[tuple[str, str], Slice]  # by variant and metric


class Results(NamedTuple):
    """The results of a board with all planned default runs on at most 1,000 rows."""

    slices: Slices  # on at most 1,000 rows, with all planned runs
    larger: Mapping[int, Slice]  # at defaults on more rows: maximum number of rows -> scores
    lines: pd.DataFrame  # of the table


Boards = Mapping[str, Results]


def main() -> None:
    """Write all pages."""
    boards = finished(read_rows())
    for page in PAGES.values():
        written = page.path.read_text(encoding="utf-8")
        page.path.write_text(page.replaced(written, boards), encoding="utf-8")


def page_text(boards: Boards) -> str:
    """The text on all boards for docs/which-learner.md, as Markdown."""
    parts = []
    for board in BOARDS:
        if board not in boards:
            planned = _planned(board, "default")
            parts.append(f"{TITLES[board]}: not all of the {planned} runs of each learner are done yet.\n")
            continue
        slices, larger, lines = boards[board]
        first = METRICS_SHOWN[board][0]
        shown = [(start, slices[v, first]) for v, start in VARIANTS.items() if (v, first) in slices]
        shown += [(f"At their defaults on at most {size:,} rows", of) for size, of in larger.items()]
        leaders = [_leader(start, of, board) for start, of in shown]
        front = f"- Pareto front of mean {METRICS[first].label} and fit time: {_front(lines, board)}."
        text = "\n".join([*leaders, front, "", _table(lines, slices, board)])
        parts.append(f"### {TITLES[board]}\n\n{text}")
    return "\n" + "\n".join(parts) + "\n"


def readme_text(boards: Boards) -> str | None:
    """The answer in README.md, from the board of two classes; None before it is computed."""
    if "binary" not in boards:
        return None
    text = [
        f"On two-class {DATA},",
        "beside the learners of other libraries ([how](docs/which-learner.md#the-boards)):",
        "",
    ]
    for label, answer in _answers(boards["binary"].slices, _code):
        item = f"- **{label}**: {answer}."
        text += textwrap.wrap(item, 128, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(text) + "\n"


def study_text(boards: Boards) -> str | None:
    """The first text of the answer in the study `today`; None as for `readme_text`."""
    if "binary" not in boards:
        return None
    slices = boards["binary"].slices
    answers = " ".join(f"{label}: {text}." for label, text in _answers(slices, _plain))
    text = f"On two-class {DATA}, beside learners of other libraries. {answers}"
    lines = textwrap.wrap(text, 114, break_on_hyphens=False)
    return "\n".join(["  - >-", *(f"    {line}" for line in lines)]) + "\n"


class Page(NamedTuple):
    """A page with a text from the boards between two markers."""

    path: Path
    text: Callable[[Boards], str | None]
    comment: str = "<!-- {} -->"

    def replaced(self, written: str, boards: Boards) -> str:
        """The page with its text replaced, or as it is written if the boards give none yet."""
        text = self.text(boards)
        begin = self.comment.format("the boards: python -m benchmarks.board.answer") + "\n"
        end = self.comment.format("end of the boards")
        if text is None:
            return written
        before, rest = written.split(begin)
        return before + begin + text + end + rest.split(end)[1]


PAGES = {
    "readme": Page(ROOT / "README.md", readme_text),
    "study": Page(ROOT / "config/papers/today.yaml", study_text, comment="  # {}"),
}


# -------------------------------------------------------------------------------------------- rows to results


def read_rows() -> dict[str, pd.DataFrame]:
    """The rows of each board that has rows."""
    files = {board: FOLDER / f"{board}.csv" for board in BOARDS}
    return {board: pd.read_csv(file, dtype=TEXTS) for board, file in files.items() if file.exists()}


def finished(rows: Mapping[str, pd.DataFrame]) -> Boards:
    """The results of the boards whose learners have all planned default runs."""
    found = {}
    for board, of_board in rows.items():
        first = METRICS_SHOWN[board][0]
        of = slice_of(of_board, first, "default", SIZE)
        if of is None or _without_runs(of_board, board) or len(of.scores) < _planned(board, "default"):
            continue
        found[board] = Results(_slices(of_board, of, board), _larger(of_board, board), standings(of))
    return found


def _without_runs(rows: pd.DataFrame, board: str) -> set[str]:
    """The learners of a board that have no default runs."""
    if board == "multiclass":  # only their libraries know which classifiers take many classes
        return set()
    attribute = "regressor" if board == "regression" else "classifier"
    compared = {name: learner for name, learner in LEARNERS.items() if not learner.only_tuned}
    wanted = {name for name, learner in compared.items() if getattr(learner, attribute)}
    return wanted - set(rows.loc[(rows["variant"] == "default") & (rows["size"] == SIZE), "learner"])


def _planned(board: str, variant: str) -> int:
    """The planned number of runs of a learner in a variant."""
    kind = variant.split()[0]  # "tuned threshold" is made with "tuned"
    names = TUNED[board] if kind == "tuned" else sets_of(board)
    return len(names) * N_RUNS[kind, SIZE]


def _slices(rows: pd.DataFrame, default: Slice, board: str) -> Slices:
    """The slices of a board with all planned runs; `default` is the one that learners are ranked by."""
    first, *others = METRICS_SHOWN[board]
    wanted = [("default", metric) for metric in others]
    wanted += [(variant, first) for variant in VARIANTS if variant != "default"]
    found = {key: slice_of(rows, key[1], key[0], SIZE) for key in wanted}
    everyone = set(default.scores)
    return {("default", first): default} | {
        (variant, metric): of
        for (variant, metric), of in found.items()
        if of is not None
        and len(of.scores) >= _planned(board, variant)
        and (variant != "threshold" or set(of.scores) == everyone)
    }


def _larger(rows: pd.DataFrame, board: str) -> dict[int, Slice]:
    """The default slices of more rows with all runs of the data sets that have so many."""
    found = {}
    for less, size in itertools.pairwise(SIZES):
        n_sets = sum(n_rows(name) > less for name in sets_of(board))
        of = slice_of(rows, METRICS_SHOWN[board][0], "default", size)
        if of is not None and len(of.scores) >= n_sets * N_RUNS["default", size]:
            found[size] = of
    return found


def _ranks(of: Slice) -> pd.Series:
    """Mean ranks of the learners, the best first."""
    return of.by_set.rank(axis=1, ascending=False).mean().sort_values(kind="stable")


def _best(ranks: pd.Series, ours: bool) -> str | None:
    """The learner with the best mean rank, of this library or of the others."""
    return next((name for name in ranks.index if LEARNERS[name].ours is ours), None)


# -------------------------------------------------------------------------------------------- results to text

# Combinations of learners, in the words of README.md.
COMBINED = {"RFM on EEM": "`RecursiveFeatureClassifier` on `EEMClassifier`"}


def _path(name: str, board: str) -> str:
    """The public import path of a learner of this library; empty for others, and for combinations."""
    learner = LEARNERS[name]
    path = learner.regressor if board == "regression" else learner.classifier
    return path if path.startswith("entrolearn.") else ""


def _plain(name: str, board: str) -> str:
    return _path(name, board).rpartition(".")[2] or name


def _code(name: str, board: str) -> str:
    return f"`{_plain(name, board)}`" if _path(name, board) else COMBINED.get(name, name)


def _linked(name: str, board: str) -> str:
    path = _path(name, board)
    return f"{{class}}`~{path}`" if path else name


def _answers(slices: Slices, named: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    """Yield for each metric of `ANSWERED` its label, and a clause for each variant."""
    for metric, (label, variants) in ANSWERED.items():
        clauses = [
            f"{words}, {_compared(slices[variant, metric], named)}"
            for variant, words in variants.items()
            if (variant, metric) in slices
        ]
        if clauses:
            yield label, "; ".join(clauses)


def _compared(of: Slice, named: Callable[[str, str], str]) -> str:
    """The learner with the best mean rank, and the best of the other side: this library, or the others."""
    ranks = _ranks(of)
    first = ranks.index[0]
    text = f"{named(first, 'binary')} has the best of {len(ranks)} mean ranks on {len(of.sets)} sets, "
    text += f"{ranks[first]:.1f}"
    rival = _best(ranks, ours=not LEARNERS[first].ours)
    if rival is None:
        return text
    ranking = of.ranking
    differs = ""
    if ranking is not None:
        differs = f", {'no' if rival in ranking.not_different_from(first) else 'a'} significant difference"
    whose = "the other libraries" if LEARNERS[first].ours else "this library"
    return f"{text}, and {named(rival, 'binary')} the best of {whose}, {ranks[rival]:.1f}{differs}"


def _leader(start: str, of: Slice, board: str) -> str:
    """A list item on the learner with the best mean rank and those that do not differ significantly."""
    ranks, ranking = _ranks(of), of.ranking
    first, best = ranks.index[0], _best(ranks, ours=True)
    text = f"- {start}, {_linked(first, board)} has the best of {len(ranks)} mean ranks "
    text += f"by {METRICS[of.metric].label}, {ranks[first]:.1f}"
    if ranking is None:
        return f"{text}; {len(of.by_set)} sets are too few to test differences."
    alike = ranking.not_different_from(first)
    unlike = [name for name in ranks.index[1:] if name not in alike]
    named = [_linked(name, board) for name in min(alike, unlike, key=len)]
    few = ", ".join(named)
    if len(alike) <= len(unlike):
        others = f"all others but {few} differ" if few else "all others differ"
    else:
        others = f"only {few} {'differs' if len(named) == 1 else 'differ'}" if few else "no other differs"
    text += f". By {TESTS[ranking.shown_test]} on {len(of.by_set)} sets, {others} significantly."
    if best in (first, None):
        return text
    return f"{text} The best of this library is {_linked(best, board)}, {ranks[best]:.1f}."


def _front(lines: pd.DataFrame, board: str) -> str:
    """The learners on the Pareto front of score and fit time, the fastest first."""
    front = lines[lines["front"]].sort_values("fit_s")
    return ", ".join(f"{_linked(name, board)} ({line.fit_s:.2g} s)" for name, line in front.iterrows())


def _table(lines: pd.DataFrame, slices: Slices, board: str) -> str:
    """The table of a board as Markdown: ranks and ratings at defaults, mean scores, seconds."""
    scores = {key: of for key, of in slices.items() if key[0] in ("default", "threshold")}
    heads = ["mean rank", "Elo", *(f"{_head(*key)} ({len(of.sets)} sets)" for key, of in scores.items())]
    heads += ["fit, s / 1,000 rows", "predict, s / 1,000 rows"]
    shown = [f"| learner | {' | '.join(heads)} |", "| --- |" + " --: |" * len(heads)]
    for name, line in lines.iterrows():
        cells = [f"{line['rank']:.1f}", f"{line.elo:.0f} [{line.elo_low:.0f}, {line.elo_high:.0f}]"]
        cells += [_score(of, name) for of in scores.values()]
        cells += [f"{one:.2g}" for one in (line.fit_s, line.predict_s)]
        shown.append(f"| {_linked(name, board)} | {' | '.join(cells)} |")
    of = slices["default", METRICS_SHOWN[board][0]]
    for name in of.scores.columns.difference(of.ranked, sort=False):
        cells = ["–", "–", *(_score(one, name) for one in scores.values())]
        cells += [f"{seconds[name].median():.2g}" for seconds in (of.fit_s, of.predict_s)]
        shown.append(f"| {_linked(name, board)} | {' | '.join(cells)} |")
    return "\n".join(shown) + "\n"


def _head(variant: str, metric: str) -> str:
    unit = ", %" if METRICS[metric].percent else ""
    return f"{METRICS[metric].label}{' with a tuned threshold' if variant == 'threshold' else ''}{unit}"


def _score(of: Slice, name: str) -> str:
    """A learner's mean score over the data sets that all ranked learners finished.

    Of a learner outside the ranks it is the mean over those that it finished as well, with their number. A
    dash stands for no metric or no such set.
    """
    own = of.own(name)[name] if name in of.scores else ()
    if not len(own):
        return "–"
    metric = METRICS[of.metric]
    value = own.mean() * (1 if metric.greater_is_better else -1)
    few = "" if name in of.ranked else f" ({len(own)} sets)"
    return (f"{100 * value:.1f}" if metric.percent else f"{value:.3f}") + few


if __name__ == "__main__":
    main()
