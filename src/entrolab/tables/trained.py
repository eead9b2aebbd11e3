"""Base class of the table types that show runs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from entrolab.tables.base import NAN, PUBLISHED_ONLY, Cell, Found, TableSpec, TableType, phrase
from entrolab.tables.verdicts import KNOWN

if TYPE_CHECKING:
    from entrolab.results.reader import Results


class OfModels(TableType):
    """Tables of a study's models."""

    trains = True

    def names_to_check(self, table, study):
        yield from (("models", model, study.models, "model") for model in table.models)

    def models(self, table, study):
        return study.labels(table.models)

    def cell_value(self, cell, spec, results):
        dataset, model, _ = cell
        if not spec.study.runs_on(dataset, model):
            return _known(cell, spec) or Found(status=PUBLISHED_ONLY)
        record = results.record(dataset, model)
        return without_result(record) or self.value_of_run(cell, spec, results, record)

    def value_of_run(self, cell: Cell, spec: TableSpec, results: "Results", record: Mapping) -> Found:
        """Our numbers in a cell whose run succeeded."""
        raise NotImplementedError


def _known(cell: Cell, spec: TableSpec) -> Found | None:
    """The number of a cell if the study itself states it; else None."""
    dataset, model, metric = cell
    value = (spec.study.models[model].known or {}).get(dataset, {}).get(metric)
    if value is None:
        return None
    ours, std = value if isinstance(value, list) else (value, NAN)
    return Found(ours, std, status=KNOWN)


def without_result(record: Mapping) -> Found | None:
    """The reason why a run has no numbers, from its record; None if it succeeded."""
    if not record:
        return Found(status="failed", reason="no record of this run")
    if record["success"]:
        return None
    status = record["status"]
    reason = phrase(record["error"] or status)
    if status == "time limit" and "time limit" not in reason:
        reason = f"time limit: {reason}"
    return Found(status="no data" if status == "no data" else "failed", reason=reason)
