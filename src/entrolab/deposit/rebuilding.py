"""Rebuild the tables and the report of a deposit, list the differences, and compare two deposits."""

import io
import json
import math
import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.claims.rendering import read_claims, write_claims
from entrolab.deposit.crate import DepositError, validate
from entrolab.deposit.packing import CATALOG, PAPERS, STUDIES
from entrolab.report import build_report, read_results
from entrolab.study.config import load_catalog, load_study
from entrolab.study.job_specs import table_files
from entrolab.study.sections import shortened
from entrolab.tables.making import ADDRESS, make_table, read_published, read_table
from entrolab.tables.rendering import FORMATS, write_table
from entrolab.tables.results import Results
from entrolab.tables.types import FILES, table_spec

# Relative tolerance within which numbers of tables are equal: the precision of the CSV files.
DIGITS = 1e-7
MOST_TOLD = 20  # maximum number of differing cells that are listed
DIFFERENCES = ["study", "table", *ADDRESS, "first", "second", "difference", "verdict_first", "verdict_second"]


@dataclass(frozen=True)
class Rebuilt:
    """The result of rebuilding a deposit."""

    front_page: Path
    tables: list[str]  # made again from the deposited results, as study/table
    kept: list[str]  # taken as deposited, because their inputs (data sets, for instance) are not part of it
    differences: pd.DataFrame  # the cells that differ from the deposited ones, with columns `DIFFERENCES`
    claims: list[str]  # those whose outcomes differ, as study/claim: before, now


def rebuild(path: str | Path, folder: str | Path) -> Rebuilt:
    """Unpack a deposit and make its tables, the outcomes of its claims and its report again.

    The deposit is validated first; `folder` must be empty or not exist.

    Raises
    ------
    DepositError
        If the file is not a valid deposit.
    FileExistsError
        If the folder is not empty.
    ConfigError
        If this version does not accept a study of the deposit.
    """
    validate(path)
    home = Path(folder)
    if home.exists() and any(home.iterdir()):
        raise FileExistsError(f"{home}: this folder is not empty; accepted: an empty or a new folder")
    with zipfile.ZipFile(path) as archive:
        try:
            names = _studies_of(archive)
        except DepositError as error:
            raise DepositError(f"{path}: {STUDIES}: {error}") from None
        archive.extractall(home)
    deposited = home / "deposited"
    catalog = load_catalog([home / CATALOG])
    tables, kept, differences, claims, found = [], [], [], [], []
    for name, file in names["studies"].items():
        study = load_study(home / PAPERS / file, catalog)
        shutil.copytree(home / "results" / name / "tables", deposited / name / "tables")
        for table in study["tables"]:
            made = _remake(name, study, table, home)
            (tables if made else kept).append(f"{name}/{table}")
        for table in study["tables"]:
            both = (one / name / f"tables/{table}.csv" for one in (deposited, home / "results"))
            differences.append(_differences(name, table, *map(read_table, both)))
        claims += _claims(name, study, home)
        found.append(read_results(name, study, home / "results" / name))
    page = build_report(found, home / "results" / "report", catalog=catalog, commit=names["commit"])
    return Rebuilt(page, tables, kept, _joined(differences), claims)


def _studies_of(archive: zipfile.ZipFile) -> dict:
    """``studies`` (name -> file) and ``commit`` of deposit.json; raises `DepositError` if it is invalid."""
    listed = archive.namelist()
    if STUDIES not in listed:
        raise DepositError("this file is missing")
    try:
        names = json.loads(archive.read(STUDIES))
    except ValueError as error:
        raise DepositError(f"{error}; accepted: JSON in UTF-8") from None
    studies = names.get("studies") if isinstance(names, dict) else None
    if not isinstance(studies, dict) or not studies:
        raise DepositError(f"found {shortened(names)}; accepted: 'studies', a mapping of names to files")
    if not isinstance(names.setdefault("commit", ""), str):
        raise DepositError(f"commit: found {shortened(names['commit'])}; accepted: text")
    for name, file in studies.items():
        if not re.fullmatch("[a-z][a-z0-9_]*", name):  # it becomes a folder name
            raise DepositError(f"found the study {name!r}; accepted: lower-case letters, digits and _")
        if not isinstance(file, str) or f"{PAPERS}/{file}" not in listed:
            raise DepositError(
                f"{name}: found {shortened(file)}; accepted: a file of {PAPERS} in the deposit"
            )
    return names


