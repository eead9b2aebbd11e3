"""Work is timed once here: nothing looks at the seconds. Raw data go into a folder below a temporary one."""

import pytest

from benchmarks import measure


@pytest.fixture(autouse=True)
def _hasty_and_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "ENOUGH_SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)
