"""The content of a study's page: tables, figures, errata, missing results, files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from entrolab.claims.numbers import Numbers
from entrolab.claims.rendering import in_words, outcomes
from entrolab.claims.rendering import layout as layout_claims
from entrolab.claims.winners import best_of_study
from entrolab.figures.making import reasons
from entrolab.figures.ranks import rank_section
from entrolab.fit.metrics import METRICS
from entrolab.io.atomic import write_text
from entrolab.io.commands import command_to_track
from entrolab.io.run_files import StudyRun
from entrolab.report.agreement import agreement
from entrolab.report.differences import differences
from entrolab.report.errata import LONGEST, errata_of, listed_errata
from entrolab.report.failures import failures
from entrolab.report.protocol import protocol
from entrolab.report.provenance import in_short, made
from entrolab.report.shown_tables import counted
from entrolab.report.studies import StudyResults, trained
from entrolab.report.terms import terms
from entrolab.tables.making import agreement_of, counts, first_readings
from entrolab.tables.number_format import heading, number_of
from entrolab.tables.rendering import bar, legend
from entrolab.text import full_label, one_line, plural
from entrolearn.plotting import description_of

# The folder of the figures drawn for the pages.
DRAWN = "figures"


def card(results: StudyResults, folder: Path) -> dict:
    """The content of the front page for a study: who won, its verdicts, its answer and its seconds."""
    study = results.study
    found = counts(*first_readings(study, results.tables), published=True)
    agreed = agreement_of(found)
    contains = [plural(len(study.tables), "table")]
    contains += [plural(len(study.figures), "figure")] if study.figures else []
    return {
        "key": results.key,
        "title": one_line(study.title),
        "about": one_line(study.reference or study.about),
        "is_paper": bool(study.reference) and any(found.values()),
        "won": _won(results),
        "verdicts": bar(found) if any(found.values()) else None,
        "agreed": agreed._asdict(),
        "counted": counted(agreed),
        "outcomes": outcomes(results.claims) if results.claims is not None else {},
        "claims": in_words(outcomes(results.claims)) if results.claims is not None else "",
        "tables": [
            {"name": name, "heading": heading(name, one_line(entry.caption))}
            for name, entry in study.tables.items()
        ],
        "contains": ", ".join(contains),
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
        "said": one.in_words(labels),
        "terms": "; ".join(f"{term}: {meaning}" for term, meaning in terms(study) if term in named),
    }


def paper_page(results: StudyResults, tables: Sequence[Mapping], folder: Path) -> dict:
    """The content of a study's page."""
    study, key = results.study, results.key
    here = relative(results.folder, folder)
    errata = listed_errata(study)
    compared = any(table["has_published"] for table in tables)
    content = {
        "key": key,
        "title": one_line(study.title),
        "reference": one_line(study.reference),
        "about": one_line(study.about),
        "url": study.url,
        "terms": terms(study),
        "compared": compared,
        "counted": counted(agreement_of(counts(*first_readings(study, results.tables), published=True))),
        "protocol": protocol(study, with_oracle=compared),
        "claims": layout_claims(results.claims) if results.claims is not None else None,
        "tables": [
            {
                **table,
                "config": f"{key}.yaml",
                "command": results.command(table["name"]),
                "errata": errata_of(errata, table["name"]),
                "ranks": _ranks(results, table, folder),
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
        ],
        "figures_folder": f"{here}/figures/",
        "command": results.command(),
        "tracked": command_to_track(results.folder.absolute().parents[1]),
        "agreement": agreement(results, folder / DRAWN / f"{key}-agreement.svg"),
        # Marks with their names; each table has the meanings of its own.
        "legend": [{**one, "said": one["verdict"]} for one in legend({}, {})],
        "failures": failures(results),
        "errata": errata,
        "differences": differences(results, tables, errata),
        "files": _files(results, folder),
        "file_heads": ["data set", *(full_label(model) for model in trained(study).values())],
        "facts": made(results.records),
    }
    return content | {"contents": _contents(content)}


def _contents(content: Mapping) -> list[tuple[str, str]]:
    """The sections of a page in their order: id and heading."""
    protocol = [("protocol", "Protocol")]
    found = [
        *([("claims", "Claims")] if content["claims"] else []),
        *(protocol if content["compared"] else []),
        ("tables", "Tables"),
        *([("agreement", "Ours against published")] if content["agreement"] else []),
        *([("figures", "Figures")] if content["figures"] else []),
        *([("differences", "What differs")] if content["differences"] else []),
        *([("errata", "Errata")] if content["errata"] else []),
        *([] if content["compared"] else protocol),
    ]
    return [*found, ("failures", "Missing results"), ("files", "Files")]


def shown_figure(results: StudyResults, name: str) -> dict:
    """The content of a page for a figure."""
    entry = results.study.figures[name]
    caption = one_line(entry.caption)
    return {
        "name": name,
        "number": number_of(name),
        "caption": caption,
        "formats": entry.formats,
        "to_hover": "html" in entry.formats,
        "alt": description_of(results.folder / "figures" / f"{name}.svg") or caption,
        "remarks": [("", one_line(text)) for text in (*reasons(results.figures[name]), *entry.notes)],
    }


def _ranks(results: StudyResults, shown: Mapping, folder: Path) -> list[dict]:
    """The ranks of the models of a score table, for each metric that can be ranked.

    Each diagram is a separate file: several in one page would share the ids of their elements.
    """
    name = shown["name"]
    if not results.study.table_type(name).ranks:
        return []
    table, ranked = results.tables[name], []
    labels = {key: full_label(model) for key, model in results.study.models.items()}
    for metric in table["metric"].unique():
        if section := rank_section(table, labels, metric):
            file = folder / DRAWN / f"{results.key}-{name}-ranks-{metric}.svg"
            write_text(file, section["diagram"])
            ranked.append(
                _of_ranks(section, METRICS[metric].label, shown["has_published"])
                | {"name": f"{name}-ranks-{metric}", "file": f"{DRAWN}/{file.name}"}
            )
    return ranked


def _of_ranks(section: Mapping, metric: str, has_published: bool) -> dict:
    """The content of the template of ranks: numbers as pairs of a value to sort by and a text."""
    friedman, pairs = section["friedman"], section["pairs"]
    columns = ["rank", "rank_published"] if has_published else ["rank"]
    heads = {"rank": "average rank", "rank_published": "average rank, published"}
    return {
        "alt": section["alt"],
        "summary": f"Average ranks by {metric}: Friedman’s p = {friedman['p']:.2g}",
        "rule": f"{section['rule']} Friedman’s χ² = {friedman['statistic']:.2f} with {friedman['k'] - 1} "
        f"degrees of freedom, {friedman['n']} data sets.",
        "heads": ["model", *(heads[column] for column in columns), "data sets"],
        "rows": [
            {
                "model": row["model"],
                "numbers": [
                    *(("", "–") if row[one] is None else (row[one], f"{row[one]:.2f}") for one in columns),
                    (row["scored"], row["scored"]),
                ],
            }
            for row in section["rows"]
        ],
        "n_pairs": len(pairs),
        "pairs": [
            {
                "a": pair["a"],
                "b": pair["b"],
                "numbers": [
                    (pair["wins"], f"{pair['wins']}, {pair['ties']}, {pair['losses']}"),
                    *((pair[test], f"{pair[test]:.2g}") for test in ("nemenyi", "wilcoxon")),
                ],
            }
            for pair in pairs
        ],
    }


_STAGES = ("record", "candidates", "selection", "predictions")


def _files(results: StudyResults, folder: Path) -> list[dict]:
    """The links to the existing files of each run, by data set."""

    def links(dataset: str, model: str) -> list[tuple[str, str]]:
        run = StudyRun.at(results.study, dataset, model, results.folder.parents[1])
        files = [(stage, getattr(run, stage)) for stage in _STAGES]
        return [(stage, relative(file, folder)) for stage, file in files if file.exists()]

    return [
        {
            "label": dataset,
            "cells": [links(dataset, model) for model in trained(results.study)],
        }
        for dataset in dict.fromkeys(dataset for dataset, _ in results.study.runs())
    ]


def relative(path: Path, folder: Path) -> str:
    """The relative link to a path from a page in `folder`."""
    return Path(os.path.relpath(path, folder)).as_posix()
