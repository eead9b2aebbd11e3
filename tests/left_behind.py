"""Hooks of pytest that fail a run of tests that leaves files in the checkout or in the working folder.

With pytest-xdist, the controlling process compares: its session contains those of its workers.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
#: Folders of the checkout whose contents are not compared: of Python, and of a workflow that runs meanwhile.
OTHERS = {"__pycache__", "results", "resources", "logs", "mlruns"}
#: Names that Python, pytest, Hypothesis and the caches of libraries make.
OF_TOOLS = {"__pycache__", ".pytest_cache", ".hypothesis", ".coverage", ".cache", ".config"}
BEFORE = pytest.StashKey[set[Path]]()


def entries() -> Iterator[Path]:
    """Every file and folder of the checkout, and those directly in the working folder."""
    yield from Path.cwd().iterdir()
    for folder, folders, files in os.walk(CHECKOUT):
        yield from (Path(folder, name) for name in (*folders, *files))
        folders[:] = [name for name in folders if name not in OTHERS and not name.startswith(".")]


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        session.config.stash[BEFORE] = set(entries())


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return
    new = {path for path in entries() if path.name not in OF_TOOLS} - session.config.stash[BEFORE]
    left = sorted(path for path in new if path.parent not in new)
    if left:
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        names = ", ".join(map(str, left))
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line(f"\nFAILED: written outside the temporary folder of a test: {names}", red=True)
