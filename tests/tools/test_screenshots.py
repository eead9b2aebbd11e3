"""The pictures of docs/images: what they need is named in one line where it is absent."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "screenshots.py"


@pytest.mark.parametrize("group", ["table", "runs"])
def test_what_is_absent_is_named_in_one_line(tmp_path, group):
    command = [sys.executable, TOOL, group, "--study", "small"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith({"table": "results/small/tables/demo_cv.html ", "runs": "mlflow.db "}[group])
