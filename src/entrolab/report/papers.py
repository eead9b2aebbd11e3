"""The content of a study's page, and of its card on the index."""

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from entrolab.checks.of_runs import NOT_BETTER
from entrolab.checks.running import CHECKS
from entrolab.claims.numbers import Numbers
from entrolab.claims.rendering import in_words, outcomes
from entrolab.claims.rendering import layout as layout_claims
from entrolab.claims.winners import Best, best_of_study
from entrolab.figures.making import reasons
from entrolab.figures.ranks import rank_section
from entrolab.fit.metrics import METRICS
from entrolab.io.atomic import write_text
from entrolab.io.commands import command_to_track
from entrolab.report.agreement import agreement
from entrolab.report.differences import differences
from entrolab.report.errata import LONGEST, errata_of, listed_errata
from entrolab.report.failures import failures
from entrolab.report.protocol import protocol
from entrolab.report.provenance import in_short, made
from entrolab.report.studies import StudyResults
from entrolab.report.terms import terms
from entrolab.study.config import in_one_line
from entrolab.study.study import FIGURE_FORMATS, Study
from entrolab.tables.making import agreement_of, counts, first_readings
from entrolab.tables.number_format import heading, number_of
from entrolab.tables.rendering import bar, legend
from entrolab.text import full_label, one_line
from entrolearn.plotting import description_of

# The folder of the figures drawn for the pages.
DRAWN = "figures"
MOST_COLUMNS, MOST_CATEGORIES = 50, 5  # listed
# The sections of a page, of which those without content are left out.
SECTIONS = {
    "findings": "Checks",
    "claims": "Claims",
    "protocol": "Protocol",
    "tables": "Tables",
    "agreement": "Ours against published",
    "figures": "Figures",
    "differences": "What differs",
    "errata": "Errata",
    "calls": "The models",
    "failures": "Missing results",
    "provenance": "Provenance",
}


def card(results: StudyResults, folder: Path) -> dict:
    """The content of the front page for a study: who won, its verdicts, its answer and its seconds."""
    study = results.study
    found = counts(*first_readings(study, results.tables), published=True)
    agreed = agreement_of(found)
    return {
        "key": results.key,
        "title": one_line(study.title),
        "about": one_line(study.reference or study.about),
        "is_paper": bool(study.reference) and any(found.values()),
        "won": _won(results),
        "verdicts": bar(found) if any(found.values()) else None,
        "agreed": agreed._asdict(),
        "counted": str(agreed),
        "outcomes": outcomes(results.claims) if results.claims is not None else {},
        "claims": in_words(outcomes(results.claims)) if results.claims is not None else "",
        "n_tables": len(study.tables),
        "made": in_short(results.records),
        "command": results.command(),
        "answer": [one_line(sentence, limit=LONGEST) for sentence in study.answer],
        "figure": shown_figure(results, study.answer_figure) if study.answer_figure else None,
        "figures_folder": f"{relative(results.folder, folder)}/figures/",
    }


def _won(results: StudyResults) -> dict | None:
    """The best model of a study in words, and the table that it is the best of; None without a comparison."""
    study = results.study
    found = best_of_study(Numbers(study, results.folder.parents[1]), results.tables)
    if found is None:
        return None
    name, one = found
    labels = {key: full_label(model) for key, model in study.models.items()}
    named = {METRICS[one.metric].label}
    named |= {one_line(study.models[model].label) for model in (one.model, one.second)}
    return {
        "table": name,
        "heading": heading(name, one_line(study.tables[name].caption)),
        "said": one.in_words(labels) + _beside_baseline(results, one),
        "terms": "; ".join(f"{term}: {meaning}" for term, meaning in terms(study) if term in named),
    }


def _beside_baseline(results: StudyResults, best: Best) -> str:
    """A sentence if the best model is not significantly better than the baseline."""
    rows = results.findings
    if rows is None or len(best.datasets) > 1:
        return ""
    found = rows[
        (rows["code"] == NOT_BETTER) & (rows["dataset"] == best.datasets[0]) & (rows["model"] == best.model)
    ]
    return " It is not significantly better than the baseline." if len(found) else ""


def _first_figure(results: StudyResults, compared: bool) -> dict | None:
    """The figure that begins the page of a study without published values; None if it was not drawn."""
    name = results.study.answer_figure
    if compared or name not in results.figures:
        return None
    return shown_figure(results, name) | {"command": results.command(name)}


def findings(results: StudyResults) -> list[dict]:
    """What the checks found: code, place, what is wrong and was found, why it matters, what to do."""
    if results.findings is None:
        return []
    return [
        {
            "code": row.code,
            "place": f"{row.model} on {row.dataset}" if row.model else row.dataset,
            "title": CHECKS[row.code].title,
            "found": row.found,
            "why": CHECKS[row.code].why,
            "remedy": CHECKS[row.code].remedy.replace("`", ""),
        }
        for row in results.findings.itertuples()
    ]


