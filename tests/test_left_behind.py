"""A run of tests that leaves files behind fails."""

from types import SimpleNamespace

import left_behind
import pytest


@pytest.mark.parametrize(("place", "status"), [("other/own", 0), ("work/new", 1), ("checkout/src/new", 1)])
def test_a_run_that_leaves_a_file_fails_and_names_it(tmp_path, monkeypatch, place, status):
    for name in ("checkout/src", "work", "other"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(left_behind, "CHECKOUT", tmp_path / "checkout")
    lines = []
    reporter = SimpleNamespace(write_line=lambda line, red: lines.append(line))
    plugins = SimpleNamespace(get_plugin=lambda name: reporter)
    session = SimpleNamespace(config=SimpleNamespace(stash={}, pluginmanager=plugins), exitstatus=0)
    left_behind.pytest_sessionstart(session)
    (tmp_path / place).touch()
    left_behind.pytest_sessionfinish(session)
    assert session.exitstatus == status
    assert [line.count(str(tmp_path / place)) for line in lines] == [1] * status
