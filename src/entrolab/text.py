"""Texts and values prepared for a terminal, a table or a page."""

import re
from collections.abc import Sequence
from urllib.parse import unquote

# What switches the colours of a terminal on and off.
COLOURS = re.compile(r"\x1b\[[\d;]*m")
# What goes back to the start of a terminal's line and empties it.
ERASE_LINE = "\r\x1b[K"


class Told(Exception):
    """An error whose one line is enough: logs of jobs have no traceback of it."""


class Unreadable(Told, ValueError):
    """A file is cut or damaged; the message is one line that names it."""


def one_line(text: object, limit: int = 300) -> str:
    """A text in one line: white space collapsed, a very long text cut, colours left out.

    Characters that are not printable are replaced: a message may quote a file, and a terminal obeys control
    characters.

    Examples
    --------
    >>> one_line("\\x1b[1;33mno number:\\x1b[0m\\n  'a\\x1b[2Jb'")
    "no number: 'a�[2Jb'"
    """
    plain = COLOURS.sub("", str(text))
    shown = (letter if letter.isprintable() or letter.isspace() else "\ufffd" for letter in plain)
    line = " ".join("".join(shown).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def in_short(values: Sequence, longest: int = 6) -> str:
    """The values of a grid in a line; of many the first two and the last.

    Examples
    --------
    >>> in_short([0.5, 1.0]), in_short(range(9))
    ('0.5, 1', '0, 1 … 8')
    """
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return ", ".join(shown) if len(shown) <= longest else f"{shown[0]}, {shown[1]} … {shown[-1]}"


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
    # The names of a query's parameters are no secrets: `password` is a word of messages.
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
