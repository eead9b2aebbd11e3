"""Make tables with several seeds and store their values: ``python -m entrolab.seeds melm table2``."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
from snakemake.cli import get_argument_parser, parse_config

from entrolab.io.files import HOME
from entrolab.schema.sections import ConfigError, check_known
from entrolab.seeds.tables import over_seeds, seeded_tables
from entrolab.seeds.values import read_seeds, write_seeds
from entrolab.study.config import load_configuration


def main(arguments: list[str] | None = None) -> int:
    """Make the runs of some tables with several seeds, and write the study's file of seeds."""
    parser = argparse.ArgumentParser(prog="python -m entrolab.seeds", description=__doc__)
    parser.add_argument("study")
    parser.add_argument("tables", nargs="*", help="default: all with published scores")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds, from 0 (default: 5)")
    asked, others = parser.parse_known_args(arguments)  # the others are Snakemake's
    try:
        given = get_argument_parser().parse_args(others).config
        studies, _ = load_configuration(Path(os.path.relpath(HOME)), parse_config(given) if given else {})
        check_known(asked.study, studies, "entrolab.seeds", "study", "study")
        study = studies[asked.study]
        for key in ("published", "seeds"):
            if not getattr(study, key):
                raise ConfigError(f"{study.file}: the key {key!r} is missing; accepted: a path")
        if asked.seeds < 1:
            raise ConfigError(f"--seeds: found {asked.seeds}; accepted: a whole number from 1")
        for table in asked.tables:
            check_known(table, seeded_tables(study), study.file, "tables", "table with published scores")
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    tables = asked.tables or seeded_tables(study)
    every = [study.model_copy(update={"seed": seed}) for seed in range(asked.seeds)]
    files = [
        file for one in every for table in tables for file in one.files_of_table(table) + one.receipts(table)
    ]
    entrolab = [sys.executable, "-c", "from entrolab.command import main; main()"]
    if status := subprocess.run([*entrolab, *dict.fromkeys(files), *others], check=False).returncode:
        return status
    if not all(map(os.path.exists, files)):  # a dry run
        return 0
    made = pd.concat([over_seeds(study, table, asked.seeds) for table in tables])
    before = read_seeds(study.seeds)
    kept = before[~before["table"].isin(made["table"])]
    write_seeds(pd.concat([kept, made]) if len(kept) else made, study.seeds)
    print(f"{study.seeds}: {len(made)} values with {asked.seeds} seeds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
