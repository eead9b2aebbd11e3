"""What all tests share: the folder with the real data, and settings that keep them free of the clock."""

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from fault_table import (  # noqa: F401  hooks of pytest's
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_terminal_summary,
)

# A machine that is busy with something else must not fail a law.
hypothesis.settings.register_profile("entrolearn", deadline=None)
hypothesis.settings.load_profile("entrolearn")

BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"


def without_data(reason: str) -> None:
    """Skip the test, or fail it where ENTROLEARN_REQUIRE_DATA=1 says that the data must be there."""
    if os.environ.get("ENTROLEARN_REQUIRE_DATA") == "1":
        pytest.fail(f"{reason} (and ENTROLEARN_REQUIRE_DATA=1)", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder that mirrors the raw data sets, one sub-folder per data set."""
    named = os.environ.get("ENTROLEARN_MIRROR")
    folder = Path(named) if named else BESIDE_THE_PROJECT
    if not folder.is_dir():
        what = f"ENTROLEARN_MIRROR={named} is no folder" if named else "no real data"
        without_data(f"{what}: set ENTROLEARN_MIRROR to a folder that mirrors the data sets")
    return folder.resolve()


@pytest.fixture(scope="session")
def mirrored(mirror: Path) -> Callable[[str], Path]:
    """A function from a file's path in the mirror to the file: ``mirrored("heart/heart_scale")``."""

    def find(file: str) -> Path:
        path = mirror / file
        if not path.is_file():
            without_data(f"{file} is not in the mirror {mirror}: put it there")
        return path

    return find
