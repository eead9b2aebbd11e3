"""What the tables of a study's trained models share."""

from collections.abc import Mapping

from entrolearn.lab.kinds.base import Found, Kind, labels, phrase


class OfModels(Kind):
    """Tables of a study's models."""

    trains = True

    def names(self, table, study):
        yield from (("models", model, study["models"], "model") for model in table["models"])

    def models(self, table, study):
        return labels(study, table["models"])


def without_result(record: Mapping | None) -> Found | None:
    """Why a trained cell has no number; None if its training succeeded."""
    if record is None:
        return Found(trouble="failed", reason="no record of this cell")
    if record["success"]:
        return None
    kind = record.get("kind") or "failed"
    reason = phrase(record.get("error") or kind)
    if kind == "time limit" and "time limit" not in reason:
        reason = f"time limit: {reason}"
    return Found(trouble="no data" if kind == "no data" else "failed", reason=reason)
