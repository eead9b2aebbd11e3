"""The studies whose pages a report has, each remembered in a file of its own.

A study of another folder, or one whose file has vanished, keeps its row of the front page and of the lists.
"""

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from entrolab.io.atomic import write_text
from entrolab.io.records import read_json
from entrolab.study.config import read_yaml

FOLDER = "studies"  # within the report's


class Remembered(NamedTuple):
    """A study as it was when its page was written."""

    study: dict  # as `entrolab.study.config.load_study` returns it
    catalog: dict[str, dict]  # the entries of its data sets
    settings: dict  # those that differ from the project's own


@contextmanager
def sole_writer(report: Path) -> Iterator[None]:
    """Wait for other programs that write pages of a report, and keep them out."""
    report.mkdir(parents=True, exist_ok=True)
    with open(report / ".lock", "a") as lock:
        # A file system without locks: entries are safe, the front page is that of the last writer.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remember(report: Path, key: str, study: Mapping, catalog: Mapping, settings: Mapping) -> None:
    """Keep a study, the entries of its data sets, and its settings."""
    entry = Remembered(dict(study), dict(catalog), dict(settings))._asdict()
    write_text(report / FOLDER / f"{key}.json", json.dumps(entry, indent=1) + "\n")


def changed_settings(config: Mapping, home: str) -> dict:
    """The settings that differ from the project's own; a study's file says where the study is."""
    own = read_yaml(Path(home, "config", "config.yaml"))
    kept = own.keys() - {"papers", "extra_studies"}
    return {name: value for name, value in config.items() if name in kept and value != own[name]}


def recalled(report: Path) -> dict[str, Remembered]:
    """All studies that a report remembers, by key."""
    files = sorted((report / FOLDER).glob("[a-z]*.json"))
    return {file.stem: Remembered(**read_json(file)) for file in files}
