"""Checksums of the outputs of jobs: a file that is cut, damaged or edited later is noticed and made again.

Snakemake looks at times and at missing files only. Each job writes the sha256 of its outputs below `NOTES`,
and a run begins by comparing: changed outputs are moved to `ASIDE`, and Snakemake makes them again.
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
# Where Snakemake keeps the time of a folder that is an output.
TIME_OF_FOLDER = ".snakemake_timestamp"


def note_of(log: str | os.PathLike) -> Path:
    """The file of a job's checksums, by the job's log.

    Examples
    --------
    >>> note_of("logs/eem/select/heart.log").as_posix()
    'results/.sha256/eem/select/heart.json'
    """
    return NOTES.joinpath(*Path(log).parts[1:]).with_suffix(".json")


def write_note(note: Path, outputs: Iterable[str]) -> None:
    """Write the checksum of each file of a job's outputs, which are files and folders."""
    digests = {
        output: {file.as_posix(): sha256_of(file) for file in _files(Path(output))} for output in outputs
    }
    if digests:
        write_json(note, digests)


def changed_files() -> list[str]:
    """The files that changed since their jobs wrote them, those missing from a folder included."""
    return [file for _, changed in _changed_outputs() for file in changed]


def set_changed_aside() -> list[str]:
    """Move each changed output to `ASIDE`, and return the files that had changed.

    No other run may be at work. Only what was set aside of the same output before is deleted: a change may be
    a person's edit.
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
    """Give outputs with a time in the future, written while the clock was fast, the present time.

    Snakemake takes an output that is older than its input for an error of the job.
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
        except ValueError:  # a damaged note says nothing of its files
            note.unlink()


def _files(output: Path) -> list[Path]:
    if not output.is_dir():
        return [output]
    return sorted(path for path in output.rglob("*") if path.is_file() and path.name != TIME_OF_FOLDER)
