"""The metadata of a deposit (RO-Crate, DataCite, a BagIt manifest), and their validation without a network.

References
----------
P. Sefton et al., RO-Crate Metadata Specification 1.1 (2020), https://w3id.org/ro/crate/1.1
DataCite Metadata Working Group, DataCite Metadata Schema 4.5 (2024), https://schema.datacite.org
J. Kunze et al., The BagIt File Packaging Format, RFC 8493 (2018)
"""

import datetime
import hashlib
import json
import mimetypes
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from entrolab.io.damaged import DAMAGED

CRATE, DATACITE, MANIFEST = "ro-crate-metadata.json", "datacite.json", "manifest-sha256.txt"
VERSION = "https://w3id.org/ro/crate/1.1"
LICENSE = "https://spdx.org/licenses/BSD-3-Clause"
# Size limits in bytes: all files of a deposit unpacked, and its metadata file.
MOST_BYTES, MOST_METADATA = 8 << 30, 64 << 20

mimetypes.add_type("application/vnd.apache.parquet", ".parquet")
mimetypes.add_type("application/yaml", ".yaml")


class DepositError(ValueError):
    """Raised if a deposit is invalid, or cannot be made."""


def crate(files: Mapping[str, int], about: Mapping, citation: Mapping, date: datetime.date) -> dict:
    """The RO-Crate metadata of a deposit.

    `files` maps paths in the archive to sizes in bytes; `about` has the ``name``, ``description`` and
    ``commit`` of the deposit; `citation` is the content of CITATION.cff.
    """
    papers = [_paper(reference) for reference in citation.get("references", [])]
    authors = [_author(author) for author in citation["authors"]]
    software = {
        "@id": "#software",
        "@type": "SoftwareSourceCode",
        "name": citation["title"],
        "version": f"{citation['version']}, commit {about['commit'] or 'unknown'}",
        "softwareRequirements": {"@id": "requirements.lock"} if "requirements.lock" in files else [],
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": about["name"],
        "description": about["description"],
        "datePublished": date.isoformat(),
        "license": {"@id": LICENSE},
        "author": _references(authors),
        "keywords": citation.get("keywords", []),
        "citation": _references(papers),
        "isBasedOn": {"@id": "#software"},
        "hasPart": [{"@id": path} for path in files],
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": VERSION},
        "about": {"@id": "./"},
    }
    licence = {"@id": LICENSE, "@type": "CreativeWork", "name": "BSD 3-Clause", "identifier": "BSD-3-Clause"}
    described = [_file(path, size) for path, size in files.items()]
    graph = [descriptor, root, licence, software, *authors, *papers, *described]
    return {"@context": f"{VERSION}/context", "@graph": graph}


def datacite(about: Mapping, citation: Mapping, date: datetime.date, sizes: Sequence[str]) -> dict:
    """The metadata for registering a DOI, in DataCite's JSON format; the data repository adds the DOI.

    `sizes` are texts such as "1.2 MiB"; for the rest see :func:`crate`.
    """
    related = [
        {"relatedIdentifier": reference["doi"], "relatedIdentifierType": "DOI", "relationType": "Cites"}
        for reference in citation.get("references", [])
        if "doi" in reference
    ]
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Results of computations"},
        "titles": [{"title": about["name"]}],
        "creators": [_creator(author) for author in citation["authors"]],
        "publisher": {"name": "not yet published"},
        "publicationYear": str(date.year),
        "dates": [{"date": date.isoformat(), "dateType": "Created"}],
        "descriptions": [{"description": about["description"], "descriptionType": "Abstract"}],
        "subjects": [{"subject": keyword} for keyword in citation.get("keywords", [])],
        "rightsList": [{"rights": "BSD 3-Clause", "rightsUri": LICENSE}],
        "version": citation["version"],
        "relatedIdentifiers": related,
        "sizes": [*sizes],
        "formats": ["application/zip"],
    }


