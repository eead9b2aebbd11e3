"""What each job wrote, by its sha256: a file that is cut, damaged or edited later is noticed and made again.

Snakemake looks at times and at what is missing. So each job notes the digests of its outputs when it has
written them all, in a file of its own under `NOTES`, and a run begins by comparing: what is no longer as its
job left it is moved to `ASIDE`, and Snakemake makes what is missing.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from entrolab.io.records import read_json, write_json

NOTES = Path("results", ".sha256")
ASIDE = Path("results", ".changed")
# Where Snakemake keeps the time of a folder that is an output.
TIME_OF_FOLDER = ".snakemake_timestamp"


def note_of(log: str | os.PathLike) -> Path:
    """The file in which a job notes what it wrote, known by its log.

    Examples
    --------
    >>> note_of("logs/eem/select/heart.log").as_posix()
    'results/.sha256/eem/select/heart.json'
    """
    return NOTES.joinpath(*Path(log).parts[1:]).with_suffix(".json")


def write_note(note: Path, outputs: Iterable[str]) -> None:
    """Note the digest of each file of a job's outputs: files, and folders with all that is in them."""
    digests = {
        output: {file.as_posix(): _sha256(file) for file in _files(Path(output))} for output in outputs
    }
    if digests:
        write_json(note, digests)


def changed_files() -> list[str]:
    """The files that are not as their jobs left them, those missing from a folder included."""
    return [file for _, changed in _changed_outputs() for file in changed]


def set_changed_aside() -> list[str]:
    """Move each output that is not as its job left it to `ASIDE`, and return the files that had changed.

    No other run may be at work. Nothing is deleted but what was set aside from the same place before: what
    has changed may be the edit of a person.
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
    """Give what was written while the clock was fast, as it seems now, the present time.

    Whatever is made from it would be older than it until then: Snakemake takes that for an error of the job.
    """
    now = time.time()
    for noted in _notes():
        for output in map(Path, noted):
            for path in (output, output / TIME_OF_FOLDER):
                if path.exists() and path.stat().st_mtime > now:
                    os.utime(path, (now, now))


def _changed_outputs() -> Iterator[tuple[str, list[str]]]:
    """Each output that is there and has changed, with the files that did."""
    for noted in _notes():
        for output, digests in noted.items():
            if Path(output).exists():
                changed = [file for file, digest in digests.items() if not _is(Path(file), digest)]
                if changed:
                    yield output, changed


def _notes() -> Iterator[dict[str, dict[str, str]]]:
    for note in sorted(NOTES.rglob("*.json")):
        try:
            yield read_json(note)
        except ValueError:  # a damaged note says nothing of its files
            note.unlink()


def _is(file: Path, digest: str) -> bool:
    return file.is_file() and _sha256(file) == digest


def _files(output: Path) -> list[Path]:
    if not output.is_dir():
        return [output]
    return sorted(path for path in output.rglob("*") if path.is_file() and path.name != TIME_OF_FOLDER)


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
