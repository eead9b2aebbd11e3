"""The content of a study's page: tables, figures, errata, missing results, files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from entrolab.claims.rendering import claims_bar, outcomes
from entrolab.claims.rendering import layout as layout_claims
from entrolab.figures.making import reasons
from entrolab.fit.metrics import METRICS
from entrolab.io.atomic import write_text
from entrolab.io.run_files import StudyRun
from entrolab.jobs.command import command_to_track
from entrolab.report.agreement import agreement
from entrolab.report.differences import differences
from entrolab.report.errata import LONGEST, errata_of, listed_errata
from entrolab.report.failures import failures
from entrolab.report.protocol import protocol
from entrolab.report.provenance import in_short, made
from entrolab.report.shown_tables import bar
from entrolab.report.studies import StudyResults, trained
from entrolab.tables.making import agreement_of, counts_of_study
from entrolab.tables.number_format import title
from entrolab.tables.ranking import rank_section
from entrolab.tables.rendering import legend
from entrolab.tables.verdicts import VERDICTS
from entrolab.text import full_label, one_line
from entrolearn.plotting import description_of

# The folder of the figures drawn for the pages.
DRAWN = "figures"


def card(results: StudyResults, folder: Path) -> dict:
    """The content of the front page for a study: its verdicts, its answer and its seconds."""
    study = results.study
    found = counts_of_study(study, results.tables)
    return {
        "key": results.key,
        "title": one_line(study.title),
        "reference": one_line(study.reference),
        "about": one_line(study.about),
        "is_paper": bool(study.reference) and found.total() > 0,
        "verdicts": bar({name: found[name] for name in VERDICTS}),
        "agreed": agreement_of(found)._asdict(),
        "claims": claims_bar(outcomes(results.claims)) if results.claims is not None else None,
        "tables": [
            {"name": name, "title": title(name), "caption": one_line(entry.caption)}
            for name, entry in study.tables.items()
        ],
        "n_tables": len(study.tables),
        "n_figures": len(study.figures),
        "made": in_short(results.records),
        "command": results.command(),
        "answer": [one_line(sentence, limit=LONGEST) for sentence in study.answer],
        "figure": shown_figure(results, study.answer_figure) if study.answer_figure else None,
        "figures_folder": f"{relative(results.folder, folder)}/figures/",
    }


def paper_page(results: StudyResults, tables: Sequence[Mapping], folder: Path) -> dict:
    """The content of a study's page."""
    study, key = results.study, results.key
    here = relative(results.folder, folder)
    errata = listed_errata(study)
    compared = any(table["has_published"] for table in tables)
    return {
        "key": key,
        "title": one_line(study.title),
        "reference": one_line(study.reference),
        "about": one_line(study.about),
        "url": study.url,
        "compared": compared,
        "agreed": agreement_of(counts_of_study(study, results.tables)),
        "protocol": protocol(study, with_oracle=compared),
        "claims": layout_claims(results.claims) if results.claims is not None else None,
        "tables": [
            {
                **table,
                "command": results.command(f"results/{key}/tables/{table['name']}.html"),
                "errata": errata_of(errata, table["name"]),
                "ranks": _ranks(results, table["name"], folder),
            }
            for table in tables
        ],
        "tables_folder": f"{here}/tables/",
        "figures": [
            {
                **shown_figure(results, name),
                "command": results.command(f"results/{key}/figures/{name}.svg"),
                "errata": errata_of(errata, name),
            }
            for name in study.figures
        ],
        "figures_folder": f"{here}/figures/",
        "config": f"{key}.yaml",
        "command": results.command(),
        "tracked": command_to_track(results.folder.absolute().parents[1]),
        "agreement": agreement(results, folder / DRAWN / f"{key}-agreement.svg"),
        "legend": legend({}, {}),
        "failures": failures(results),
        "errata": errata,
        "differences": differences(results, tables, errata),
        "files": _files(results, folder),
        "model_names": [full_label(model) for model in trained(study).values()],
        "facts": made(results.records),
    }


def shown_figure(results: StudyResults, name: str) -> dict:
    """The content of a page for a figure."""
    entry = results.study.figures[name]
    caption = one_line(entry.caption)
    return {
        "name": name,
        "title": title(name),
        "caption": caption,
        "notes": [one_line(note) for note in entry.notes],
        "formats": entry.formats,
        "alt": description_of(results.folder / "figures" / f"{name}.svg") or caption,
        "reasons": reasons(results.figures[name]),
    }


def _ranks(results: StudyResults, name: str, folder: Path) -> list[dict]:
    """The ranks of the models of a score table, for each metric that can be ranked.

    Each diagram is a separate file: several in one page would share the ids of their elements.
    """
    if not results.study.table_type(name).ranks:
        return []
    table = results.tables[name]
    labels = {key: full_label(model) for key, model in results.study.models.items()}
    shown = []
    for metric in table["metric"].unique():
        if section := rank_section(table, labels, metric):
            file = folder / DRAWN / f"{results.key}-{name}-ranks-{metric}.svg"
            write_text(file, section.pop("diagram"))
            section |= {"name": f"{name}-ranks-{metric}", "metric": METRICS[metric].label}
            shown.append(section | {"file": f"{DRAWN}/{file.name}"})
    return shown


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
