"""The tutorials, done as they are written: their files, their commands and what these say, their examples."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from mlflow_addresses import VARIABLES

ROOT = Path(__file__).parents[2]
NOT_DONE = {"index", "on-a-cluster"}  # one has no code, one needs Slurm
PAGES = sorted(page for page in (ROOT / "docs" / "tutorials").glob("*.md") if page.stem not in NOT_DONE)

BLOCK = re.compile(r"(?P<said>[^\n]*)\n\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"`(?P<path>[\w./-]+\.\w+)`:$")


class Step(NamedTuple):
    """A block of code: its language, the file that the line before it names, its text."""

    language: str
    path: str
    text: str


def steps(page: Path) -> list[Step]:
    blocks = BLOCK.finditer(page.read_text(encoding="utf-8"))
    found = ((block, FILE.search(block["said"])) for block in blocks)
    return [Step(block["language"], named["path"] if named else "", block["text"]) for block, named in found]


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console, with the lines that it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


@pytest.fixture
def project(tmp_path) -> Path:
    """What of the project runs the workflow, in a folder of its own."""
    for name in ("config", "workflow"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "profiles").symlink_to("workflow/profiles")
    return tmp_path


def run(command: list[str], project: Path) -> tuple[int, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "PATH": path} | dict.fromkeys(VARIABLES, ""),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout


def check_console(text: str, project: Path) -> None:
    for command, shown in commands(text):
        status, said = run(["sh", "-c", command], project)
        refused = any(line.startswith("config/papers/") for line in shown)
        assert status == refused, f"{command}\n{said[-3000:]}"
        lines = iter(said.splitlines())
        for line in shown:
            pattern = re.escape(line).replace("…", ".*")
            assert any(re.fullmatch(pattern, one) for one in lines), f"{command}\n{line}\n{said[-3000:]}"


def check_examples(text: str, project: Path) -> None:
    """Examples of a page, in one interpreter, which stops at the first that says something else."""
    (project / "examples.txt").write_text(text, encoding="utf-8")
    status, said = run([sys.executable, "-m", "doctest", "-o", "FAIL_FAST", "examples.txt"], project)
    assert status == 0, said


@pytest.mark.workflow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page, project):
    for step in steps(page):
        match step:
            case Step(path=path) if path:
                (project / path).write_text(step.text, encoding="utf-8")
            case Step(language="python"):
                status, said = run([sys.executable, "-c", step.text], project)
                assert status == 0, said
            case Step(language="console"):
                check_console(step.text, project)
    examples = [step.text for step in steps(page) if step.language == "pycon"]
    check_examples("\n\n".join(examples), project)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_tutorial_is_seen(page):
    text = page.read_text(encoding="utf-8")
    assert len(steps(page)) == len(re.findall("^```", text, flags=re.MULTILINE)) / 2
    assert {step.language for step in steps(page)} <= {"sh", "python", "yaml", "console", "pycon"}
    examples = "".join(step.text for step in steps(page) if step.language == "pycon")
    assert doctest.DocTestParser().get_examples(examples) or ">>>" not in examples
