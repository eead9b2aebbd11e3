"""What others have written, fit to be shown: in a terminal, a table, a page."""

import re
from urllib.parse import unquote

# What switches the colours of a terminal on and off.
COLOURS = re.compile(r"\x1b\[[\d;]*m")


class Told(Exception):
    """An error whose one line says all that its reader needs: logs of jobs have no traceback of it."""


class Unreadable(Told, ValueError):
    """A file that is not whole; the message is one line that names it."""


def one_line(text: object, limit: int = 300) -> str:
    """Collapse white space, so that a message or a folded note is one line, and cut what is very long.

    What is not printable is marked: a message may quote a file, and a terminal obeys control characters.
    Colours are left out.

    Examples
    --------
    >>> one_line("\\x1b[1;33mno number:\\x1b[0m\\n  'a\\x1b[2Jb'")
    "no number: 'a�[2Jb'"
    """
    plain = COLOURS.sub("", str(text))
    shown = (letter if letter.isprintable() or letter.isspace() else "\ufffd" for letter in plain)
    line = " ".join("".join(shown).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def without_secrets(address: str) -> str:
    """Scheme, host, port and path of a store's address; a user, a password or a token may be in the rest.

    Examples
    --------
    >>> without_secrets("postgresql://alice:pa@rt:PW@host:5432/runs?password=PW")
    'postgresql://host:5432/runs'
    """
    return _shown_and_hidden(address)[0]


def hide_secrets(text: str, address: str) -> str:
    """A message about an address, with stars for what `without_secrets` leaves out of it.

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
