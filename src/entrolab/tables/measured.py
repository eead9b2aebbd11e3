"""Base class of the table types whose numbers are measured for the table alone."""

from entrolab.tables.base import Found, TableType, phrase


class Measured(TableType):
    """Tables whose numbers are measured for them or another table of their type, with a standard error."""

    stages = ("measured",)
    ERRORS = 2.0  # standard errors that ours may be off

    def found(self, cell, spec, results):
        dataset, model, metric = cell
        rows = [
            row
            for row in results.measured(spec.get("measured_for", spec["table"]), dataset)
            # What failed for all models or metrics names none.
            if row["model"] in ("", model) and row["metric"] in ("", metric)
        ]
        own = next((row for row in rows if not row["reading"]), None)
        if own is None:
            return Found(trouble="failed", reason="not measured")
        if own["kind"]:
            return Found(trouble=own["kind"], reason=phrase(own["error"]))
        readings = {row["reading"]: row["value"] for row in rows if row["reading"]}
        return Found(own["value"], own["std"], readings=readings)
