"""Commands of the pages: a test runs each, or CONTRIBUTING.md lists it; its syntax is checked."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt
from snakemake.cli import get_argument_parser, parse_config

from entrolab.command import parsed, shipped, snakemake_arguments

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs/tutorials"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(TUTORIALS.glob("*.md")),
]
LISTED = "## Commands that no test runs"

# Code of one line in a text is a command if it begins with one of these and has arguments.
PROGRAMS = {"docker", "entrolab", "git", "make", "mlflow", "pip", "python", "snakemake", "ssh"}
SCRIPTS = {".ci/run", "tools/clone.sh"}
SHELL = {".", "cd", "export"}
OTHERS = {"git", "mlflow", "ssh"}  # programs of others

PUBLISHED_STUDY = "tests/workflow/test_published_study.py"
SEEDS = f"{PUBLISHED_STUDY}::test_seeds_are_made_and_the_page_shows_the_verdicts_over_them"
PAGE = "tests/entrolab/test_ui.py::test_the_page_listens_on_this_machine_alone"
# Beginning of a command -> the test that runs it, or the function behind it.
RUN = {
    "entrolab": "tests/entrolab/test_distributions.py::"
    "test_the_demonstration_of_the_wheels_has_the_golden_tables",
    "entrolab init": "tests/entrolab/test_command.py::"
    "test_the_first_study_says_what_was_found_and_can_be_made",
    "entrolab predict": "tests/entrolab/test_own_models.py::"
    "test_predictions_of_a_file_are_those_of_the_logged_model",
    "make outcomes": "tests/entrolab/test_outcomes.py::test_the_readme_has_the_counts_of_the_files",
    "make release": "tests/tools/test_release.py::test_all_files_have_the_version_and_the_commit_is_tagged",
    "make seeds": SEEDS,
    "make ui": PAGE,
    "make unlock": "tests/workflow/test_killed.py::"
    "test_whatever_ends_a_run_and_whenever_the_same_command_completes_it",
    "python -m entrolab.tracking.ui": PAGE,
    "python -m tools.compare_tables": "tests/tools/test_compare_tables.py::"
    "test_the_command_compares_what_is_made",
    "python -m tools.processor_seconds": "tests/tools/test_processor_seconds.py::"
    "test_seconds_of_a_process_without_a_parent_count",
    "snakemake demo": "tests/workflow/test_network.py::test_without_a_network_all_that_needs_none_is_made",
}

# Orders of targets and settings in the commands of the pages -> the test or fixture that runs Snakemake so.
FORMS = {
    "target settings": "tests/workflow/test_studies.py::test_a_study_is_made_and_read_from_python",
    "settings -- target": "tests/workflow/conftest.py::finished",
}


class Command(NamedTuple):
    """A command of a page, without comments and variables, and whether a tutorial's test runs it."""

    page: Path
    words: tuple[str, ...]
    is_run: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {shlex.join(self.words)}"


def commands_of(page: Path) -> Iterator[Command]:
    """All commands of a page: blocks of the shell, and code within the text."""
    text = page.read_text(encoding="utf-8")
    if LISTED in text:
        text = text.replace(_list_of(text), "")
    for token in MarkdownIt().enable("table").parse(text):
        if token.type == "fence" and token.info in ("", "sh", "console"):
            typed = token.content.replace("\\\n", " ").splitlines()
            if token.info == "console":
                typed = [line.removeprefix("$ ") for line in typed if line.startswith("$ ")]
            is_run = token.info == "console" and page.parent == TUTORIALS
            for line in typed:
                yield from _split(page, line, is_run)
        for child in token.children or []:
            if child.type == "code_inline" and _is_command(child.content):
                yield from _split(page, child.content, is_run=False)


def _list_of(text: str) -> str:
    """The section of CONTRIBUTING.md with the list."""
    return text.split(LISTED)[1].split("\n## ")[0]


def _is_command(text: str) -> bool:
    first, *others = [word for word in text.split() if not re.match(r"[A-Z_]+=", word)] or [""]
    return first in SCRIPTS or (first in PROGRAMS and bool(others))


