"""Checksums of the outputs of jobs, by which damaged or edited files are detected and made again.

Snakemake checks only file times and missing files. Each job writes the sha256 of its outputs below `NOTES`. A
run begins by comparing them: changed outputs are moved to `ASIDE`, and Snakemake makes them again.
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from entrolab.io.atomic import sha256_of
from entrolab.io.records import read_json, write_json

NOTES = Path("results", ".sha256")
ASIDE = Path("results", ".changed")
# The file in which Snakemake stores the time of an output that is a folder.
TIME_OF_FOLDER = ".snakemake_timestamp"


def note_of(log: str | os.PathLike) -> Path:
    """The path of a job's checksums, derived from the path of its log.

    Examples
    --------
    >>> note_of("logs/eem/select/heart.log").as_posix()
    'results/.sha256/eem/select/heart.json'
    """
    return NOTES.joinpath(*Path(log).parts[1:]).with_suffix(".json")


def write_note(note: Path, outputs: Iterable[str]) -> None:
    """Write the checksum of each file in a job's outputs, which may be files or folders."""
    digests = {
        output: {file.as_posix(): sha256_of(file) for file in _files(Path(output))} for output in outputs
    }
    if digests:
        write_json(note, digests)


def changed_files() -> list[str]:
    """The files that have changed since their jobs wrote them, including files missing from a folder."""
    return [file for _, changed in _changed_outputs() for file in changed]


def set_changed_aside() -> list[str]:
    """Move each changed output to `ASIDE`, and return the files that had changed.

    No other run may be active. Nothing is deleted except an older copy of the same output in `ASIDE`, because
    a change may be a user's edit.
    """
    found = []
    for output, changed in _changed_outputs():
        aside = ASIDE / output
        if aside.is_dir():
            shutil.rmtree(aside)
        aside.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(output, aside)
        found += changed
    return found


def end_future() -> None:
    """Set outputs with a time in the future, written while the clock was wrong, to the current time.

    Otherwise later outputs would be older than their inputs, which Snakemake treats as a failed job.
    """
    now = time.time()
    for noted in _notes():
        for output in map(Path, noted):
            for path in (output, output / TIME_OF_FOLDER):
                if path.exists() and path.stat().st_mtime > now:
                    os.utime(path, (now, now))


def _changed_outputs() -> Iterator[tuple[str, list[str]]]:
    """The existing outputs that changed, each with its changed files."""
    for output, digests in chain.from_iterable(noted.items() for noted in _notes()):
        changed = [
            file
            for file, digest in digests.items()
            if not (Path(file).is_file() and sha256_of(file) == digest)
        ]
        if changed and Path(output).exists():
            yield output, changed


def _notes() -> Iterator[dict[str, dict[str, str]]]:
    for note in sorted(NOTES.rglob("*.json")):
        try:
            yield read_json(note)
        except ValueError:  # a damaged note is ignored
            note.unlink()


def _files(output: Path) -> list[Path]:
    if not output.is_dir():
        return [output]
    return sorted(path for path in output.rglob("*") if path.is_file() and path.name != TIME_OF_FOLDER)
