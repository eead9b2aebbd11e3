"""What others have written, fit to be shown: in a terminal, a table, a page."""


def one_line(text: object, limit: int = 300) -> str:
    """Collapse white space, so that a message or a folded note is one line, and cut what is very long.

    What is not printable is marked: a message may quote a file, and a terminal obeys control characters.

    Examples
    --------
    >>> one_line("no number:\\n  'a\\x1b[2Jb'")
    "no number: 'a�[2Jb'"
    """
    shown = (letter if letter.isprintable() or letter.isspace() else "\ufffd" for letter in str(text))
    line = " ".join("".join(shown).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
