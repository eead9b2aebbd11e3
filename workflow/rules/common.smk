# What the rules share: the configuration, checked before any job starts, and where things are.
import json
import os
from itertools import chain
from pathlib import Path

from snakemake.logging import logger

try:
    import entrolab
    from entrolab.cells import (
        cell_spec,
        figure_cells,
        figure_datasets,
        figure_files,
        figure_formats,
        figure_spec,
        measurement_spec,
        protocol_of,
        rows_to_hover,
        scaling_of,
        score_tables,
        study_cells,
        table_files,
    )
    from entrolab.config import load_configuration, store_digest
    from entrolab.digests import changed_files, end_future, set_changed_aside
    from entrolab.kinds import FILES, GENERATED, KINDS
    from entrolab.origins import MADE_BY
    from entrolab.registry import made_of, parts_seed
    from entrolab.resources import (
        ceiling,
        needs_of_cell,
        needs_of_data,
        needs_of_drawing,
    )
    from entrolab.schema import ConfigError
    from entrolab.sources import source_digests
    from entrolab.surroundings import (
        SurroundingsError,
        check_paths,
        check_writable,
        prepare_for_jobs,
    )
    from entrolab.notation import title
except ImportError as error:
    raise WorkflowError(
        f"{error}: run `make env`, then `. .venv/bin/activate`, then this again"
    ) from None

prepare_for_jobs()

# Relative, so that results stay up to date when a checkout moves.
HOME = Path(os.path.relpath(workflow.basedir))

# What tables and pages look like: not imported, yet as much a part of them as the code. These files and those of a
# study are here, wherever results are kept, which is what `local` says.
TEMPLATES = sorted(
    os.path.relpath(file) for file in Path(entrolab.__file__).parent.glob("templates/*")
)

try:
    CATALOG, STUDIES, SETTINGS = load_configuration(HOME, config)
    own_files = [entry["file"] for entry in CATALOG.values() if "file" in entry]
    check_paths(
        [*TEMPLATES, *own_files, *(study["file"] for study in STUDIES.values())]
    )
    check_writable(".")
except (ConfigError, SurroundingsError) as error:
    raise WorkflowError(str(error)) from None


def look_after_results():
    """Notice what changed since it was written, and have a run make it anew; say how a killed run is resumed."""
    if any(Path(".snakemake", "locks").glob("*")):
        logger.warning(
            "A run is at work in this folder, or was killed here. If it was killed: `make unlock` "
            "(snakemake --unlock), then the same command again, which completes it."
        )
    elif workflow.output_settings.dryrun:
        for file in changed_files():
            logger.warning(f"{file}: changed since it was written; a run makes it anew")
    else:
        end_future()
        for file in set_changed_aside():
            logger.warning(
                f"{file}: changed since it was written; set aside in results/.changed, to be made anew"
            )


# The jobs of a cluster read this file too.
if workflow.is_main_process:
    try:
        look_after_results()
    except OSError as error:
        raise WorkflowError(str(error)) from None


# What a job may take at most. Its process is held to it on any machine, whatever a cluster was asked for.
LIMIT_MEBIBYTES = round(SETTINGS["limit_gib"] * 1024)
CEILING = ceiling(SETTINGS)


wildcard_constraints:
    paper="|".join(STUDIES),
    dataset="|".join(CATALOG),
    model="|".join({model for study in STUDIES.values() for model in study["models"]}),
    table="|".join({table for study in STUDIES.values() for table in study["tables"]}),
    figure="|".join({name for study in STUDIES.values() for name in study["figures"]}),


# Limits that hold without a profile too: a store has one writer, a server is asked by four at most.
for resource, limit in {"tracking": 1, "network": 4, "report": 1}.items():
    if resource not in workflow.global_resources:
        workflow.register_resource(resource, limit)


def code(*import_paths):
    """The state of the code that a job runs, as a parameter: snakemake does not look into imports."""
    return lambda wildcards: source_digests(*import_paths)


def code_of_data(wildcards):
    return source_digests(
        "entrolab.prepare", MADE_BY[CATALOG[wildcards.dataset]["source"]]
    )


def code_of_cell(wildcards):
    return source_digests("entrolab.training", *made_of(cell_of(wildcards)))


def code_of_figure(wildcards):
    figure = figure_of(wildcards)
    fitted = [panel["learner"] for panel in figure.get("panels", [])]
    fitted += [figure["model"]] if "model" in figure else []
    return source_digests(
        "entrolab.figures", *chain.from_iterable(map(made_of, fitted))
    )


def study_of(wildcards):
    return STUDIES[wildcards.paper]


def cell_of(wildcards):
    return cell_spec(
        wildcards.paper,
        study_of(wildcards),
        wildcards.dataset,
        wildcards.model,
        SETTINGS["seed"],
    )


def asked(needs):
    """What a cluster is asked for, by the work's needs: its memory and its minutes, more on each attempt."""
    return {
        "mem_mb": lambda wildcards, attempt: needs(wildcards)
        .asked(SETTINGS, attempt)
        .mem_mb,
        "runtime": lambda wildcards, attempt: needs(wildcards)
        .asked(SETTINGS, attempt)
        .runtime,
    }


def data_needs(wildcards):
    return needs_of_data(CATALOG[wildcards.dataset])


def cell_needs(wildcards):
    return needs_of_cell(cell_of(wildcards), CATALOG[wildcards.dataset])


