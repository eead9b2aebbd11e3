"""Make tables of the studies and compare them, cell by cell, with tables that were made before.

    python -m tools.compare_tables BEFORE                                # every table of that folder
    python -m tools.compare_tables BEFORE --studies demo melm
    python -m tools.compare_tables BEFORE --studies eem --datasets heart ionosphere
    python -m tools.compare_tables BEFORE --results results              # compare what is made already

BEFORE has a CSV file per table, <study>/<table>.csv or <study>/tables/<table>.csv. Cells are compared by
their published and computed values, standard deviations, verdicts and reasons; seconds are left out. With
--datasets, the tables are made and compared on these data sets only. The exit status is 1 if a cell differs.
"""

import argparse
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from tools.processor_seconds import run

ROOT = Path(__file__).parents[1]
CELL = ["dataset", "model", "metric"]
VALUES = ["published", "published_std", "ours", "ours_std", "oracle"]
TEXTS = ["verdict", "reason"]
COLUMNS = [*CELL, *VALUES, *TEXTS]


def tables_of(folder: Path) -> dict[tuple[str, str], Path]:
    """The CSV file of each table, by study and table."""
    files = _files(folder, "*/tables/*.csv") or _files(folder, "*/*.csv")
    return dict(sorted(files.items()))


def _files(folder: Path, pattern: str) -> dict[tuple[str, str], Path]:
    return {(file.relative_to(folder).parts[0], file.stem): file for file in folder.glob(pattern)}


def cells_of(file: Path, datasets: Collection[str] = ()) -> pd.DataFrame:
    """The cells of a table but for seconds, indexed by data set, model and metric; text as written."""
    table = pd.read_csv(file, dtype=str, keep_default_na=False)[COLUMNS]
    table = table[~table["metric"].str.endswith("seconds")]
    if datasets:
        table = table[table["dataset"].isin(datasets)]
    return table.set_index(CELL)


def differences(before: Path, after: Path, datasets: Collection[str] = (), within: float = 0) -> list[str]:
    """A line for each cell that differs between two CSV files of a table.

    Text and missing cells are compared as they are; values may differ by `within`.
    """
    old, new = (cells_of(file, datasets) for file in (before, after))
    lines = [f"{' '.join(cell)}: only before" for cell in old.index.difference(new.index)]
    lines += [f"{' '.join(cell)}: only now" for cell in new.index.difference(old.index)]
    both = old.index.intersection(new.index)
    old, new = old.loc[both], new.loc[both]
    for column in [*VALUES, *TEXTS]:
        changed = old[column] != new[column]
        if within and column in VALUES:
            changed &= ~((old[column].map(_number) - new[column].map(_number)).abs() <= within)
        for cell in old.index[changed]:
            lines.append(f"{' '.join(cell)}: {column} {old.at[cell, column]!r}, now {new.at[cell, column]!r}")
    return lines


def _number(text: str) -> float:
    return float(text or "nan")


def restrict(study: Path, tables: Collection[str], datasets: Collection[str]) -> list[str]:
    """Cut a study's file down to tables and data sets; return the tables that keep a data set."""
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    left = {}
    for name in tables:
        entry = content["tables"][name]
        group = [dataset for dataset in content["datasets"][entry["datasets"]] if dataset in datasets]
        if group:
            entry["datasets"] = f"of_{name}"
            left[name], content["datasets"][f"of_{name}"] = entry, group
    for key in ("figures", "claims", "seeds", "differences", "errata"):
        content.pop(key, None)
    if "published" in content:
        file = study.parent / content["published"]
        values = pd.read_csv(file, dtype=str, keep_default_na=False)
        kept = values["table"].isin(left) & values["dataset"].isin(datasets)
        values[kept].to_csv(file, index=False)
    study.write_text(yaml.safe_dump({**content, "tables": left}, sort_keys=False), encoding="utf-8")
    return list(left)


def make(
    folder: Path, tables: Mapping[str, list[str]], datasets: Collection[str], settings: Sequence[str]
) -> None:
    """Make tables, given by study, in a working folder, and print the seconds of each study.

    With `datasets`, a copy of the workflow in that folder has its studies restricted to these.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if datasets:
        for name in ("config", "workflow"):
            shutil.rmtree(folder / name, ignore_errors=True)
            shutil.copytree(ROOT / name, folder / name)
        for name in ("Snakefile", "environment.yml"):
            shutil.copy(ROOT / name, folder)
        papers = folder / "config" / "papers"
        tables = {
            study: restrict(papers / f"{study}.yaml", names, datasets) for study, names in tables.items()
        }
    snakemake = [sys.executable, "-m", "snakemake", "--directory", str(folder)]
    snakemake += ["--snakefile", str((folder if datasets else ROOT) / "Snakefile")]
    snakemake += ["--workflow-profile", str(ROOT / "workflow" / "profiles" / "default")]
    for study, names in tables.items():
        targets = [f"results/{study}/tables/{name}.csv" for name in names]
        if not targets:
            continue
        command = [*snakemake, *targets, *(["--config", *settings] if settings else [])]
        status, seconds = run(command, cwd=folder)
        print(f"{study}: {seconds}", flush=True)
        if status:
            sys.exit(f"{study}: the workflow failed with status {status}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("before", type=Path, help="folder of earlier tables")
    parser.add_argument("--results", type=Path, help="folder of later tables; by default they are made")
    parser.add_argument("--studies", nargs="+", default=[], help="compare these only")
    parser.add_argument("--datasets", nargs="+", default=[], help="make and compare these only")
    parser.add_argument("--folder", type=Path, default=Path("results/compared"), help="where tables are made")
    parser.add_argument("--mirror", type=Path, help="folder with the raw files of the data sets")
    arguments = parser.parse_args()

    before = {
        key: file
        for key, file in tables_of(arguments.before).items()
        if not arguments.studies or key[0] in arguments.studies
    }
    if not before:
        parser.error(f"{arguments.before}: no tables of these studies")
    results = arguments.results
    if results is None:
        names: dict[str, list[str]] = {}
        for study, table in before:
            names.setdefault(study, []).append(table)
        mirror = [f"mirror={arguments.mirror.resolve()}"] if arguments.mirror else []
        make(arguments.folder.resolve(), names, arguments.datasets, mirror)
        results = arguments.folder / "results"
    after = tables_of(results)
    n_cells, n_lines = 0, 0
    for (study, table), file in before.items():
        cells = cells_of(file, arguments.datasets)
        if cells.empty:
            continue
        n_cells += len(cells)
        if (study, table) not in after:
            lines = ["not made"]
        else:
            lines = differences(file, after[study, table], arguments.datasets)
        n_lines += len(lines)
        for line in lines:
            print(f"{study} {table}: {line}")
    print(f"{n_cells} cells compared, {n_lines} differences")
    return int(n_lines > 0)


if __name__ == "__main__":
    sys.exit(main())
