"""The saved views of an experiment on MLflow's page: columns, order, groups and charts.

MLflow stores a view as a tag of the experiment, in the format of its page; other versions ignore unknown
keys.
"""

import json
from collections.abc import Mapping

from entrolab.fit.metrics import METRICS, metrics_of

TASKS = ("binary", "multiclass", "regression")
TAG = "mlflow.sharedViewState"  # followed by a key
# Key of a view -> its name, and its differences from the default.
VIEWS = {
    "beside": ("Ours beside the published", {"orderByKey": "metrics.`difference`", "orderByAsc": True}),
    "datasets": ("By data set", {"group": "dataset"}),
    "models": ("By model", {"group": "model"}),
}


def _columns(study: Mapping) -> list[str]:
    published = "published" in study
    metrics = ["ours", "published", "difference"] if published else ["ours", "fit_seconds"]
    tags = ["dataset", "model", "verdict" if published else "best"]
    return [*(f"metrics.`{name}`" for name in metrics), *(f"tags.`{name}`" for name in tags)]


def address(experiment: str, view: str) -> str:
    """The link to a view on MLflow's page."""
    return f"#/experiments/{experiment}/runs?viewStateShareKey={view}"


def views(study: Mapping) -> dict[str, tuple[str, dict]]:
    """The views of a study's experiment, by key; the view `beside` needs published values.

    The views of data sets and models have the best runs first, unless greater values of the metric are
    better for classification and smaller ones for regression.
    """
    found = {key: view for key, view in VIEWS.items() if key != "beside" or "published" in study}
    scores = [metric for metric in study["metrics"] if not METRICS[metric].of_fit]
    first = {metric for task in TASKS for metric in metrics_of(task, scores)[:1]}
    directions = {METRICS[metric].greater_is_better for metric in first}
    if len(directions) == 1:
        ascending = {"orderByAsc": True not in directions}
        for key in ("datasets", "models"):
            name, differs = found[key]
            found[key] = f"{name}, best first", differs | ascending
    return found


def view_tags(study: Mapping) -> dict[str, str]:
    """The tags of an experiment that contain its views."""
    return {
        # MLflow's page lists the newest view first.
        f"{TAG}.{key}": json.dumps(
            {"name": name, "createdAt": age, "updatedAt": age, "state": json.dumps(_state(study, **differs))}
        )
        for age, (key, (name, differs)) in enumerate(reversed(views(study).items()), start=1)
    }


def _state(
    study: Mapping, group: str = "", orderByKey: str = "metrics.`ours`", orderByAsc: bool = False
) -> dict:
    grouped = {
        "groupBy": {"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": group}]},
        "useGroupedValuesInCharts": False,
    }
    return {
        "searchFilter": "tags.model != ''",  # without the run of the study's tables
        "orderByKey": orderByKey,
        "orderByAsc": orderByAsc,
        "selectedColumns": _columns(study),
        "columnOrder": _columns(study),
        # A chart of folds has one line per run: more than ten lines are unreadable.
        "runsHiddenMode": "FIRST_10_RUNS" if group else "SHOW_ALL",
        "isAccordionReordered": True,
        "compareRunSections": [
            {"uuid": "ours", "name": "Ours and the published", "display": True, "isReordered": True}
        ],
        "compareRunCharts": _charts(study, group),
    } | (grouped if group else {})


def _charts(study: Mapping, group: str) -> list[dict]:
    folds = f"{study['criteria'][0]}_folds/{study['metrics'][0]}"
    against = {
        "type": "SCATTER",
        "xaxis": {"key": "published", "type": "METRIC"},
        "yaxis": {"key": "ours", "type": "METRIC"},
    }
    line = {
        "type": "LINE",
        "metricKey": folds,
        "selectedMetricKeys": [folds],
        "xAxisKey": "step",
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "range": {},
        "useGlobalLineSmoothing": False,
        "lineSmoothness": 0,
        "displayPoints": True,
    }
    charts = (
        [line, {"type": "BAR", "metricKey": "ours"}]
        if group
        else [against, {"type": "BAR", "metricKey": "difference"}]
    )
    return [
        {"uuid": f"chart{number}", "metricSectionId": "ours", "runsCountToCompare": 100, **chart}
        for number, chart in enumerate(charts)
    ]
