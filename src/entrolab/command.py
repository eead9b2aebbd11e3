"""The command `entrolab`: write, check, make, show and compare studies; Snakemake does the work."""

import argparse
import io
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib.metadata import version
from pathlib import Path

from entrolab.data.table_formats import FORMATS, WORKBOOKS
from entrolab.io.commands import setting
from entrolab.io.files import HOME
from entrolab.jobs.preflight import end_at_signals
from entrolab.schema.sections import ConfigError, check_known
from entrolearn.suggest import did_you_mean

USAGE = "entrolab STUDY.yaml [options], or entrolab COMMAND …"
EPILOG = "What stands behind -- goes to Snakemake, as in `entrolab mine.yaml -- --forcerun track`."


def main() -> None:
    """Run the command line."""
    end_at_signals()
    try:
        if sys.argv[1:2] == ["init"]:
            from entrolab.study.first_study import main as init

            init(sys.argv[2:], set(shipped()))
            return
        given = parsed(sys.argv[1:])
        sys.exit(given.function(given))
    except ValueError as error:
        sys.exit(f"entrolab: {error}")
    except BrokenPipeError:  # `entrolab list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The command and its options; `snakemake` has what stands behind ``--``."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    own = list(arguments[:cut])
    if own and own[0] not in (*COMMANDS, "-h", "--help", "--version"):
        own = ["run", *own]
    parser = argparse.ArgumentParser("entrolab", USAGE, epilog=EPILOG)
    parser.set_defaults(function=lambda given: parser.print_help(), snakemake=list(arguments[cut + 1 :]))
    parser.add_argument("--version", action="version", version=f"entrolab {version('entrolab')}")
    commands = parser.add_subparsers(prog="entrolab", metavar="COMMAND", title="commands")
    of_command = {}
    for name, (function, text) in COMMANDS.items():
        of_command[name] = commands.add_parser(name, help=text, description=text)
        of_command[name].set_defaults(function=function)
    of_command["run"].add_argument("studies", nargs="+", help="files, or names that `list` shows")
    of_command["demo"].set_defaults(studies=["demo"])
    of_command["check"].add_argument("studies", nargs="+", help="files")
    of_command["show"].add_argument("study", help="a file, or a name that `list` shows")
    of_command["show"].add_argument("name", help="a table or a figure")
    of_command["compare"].add_argument("studies", nargs=2, help="files, or names that `list` shows")
    add = of_command["predict"].add_argument
    add("study", help="a file of a study that was made in this folder")
    add("table", type=Path, help="a csv, tsv, Parquet or Feather file, which is read as the study's")
    add("--model", default="", help="(default: the best of the first table of scores)")
    add("--dataset", default="", help="of a study with several tables")
    add("--output", default=sys.stdout, help="a csv file (default: the terminal)")
    of_command["list"].add_argument("study", nargs="?", help="a file, or a name")
    of_command["ui"].add_argument("--port", default="5000", help="(default: %(default)s)")
    for name in ("run", "show", "demo"):
        add = of_command[name].add_argument
        add("-n", "--dry-run", action="store_true", help="only count the jobs")
        add("--cores", default="all", help="processes at once (default: %(default)s)")
        add(
            "--config",
            "-C",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME=VALUE",
            help="settings, such as seed=1",
        )
    return parser.parse_args(own)


# ------------------------------------------------------------------------------------------------ commands


def run(given: argparse.Namespace) -> int:
    """Make studies, or files of their results."""
    return snakemake(snakemake_arguments(given, given.studies))


def show(given: argparse.Namespace) -> int:
    """Make one table or figure of a study; first say how long it takes, at the end print the table."""
    study = _loaded(given.study)
    known = dict.fromkeys(study.tables, "tables") | dict.fromkeys(study.figures, "figures")
    check_known(given.name, known, given.study, "show", "table or figure")
    folder = known[given.name]
    file = Path(f"results/{study.name}/{folder}/{given.name}.{'html' if folder == 'tables' else 'svg'}")
    if study.minutes and folder == "tables":
        share = study.share_of_table(given.name)
        print(f"{study.name} takes {study.minutes:g} processor minutes, this table about {share:.0%} of them")
    status = snakemake(snakemake_arguments(given, [given.study], str(file)))
    table = file.with_suffix(".md")
    if status == 0 and not given.dry_run and folder == "tables" and table.exists():
        print(table.read_text(encoding="utf-8"))
    return status


def check(given: argparse.Namespace) -> int:
    """Check studies and their learners, which are imported; print all mistakes, and return an exit status."""
    from entrolab import find_learners_in
    from entrolab.data.user_tables import warnings_of
    from entrolab.study.learners import learners_asked, mistakes

    status = 0
    for file in map(Path, given.studies):
        find_learners_in([file.parent])
        try:
            study = _loaded(str(file))
        except ConfigError as error:
            print(error)
            status = 1
            continue
        for key, entry in study.own_data.items():
            for line in warnings_of(key, entry):
                print(f"{file}: {line}")
        asked = learners_asked(study)
        found = mistakes(asked)
        for line in found or [f"nothing wrong: {len(study.models)} models"]:
            print(f"{file}: {line}")
        status = 1 if found else status
    return status


def compare(given: argparse.Namespace) -> int:
    """Print the differences of two studies that were made in this folder."""
    from entrolab.comparing import compare_studies

    print(compare_studies(*map(_loaded, given.studies)).to_string(index=False))
    return 0


def predict(given: argparse.Namespace) -> int:
    """Write the predictions of a study's model for the rows of a table as a csv file."""
    from entrolab import find_learners_in
    from entrolab.predicting import predict as predicted

    find_learners_in([Path(given.study).parent])
    found = predicted(_loaded(given.study), given.table, given.model, given.dataset)
    found.to_csv(given.output, index=False)
    return 0


