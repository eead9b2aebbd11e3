"""What MLflow's page says of an experiment, a run and a registered model: notes in markdown.

Of a long note the page shows the first lines until it is asked for more. Nothing in a note differs between
reruns.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from entrolab.fit.metrics import METRICS
from entrolab.io.run_files import Cell, CellFiles
from entrolab.study.lookup import scaling_of
from entrolab.tables.rendering import escape_md
from entrolab.tables.verdicts import VERDICTS
from entrolab.text import one_line
from entrolab.tracking.comparisons import Comparison, headline

__all__ = [
    "alias",
    "cell_note",
    "experiment_note",
    "linked",
    "paper_note",
    "registered_note",
    "version_note",
]

LONGEST = 1000  # of a text that somebody else has written


def _plain(text: object) -> str:
    """What a study, a catalog or an error says, in one line: no markup, link or picture of its own."""
    return escape_md(one_line(text, LONGEST))


def cell_note(
    study: Mapping, cell: Cell, label: str, files: CellFiles, comparisons: Sequence[Comparison]
) -> str:
    """What the run of a cell is, and how to get it again."""
    record = files.record
    lines = [
        f"**{_plain(label)}** (`{record['estimator']}`) on **{cell.dataset}** · {_plain(study['title'])}",
        "",
    ]
    if not record["success"]:
        lines += [f"**{record['kind']}**: {_plain(record['error'])}", ""]
    draws = _draws(study)
    if comparisons:
        lines += [_in_words(headline(comparisons), draws, _link), ""]
        lines += [
            *_table(["criterion", "metric", "ours", "printed", "difference", "verdict", "table"]),
            *(_row(_comparison(one)) for one in comparisons),
        ]
    if chosen := files.most_chosen():
        lines += ["", "Chosen most often (`oracle` looks at the test rows: a diagnostic, no result):", ""]
        for criterion, (params, times) in chosen.items():
            values = ", ".join(f"{name} = {value}" for name, value in params.items())
            lines.append(f"- {criterion}: {_plain(values) or 'the only point'} ({times} {draws})")
    lines += [
        f"- {_plain(note)}: {count} of {record['n_candidates']} fits"
        for note, count in record["notes"].items()
    ]
    if record["success"] and files.facts.get("error"):
        lines.append(f"- no model is stored: {_plain(files.facts['error'])}")
    command = f"snakemake {cell.selection.as_posix()} --forcerun {cell.record.as_posix()}"
    return "\n".join([*lines, "", "Regenerate it with", "", f"    {command}"])


def _draws(study: Mapping) -> str:
    return "trials" if "trials" in study["protocol"] else "folds"


def _in_words(one: Comparison, draws: str, table: Callable[[str], str]) -> str:
    """A cell's result in one sentence."""
    metric = METRICS[one.metric]
    unit = " %" if metric.percent else ""
    said = f"{metric.label} {_with_spread(one.ours, one.ours_std, one.digits)}{unit} over the {draws}"
    if one.is_printed:
        printed = _with_spread(one.printed, one.printed_std, one.digits)
        said += f", printed {printed}{unit}: **{one.verdict}** ({table(one.table)})"
    return f"{said}; parameters chosen by `{one.criterion}`."


def _with_spread(value: float, std: float, digits: int) -> str:
    return f"{value:.{digits}f}" + ("" if math.isnan(std) else f" ± {std:.{digits}f}")


def _link(table: str) -> str:
    """A table's page, at its place among the artifacts of the paper's run."""
    return f"[{table}](tables/{table}.html)"


def _comparison(one: Comparison) -> list[str]:
    unit = " (%)" if METRICS[one.metric].percent else ""
    printed = difference = ""
    if one.is_printed:
        printed = _with_spread(one.printed, one.printed_std, one.digits)
        difference = f"{one.difference:+.{one.digits}f}"
    ours = _with_spread(one.ours, one.ours_std, one.digits)
    return [one.criterion, f"{one.metric}{unit}", ours, printed, difference, one.verdict, _link(one.table)]


def _table(names: Sequence[str]) -> list[str]:
    return [_row(names), "|---" * len(names) + "|"]


def _row(cells: Sequence[str]) -> str:
    """A row of a table; the page leaves no room between its cells."""
    return f"| {'&emsp; | '.join(cells)} |"


def experiment_note(study: Mapping, paper: str, views: Mapping[str, str]) -> str:
    """What an experiment is; `views` are addresses on the page by what they show."""
    shown = ", ".join(f"[{name}]({address})" for name, address in views.items())
    parts = [
        f"**{_plain(study['title'])}** · `snakemake {paper}` · {shown}",
        *_source(study),
        f"The run *{paper} · tables* holds the rendered tables, the figures and the study's file; each "
        "of the others is of a data set and a model: `ours` beside the `published` number, the `difference`, "
        "and the tag `verdict`.",
    ]
    return "\n\n".join(parts)


def _source(study: Mapping) -> list[str]:
    """Where a study comes from, as far as it says: the reference and the address."""
    url = f"<{study['url']}>" if study["url"] else ""
    return [part for part in (_plain(study["reference"]), url) if part]


def paper_note(study: Mapping, paper: str, verdicts: Mapping[str, Mapping[str, int]], reproduced: str) -> str:
    """What the paper's own run is, how many printed numbers are reproduced, and its verdicts by table."""
    lines = [f"**{_plain(study['title'])}** · `snakemake {paper}`", ""]
    if verdicts:
        lines += [
            f"Reproduced: {reproduced} printed numbers.",
            "",
            *_table(["table", *VERDICTS]),
            *(_row([_link(table), *map(str, found.values())]) for table, found in verdicts.items()),
        ]
    lines += ["", f"Report: `results/report/{paper}.html`, beside this store."]
    return "\n\n".join(["\n".join(lines), *_source(study)])


def registered_note(study: Mapping, paper: str) -> str:
    """What the registered model of a paper is."""
    return (
        f"Fitted models of *{_plain(study['title'])}*. The alias `{alias('<data set>')}` leads to the one "
        "that scores best on a data set, of those that the first table with its scores compares:\n\n"
        f'    mlflow.sklearn.load_model("models:/{paper}@{alias("<data set>")}")'
    )


def version_note(study: Mapping, cell: Cell, label: str, files: CellFiles, best: Comparison) -> str:
    """What a version of it is: the best model of a data set in a table."""
    params = ", ".join(f"{name} = {value}" for name, value in files.facts["params"].items())
    scaling = ", ".join(f"{name} {value}" for name, value in scaling_of(study, cell.dataset).items())
    parts = [
        f"{_plain(label)} on {cell.dataset}, the best of {best.table} there.",
        _in_words(best, _draws(study), str),
        f"Fitted with {_plain(params) or 'the only parameters'}, chosen by `{files.facts['chosen_by']}`. It "
        f"takes rows as they stand in `{cell.scaled.as_posix()}` (scaling: {scaling}).",
        f'    mlflow.sklearn.load_model("models:/{cell.paper}@{alias(cell.dataset)}")',
    ]
    return "\n\n".join(parts)


def alias(dataset: str) -> str:
    """The alias of the best model of a data set."""
    return f"best-{dataset}"


def linked(note: str, artifacts: str) -> str:
    """A note whose links lead to the tables among the `artifacts` of the paper's run."""
    return note.replace("](tables/", f"]({artifacts}/tables/")
