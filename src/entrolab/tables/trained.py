"""Base class of the table types that show runs."""

from collections.abc import Mapping

from entrolab.fit.learners import searched
from entrolab.tables.base import NAN, PUBLISHED_ONLY, Cell, Found, TableType, phrase
from entrolab.tables.verdicts import KNOWN


class OfModels(TableType):
    """Tables of a study's models."""

    trains = True

    def names(self, table, study):
        yield from (("models", model, study["models"], "model") for model in table["models"])

    def models(self, table, study):
        return {
            key: named
            | {
                "published_only": study["models"][key].get("published_only", False),
                "known": study["models"][key].get("known"),
                "estimators": study["models"][key].get("estimators", {}),
                "searched": bool(searched(study["models"][key])),
            }
            for key, named in study.labels(table["models"]).items()
        }

    def found(self, cell, spec, results):
        if not is_trained(cell, spec):
            return _known(cell, spec) or Found(status=PUBLISHED_ONLY)
        record = results.record(*cell[:2])
        return without_result(record) or self.of_trained(cell, spec, results, record)

    def of_trained(self, cell: Cell, spec: Mapping, results, record: Mapping) -> Found:
        """Our numbers in a cell whose run succeeded."""
        raise NotImplementedError


def is_trained(cell: Cell, spec: Mapping) -> bool:
    """Whether a cell belongs to a run, that is, its model has a learner for the task of its data set."""
    dataset, model, _ = cell
    entry = spec["models"][model]
    if entry["published_only"] or entry["known"]:
        return False
    task = "regression" if spec["datasets"][dataset]["task"] == "regression" else "classification"
    return not entry["estimators"] or entry["estimators"].get(task) is not None


def _known(cell: Cell, spec: Mapping) -> Found | None:
    """The number of a cell if the study itself states it; else None."""
    dataset, model, metric = cell
    value = (spec["models"][model]["known"] or {}).get(dataset, {}).get(metric)
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
