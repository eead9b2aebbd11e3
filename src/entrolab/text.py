"""Texts for a terminal, a table or a page: one line, abbreviated, without secrets."""

import math
import re
from collections.abc import Sequence
from urllib.parse import unquote

# The codes of a terminal's colours.
COLOURS = re.compile(r"\x1b\[[\d;]*m")
# What goes back to the start of a terminal's line and empties it.
ERASE_LINE = "\r\x1b[K"


# Characters of a message, and lines of one that has a line for each mistake.
LONGEST, MOST_LINES = 2000, 10


def four_digits(value: float) -> str:
    """A number with four significant digits; a large one is a whole number, without an exponent.

    Examples
    --------
    >>> four_digits(24522.4), four_digits(0.123456), four_digits(-0.0)
    ('24522', '0.1235', '0')
    """
    text = f"{value:z.4g}"
    return f"{value:z.0f}" if "e+" in text else text


class OneLine(Exception):
    """An error whose message is one printable line for each of its arguments, whatever they quote."""

    def __str__(self) -> str:
        lines = [one_line(line, LONGEST) for line in self.args[:MOST_LINES]]
        more = len(self.args) - MOST_LINES
        return "\n".join([*lines, f"and {more} more"] if more > 0 else lines)


class Told(Exception):
    """An error that logs of jobs show in one line, without a traceback."""


class Unreadable(Told, ValueError):
    """A file is cut or damaged; the message is one line that names it."""


def damaged(path: object, what: str, error: object) -> Unreadable:
    """The error of a damaged file of a format, with the first line of the reader's error."""
    reason = one_line(str(error).partition("\n")[0])
    return Unreadable(f"{path}: not a complete {what} file ({reason}); delete it and run again")


def is_number(text: str) -> bool:
    """Whether a text is a finite number; ``1_2`` is a code, as for pandas."""
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def one_line(text: object, limit: int = 300) -> str:
    """A printable text in one line: white space collapsed, a long text cut.

    Examples
    --------
    >>> one_line("\\x1b[1;33mno number:\\x1b[0m\\n  'a\\x1b[2Jb'")
    "no number: 'a�[2Jb'"
    """
    line = " ".join(printable(str(text)).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def printable(text: str) -> str:
    """A text without colours, in which control characters are replaced, except line breaks and tabs.

    A message may quote a file, and a terminal executes control characters.

    Examples
    --------
    >>> printable("a\\rb\\x1b[1mc\\x07\\n")
    'a bc�\\n'
    """
    return "".join(map(_printable, COLOURS.sub("", text)))


def _printable(letter: str) -> str:
    if letter.isprintable() or letter in "\n\t":
        return letter
    return " " if letter.isspace() else "\ufffd"


def full_label(named) -> str:
    """The label of a model or a data set with its second line.

    Examples
    --------
    >>> from entrolab.tables.base import Head
    >>> full_label(Head("SVM", "rbf"))
    'SVM rbf'
    """
    return one_line(f"{named.label} {named.sublabel}")


def plural(count: int, noun: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> plural(1, "table"), plural(1200, "table")
    ('1 table', '1,200 tables')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def in_short(values: Sequence) -> str:
    """The values of a grid in a line; of more than six the first two and the last.

    Examples
    --------
    >>> in_short([0.5, 1.0]), in_short(range(9))
    ('0.5, 1', '0, 1 … 8')
    """
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return ", ".join(shown) if len(shown) <= 6 else f"{shown[0]}, {shown[1]} … {shown[-1]}"


def without_secrets(address: str) -> str:
    """Scheme, host, port and path of a store's address, without user, password and query.

    Examples
    --------
    >>> without_secrets("postgresql://alice:pa@rt:PW@host:5432/runs?password=PW")
    'postgresql://host:5432/runs'
    """
    return _shown_and_hidden(address)[0]


def hide_secrets(text: str, address: str) -> str:
    """A message about an address, with stars for the parts that `without_secrets` leaves out.

    Examples
    --------
    >>> hide_secrets("cannot ask http://TOKEN@host/api (TOKEN)", "http://TOKEN@host")
    'cannot ask http://host/api (***)'
    """
    shown, hidden = _shown_and_hidden(address)
    text = text.replace(address.rstrip("/"), shown.rstrip("/"))
    # The names of a query's parameters are no secrets: messages contain the word `password`.
    pieces = re.split("[:/?#@&;=]+", re.sub("[?&;][^=&;@]*=", "&", hidden))
    for piece in sorted({*pieces, *map(unquote, pieces), ""}, key=len, reverse=True)[:-1]:
        text = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "***", text)
    return text


def _shown_and_hidden(address: str) -> tuple[str, str]:
    scheme, rest = re.fullmatch(r"([\w+.-]+://)?(.*)", address, re.DOTALL).groups("")
    place = re.split("[?]" if rest.startswith("/") else "[?#]", rest)[0]
    authority = place.partition("/")[0]
    user, _, host = authority.rpartition("@")
    if authority and "@" in rest[len(authority) :]:  # or a / or a ? is in the password
        return f"{scheme}***", rest
    return f"{scheme}{host}{place[len(authority) :]}", user + rest[len(place) :]
