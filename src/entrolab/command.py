"""The command `entrolab`: run Snakemake with this package's Snakefile in the current folder.

``entrolab mine.yaml`` makes the study in a file, ``entrolab check mine.yaml`` checks it and its learners,
``entrolab init table.csv --label column`` writes a study, ``entrolab clean`` removes results that an earlier
version left. All other arguments are passed to Snakemake.
"""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from entrolab.data.table_formats import FORMATS
from entrolab.io.commands import setting
from entrolab.io.files import HOME, leftovers
from entrolab.jobs.preflight import end_at_signals
from entrolab.schema.sections import ConfigError
from entrolearn.suggest import did_you_mean

STUDY_ENDS = (".yaml", ".yml")
# Options of Snakemake whose values may end in .yaml too.
TAKE_FILES = ("--configfile", "--configfiles", "--profile", "--workflow-profile", "--replace-workflow-config")
SETTINGS = ("--config", "-C")


def main() -> None:
    """Run the command line."""
    end_at_signals()
    arguments = sys.argv[1:]
    try:
        if arguments[:1] == ["init"]:
            from entrolab.study.first_study import main as init

            init(arguments[1:], {file.stem for file in HOME.glob("config/papers/*.yaml")})
            return
        if arguments == ["clean"]:
            clean()
            return
        if arguments[:1] == ["check"]:
            sys.exit(check_studies(arguments[1:]))
        arguments = with_studies(arguments)
        sys.path.append(str(HOME))  # where Snakemake finds the logger plugin of an installed package
        check_known_targets(arguments)
    except ValueError as error:
        sys.exit(f"entrolab: {error}")
    from snakemake.cli import main

    main(["--snakefile", str(HOME / "workflow" / "Snakefile"), *arguments])


def clean() -> None:
    """Remove what an earlier version of the workflow left in ``results``, and say so."""
    found = leftovers()
    for folder in found:
        shutil.rmtree(folder)
        print(f"removed {folder}")
    if not found:
        print("results: nothing of an earlier version")


def check_studies(files: Sequence[str]) -> int:
    """Check studies and their learners, which are imported; print all mistakes, and return an exit status."""
    from entrolab import find_learners_in
    from entrolab.data.user_tables import warnings_of
    from entrolab.study.config import load_catalog, load_study
    from entrolab.study.learners import learners_asked, mistakes, summary

    if not files:
        raise ConfigError("check: found no study; accepted: the file of one, `entrolab check mine.yaml`")
    status, catalog = 0, load_catalog([HOME / "config" / "datasets.yaml"])
    for file in map(Path, files):
        check_file(file)
        find_learners_in([file.parent])
        study = load_study(file, catalog)
        for key, entry in study.own_data.items():
            for line in warnings_of(key, entry):
                print(f"{file}: {line}")
        asked = learners_asked(study)
        found = mistakes(asked)
        for line in found or [f"nothing wrong: {len(study.models)} models, {summary(asked)}"]:
            print(f"{file}: {line}")
        status = 1 if found else status
    return status


def with_studies(arguments: Sequence[str]) -> list[str]:
    """Snakemake's arguments: each study's file is replaced by its target, its folder goes into the settings.

    Examples
    --------
    >>> with_studies(["-n", "eem", "--config", "seed=1"])
    ['-n', 'eem', '--config', 'seed=1']
    """
    check_no_table(arguments)
    files = [place for place, one in enumerate(arguments) if _is_study(arguments, place, one)]
    rest = [one for place, one in enumerate(arguments) if place not in files]
    cut = rest.index("--") if "--" in rest else len(rest)
    before, after = rest[:cut], rest[cut:]
    if after == ["--"]:  # its only targets were studies
        after = []
    _check_settings(before)
    if not files:
        return list(arguments)
    studies = [Path(arguments[place]) for place in files]
    for study in studies:
        check_file(study)
    folders = {os.path.normpath(study.parent) for study in studies}
    if len(folders) > 1:
        raise ConfigError(f"found studies in {' and '.join(sorted(folders))}; accepted: one folder")
    settings = [setting("extra_studies", folders.pop())]
    joined = {one: found[1] for one in before if (found := re.match("(?:--config=|-C)(.+)", one))}
    settings += joined.values()
    before = [one for one in before if one not in joined]
    given = next((place for place, one in enumerate(before) if one in SETTINGS), None)
    if given is None:
        before += ["--config", *settings]
    else:
        before[given + 1 : given + 1] = settings
    return [*(study.stem for study in studies), *before, *after]


def check_known_targets(arguments: Sequence[str]) -> None:
    """Raise an error for a target that is neither a file nor a rule nor a study."""
    from snakemake.cli import get_argument_parser, parse_config

    from entrolab.study.config import check_targets, study_files

    given = get_argument_parser().parse_args(list(arguments))
    own = parse_config(given.config).get("extra_studies") if given.config else None
    folders = [HOME / "config" / "papers", *([Path(given.directory or ".", own)] if own else [])]
    check_targets(given.targets or (), study_files(folders))


def _option_before(arguments: Sequence[str], place: int) -> str:
    return next((one for one in reversed(arguments[:place]) if one.startswith("-")), "")


def _is_study(arguments: Sequence[str], place: int, argument: str) -> bool:
    option = _option_before(arguments, place)
    if option in SETTINGS and "=" in argument:
        return False
    is_option = argument.startswith("-") and "--" not in arguments[:place]
    return argument.endswith(STUDY_ENDS) and not is_option and option not in TAKE_FILES


def _check_settings(arguments: Sequence[str]) -> None:
    """Raise an error for a target behind ``--config``, which Snakemake takes for a setting."""
    for place, one in enumerate(arguments):
        option = _option_before(arguments, place)
        if option in SETTINGS and not one.startswith("-") and "=" not in one:
            raise ConfigError(f"{option}: found {one!r}; accepted: name=value, with targets before {option}")


def check_no_table(arguments: Sequence[str]) -> None:
    """Raise an error for a target that is a table in this folder; no rule makes it."""
    for place, one in enumerate(arguments):
        option = arguments[place - 1] if place else ""
        table = Path(one)
        if table.suffix in FORMATS and table.name == one and table.is_file() and not option.startswith("-"):
            raise ConfigError(
                f"{one}: found a table; accepted: a study's file; "
                f"`entrolab init {one} --label column` writes one"
            )


def check_file(study: Path) -> None:
    """Raise an error unless a path is the file of a study."""
    from entrolab.study.config import check_name

    if study.suffix == ".yml":
        raise ConfigError(f"{study}: not a study's file; accepted: a file that ends in .yaml")
    if not study.is_file():
        there = [file.name for file in study.parent.glob("*.yaml")]
        hint = did_you_mean(study.name, there)
        raise ConfigError(
            f"{study}: there is no such file{hint}; accepted: a study's file; "
            "`entrolab init table.csv --label column` writes one"
        )
    check_name(study)
