"""Commands as texts: what a page or a message tells a user to type."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import yaml

from entrolab.io.files import HOME

# Texts that Snakemake's --config leaves unchanged, so that they need no quotes.
PLAIN = re.compile(
    r"(?!(nan|inf|infinity|true|false)$)(\.{1,2}$|\.{0,2}/|[a-z])[\w./-]*( [\w./-]+)*", re.IGNORECASE
)


def is_checkout(folder: str | Path) -> bool:
    """Whether a working folder is a checkout of this project, with its Makefile and Snakefile."""
    return Path(folder).absolute() == HOME


def command_to_track(folder: str | Path) -> str:
    """The command that shows the tracked runs of a working folder."""
    return "make ui" if is_checkout(folder) else "entrolab ui"


def setting(name: str, value: object) -> str:
    """The argument of Snakemake's ``--config`` that gives a setting a value.

    Snakemake parses a value as a number, a boolean or YAML, and strips quotes at its ends. A text that is not
    `PLAIN` is therefore quoted as YAML, between blanks that protect the quotes.

    Examples
    --------
    >>> setting("mirror", "/data"), setting("mirror", "exp #1"), setting("mirror", None), setting("seed", 1)
    ('mirror=/data', 'mirror= "exp #1" ', 'mirror=', 'seed=1')
    """
    if isinstance(value, str) and not PLAIN.fullmatch(value):
        quoted = yaml.safe_dump(value, default_style='"', allow_unicode=True, width=float("inf"))
        return f"{name}= {quoted.rstrip()} "
    return f"{name}={'' if value is None else value}"


def command_for(file: str | Path, folder: str | Path, settings: Mapping, part: str | None = None) -> str:
    """The complete command that makes a study again, or one table or figure (`part`) of it.

    `file` is the study's, `folder` the working folder in which the command is run; `settings` are those that
    differ from the defaults.
    """
    file, folder = Path(os.path.abspath(file)), Path(folder).absolute()
    is_shipped = file.parent == HOME / "config" / "papers"
    study = file.stem if is_shipped else Path(os.path.relpath(file, folder)).as_posix()
    words = ["entrolab", *([study] if part is None else ["show", study, part])]
    words += ["--config"] if settings else []
    return shlex.join([*words, *(setting(name, value) for name, value in settings.items())])
