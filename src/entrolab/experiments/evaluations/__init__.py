"""Seconds and errors of evaluating MELM's objective."""


def place_of(rows: int) -> str:
    """The name of a row of the table, and the reading of its measurements.

    Examples
    --------
    >>> place_of(10000)
    'n10000'
    """
    return f"n{rows}"
