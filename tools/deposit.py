"""Pack the finished studies into a zip archive with RO-Crate metadata and sha256 sums; check such an archive.

    python -m tools.deposit make FILE [STUDY ...]
    python -m tools.deposit check FILE

There are no data sets, which have licences of their own, no fitted models, and no html and svg, which may
contain scripts. `check` reads no file before the names and sizes of all of them are known to be harmless.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import stat
import sys
import zipfile
from pathlib import Path, PurePosixPath

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from entrolab.io.atomic import replacing
from entrolab.io.damaged import DAMAGED
from entrolab.jobs.checkout import commit_of
from entrolab.text import one_line

CRATE, MANIFEST = "ro-crate-metadata.json", "manifest-sha256.txt"
ABOUT = ("CITATION.cff", "LICENSE", "requirements.lock", "environment.yml", "config/datasets.yaml")
FOLDERS = ("tables", "figures", "seed*")
NAME = re.compile(r"(\w[\w+-]*/){0,7}\w[\w.+-]*", re.ASCII)  # so that no folder has the name of a file
MOST_FILES, MOST_CHARACTERS, MOST_BYTES = 100_000, 200, 4 << 30  # of an archive, a name, all files
MOST_OF_FILE, MOST_PARSED = 256 << 20, 32 << 20  # bytes of any file, and of JSON and the manifest
# The accepted suffixes, each with a test of the content, which may raise ValueError. LICENSE has none.
TEXTS = ("LICENSE", ".cff", ".csv", ".lock", ".md", ".tex", ".txt", ".yaml", ".yml")
TYPES = {
    ".json": lambda content: isinstance(json.loads(content), dict),
    ".parquet": lambda content: content[:4] == content[-4:] == b"PAR1",
    ".png": lambda content: content.startswith(b"\x89PNG\r\n\x1a\n"),
} | dict.fromkeys(TEXTS, lambda content: isinstance(content.decode(), str))


class DepositError(Exception):
    """Raised if a deposit cannot be made, or is invalid."""


def make(path: Path, root: Path, *asked: str) -> list[str]:
    """Write a deposit of the studies `asked` for, or of all that are finished; return their names."""
    papers = sorted((root / "config/papers").glob("*.yaml"))
    studies = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in papers}
    tables = {name: root / "results" / name / "tables" for name in studies}
    finished = [n for n in studies if all((tables[n] / f"{t}.csv").is_file() for t in studies[n]["tables"])]
    if (wrong := sorted({*asked} - {*finished})) or not finished:
        raise DepositError(f"{', '.join(wrong) or 'every study'}: no such study, or some tables are missing")
    studies = {name: studies[name] for name in asked or finished}
    names = {*ABOUT} | {f"results/{name}/claims.csv" for name in studies}
    for name, study in studies.items():
        named = [f"{name}.yaml", *(study.get(key) for key in ("published", "claims", "seeds"))]
        names |= {os.path.normpath(f"config/papers/{file}") for file in named if isinstance(file, str)}
        results = root / "results" / name
        found = [file for folder in FOLDERS for file in results.glob(f"{folder}/**/[!.]*")]
        names |= {file.relative_to(root).as_posix() for file in found if file.suffix in TYPES}
    contents = {name: (root / name).read_bytes for name in sorted(names) if (root / name).is_file()}
    contents[CRATE] = json.dumps(_crate(root, [*contents], studies), indent=1).encode
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        manifest = ""
        for name, read in contents.items():  # with a fixed time: archives of equal files are equal
            archive.writestr(zipfile.ZipInfo(name), content := read(), zipfile.ZIP_DEFLATED)
            manifest += f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        archive.writestr(zipfile.ZipInfo(MANIFEST), manifest, zipfile.ZIP_DEFLATED)
    return [*studies]


def _crate(root: Path, names: list[str], studies: dict[str, dict]) -> dict:
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    crate = ROCrate(version="1.1")
    crate.name = f"{citation['title']} {citation['version']}: results of {', '.join(studies)}"
    crate.description = "; ".join(study["title"] for study in studies.values())
    crate.datePublished = datetime.datetime.now(datetime.UTC).date()
    for key, identifier, kind, name in (
        ("license", "https://spdx.org/licenses/BSD-3-Clause", "CreativeWork", "BSD 3-Clause"),
        ("author", "#authors", "Organization", citation["authors"][0]["name"]),
        ("isBasedOn", "#software", "SoftwareSourceCode", f"commit {commit_of(root) or 'unknown'}"),
    ):
        crate.root_dataset[key] = crate.add(ContextEntity(crate, identifier, {"@type": kind, "name": name}))
    for name in names:
        crate.add_file(root / name, name)
    return crate.metadata.generate()


def check(path: Path) -> int:
    """The number of files of a deposit; raise `DepositError` if it is none, or was changed since."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise DepositError(f"accepted: a file of at most {MOST_BYTES >> 30} GiB")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive.infolist())
            return _check_contents(archive)
    except (*DAMAGED, LookupError, TypeError, ValueError) as error:  # no zip, no UTF-8, JSON of other types
        raise DepositError(f"not a deposit, or damaged: {type(error).__name__}: {error}") from None


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    n_names, n_bytes = len({one.filename.lower() for one in entries}), sum(one.file_size for one in entries)
    if n_names < len(entries) or n_names > MOST_FILES or n_bytes > MOST_BYTES:
        raise DepositError(f"a name twice, more than {MOST_FILES} files, or more than {MOST_BYTES >> 30} GiB")
    for entry in entries:
        name, suffix = entry.filename, PurePosixPath(entry.filename).suffix or entry.filename
        if not NAME.fullmatch(name) or len(name) > MOST_CHARACTERS:
            raise DepositError(f"{name[:99]!r}: accepted: relative paths of letters, digits and ._+-")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG) or suffix not in TYPES:
            raise DepositError(f"{name}: accepted: regular files with the suffixes {' '.join(TYPES)}")
        if entry.file_size > (MOST_PARSED if suffix in (".json", ".txt") else MOST_OF_FILE):
            raise DepositError(f"{name}: {entry.file_size} bytes are too many")


def _check_contents(archive: zipfile.ZipFile) -> int:
    names = {*archive.namelist()} - {MANIFEST}
    listed = dict(line.split("  ", 1)[::-1] for line in archive.read(MANIFEST).decode().splitlines())
    if different := names ^ listed.keys():
        raise DepositError(f"{min(different)!r}: in {MANIFEST} or in the archive only")
    for name in sorted(names):
        content = archive.read(name)
        is_listed = hashlib.sha256(content).hexdigest() == listed[name]
        if not (is_listed and TYPES[PurePosixPath(name).suffix or name](content)):
            raise DepositError(f"{name}: {'the type' if is_listed else 'the sha256'} of its content differs")
    entities = {entity["@id"]: entity for entity in json.loads(archive.read(CRATE))["@graph"]}
    if {part["@id"] for part in entities["./"]["hasPart"]} != names - {CRATE}:
        raise DepositError(f"{CRATE}: the parts of ./ are not the files of the archive")
    return len(names) + 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.deposit", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["make", "check"])
    parser.add_argument("file", type=Path)
    parser.add_argument("studies", nargs="*", help="make a deposit of these only, not of all finished ones")
    asked = parser.parse_args(arguments)
    try:
        studies = make(asked.file, Path(), *asked.studies) if asked.command == "make" else []
        print(one_line(f"{asked.file}: {check(asked.file)} files, {', '.join(studies) or 'valid'}"))
    except (DepositError, OSError) as error:
        print(one_line(f"{asked.file}: {error}"), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
