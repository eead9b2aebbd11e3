"""Make, check, rebuild and compare deposits: ``python -m entrolab.deposit --help``."""

import argparse
import sys
from pathlib import Path

from entrolab.deposit.crate import DepositError, validate
from entrolab.deposit.packing import pack
from entrolab.deposit.rebuilding import compare, differences_in_words, in_words, rebuild
from entrolab.jobs.command import home
from entrolab.study.config import load_configuration, read_yaml
from entrolab.study.sections import ConfigError, check_known


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return the exit status: 1 if two deposits, or deposited and rebuilt results, differ."""
    parser = argparse.ArgumentParser(prog="python -m entrolab.deposit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("make", help="pack the studies whose tables have all been made")
    one.add_argument("file", type=Path)
    one.add_argument("--studies", nargs="*", default=None, help="only these studies")
    one = commands.add_parser("rebuild", help="unpack a deposit and make its tables and report again")
    one.add_argument("file", type=Path)
    one.add_argument("folder", type=Path)
    one = commands.add_parser("check", help="validate a deposit")
    one.add_argument("file", type=Path)
    one = commands.add_parser("compare", help="print the cells of two deposits that differ")
    one.add_argument("file", type=Path)
    one.add_argument("second", type=Path)
    asked = parser.parse_args(arguments)
    try:
        return _run(asked)
    except (DepositError, ConfigError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def _run(asked: argparse.Namespace) -> int:
    if asked.command == "make":
        folder = home() / "config"
        _, studies, _ = load_configuration(home(), read_yaml(folder / "config.yaml"))
        for name in asked.studies or ():
            check_known(name, studies, "--studies", "make", "study")
        chosen = {name: studies[name] for name in asked.studies or studies}
        done = pack(asked.file, chosen, catalogs=[folder / "datasets.yaml"], home=home())
        validate(asked.file)
        print(f"{asked.file}: {', '.join(done)}, {asked.file.stat().st_size / 2**20:.1f} MiB")
        return 0
    if asked.command == "check":
        validate(asked.file)
        print(f"{asked.file}: a valid deposit")
        return 0
    if asked.command == "rebuild":
        rebuilt = rebuild(asked.file, asked.folder)
        print(in_words(rebuilt))
        return int(bool(len(rebuilt.differences) or rebuilt.claims))
    found = compare(asked.file, asked.second)
    print("\n".join(differences_in_words(found)))
    return int(bool(len(found)))


if __name__ == "__main__":
    sys.exit(main())
