"""The spec of a run; and functions that call a study's methods, until nothing uses them."""

from entrolab.fit.learners import ONE_OF, estimator_of
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.study.sections import plain


def run_spec(study_name: str, study, dataset: str, model: str, seed: int) -> dict:
    """The spec of a run: all that decides its results; the run is repeated when the spec changes."""
    entry, task = study["models"][model], study["tasks"][dataset]
    decided = {
        name: study.resolved(entry[name], dataset, f"models.{model}.{name}")
        for name in ("params", "steps", "grid", ONE_OF)
    }
    return {
        "study": study_name,
        "dataset": dataset,
        "model": model,
        "estimator": estimator_of(entry, task),
        **decided,
        "seed": seed,
        "metrics": candidate_metrics(study, dataset, model),
        **({"threshold": entry["threshold"]} if "threshold" in entry else {}),
        "criteria": entry["criteria"],
        "protocol": study.protocol_of(dataset, model),
        **({} if "scaling" in study else {"preprocessing": plain(study["preprocessing"])}),
    }


def candidate_metrics(study, dataset: str, model: str) -> list[str]:
    """The metrics for scoring every candidate: the one that selects, and those shown for whole grids.

    All other metrics of a study are computed from the predictions of the selected models.
    """
    run = (dataset, model)
    shown = [
        entry["metric"]
        for name, entry in study.get("figures", {}).items()
        if "candidates" in study.figure_type(name).stages and run in study.runs_of_figure(name)
    ]
    shown += [
        entry["metric"]
        for name, entry in study["tables"].items()
        if entry.get("among") and run in study.runs_of_table(name)
    ]
    named = {metric for one in shown for metric in ([one] if isinstance(one, str) else one)}
    first, *others = metrics_of(study["tasks"][dataset], study["metrics"])
    return [first, *(metric for metric in others if metric in named and METRICS[metric].chooses)]


# What the plan and the checks of studies still call.


def study_runs(study):
    return study.runs()


def tracked_datasets(study):
    return study.datasets_of_runs()


def score_tables(study, dataset):
    return study.score_tables(dataset)


def table_files(study_name, study, table):
    return study.files_of_table(table)


def figure_runs(study, figure):
    return study.runs_of_figure(figure)


def figure_files(study_name, study, figure):
    return study.files_of_figure(figure)


def figure_datasets(study, figure):
    return study.datasets_of_figure(figure)


def figure_formats(study, figure):
    return study.figure_type(figure).formats


def type_of(study, figure):
    return study.figure_type(figure)


def measurement_spec(study_name, study, table, dataset, seed):
    return study.measurement(table, dataset, seed)


def figure_spec(study_name, study, figure, seed):
    return study.spec_of_figure(figure, seed)
