"""What an evaluation of MELM's objective costs."""

EXACT = "exact"  # what the errors of the others are measured by


def place_of(rows: int) -> str:
    """The name of a row of the table, and the reading of its measurements.

    Examples
    --------
    >>> place_of(10000)
    'n10000'
    """
    return f"n{rows}"