def manifest(digests: Mapping[str, str]) -> str:
    """A BagIt manifest: one line per file with its sha256."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))


def validate(path: str | Path) -> None:
    """Raise `DepositError` (a line per error) if a file is not a deposit, or was changed since."""
    try:
        with zipfile.ZipFile(path) as archive:
            lines = list(_mistakes(archive))
    except DAMAGED as error:
        raise DepositError(f"{path}: {error}; accepted: a zip file of `make deposit`") from None
    if lines:
        raise DepositError("\n".join(f"{path}: {line}" for line in lines))


def _mistakes(archive: zipfile.ZipFile) -> Iterator[str]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    names = [entry.filename for entry in entries]
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            yield f"found the path {name!r}; accepted: paths inside the deposit"
    if len(set(names)) < len(names):
        yield "found a file twice; accepted: each file once"
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        yield f"found more than {MOST_BYTES >> 30} GiB unpacked; accepted: less"
        return
    missing = [name for name in (CRATE, DATACITE, MANIFEST, "CITATION.cff") if name not in names]
    yield from (f"there is no {name}" for name in missing)
    if missing:
        return
    if archive.getinfo(CRATE).file_size > MOST_METADATA:
        yield f"{CRATE}: found more than {MOST_METADATA >> 20} MiB; accepted: less"
        return
    yield from _damaged(archive, names)
    try:
        metadata = json.loads(archive.read(CRATE))
    except ValueError as error:
        yield f"{CRATE}: {error}"
        return
    yield from (f"{CRATE}: {line}" for line in crate_mistakes(metadata, names))


def _damaged(archive: zipfile.ZipFile, names: Sequence[str]) -> Iterator[str]:
    """Yield the disagreements between the files and the manifest."""
    listed = {}
    for number, line in enumerate(archive.read(MANIFEST).decode("utf-8", "replace").splitlines(), start=1):
        digest, separator, name = line.partition("  ")
        if not separator:
            yield f"{MANIFEST}: line {number}: found {line[:60]!r}; accepted: a sha256, two blanks, a path"
        listed[name] = digest
    for name in names:
        if name != MANIFEST and name not in listed:
            yield f"{name}: not in {MANIFEST}"
    for name, digest in listed.items():
        if name not in names:
            yield f"{name}: in {MANIFEST}, but not in the deposit"
        else:
            with archive.open(name) as stream:
                if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
                    yield f"{name}: its sha256 differs from that in {MANIFEST}"


def crate_mistakes(metadata: Mapping, names: Sequence[str]) -> Iterator[str]:
    """Yield the violations of RO-Crate 1.1 in a metadata document, given the names of the files.

    Checked are the document, its root and descriptor, every type and property (against the terms that
    deposits use), every reference and every file.
    """
    if not isinstance(metadata, dict) or metadata.get("@context") != f"{VERSION}/context":
        yield f"@context: accepted: {VERSION}/context"
        return
    graph = metadata.get("@graph")
    if not isinstance(graph, list) or not all(isinstance(one, dict) and "@id" in one for one in graph):
        yield "@graph: accepted: a list of entities, each with an @id"
        return
    entities = {one["@id"]: one for one in graph}
    if len(entities) < len(graph):
        yield "@graph: an @id is repeated"
    descriptor, root = entities.get(CRATE, {}), entities.get("./", {})
    if descriptor.get("about") != {"@id": "./"} or descriptor.get("conformsTo") != {"@id": VERSION}:
        yield f"{CRATE}: its entity must be about ./ and conform to {VERSION}"
    for key in ("name", "description", "datePublished", "license"):
        if not root.get(key):
            yield f"./: the key {key!r} is missing"
    try:
        datetime.date.fromisoformat(str(root.get("datePublished")))
    except ValueError:
        yield f"./: datePublished: found {root.get('datePublished')!r}; accepted: a date such as 2026-01-31"
    terms = _terms()
    for identifier, entity in entities.items():
        types = entity.get("@type", [])
        for term in [*([types] if isinstance(types, str) else types), *(set(entity) - {"@id", "@type"})]:
            if term not in terms:
                yield f"{identifier}: unknown term {term!r} of {VERSION}/context"
        if not types:
            yield f"{identifier}: the key '@type' is missing"
        for reference in _referenced(entity):
            if reference not in entities and not reference.startswith(("http://", "https://")):
                yield f"{identifier}: refers to {reference!r}, which is not described"
    parts = {one["@id"] for one in root.get("hasPart", []) if isinstance(one, dict) and "@id" in one}
    described = {key for key, one in entities.items() if one.get("@type") == "File"}
    for name in sorted({*names} - {CRATE, MANIFEST} - (described & parts)):
        yield f"{name}: in the deposit, but not described as a part of ./"
    for name in sorted(described - {*names}):
        yield f"{name}: described, but not in the deposit"


def _terms() -> set[str]:
    return set(json.loads(Path(__file__).with_name("context.json").read_text(encoding="utf-8"))["@context"])


def _referenced(entity: Mapping) -> Iterator[str]:
    for key, value in entity.items():
        for one in value if isinstance(value, list) else [value]:
            if key != "@id" and isinstance(one, Mapping) and "@id" in one:
                yield str(one["@id"])


def _references(entities: Sequence[Mapping]) -> list[dict]:
    return [{"@id": one["@id"]} for one in entities]


def _file(path: str, size: int) -> dict:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    name = PurePosixPath(path).name
    return {"@id": path, "@type": "File", "name": name, "contentSize": str(size), "encodingFormat": kind}


def _author(author: Mapping) -> dict:
    name = _name(author)
    kind = "Person" if "family-names" in author else "Organization"
    return {"@id": f"#{name.replace(' ', '-').lower()}", "@type": kind, "name": name}


def _creator(author: Mapping) -> dict:
    kind = "Personal" if "family-names" in author else "Organizational"
    return {"name": _name(author), "nameType": kind}


def _name(author: Mapping) -> str:
    return author.get("name") or f"{author.get('given-names', '')} {author['family-names']}".strip()


def _paper(reference: Mapping) -> dict:
    """The entity of a cited paper, identified by its DOI if it has one."""
    doi = reference.get("doi")
    identifier = f"https://doi.org/{doi}" if doi else f"#{reference['title'][:40].replace(' ', '-').lower()}"
    entity = {"@id": identifier, "@type": "ScholarlyArticle", "name": reference["title"]}
    return entity | {"datePublished": str(reference["year"])} if "year" in reference else entity
