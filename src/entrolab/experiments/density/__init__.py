"""Seconds of fits on sparse data of several densities (RKELM paper, section 6.4)."""


def place_of(dim: int, density: float) -> str:
    """The name of a row of the table, and the reading of its measurements.

    Examples
    --------
    >>> place_of(10000, 0.05)
    'd10000_density0.05'
    """
    return f"d{dim}_density{density:g}"
