"""The generated part of a page, between two markers."""


def replace_between(page: str, begin: str, end: str, text: str) -> str:
    """A page with the text between two markers, which stay, replaced.

    `ValueError` is raised unless `begin` is there once, and `end` after it.

    Examples
    --------
    >>> replace_between("a <b> old <e> z", "<b>", "<e>", " new ")
    'a <b> new <e> z'
    """
    before, *parts = page.split(begin)
    if len(parts) != 1 or end not in parts[0]:
        raise ValueError(f"the page needs {begin.strip()!r} once, and {end.strip()!r} after it")
    return before + begin + text + end + parts[0].split(end, 1)[1]