def _split(page: Path, line: str, is_run: bool) -> Iterator[Command]:
    words = shlex.split(line, comments=True)
    if "2>&1" in words:
        words = words[: words.index("2>&1")]
    while words:
        end = words.index("&&") if "&&" in words else len(words)
        part = [word for word in words[:end] if not re.match(r"[A-Z_]+=", word) or words[0] == "make"]
        if part and part[0] not in SHELL:
            yield Command(
                page, (part[0].removeprefix(".board/bin/").removeprefix(".venv/bin/"), *part[1:]), is_run
            )
        words = words[end + 1 :]


COMMANDS = list(dict.fromkeys(command for page in PAGES for command in commands_of(page)))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))
STUDIES = {file.stem for file in (ROOT / "config/papers").glob("*.yaml")}
PARSER = cache(get_argument_parser)  # making it takes longer than parsing
RULES = set(
    re.findall(
        r"^rule (\w+):",
        "".join(file.read_text() for file in [ROOT / "Snakefile", *ROOT.glob("workflow/**/*.smk")]),
        flags=re.MULTILINE,
    )
)


def listed() -> list[tuple[tuple[str, ...], list[str]]]:
    """Beginnings of the commands in the list of CONTRIBUTING.md, a row each, and what runs them for real."""
    text = _list_of((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    return [(tuple(re.findall("`([^`]+)`", row[0])), re.findall("`([^`]+)`", row[-1])) for row in rows]


def category(command: Command) -> str | None:
    """The longest beginning in RUN or in the list that the command has."""
    typed = " ".join(command.words) + " "
    known = [*RUN, *(beginning for beginnings, _ in listed() for beginning in beginnings)]
    return max((each for each in known if typed.startswith((f"{each} ", f"{each}."))), key=len, default=None)


def test_every_command_is_run_by_a_test_or_listed():
    unknown = [str(command) for command in COMMANDS if not command.is_run and category(command) is None]
    assert not unknown, f"{unknown}: run them in a test, or list them in CONTRIBUTING.md under {LISTED!r}"


def test_the_list_has_no_command_that_no_page_has():
    needed = {category(command) for command in COMMANDS if not command.is_run}
    assert {*RUN, *(beginning for beginnings, _ in listed() for beginning in beginnings)} == needed


def test_what_runs_listed_commands_for_real_exists():
    for _, real in listed():
        assert real
        for command in real:
            check(Command(ROOT / "CONTRIBUTING.md", tuple(command.split()), is_run=False))


@pytest.mark.parametrize("test", sorted({*RUN.values(), *FORMS.values()}))
def test_tests_that_run_commands_exist(test):
    file, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [each for each in COMMANDS if not each.is_run], ids=str)
def test_syntax_of_a_command(command):
    check(command)


@pytest.mark.parametrize(
    "wrong",
    [
        "make dmeo",
        "make seeds PAPRE=melm",
        'make bench ARGS="--parts icaa"',
        "snakemake --proflie workflow/profiles/slurm eem",
        "snakemake --profile workflow/profiles/slrum eem",
        "snakemake eme",
        "snakemake --config mirror=/data eem",
        "entrolab init mine.csv --lable malignant",
        "python -m entrolab.seesd show",
        "python -m benchmarks.board --sizes 1000",
        "pip install 'entrolearn[plots]'",
        "tools/clnoe.sh",
        "wget data",
    ],
)
def test_a_mistake_in_a_command_is_found(wrong):
    with pytest.raises(AssertionError):
        check(Command(ROOT / "README.md", tuple(shlex.split(wrong)), is_run=False))


# With settings, in comments, messages, templates and scripts too.
WITH_SETTINGS = re.compile(r"(?:snakemake|entrolab)[^`\"'|#\n]*? (?:--config|-C) ([^`\"'|#\n]*)")
TEXTS = {".md", ".py", ".yaml", ".sh", ".j2", ".smk", ""}


def test_no_target_stands_behind_settings_in_any_text():
    """Snakemake takes each word behind ``--config`` for a setting."""
    names = ("README.md", "CONTRIBUTING.md", "Makefile", "Snakefile", "config", "docs", "src", "tools")
    places = [ROOT / name for name in (*names, "workflow", "profiles", "examples", "benchmarks")]
    files = [file for place in places for file in (place.rglob("*") if place.is_dir() else [place])]
    kept = [file for file in files if file.is_file() and file.suffix in TEXTS and "_build" not in file.parts]
    found = [said for file in kept for said in WITH_SETTINGS.findall(file.read_text(encoding="utf-8"))]
    assert found
    for said in found:
        behind = said.split(" -")[0].split()
        assert all("=" in word for word in behind if word[0].isalpha()), said


def test_every_order_of_targets_and_settings_is_run():
    used = set()
    for command in COMMANDS:
        program, *words = command.words
        if program in ("snakemake", "entrolab") and {"--config", "-C"} & {*words}:
            targets = PARSER().parse_args(words).targets
            kinds = ("target" if word in targets else "settings" if "=" in word else word for word in words)
            used.add(" ".join(dict.fromkeys(kind for kind in kinds if kind in ("target", "settings", "--"))))
    assert used == {*FORMS}


def check(command: Command) -> None:
    """Assert that all that a command names exists."""
    program, *arguments = command.words
    checks = {"make": _make, "snakemake": _snakemake, "entrolab": _entrolab, "pip": _pip, "python": _python}
    if program in checks:
        checks[program](command, arguments)
    elif "/" in program:
        assert (ROOT / program).is_file(), str(command)
    else:
        assert program in OTHERS, str(command)


def _make(command: Command, arguments: list[str]) -> None:
    for word in arguments:
        name, is_variable, value = word.partition("=")
        if not is_variable:
            assert word in TARGETS, f"{command}: the Makefile has no target {word}"
            continue
        assert f"$({name})" in MAKEFILE or f"or $({name})" in MAKEFILE, f"{command}: nothing reads {name}"
        if "bench" in arguments and name == "ARGS":
            _python(command, ["-m", "benchmarks", *value.split()])


def _snakemake(command: Command, arguments: list[str]) -> None:
    page = command.page.read_text(encoding="utf-8")
    try:
        given = PARSER().parse_args(arguments)
        parse_config(given.config)
    except (SystemExit, ValueError) as error:
        raise AssertionError(f"{command}: {error}") from error
    for target in given.targets:
        known = target in STUDIES | RULES or f"{target}.yaml" in page or "No rule to produce" in page
        assert known or target.startswith("results/"), f"{command}: no study or rule {target}"
    for profile in given.profile or []:
        assert (ROOT / profile / "config.yaml").is_file(), f"{command}: no profile {profile}"


def _entrolab(command: Command, arguments: list[str]) -> None:
    if arguments[0] == "init":
        _options(command, arguments, "src/entrolab/study/first_study.py")
        return
    if arguments == ["check"]:  # a word for the command, without a study
        return
    try:
        given = parsed(arguments)
    except SystemExit as error:
        raise AssertionError(f"{command}: {error}") from error
    studies = getattr(given, "studies", None) or [getattr(given, "study", None) or "demo"]
    for study in studies:
        assert study.endswith(".yaml") or study in shipped(), f"{command}: no study {study}"
    if arguments[0] in ("run", *shipped()):
        _snakemake(command, snakemake_arguments(given, studies))


def _pip(command: Command, arguments: list[str]) -> None:
    verb, *requirements = arguments
    assert verb == "install", str(command)
    for requirement in requirements:
        name, _, extra = requirement.strip("]").partition("[")
        folders = {"entrolearn": ROOT, "entrolab": ROOT / "src/entrolab"}
        if name in folders and extra:
            project = tomllib.loads((folders[name] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            assert extra in project["optional-dependencies"], str(command)
        elif "/" in name or name == ".":
            assert (ROOT / name / "pyproject.toml").is_file(), str(command)


def _python(command: Command, arguments: list[str]) -> None:
    flag, module, *options = arguments
    assert flag == "-m", str(command)
    place = module.replace(".", "/")
    files = [f"{folder}{place}{end}" for folder in ("", "src/") for end in ("/__main__.py", ".py")]
    found = [file for file in files if (ROOT / file).is_file()]
    assert found, f"{command}: no module {module}"
    _options(command, options, found[0])


def _options(command: Command, arguments: list[str], file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    for place, word in enumerate(arguments):
        if word.startswith("--"):
            assert f'"{word}"' in text, f"{command}: {file} has no option {word}"
        elif file == "benchmarks/__main__.py" and "--parts" in arguments[:place]:
            is_number = re.fullmatch(r"[\d.]+", word)
            assert is_number or f'"{word}"' in text, f"{command}: no part {word}"
