"""Markdown notes of experiments, runs and registered models for MLflow's pages; deterministic."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from entrolab.fit.metrics import METRICS
from entrolab.io.run_files import RunContents, StudyRun
from entrolab.jobs.command import command_for
from entrolab.study.definition import Trials
from entrolab.study.study import Study
from entrolab.tables.making import Agreement
from entrolab.tables.rendering import escape_md
from entrolab.tables.verdicts import VERDICTS
from entrolab.text import one_line
from entrolab.tracking.comparisons import headline, is_published

BEST = "best"  # alias of the registered version with the best score
LONGEST = 1000  # maximum length of a text of a study, a catalog or an error


def _plain(text: object) -> str:
    """A text of a study, a catalog or an error as one line without markup, links or pictures."""
    return escape_md(one_line(text, LONGEST))


def run_note(study: Study, run: StudyRun, label: str, files: RunContents, comparisons: Sequence[Any]) -> str:
    """The note of a run: its model, data set, scores, selected parameters, and its command."""
    record = files.record
    title = f"**{_plain(label)}** (`{record['estimator']}`) on **{run.dataset}** · {_plain(study.title)}"
    lines = [title, ""]
    if not record["success"]:
        lines += [f"**{record['status']}**: {_plain(record['error'])}", ""]
    if comparisons:
        lines += [
            *(_sentence(headline(comparisons), study, _link), ""),
            *_table(["criterion", "metric", "ours", "published", "difference", "verdict", "table"]),
            *map(_row_of, comparisons),
        ]
    if chosen := files.most_chosen():
        lines += ["", "Selected most often (`oracle` uses the test rows: a diagnostic, not a result):", ""]
        for criterion, (params, times) in chosen.items():
            values = ", ".join(f"{name} = {value}" for name, value in params.items())
            lines.append(f"- {criterion}: {_plain(values) or 'the only point'} ({times} {_draws(study)})")
    lines += [
        f"- {_plain(note)}: {count} of {record['n_candidates']} fits"
        for note, count in record["notes"].items()
    ]
    if record["success"] and files.without_model:
        lines.append(f"- no model is stored: {_plain(files.without_model)}")
    again = command_for(study.file, ".", {}, run.selection.as_posix())
    command = f"{again} --forcerun {run.record.as_posix()}"
    return "\n".join([*lines, "", "Regenerate it with", "", f"    {command}"])


def _draws(study: Study) -> str:
    return "trials" if isinstance(study.protocol, Trials) else "folds"


def _sentence(one: Any, study: Study, link: Callable[[str], str]) -> str:
    """A run's score, published value, verdict and criterion in one sentence."""
    unit = " %" if METRICS[one.metric].percent else ""
    ours, published, _ = _values(one)
    said = f"{METRICS[one.metric].label} {ours}{unit} over the {_draws(study)}"
    if published:
        said += f", published {published}{unit}: **{one.verdict}** ({link(one.table)})"
    return f"{said}; parameters selected by `{one.criterion}`."


def _values(one: Any) -> tuple[str, str, str]:
    """Our value and the published one with ±, and the difference; "" if there is no published value."""
    metric = METRICS[one.metric]
    digits = 2 if metric.percent else metric.digits

    def spread(value: float, std: float) -> str:
        return f"{value:.{digits}f}" + ("" if math.isnan(std) else f" ± {std:.{digits}f}")

    ours = spread(one.ours, one.ours_std)
    if not is_published(one):
        return ours, "", ""
    return ours, spread(one.published, one.published_std), f"{one.difference:+.{digits}f}"


def _link(table: str) -> str:
    """The link to a table's page among the artifacts of the study's run."""
    return f"[{table}](tables/{table}.html)"


def _row_of(one: Any) -> str:
    metric = one.metric + (" (%)" if METRICS[one.metric].percent else "")
    return _row([one.criterion, metric, *_values(one), one.verdict, _link(one.table)])


