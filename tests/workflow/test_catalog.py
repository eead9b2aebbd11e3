"""The workflow as Snakemake's catalog and other workflows use it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from entrolab.io.files import FILES

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]

MODULE = """
module lab:
    snakefile: {snakefile!r}
    config: {{"seed": 3}}

use rule * from lab as lab_*

rule mine:
    input: "results/data/two-moons.npz"
    default_target: True
"""


def snakemake(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_linter_finds_nothing(tmp_path):
    said = snakemake(tmp_path, "--lint", "--snakefile", str(ROOT / "workflow" / "Snakefile"))
    assert "your workflow is in a good condition" in said


def test_another_workflow_imports_the_rules_and_sets_the_seed(tmp_path):
    """From a folder with a config.yaml of its own, which is none of ours."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("papers: theirs\n")
    (tmp_path / "Snakefile").write_text(MODULE.format(snakefile=str(ROOT / "workflow" / "Snakefile")))
    snakemake(tmp_path)
    assert (tmp_path / "results" / "data" / "two-moons.npz").exists()
    planned = snakemake(tmp_path, "-n", "results/demo/tables/demo_cv.csv")
    assert re.search(r"^lab_select +25\b", planned, flags=re.MULTILINE)
    assert "results/demo/seed3/folds/gaussians.npz" in planned


def test_it_is_run_from_another_folder(tmp_path):
    planned = snakemake(
        tmp_path, "-n", "-s", str(ROOT / "workflow" / "Snakefile"), "results/data/two-moons.npz"
    )
    assert re.search(r"^prepare +1 ", planned, flags=re.MULTILINE)


def test_results_are_read_where_rules_write_them():
    """The one table of paths has the patterns of the rules' outputs."""
    rules = "\n".join(file.read_text() for file in (ROOT / "workflow" / "rules").glob("*.smk"))
    written = set(re.findall(r'^ +(?:\w+=|directory\()?"(results/[^"]+)"\)?,$', rules, flags=re.MULTILINE))
    assert {*FILES.values()} <= written
