"""Pack the results of studies, with their configuration and environment, into a deposit."""

import datetime
import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import yaml

from entrolab.deposit.crate import CRATE, DATACITE, MANIFEST, DepositError, crate, datacite, manifest
from entrolab.io.atomic import replacing
from entrolab.jobs.checkout import commit_of
from entrolab.study.config import read_yaml
from entrolab.study.job_specs import figure_datasets, figure_formats, study_runs, table_files
from entrolab.tables.types import FILES

# Files left out: data sets (they have licences of their own), files derived from them, and fitted models.
LEFT_OUT = ("results/data/", "/folds/", "/scaled/", ".skops")
# Files that describe the project and its environment, in the folder of the Snakefile.
ABOUT = ("CITATION.cff", "LICENSE", "requirements.lock", "environment.yml")
STUDIES, CATALOG, PAPERS = "deposit.json", "config/datasets.yaml", "config/papers"


def pack(
    path: str | Path,
    studies: Mapping[str, Mapping],
    *,
    catalogs: Sequence[str | os.PathLike],
    home: str | os.PathLike,
    results: str | os.PathLike = ".",
) -> list[str]:
    """Write a deposit of the studies that have results; return their names.

    Studies with data of their own are left out. Of the data sets in the files `catalogs`, the entries that
    the studies use are packed. `home` is the folder of the Snakefile, `results` the folder that holds
    ``results``.

    Raises
    ------
    DepositError
        If no study has all its tables, or `home` has no CITATION.cff.
    """
    home, folder = Path(home), Path(results)
    done = [name for name, study in studies.items() if _is_done(name, study, folder)]
    if not done:
        raise DepositError(f"{folder / 'results'}: no study has all its tables; run `snakemake demo` first")
    files = {name: home / name for name in ABOUT if (home / name).exists()}
    files |= dict(_configuration([studies[name] for name in done]))
    for name in done:
        files |= {file: folder / file for file in _of_study(name, studies[name]) if (folder / file).exists()}
    if "CITATION.cff" not in files:
        raise DepositError(f"{home}: CITATION.cff is missing; accepted: a clone of the repository")
    citation = read_yaml(home / "CITATION.cff")
    titles = "; ".join(studies[name]["title"] for name in done)
    about = {
        "name": f"{citation['title']}: results of {', '.join(done)}",
        "description": "Tables, records, predictions and figures, with configuration and environment, of the "
        f"studies: {titles}.",
        "commit": commit_of(home) or "",
    }
    date = datetime.datetime.now(datetime.UTC).date()
    own = {STUDIES: {"studies": {name: Path(studies[name]["file"]).name for name in done}, **about}}
    entries = _entries(catalogs, [studies[name] for name in done])
    sizes = {name: file.stat().st_size for name, file in files.items()}
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        digests = {name: _add(archive, name, file.read_bytes()) for name, file in sorted(files.items())}
        mebibytes = f"{sum(sizes.values()) / 2**20:.1f} MiB"
        own[DATACITE] = datacite(about, citation, date, [mebibytes])
        texts = {name: _json(content) for name, content in own.items()}
        texts[CATALOG] = yaml.safe_dump(entries, allow_unicode=True, sort_keys=False).encode()
        sizes |= {name: len(text) for name, text in texts.items()}
        texts[CRATE] = _json(crate(dict(sorted(sizes.items())), about, citation, date))
        digests |= {name: _add(archive, name, text) for name, text in texts.items()}
        _add(archive, MANIFEST, manifest(digests).encode())
    return done


def _is_done(name: str, study: Mapping, folder: Path) -> bool:
    tables = (FILES["tables"].format(study=name, table=table) for table in study["tables"])
    return not study["own_data"] and all((folder / table).exists() for table in tables)


def _configuration(studies: Sequence[Mapping]) -> Iterator[tuple[str, Path]]:
    """Yield the files that the studies are read from, each with its path in the deposit."""
    for study in studies:
        file = Path(study["file"])
        yield f"{PAPERS}/{file.name}", file
        for key in ("published", "claims_file", "seeds"):
            if study.get(key) and (key != "seeds" or Path(study[key]).is_file()):
                place = os.path.normpath(Path(PAPERS, os.path.relpath(study[key], file.parent)))
                if place.startswith(".."):
                    raise DepositError(f"{file}: names {study[key]}; accepted: files near the study")
                yield Path(place).as_posix(), Path(study[key])


def _entries(catalogs: Sequence[str | os.PathLike], studies: Sequence[Mapping]) -> dict:
    """The catalog's entries of the data sets that some studies use."""
    used = set(chain.from_iterable(study["tasks"] for study in studies))
    used |= {one for study in studies for name in study["figures"] for one in figure_datasets(study, name)}
    entries: dict = {}
    for file in catalogs:
        entries |= {key: entry for key, entry in read_yaml(Path(file)).items() if key in used}
    return entries


def _of_study(name: str, study: Mapping) -> list[str]:
    """The result files of a study that are deposited."""
    made_of = chain.from_iterable(table_files(name, study, table) for table in study["tables"])
    of_runs = (
        FILES[stage].format(study=name, dataset=dataset, model=model)
        for stage in ("record", "selection")
        for dataset, model in study_runs(study)
    )
    tables = (FILES["tables"].format(study=name, table=table) for table in study["tables"])
    figures = (
        f"results/{name}/figures/{figure}.{format}"
        for figure in study["figures"]
        for format in figure_formats(study, figure)
    )
    claims = [f"results/{name}/claims.csv"] if study["claims"] else []
    every = dict.fromkeys([*made_of, *of_runs, *tables, *figures, *claims])
    return [file for file in every if not any(part in file for part in LEFT_OUT)]


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> str:
    """Add a file with a fixed time stamp, so that archives are reproducible; return its sha256."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return hashlib.sha256(content).hexdigest()


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
