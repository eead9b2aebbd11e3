"""Run all checks on a study, and write what they find."""

from collections.abc import Iterator

import pandas as pd

from entrolab.checks import of_data, of_runs
from entrolab.checks.check import Check, CheckedData, CheckedRun
from entrolab.claims.numbers import Numbers
from entrolab.data.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.io.files import FILES
from entrolab.study.study import Study

CHECKS: dict[str, Check] = of_data.CHECKS | of_runs.CHECKS
COLUMNS = ("code", "dataset", "model", "found")
MOST_LISTED = 3  # places in the line of a check


def find(study: Study, numbers: Numbers) -> pd.DataFrame:
    """What the checks find, a row each: ``code``, ``dataset``, ``model`` ("" for a data set), ``found``."""
    rows = [row for dataset in study.datasets_of_runs() for row in _of_data(study, dataset)]
    rows += [row for dataset, model in study.runs() for row in _of_run(study, dataset, model, numbers)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _of_data(study: Study, dataset: str) -> Iterator[tuple[str, str, str, str]]:
    files = {
        name: FILES[name].format(study=study.name, seed=study.seed, dataset=dataset)
        for name in ("data", "folds")
    }
    try:
        data, assignments = load_dataset(files["data"]), load_folds(files["folds"])
    except DataUnavailable:
        return
    checked = CheckedData(study, dataset, data, assignments, study.own_data.get(dataset, {}))
    for code, check in of_data.CHECKS.items():
        if found := check.find(checked):
            yield code, dataset, "", found


def _of_run(study: Study, dataset: str, model: str, numbers: Numbers) -> Iterator[tuple[str, str, str, str]]:
    # A failed run is a row of the tables with its reason; without a criterion, nothing is selected.
    if not (study.models[model].criteria and numbers.results.record(dataset, model).get("success")):
        return
    run = CheckedRun(study, dataset, model, numbers)
    for code, check in of_runs.CHECKS.items():
        if found := check.find(run):
            yield code, dataset, model, found


def in_lines(found: pd.DataFrame) -> list[str]:
    """A line for each check that found something: its code, what is wrong, where, and what to do."""
    lines = []
    for code, rows in found.groupby("code"):
        places = [
            f"{f'{row.model} on ' if row.model else ''}{row.dataset} ({row.found})"
            for row in rows.itertuples()
        ]
        more = f" and {len(places) - MOST_LISTED} more" if len(places) > MOST_LISTED else ""
        check = CHECKS[code]
        lines.append(f"{code} {check.title}: {', '.join(places[:MOST_LISTED])}{more}. {check.remedy}")
    return lines
