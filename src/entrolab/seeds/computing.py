"""Make tables with further seeds by running the workflow, and store their values in the study's file."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from entrolab.jobs.command import setting
from entrolab.seeds.values import has_seed, of_table, read_seeds, same, with_table, write_seeds
from entrolab.tables.making import ADDRESS, read_published, read_table
from entrolab.io.files import FILES
from entrolab.tables.types import TABLE_TYPES
from entrolab.text import OneLine

# Seeds other than 0 have a working directory each.
FOLDER = "results/seeds/{study}/{seed}"
PATHS = ("mirror", "extra_studies", "extra_datasets")


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
    make: Callable[[Path, str, int], None],
    home: Path = Path(),
    anew: bool = False,
) -> None:
    """Make tables with the seeds 0 to `n_seeds` - 1, seed by seed, and write the values after each table.

    Only tables that lack a seed are made, or all with `anew`. Seed 0 comes first: if its values differ from
    those in the file, `SeedsError` is raised or, with `anew`, the values of all seeds are dropped; otherwise
    the values of the other seeds are kept. Tables without any value for seed 0, for which all data sets are
    missing for instance, are not made with further seeds. `make` is called with a folder, a file and a seed
    and makes the file in the folder, see `by_workflow`; `home` is the folder that holds ``results``.
    """
    values = read_seeds(study["seeds"])
    tables = [one for one in tables if anew or not all(has_seed(values, one, k) for k in range(n_seeds))]
    for seed in range(n_seeds):
        for table in tables:
            # Without values of seed 0, nothing is judged.
            if seed and (has_seed(values, table, seed) or not has_seed(values, table, 0)):
                continue
            started = time.monotonic()
            folder = home if seed == 0 else _prepared(home, name, seed)
            file = FILES["tables"].format(study=name, table=table)
            make(folder, file, seed)
            made = read_table(folder / file)
            if has_seed(values, table, seed):
                values = _kept(values, table, made, study["seeds"], anew=anew)
            values = with_table(values, table, seed, made)
            write_seeds(values, study["seeds"])
            found = of_table(values, table)
            n = int(found[str(seed)].notna().sum()) if str(seed) in found else 0
            minutes = (time.monotonic() - started) / 60
            print(f"{name} {table}, seed {seed}: {n} values, {minutes:.1f} min", flush=True)


def _kept(values: pd.DataFrame, table: str, made: pd.DataFrame, file: str, *, anew: bool) -> pd.DataFrame:
    """The values, without the table's if those of seed 0 have changed and `anew` is true."""
    before = of_table(values, table).set_index(ADDRESS)
    differ = ~same(before["0"], made.set_index(ADDRESS)["ours"].reindex(before.index))
    if not differ.any():
        return values
    if anew:
        return values[values["table"] != table]
    first = "/".join(filter(None, differ.index[differ.argmax()]))
    raise SeedsError(
        f"{file}: {table}: {differ.sum()} of {len(differ)} values of seed 0 differ from those that were "
        f"made now, first {first}; accepted: --anew (ANEW=1), which makes the values of all seeds again"
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