def _calls(study: Study) -> list[dict]:
    """What the models of each table of a user's take, and how they are called."""
    return [
        {
            "dataset": key,
            "columns": [(name, _kind(kind)) for name, kind in islice(columns.items(), MOST_COLUMNS)],
            "more": f"and {len(columns) - MOST_COLUMNS} more columns" if len(columns) > MOST_COLUMNS else "",
            "read": in_one_line(entry["format"]["read"]) if entry["format"].get("read") else "",
            "load": f'mlflow.sklearn.load_model("models:/{study.name}.{key}@best").predict(table)',
            "command": f"entrolab predict {study.name}.yaml new.csv",
        }
        for key, entry in study.own_data.items()
        for columns in [entry["format"]["columns"]]
    ]


def _kind(kind: list | str | None) -> str:
    """What the values of a column are, in words."""
    if isinstance(kind, list):
        few = ", ".join(kind[:MOST_CATEGORIES])
        return f"one of {few}" + (f" … ({len(kind)} in all)" if len(kind) > MOST_CATEGORIES else "")
    return {None: "a number", "date": "a date, such as 2026-11-23", "duration": "a duration"}.get(
        kind, f"a date of the form {kind}"
    )


def paper_page(results: StudyResults, tables: Sequence[Mapping], folder: Path) -> dict:
    """The content of a study's page."""
    study, key = results.study, results.key
    here = relative(results.folder, folder)
    errata = listed_errata(study)
    compared = any(table["has_published"] for table in tables)
    first = _first_figure(results, compared)
    content = {
        "key": key,
        "title": one_line(study.title),
        "reference": one_line(study.reference),
        "about": one_line(study.about),
        "url": study.url,
        "terms": terms(study),
        "compared": compared,
        "won": None if compared else _won(results),
        "first_figure": first,
        "findings": findings(results),
        "counted": str(agreement_of(counts(*first_readings(study, results.tables), published=True))),
        "protocol": protocol(study, with_oracle=compared),
        "claims": layout_claims(results.claims) if results.claims is not None else None,
        "tables": [
            {
                **table,
                "config": f"{key}.yaml",
                "command": results.command(table["name"]),
                "errata": errata_of(errata, table["name"]),
                "ranks": _ranks(results, table["name"], folder),
            }
            for table in tables
        ],
        "tables_folder": f"{here}/tables/",
        "figures": [
            {
                **shown_figure(results, name),
                "command": results.command(name),
                "errata": errata_of(errata, name),
            }
            for name in study.figures
            if first is None or name != first["name"]
        ],
        "figures_folder": f"{here}/figures/",
        "command": results.command(),
        "tracked": command_to_track(results.folder.absolute().parents[1]),
        "agreement": agreement(results, folder / DRAWN / f"{key}-agreement.svg"),
        # Marks with their names; each table has the meanings of its own.
        "legend": [{**one, "said": one["verdict"]} for one in legend({}, {})],
        "calls": _calls(study),
        "failures": failures(results),
        "errata": errata,
        "differences": differences(results, tables, errata),
        "facts": made(results.records),
    }
    return content | {"contents": [one for one in SECTIONS.items() if content.get(one[0], True)]}


def shown_figure(results: StudyResults, name: str) -> dict:
    """The content of a page for a figure."""
    entry = results.study.figures[name]
    caption = one_line(entry.caption)
    return {
        "name": name,
        "number": number_of(name),
        "caption": caption,
        "formats": FIGURE_FORMATS,
        "alt": description_of(results.folder / "figures" / f"{name}.svg") or caption,
        "remarks": [("", one_line(text)) for text in (*reasons(results.figures[name]), *entry.notes)],
    }


def _ranks(results: StudyResults, name: str, folder: Path) -> list[dict]:
    """The ranks of the models of a score table, for each metric that can be ranked.

    Each diagram is a separate file: several in one page would share the ids of their elements.
    """
    if not results.study.table_type(name).ranks:
        return []
    table, ranked = results.tables[name], []
    labels = {key: full_label(model) for key, model in results.study.models.items()}
    for metric in table["metric"].unique():
        if section := rank_section(table, labels, metric):
            file = folder / DRAWN / f"{results.key}-{name}-ranks-{metric}.svg"
            write_text(file, section["diagram"])
            ranked.append(section | {"name": f"{name}-ranks-{metric}", "file": f"{DRAWN}/{file.name}"})
    return ranked


def relative(path: Path, folder: Path) -> str:
    """The relative link to a path from a page in `folder`."""
    return Path(os.path.relpath(path, folder)).as_posix()
