"""Make tables with further seeds by running the workflow, and store their values in the study's file."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from entrolab.jobs.command import setting
from entrolab.jobs.plan import Plan
from entrolab.jobs.source_analysis import source_digests
from entrolab.seeds.values import has_seed, of_table, read_seeds, same, with_table, write_seeds
from entrolab.study.job_specs import table_runs
from entrolab.tables.base import GENERATED
from entrolab.tables.making import ADDRESS, read_published, read_table
from entrolab.tables.types import FILES, TABLE_TYPES
from entrolab.text import OneLine

# Seeds other than 0 have a working directory each.
FOLDER = "results/seeds/{study}/{seed}"
# Keys of a table's entry that do not affect its numbers.
SHOWN = ("caption", "notes", "published", "tolerance")
PATHS = ("mirror", "extra_studies", "extra_datasets")


class _At(dict):
    """Stand-in for the wildcards of a Snakemake job: names a run or a measurement."""

    __getattr__ = dict.__getitem__


class SeedsError(OneLine, RuntimeError):
    """Raised if a table cannot be made, or its stored values are outdated; the message is one line."""


def seeded_tables(study: Mapping) -> list[str]:
    """The tables of a study with published scores, correlations or separabilities."""
    published = set(read_published(study["published"])["table"])
    return [
        name
        for name, entry in study["tables"].items()
        if TABLE_TYPES[entry["type"]].measures is not None and entry.get("published", name) in published
    ]


def make_seeds(
    name: str,
    study: Mapping,
    tables: Sequence[str],
    n_seeds: int,
    *,
    catalog: Mapping[str, Mapping],
    make: Callable[[Path, str, int], None],
    home: Path = Path(),
    anew: bool = False,
) -> None:
    """Make tables with the seeds 0 to `n_seeds` - 1, seed by seed, and write the values after each table.

    Values in the file are kept if the study's text, its data and the code have not changed since. If they
    have changed, the table is made again with seed 0; if its values are the same as before, the values of the
    other seeds are kept as well, otherwise `SeedsError` is raised or, with `anew`, they are dropped. Tables
    without any value for seed 0, for which all data sets are missing for instance, are not made with further
    seeds. `make` is called with a folder, a file and a seed and makes the file in the folder, see
    `by_workflow`; `home` is the folder that holds ``results``.
    """
    values = read_seeds(study["seeds"])
    versions = {table: version_of(name, study, table, catalog) for table in tables}
    for seed in range(n_seeds):
        for table in tables:
            outdated = seed == 0 and (of_table(values, table)["version"] != versions[table]).any()
            if has_seed(values, table, seed) and not outdated:
                continue
            if seed and not has_seed(values, table, 0):  # without values of seed 0, nothing is judged
                continue
            started = time.monotonic()
            folder = home if seed == 0 else _prepared(home, name, seed)
            file = FILES["tables"].format(study=name, table=table)
            make(folder, file, seed)
            made = read_table(folder / file)
            if outdated:
                values = _renewed(values, table, made, study["seeds"], anew=anew)
            values = with_table(values, table, versions[table], seed, made)
            write_seeds(values, study["seeds"])
            found = of_table(values, table)
            n = int(found[str(seed)].notna().sum()) if str(seed) in found else 0
            minutes = (time.monotonic() - started) / 60
            print(f"{name} {table}, seed {seed}: {n} values, {minutes:.1f} min", flush=True)


def _renewed(values: pd.DataFrame, table: str, made: pd.DataFrame, file: str, *, anew: bool) -> pd.DataFrame:
    """The values, without the table's if those of seed 0 have changed and `anew` is true."""
    before = of_table(values, table).set_index(ADDRESS)
    now = made.set_index(ADDRESS)["ours"].reindex(before.index)
    differ = ~same(before["0"], now) if "0" in before else pd.Series(data=True, index=before.index)
    if not differ.any():
        return values
    if anew:
        return values[values["table"] != table]
    first = "/".join(filter(None, differ.index[differ.argmax()]))
    raise SeedsError(
        f"{file}: {table}: made with another version of the study, data or code: {differ.sum()} of "
        f"{len(differ)} values of seed 0 differ now, first {first}; accepted: --anew (ANEW=1), which drops "
        "the values of the table"
    )


def _prepared(home: Path, name: str, seed: int) -> Path:
    """Create and return the working directory of a seed; downloads are shared by a symbolic link."""
    folder = home / FOLDER.format(study=name, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    (home / "resources").mkdir(exist_ok=True)
    link = folder / "resources"
    if not link.is_symlink():
        link.symlink_to(os.path.relpath(home / "resources", folder))
    return folder


def by_workflow(cores: str, settings: Sequence[str]) -> Callable[[Path, str, int], None]:
    """A function that runs the workflow to make a file in a folder with a seed; settings are "KEY=VALUE"."""
    settings = [_with_absolute_path(one) for one in settings]

    def make(folder: Path, file: str, seed: int) -> None:
        command = [sys.executable, "-c", "from entrolab.jobs.command import main; main()"]
        command += ["--directory", str(folder), "--cores", cores, file, "--config", f"seed={seed}"]
        command += settings
        if subprocess.run(command, check=False).returncode:
            raise SeedsError(f"{folder / file}: the workflow failed, see the messages above")

    return make


def _with_absolute_path(given: str) -> str:
    from snakemake.cli import parse_config

    key, _, text = given.partition("=")
    if key not in PATHS or not text:
        return given
    return setting(key, os.path.abspath(str(parse_config([given])[key])))


def version_of(name: str, study: Mapping, table: str, catalog: Mapping[str, Mapping]) -> str:
    """A digest of all that decides a table's numbers except the seed: the study's text, its data, the code.

    The digest has eight hexadecimal digits.
    """
    plan = Plan(catalog, {name: study}, {"seed": 0})
    entry = study["tables"][table]
    table_type = TABLE_TYPES[entry["type"]]
    decided = {key: value for key, value in entry.items() if key not in SHOWN}
    parts: list[object] = [decided, source_digests(type(table_type).__module__)]
    measured_for = entry.get("measured_for", table)
    runs = table_runs(study, table) or table_type.rows_and_models(entry, study)
    for dataset, model in dict.fromkeys(runs if table_type.trains else ((one, "") for one, _ in runs)):
        at = _At(study=name, table=measured_for, dataset=dataset, model=model)
        if dataset != GENERATED:
            parts += [plan.entry(at), plan.code_of_data(at), plan.scaling(at), plan.protocol(at)]
        if table_type.trains:
            parts += [plan.run_spec(at), plan.code_of_run(at)]
        elif table_type.measured_by:
            parts += [plan.measurement(at), plan.code_of_measurement(at)]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
