"""Tables with several seeds: ``python -m entrolab.seeds make melm``, ``python -m entrolab.seeds show``."""

import argparse
import os
import sys
from pathlib import Path

import pandas as pd
from snakemake.cli import parse_config

from entrolab.jobs.command import home
from entrolab.seeds.computing import SeedsError, by_workflow, make_seeds, seeded_tables
from entrolab.seeds.rendering import in_words
from entrolab.seeds.values import read_seeds
from entrolab.seeds.verdicts import judge_seeds, summary
from entrolab.study.config import load_configuration, read_yaml
from entrolab.study.sections import ConfigError, check_known
from entrolab.tables.making import read_table, second_reading_of
from entrolab.tables.types import FILES

SEEDED = "with published scores, correlations or separabilities"


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return the exit status, 2 if the command is refused."""
    parser = argparse.ArgumentParser(prog="python -m entrolab.seeds", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("make", help="make tables with further seeds and store their values")
    one.add_argument("study")
    one.add_argument("--tables", nargs="*", default=(), help=f"only these (default: all {SEEDED})")
    one.add_argument("--seeds", type=int, default=5, help="number of seeds, from 0 (default: 5)")
    one.add_argument("--cores", default="all")
    one.add_argument("--anew", action="store_true", help="make seed 0 again, and all if its values differ")
    one.add_argument("--config", nargs="*", default=(), metavar="KEY=VALUE", help="settings of the workflow")
    one = commands.add_parser("show", help="print the counts of verdicts over seeds")
    one.add_argument("studies", nargs="*")
    asked = parser.parse_args(arguments)
    try:
        return _make(asked) if asked.command == "make" else _show(asked.studies)
    except (ConfigError, SeedsError) as error:
        print(error, file=sys.stderr)
        return 2


def _make(asked: argparse.Namespace) -> int:
    try:
        given = parse_config(asked.config)
    except ValueError as error:
        raise ConfigError(f"--config: {error}") from error
    if "seed" in given:
        raise ConfigError(
            f"--config: found seed={given['seed']}; accepted: --seeds, the number of seeds from 0"
        )
    config = read_yaml(home() / "config" / "config.yaml") | given
    name = asked.study
    _, studies, _ = load_configuration(Path(os.path.relpath(home())), config, [name])
    check_known(name, studies, "entrolab.seeds", "make", "study")
    study = studies[name]
    for key, path in (("published", f"../published/{name}.csv"), ("seeds", f"../seeds/{name}.csv")):
        if not study.get(key):
            raise ConfigError(f"{study['file']}: the key {key!r} is missing; accepted: a path such as {path}")
    known = seeded_tables(study)
    for table in asked.tables:
        check_known(table, known, study["file"], "--tables (TABLE)", f"table {SEEDED}")
    if asked.seeds < 1:
        raise ConfigError(f"--seeds (SEEDS): found {asked.seeds}; accepted: a whole number from 1")
    tables = asked.tables or known
    make = by_workflow(asked.cores, asked.config)
    make_seeds(name, study, tables, asked.seeds, make=make, anew=asked.anew)
    return 0


def _show(names: list[str]) -> int:
    """Print the counts of verdicts of each table that has been made here, and of all of them together."""
    _, studies, _ = load_configuration(home(), read_yaml(home() / "config" / "config.yaml"))
    for name in names:
        check_known(name, studies, "entrolab.seeds", "show", "study")
    every = []
    for name in names or studies:
        study = studies[name]
        values = read_seeds(study["seeds"]) if study.get("seeds") else pd.DataFrame({"table": []})
        for table in dict.fromkeys(values["table"]):
            file = Path(FILES["tables"].format(study=name, table=table))
            if not file.exists():
                print(f"{name} {table}: not made in this folder; run `snakemake {file}`")
                continue
            judged, left_out = judge_seeds(read_table(file), values, study.spec_of_table(table))
            if len(judged) or any(left_out):
                print(f"{name} {table}: {' '.join(in_words(summary(judged), *left_out))}")
                if not second_reading_of(study, table):
                    every.append(judged)
    if len(every) > 1:
        told = in_words(summary(pd.concat(every, ignore_index=True)))
        print(f"all, without second readings of a table: {' '.join(told)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
