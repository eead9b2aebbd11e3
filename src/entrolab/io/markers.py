"""The generated part of a page, between two markers."""

__all__ = ["replace_between"]


def replace_between(page: str, begin: str, end: str, text: str) -> str:
    """A page with the text between two markers replaced.

    Parameters
    ----------
    page : str
    begin, end : str
        The markers, which stay. `begin` is there once, and `end` after it.
    text : str

    Raises
    ------
    ValueError
        If a marker is missing, or `begin` is there more than once.

    Examples
    --------
    >>> replace_between("a <b> old <e> z", "<b>", "<e>", " new ")
    'a <b> new <e> z'
    """
    before, *parts = page.split(begin)
    if len(parts) != 1 or end not in parts[0]:
        raise ValueError(f"the page needs {begin.strip()!r} once, and {end.strip()!r} after it")
    return before + begin + text + end + parts[0].split(end, 1)[1]