def _table(names: Sequence[str]) -> list[str]:
    return [_row(names), "|---" * len(names) + "|"]


def _row(cells: Sequence[str]) -> str:
    """A row of a table, with space between cells, which MLflow's page does not add."""
    return f"| {'&emsp; | '.join(cells)} |"


def experiment_note(study: Study) -> str:
    """The note of a study's experiment."""
    parts = [
        _heading(study),
        *_source(study),
        f"The run *{study.name} · tables* contains the rendered tables, the figures and the study's file; "
        f"every other run is a data set and a model: {_of_a_run(study)}.",
    ]
    return "\n\n".join(parts)


def _heading(study: Study) -> str:
    """The title of a study, and the command that makes it again."""
    return f"**{_plain(study.title)}** · `{command_for(study.file, '.', {})}`"


def _of_a_run(study: Study) -> str:
    if not study.published:
        return "its score is `ours`, and the tag `best` marks the best one of a data set"
    return "`ours`, the `published` number, the `difference`, and the tag `verdict`"


def _source(study: Study) -> list[str]:
    """The reference and the address of a study, if it has them."""
    url = f"<{study.url}>" if study.url else ""
    return [part for part in (_plain(study.reference), url) if part]


def study_note(study: Study, verdicts: Mapping[str, Mapping[str, int]], agreed: Agreement) -> str:
    """The note of the run of a study's tables: how many published values agree, and the verdicts by table."""
    lines = [_heading(study), ""]
    if verdicts and study.published:
        lines += [
            f"Published values: {agreed}.",
            "",
            *_table(["table", *VERDICTS]),
            *(_row([_link(table), *map(str, found.values())]) for table, found in verdicts.items()),
        ]
    lines += ["", f"Report: `results/report/{study.name}.html`, in the folder of this store."]
    return "\n\n".join(["\n".join(lines), *_source(study)])


def registered_name(study_name: str, dataset: str) -> str:
    """The name of the registered model of a study's data set."""
    return f"{study_name}.{dataset}"


def registered_note(study: Study, dataset: str) -> str:
    """The description of the registered model of a study's data set."""
    return (
        f"Fitted models of *{_plain(study.title)}* on {dataset}, one version per learner. The alias "
        f"`{BEST}` is the version with the best score by the study's first metric:\n\n"
        f'    mlflow.sklearn.load_model("models:/{registered_name(study.name, dataset)}@{BEST}")'
    )


def version_note(study: Study, run: StudyRun, label: str, files: RunContents, score: float) -> str:
    """The description of a version of the registered model."""
    params = ", ".join(f"{name} = {value}" for name, value in files.facts["params"].items())
    metric = METRICS[files.metrics[0]] if files.metrics and math.isfinite(score) else None
    scored = f", {metric.label} {score:.{2 if metric.percent else metric.digits}f}" if metric else ""
    if scored:
        scored += f"{' %' if metric.percent else ''} over the {_draws(study)}"
    parts = [
        f"{_plain(label)} on {run.dataset}{scored}.",
        f"Fitted with {_plain(params) or 'the only parameters'}, selected by `{files.facts['chosen_by']}`. "
        f"It takes {_rows_of(study, run)}.",
    ]
    return "\n\n".join(parts)


def _rows_of(study: Study, run: StudyRun) -> str:
    """The input that a model of a run accepts, in words."""
    if run.dataset in study.own_data:
        return "a data frame with the columns of the table, and gives its labels"
    scaling = ", ".join(f"{name} {value}" for name, value in study.scaling_of(run.dataset).items())
    return f"rows as they stand in `{run.rows.as_posix()}`" + (f" (scaling: {scaling})" if scaling else "")


def linked(note: str, artifacts: str) -> str:
    """A note with its links pointing to the tables in the `artifacts` of the study's run."""
    return note.replace("](tables/", f"]({artifacts}/tables/")
