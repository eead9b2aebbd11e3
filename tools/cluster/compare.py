"""Compare the results of two runs of the same studies bit by bit.

    python tools/cluster/compare.py ONE OTHER [--seconds TABLE ...]

Tables, figures and data are compared as bytes, candidates and scores as frames without their seconds. The
tables named after --seconds contain timings, so they only have to exist.
"""

import argparse
import sys
from collections.abc import Collection
from pathlib import Path

import pandas as pd

AS_BYTES = ("*/tables/*", "*/figures/*", "*/seed*/folds/*.npz", "*/scaled/*.npz", "data/*.npz")
AS_FRAMES = tuple(f"*/seed*/{stage}/*/*.parquet" for stage in ("candidates", "selection", "predictions"))
SECONDS = ["path_seconds"]


def main(one: Path, other: Path, seconds: Collection[str]) -> list[str]:
    """The differences between the results of two working folders, one line each."""
    differences = []
    for pattern in (*AS_BYTES, *AS_FRAMES):
        ours, theirs = files(one, pattern), files(other, pattern)
        differences += [f"{name}: only in one of the runs" for name in sorted(ours ^ theirs)]
        for name in sorted(ours & theirs):
            timed = "/tables/" in name and Path(name).stem in seconds
            if not timed and not same(one / name, other / name):
                differences.append(f"{name}: not the same")
    if not files(one, AS_BYTES[0]):
        differences.append(f"{one}: no tables")
    return differences


def files(folder: Path, pattern: str) -> set[str]:
    found = (folder / "results").glob(pattern)
    return {file.relative_to(folder).as_posix() for file in found if file.is_file()}


def same(one: Path, other: Path) -> bool:
    if one.suffix != ".parquet":
        return one.read_bytes() == other.read_bytes()
    ours, theirs = (pd.read_parquet(file).drop(columns=SECONDS, errors="ignore") for file in (one, other))
    return ours.equals(theirs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--seconds", nargs="*", default=[], help="tables that show seconds")
    arguments = parser.parse_args()
    differences = main(arguments.one, arguments.other, arguments.seconds)
    compared = [name for pattern in (*AS_BYTES, *AS_FRAMES) for name in files(arguments.one, pattern)]
    print(*differences or [f"{len(compared)} files: no difference"], sep="\n")
    sys.exit(bool(differences))
