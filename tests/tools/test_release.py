"""`make release`: one version in every file, a dated changelog, a tag; refusals change nothing."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "src/entrolab/pyproject.toml", "CITATION.cff", "CHANGELOG.md", "tools/release.sh")
AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def run(*command: str, folder: Path, packages: str = "true") -> subprocess.CompletedProcess:
    environment = {**os.environ, **AUTHOR, "PACKAGES_TEST": packages}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def clone(tmp_path) -> Path:
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    for command in (["git", "init", "-q"], ["git", "add", "."], ["git", "commit", "-qm", "All"]):
        assert run(*command, folder=tmp_path).returncode == 0
    return tmp_path


def test_all_files_have_the_version_and_the_commit_is_tagged(clone):
    assert run("tools/release.sh", "7.8.9", folder=clone).returncode == 0
    for file in FILES[:2]:
        assert tomllib.loads((clone / file).read_text())["project"]["version"] == "7.8.9"
    assert re.search(r'"entrolearn\[.*\]==7.8.9"', (clone / FILES[1]).read_text())
    assert yaml.safe_load((clone / "CITATION.cff").read_text())["version"] == "7.8.9"
    assert re.search(
        r"## \[Unreleased\]\n\n## \[7.8.9\] - \d{4}-\d\d-\d\d\n", (clone / "CHANGELOG.md").read_text()
    )
    assert run("git", "describe", "--exact-match", folder=clone).stdout == "v7.8.9\n"
    assert run("git", "status", "--porcelain", folder=clone).stdout == ""


def test_it_refuses_a_strange_version_an_old_one_and_uncommitted_changes(clone):
    run("git", "tag", "v1.0.0", folder=clone)
    for version, reason in {
        "": "found version ''",
        "1.0": "found version '1.0'",
        "1.0.0": "exists already",
    }.items():
        done = run("tools/release.sh", version, folder=clone)
        assert done.returncode == 1
        assert reason in done.stderr
    (clone / "more").touch()
    assert "uncommitted changes" in run("tools/release.sh", "2.0.0", folder=clone).stderr
    assert run("git", "log", "--oneline", folder=clone).stdout.count("\n") == 1


def test_packages_that_do_not_work_are_not_tagged(clone):
    done = run("tools/release.sh", "2.0.0", folder=clone, packages="false")
    assert done.returncode == 1
    assert "the packages do not work" in done.stderr
    assert run("git", "tag", folder=clone).stdout == ""