def list_studies(given: argparse.Namespace) -> int:
    """Print the studies of the project, or the tables and figures of one."""
    if given.study is None:
        for name in shipped():
            study = _loaded(name)
            minutes = f"{study.minutes:g} processor minutes" if study.minutes else ""
            print(f"{name:20} {minutes:20}  {study.title}")
        return 0
    study = _loaded(given.study)
    for name, entry in {**study.tables, **study.figures}.items():
        print(f"{name:24} {entry.caption}")
    return 0


def ui(given: argparse.Namespace) -> int:
    """Serve MLflow's page of the runs."""
    return subprocess.call([sys.executable, "-m", "entrolab.tracking.ui", "--port", given.port])


COMMANDS = {
    "init": (None, "write a study of a table: entrolab init table.csv --label column"),
    "run": (run, "make studies: files, or names that `list` shows; `entrolab mine.yaml` is the same"),
    "check": (check, "check studies and their learners without running them"),
    "show": (show, "make one table or figure of a study: entrolab show eem table4"),
    "predict": (predict, "predict the rows of a new table: entrolab predict mine.yaml new.csv"),
    "compare": (compare, "compare the models of two studies of one table, fold by fold"),
    "demo": (run, "make the demonstration"),
    "list": (list_studies, "list the studies, or the tables and figures of one"),
    "ui": (ui, "open MLflow's page of the runs on this machine"),
    "unlock": (lambda given: snakemake(["--unlock"]), "let a folder go that a killed run has locked"),
}


# ------------------------------------------------------------------------------------------------- studies


def shipped() -> list[str]:
    """The names of the project's studies."""
    return sorted(file.stem for file in HOME.glob("config/papers/*.yaml"))


def file_of(study: str | os.PathLike) -> Path:
    """The file of a study, which is given as such or as a name that `list` shows."""
    file = Path(study)
    if file.suffix:
        check_file(file)
        return file
    check_known(str(study), shipped(), "entrolab", "studies", "study")
    return HOME / "config" / "papers" / f"{study}.yaml"


def _loaded(study: str):
    """A study by its file or its name."""
    from entrolab.study.config import load_catalog, load_study

    return load_study(file_of(study), load_catalog([HOME / "config" / "datasets.yaml"]))


def check_file(study: Path) -> None:
    """Raise an error unless a path is the file of a study."""
    from entrolab.study.config import check_name

    hint = "accepted: a study's file; `entrolab init {} --label column` writes one"
    if study.suffix in (*FORMATS, *WORKBOOKS) and study.is_file():
        raise ConfigError(f"{study}: found a table; {hint.format(study)}")
    if study.suffix != ".yaml":
        raise ConfigError(f"{study}: not a study's file; accepted: a file that ends in .yaml")
    if not study.is_file():
        others = did_you_mean(study.name, [file.name for file in study.parent.glob("*.yaml")])
        raise ConfigError(f"{study}: there is no such file{others}; {hint.format('table.csv')}")
    check_name(study)


# ----------------------------------------------------------------------------------------------- Snakemake


def snakemake_arguments(given: argparse.Namespace, targets: Sequence[str], file: str = "") -> list[str]:
    """Snakemake's arguments that make studies, rules and files of results, or only one file of a study.

    Examples
    --------
    >>> snakemake_arguments(parsed(["eem", "-n", "--config", "seed=1", "--", "--keep-incomplete"]), ["eem"])
    ['eem', '--cores', 'all', '--dry-run', '--keep-incomplete', '--config', 'seed=1']
    """
    from entrolab.study.config import check_targets, study_files

    if wrong := [one for one in given.config if "=" not in one]:
        raise ConfigError(f"--config: found {wrong[0]!r}; accepted: name=value")
    ends = (".yaml", ".yml", *FORMATS, *WORKBOOKS)
    studies = {one: Path(one) for one in targets if one.endswith(ends) and Path(one).parts[0] != "results"}
    for study in studies.values():
        check_file(study)
    folders = sorted({os.path.normpath(study.parent) for study in studies.values()})
    if len(folders) > 1:
        raise ConfigError(f"found studies in {' and '.join(folders)}; accepted: one folder")
    names = [studies[one].stem if one in studies else one for one in targets]
    named = [one.partition("=")[2] for one in given.config if one.startswith("extra_studies=")]
    check_targets(names, study_files([HOME / "config" / "papers", *folders, *named]))
    config = [*(setting("extra_studies", folder) for folder in folders), *given.config]
    arguments = ["--cores", given.cores, *(["--dry-run"] if given.dry_run else []), *given.snakemake]
    return [*([file] if file else names), *arguments, *(["--config", *config] if config else [])]


def snakemake(arguments: Sequence[str]) -> int:
    """Run Snakemake with this package's Snakefile in the current folder."""
    from snakemake.cli import args_to_api, parse_args
    from snakemake.exceptions import print_exception

    sys.path.append(str(HOME))  # where Snakemake finds the logger plugin of an installed package
    said = io.StringIO()
    try:
        with redirect_stderr(said):  # a line on the profile
            parser, parsed = parse_args(["--snakefile", str(HOME / "workflow" / "Snakefile"), *arguments])
    except SystemExit:
        if not (lines := said.getvalue().strip().splitlines()):
            raise  # the help
        sys.exit(f"entrolab: {lines[-1]}")
    try:
        return 0 if args_to_api(parsed, parser) else 1
    except Exception as error:  # noqa: BLE001  as Snakemake's own command does
        print_exception(error)
        return 1
