"""What a run changes in its process, and in those that it starts."""

import os
import subprocess
import sys

import pytest

from entrolab import LEARNERS_IN
from entrolab.surroundings import SurroundingsError, check_paths, check_writable, find_learners_in


def test_modules_beside_studies_are_found_last_by_the_run_and_its_jobs(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv(LEARNERS_IN, "")
    (tmp_path / "learners_of_mine.py").write_text("")
    (tmp_path / "yaml.py").write_text("")
    find_learners_in([tmp_path])
    assert sys.path[-1] == str(tmp_path)
    job = "import entrolab, learners_of_mine, yaml; print(learners_of_mine.__file__, yaml.__version__)"
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "learners_of_mine.py"))


@pytest.mark.fault("Surroundings", "a folder or file whose name is not UTF-8", "one line before any job")
def test_names_that_are_no_text_are_refused(tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    os.mkdir(folder)
    for check in (check_writable, lambda folder: check_paths([f"{folder}/mine.csv"])):
        with pytest.raises(
            SurroundingsError, match="caf\ufffd.*: a name that is not UTF-8: rename"
        ) as caught:
            check(folder)
        assert str(caught.value).isprintable()