def figure_needs(wildcards):
    shown = figure_datasets(study_of(wildcards), wildcards.figure)
    return needs_of_drawing([CATALOG[dataset] for dataset in shown])


def published_of(wildcards):
    study = study_of(wildcards)
    return local(study["published"]) if "published" in study else []


def score_tables_of(wildcards):
    """The score tables that show a data set: what its runs say is read from them."""
    tables = score_tables(study_of(wildcards), wildcards.dataset)
    return [f"results/{wildcards.paper}/tables/{table}.csv" for table in tables]


def receipt_of(wildcards):
    """The receipt of a data set that has to be downloaded; nothing for the others."""
    if "files" not in CATALOG[wildcards.dataset]:
        return []
    return [f"resources/raw/{wildcards.dataset}/receipt.json"]


def own_file_of(wildcards):
    """The file of a data set of the user's own; nothing for the others."""
    entry = CATALOG[wildcards.dataset]
    return local(entry["file"]) if "file" in entry else []


def attempt_of(wildcards):
    """A number that grows as long as the data cannot be had, so that they are asked for on each run.

    It is not read from the receipt, which snakemake deletes before the job starts and asks again.
    """
    try:
        last = json.loads(
            Path("resources", "raw", wildcards.dataset, "attempt.json").read_text(
                encoding="utf-8"
            )
        )
        return last["attempt"] + (not last["available"])
    except (OSError, ValueError, KeyError):
        return 1


def models_of(wildcards):
    """The models that a study's tables need trained on a data set."""
    return [
        model
        for dataset, model in study_cells(study_of(wildcards))
        if dataset == wildcards.dataset
    ]


def of_dataset(pattern):
    """An input function: `pattern` for each model of a paper's data set."""
    return lambda wildcards: [
        pattern.format(**wildcards, model=model) for model in models_of(wildcards)
    ]


def files_of_table(wildcards):
    """The results that a table is made of, which its kind knows."""
    return table_files(wildcards.paper, study_of(wildcards), wildcards.table)


def measurement_of(wildcards):
    return measurement_spec(
        wildcards.paper,
        study_of(wildcards),
        wildcards.table,
        wildcards.get("dataset", GENERATED),
        SETTINGS["seed"],
    )


def code_of_measurement(wildcards):
    measurement = measurement_of(wildcards)
    models = measurement.get("models", {}).values()
    return source_digests(
        measurement["measured_by"], *chain.from_iterable(map(made_of, models))
    )


def figure_of(wildcards):
    return figure_spec(
        wildcards.paper, study_of(wildcards), wildcards.figure, SETTINGS["seed"]
    )


def of_figure(pattern):
    """An input function: `pattern` for each cell that a figure shows."""
    return lambda wildcards: filled(
        pattern, wildcards.paper, figure_cells(study_of(wildcards), wildcards.figure)
    )


def sources_of_figure(wildcards):
    """What a figure is drawn from, which its kind knows."""
    return figure_files(wildcards.paper, study_of(wildcards), wildcards.figure)


def rows_of_figure(wildcards):
    """What there is to say of the rows that a figure shows."""
    return rows_to_hover(study_of(wildcards), wildcards.figure)


def of_study(pattern):
    """An input function: `pattern` for each cell of a study, or each data set."""
    return lambda wildcards: filled(
        pattern, wildcards.paper, study_cells(study_of(wildcards))
    )


def filled(pattern, paper, cells):
    files = (
        pattern.format(paper=paper, dataset=dataset, model=model)
        for dataset, model in cells
    )
    return list(dict.fromkeys(files))


def tables_of(paper, formats=("csv", "html", "tex", "md")):
    return [
        f"results/{paper}/tables/{table}.{format}"
        for table in STUDIES[paper]["tables"]
        for format in formats
    ]


def figures_of(paper, formats=("svg", "png", "csv", "html")):
    return [
        f"results/{paper}/figures/{figure}.{format}"
        for figure in STUDIES[paper]["figures"]
        for format in figure_formats(STUDIES[paper], figure)
        if format in formats
    ]


# What tables show of a model or look up by it.
SHOWN_OF_MODELS = (
    "label",
    "sublabel",
    "estimator",
    "estimators",
    "one_of",
    "grid",
    "printed_only",
    "trials",
)


def title_of(wildcards):
    """What snakemake's own report calls a study."""
    return STUDIES[wildcards.paper]["title"]


def labels_of(kind, paper, name):
    """What snakemake's own report calls a table or a figure, beside its caption."""
    return {"name": title(name), "shows": STUDIES[paper][kind][name]["caption"]}


def shown_of(wildcards):
    """What a table shows of its study, so that it is made anew when that is edited and not otherwise."""
    study = study_of(wildcards)
    return {
        "metrics": study["metrics"],
        "criteria": study["criteria"],
        "protocol": study["protocol"],
        "datasets": study["datasets"],
        "tasks": study["tasks"],
        "models": {
            name: {key: model[key] for key in SHOWN_OF_MODELS if key in model}
            for name, model in study["models"].items()
        },
        "tables": {wildcards.table: study["tables"][wildcards.table]},
    }


def study_files(paper):
    """All that is made of a study."""
    return [
        *tables_of(paper),
        *figures_of(paper),
        f"results/report/{paper}.html",
        *filled(
            "results/{paper}/tracked/{dataset}.json", paper, study_cells(STUDIES[paper])
        ),
        f"results/{paper}/tracked.json",
    ]
