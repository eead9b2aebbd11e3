"""A run of tests that leaves files behind fails."""

from pathlib import Path
from types import SimpleNamespace

import left_behind
import pytest


@pytest.mark.parametrize(("place", "status"), [("kept/own", 0), ("work/new", 1), ("home/.new", 1)])
def test_a_run_that_leaves_a_file_fails_and_names_it(tmp_path, monkeypatch, place, status):
    for name in ("home", "work", "kept"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(left_behind, "CHECKOUT", tmp_path / "work")
    told = []
    reporter = SimpleNamespace(write_line=lambda line, red: told.append(line))
    plugins = SimpleNamespace(get_plugin=lambda name: reporter)
    session = SimpleNamespace(config=SimpleNamespace(stash={}, pluginmanager=plugins), exitstatus=0)
    left_behind.pytest_sessionstart(session)
    (tmp_path / place).touch()
    left_behind.pytest_sessionfinish(session)
    assert session.exitstatus == status
    assert [line.count(str(tmp_path / place)) for line in told] == [1] * status
