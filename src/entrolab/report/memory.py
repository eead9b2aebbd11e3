"""Files that store, for each study in a report, what is needed to write its pages again.

Studies from other folders, or whose file was deleted, keep their places on the front page and in the lists.
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
    """The state of a study when its page was written."""

    study: dict  # as `entrolab.study.config.load_study` returns it
    catalog: dict[str, dict]  # the entries of its data sets
    settings: dict  # settings that differ from the defaults


@contextmanager
def sole_writer(report: Path) -> Iterator[None]:
    """Wait for other programs that write pages of a report, and keep them out."""
    report.mkdir(parents=True, exist_ok=True)
    with open(report / ".lock", "a") as lock:
        # The file system has no locks: entries are safe, the last writer's front page remains.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remember(report: Path, key: str, study: Mapping, catalog: Mapping, settings: Mapping) -> None:
    """Store a study, the entries of its data sets, and its settings."""
    entry = Remembered(dict(study), dict(catalog), dict(settings))._asdict()
    write_text(report / FOLDER / f"{key}.json", json.dumps(entry, indent=1) + "\n")


def changed_settings(config: Mapping, home: str) -> dict:
    """The settings that differ from the defaults, without those that locate the study's file."""
    own = read_yaml(Path(home, "config", "config.yaml"))
    kept = own.keys() - {"papers", "extra_studies"}
    return {name: value for name, value in config.items() if name in kept and value != own[name]}


def recalled(report: Path) -> dict[str, Remembered]:
    """All studies that a report remembers, by key."""
    files = sorted((report / FOLDER).glob("[a-z]*.json"))
    return {file.stem: Remembered(**read_json(file)) for file in files}