def compare(first: str | Path, second: str | Path) -> pd.DataFrame:
    """Compare the tables of two deposits, of two machines or two versions for instance.

    Returns the cells whose numbers or verdicts differ, with the columns `DIFFERENCES`: first those that have
    a number in one deposit only, then by relative difference, the largest first. Studies and tables that only
    one of the deposits contains are left out.
    """
    tables = [_tables_of(path) for path in (first, second)]
    common = [key for key in tables[0] if key in tables[1]]
    found = _joined([_differences(*key, tables[0][key], tables[1][key]) for key in common])
    relative = (found["difference"] / found["first"]).abs()
    order = relative.sort_values(ascending=False, kind="stable", na_position="first").index
    return found.loc[order].reset_index(drop=True)


def _tables_of(path: str | Path) -> dict[tuple[str, str], pd.DataFrame]:
    validate(path)
    with zipfile.ZipFile(path) as archive:
        names = [Path(name) for name in archive.namelist() if name.startswith("results/")]
        return {
            (name.parts[1], name.stem): read_table(io.BytesIO(archive.read(name.as_posix())))
            for name in names
            if name.parts[2] == "tables" and name.suffix == ".csv"
        }


def _remake(name: str, study: Mapping, table: str, home: Path) -> bool:
    """Make a table again if all its inputs exist, and return True; otherwise only write its other formats."""
    spec = table_spec(name, study, table)
    file = home / FILES["tables"].format(study=name, table=table)
    possible = all((home / source).exists() for source in table_files(name, study, table))
    if possible:
        published = read_published(study["published"]) if "published" in study else _NONE
        made = make_table(Results(name, study, home), published, spec)
    else:
        made = read_table(file)
    for format in FORMATS:
        write_table(made, spec, file.with_suffix(f".{format}"))
    return possible


_NONE = pd.DataFrame(columns=["table", *ADDRESS, "value", "std"])


def _differences(study: str, table: str, first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The cells of a table that differ, including those that only one of the two has."""
    both = first.merge(second, on=ADDRESS, how="outer", suffixes=("_first", "_second"), sort=False)
    both = both.fillna({"verdict_first": "missing", "verdict_second": "missing"})
    a, b = both["ours_first"], both["ours_second"]
    same = np.isclose(a, b, rtol=DIGITS, atol=0, equal_nan=True)  # so are equal infinities
    differ = ~same | (both["verdict_first"] != both["verdict_second"])
    found = both.assign(study=study, table=table, first=a, second=b, difference=b - a)
    return found.loc[differ, DIFFERENCES]


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    frames = [frame for frame in frames if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=DIFFERENCES)


def _claims(name: str, study: Mapping, home: Path) -> list[str]:
    """Test the claims of a study again; return those whose outcomes differ from the deposited ones."""
    if not study["claims"]:
        return []
    file = home / "results" / name / "claims.csv"
    before = read_claims(file) if file.exists() else None
    found = evaluate(study["claims"], Numbers(name, study, home))
    for suffix in (".csv", ".html"):
        write_claims(found, study["title"], file.with_suffix(suffix))
    if before is None:
        return []
    was, now = (dict(zip(one["id"], one["outcome"], strict=True)) for one in (before, found))
    return [
        f"{name}/{claim}: {was.get(claim, 'missing')}, now {outcome}"
        for claim, outcome in now.items()
        if was.get(claim) != outcome
    ]


def in_words(rebuilt: Rebuilt) -> str:
    """The result of rebuilding a deposit as a few lines of text."""
    lines = [f"{len(rebuilt.tables)} tables made again from the deposited results"]
    if rebuilt.kept:
        lines.append(f"kept as deposited, since their data sets are missing: {', '.join(rebuilt.kept)}")
    lines += differences_in_words(rebuilt.differences)
    lines += [f"claims that differ: {'; '.join(rebuilt.claims)}"] if rebuilt.claims else []
    return "\n".join([*lines, f"report: {rebuilt.front_page}"])


def differences_in_words(found: pd.DataFrame) -> list[str]:
    """The number of cells that differ, and one line for each of the first `MOST_TOLD` of them."""
    lines = [f"{len(found)} cells differ" if len(found) else "no cell differs"]
    for row in found.head(MOST_TOLD).itertuples():
        at = "/".join(filter(None, [row.study, row.table, row.dataset, row.model, row.metric]))
        moved = "" if math.isnan(row.difference) else f" ({row.difference:+.3g})"
        kept = row.verdict_first == row.verdict_second
        verdicts = "" if kept else f"; {row.verdict_first or 'no verdict'}, now {row.verdict_second or '–'}"
        first, second = ("no number" if math.isnan(one) else f"{one:.6g}" for one in (row.first, row.second))
        lines.append(f"  {at}: {first}, now {second}{moved}{verdicts}")
    return lines + ([f"  and {len(found) - MOST_TOLD} more"] if len(found) > MOST_TOLD else [])
