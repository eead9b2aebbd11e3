"""What all tests share: the folder with the real data, and settings that keep them free of the clock."""

import contextlib
import gc
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest
from fault_table import (  # noqa: F401  hooks of pytest's
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_terminal_summary,
)
from left_behind import pytest_sessionfinish, pytest_sessionstart  # noqa: F401  hooks of pytest's

# What the tests of some folders and files need besides the wheel of the learners, pytest and hypothesis.
NEEDS = {
    "mlflow": ["entrolab", "workflow", "docs", "tools", "benchmarks"],
    "dask": ["streaming"],
    "matplotlib": ["plotting", "test_meta_estimators.py"],
    "mypy": ["test_types.py"],
    "pandas": ["test_columns.py"],
    "array_api_strict": ["machines/test_devices.py", "machines/test_device_fits.py"],
}
collect_ignore = [place for package, places in NEEDS.items() if not find_spec(package) for place in places]

# A machine that is busy with something else must not fail a law. Each run draws other examples.
hypothesis.settings.register_profile("entrolearn", deadline=None, max_examples=50)
hypothesis.settings.load_profile("entrolearn")


def pytest_collection_finish() -> None:
    """Freeze what is imported and collected: each later collection of garbage would go through all of it."""
    gc.collect()
    gc.freeze()


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


class Disk:
    """A small file system of its own, mounted at a folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._filler = folder / ".filler"

    def remount(self, options: str) -> None:
        """Mount it with other options, such as ``size=16m`` or ``ro``."""
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.folder)], check=True)

    def fill(self) -> None:
        """Leave no room on it."""
        with self._filler.open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))
        assert shutil.disk_usage(self.folder).free == 0

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def new_disk() -> Iterator[Callable[[Path, str], Disk]]:
    """A function that mounts an empty disk of some size at a folder: ``new_disk(folder, "4m")``."""
    mounted = []

    def mount(folder: Path, size: str) -> Disk:
        folder.mkdir(parents=True, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("needs root on Linux, to mount a file system")
        mounted.append(folder)
        return Disk(folder)

    yield mount
    for folder in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
