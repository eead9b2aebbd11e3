"""Suggestions for misspelt names in error messages."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: object, known: Iterable) -> str:
    """`", did you mean …?"` with the known word closest to `word`, or "" if there is none.

    Examples
    --------
    >>> did_you_mean("gausian", ["gaussian", "kde"])
    ", did you mean 'gaussian'?"
    >>> did_you_mean("cv", ["gaussian", "kde"])
    ''
    >>> did_you_mean("c", ["C", "gamma"])
    ", did you mean 'C'?"
    """
    names = {str(name).lower(): str(name) for name in known}
    close = difflib.get_close_matches(str(word).lower(), names, n=1)
    return f", did you mean {names[close[0]]!r}?" if close else ""
