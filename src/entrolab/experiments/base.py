"""What figures of measured tables read: the number of a model in measured rows."""

from entrolab.tables.base import Found, phrase


def found_among(rows, model: str, metric: str, reading: str = "") -> Found:
    """The number of a model, a metric and a reading in measured rows.

    A failed row without a model, metric or reading applies to all of them.
    """
    own = [row for row in rows if row.model in ("", model) and row.metric in ("", metric)]
    row = next((row for row in own if row.reading in ("", reading)), None)
    if row is None:
        return Found(status="failed", reason="not measured")
    return (
        Found(row.value, row.std)
        if row.status == "ok"
        else Found(status=row.status, reason=phrase(row.error))
    )
