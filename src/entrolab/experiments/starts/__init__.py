"""Optima that an optimizer reaches from random starts."""

# The metrics of a start, from which the table and the figures are made.
OF_A_START = ("objective", "seconds", "evaluations")


def starts_of(measured, model: str):
    """A row per start of a model, numbered from 1, with the columns of `OF_A_START` and ``error``.

    `measured` has the rows of the measurement, see :func:`entrolab.experiments.measuring.frame`.
    """
    mine = measured[(measured["model"] == model) & measured["reading"].str.startswith("start ")]
    numbered = mine.assign(start=mine["reading"].str.removeprefix("start ").astype(int))
    starts = numbered.pivot(index="start", columns="metric", values="value").reindex(columns=OF_A_START)
    errors = numbered.groupby("start")["error"].max()
    return starts.assign(error=errors).reset_index()
