"""Compare tables with the golden ones in ``tests/golden``, which change only on purpose.

They are compared to the last digit in the environment that they were made in (``made_with.json``: packages
that compute, the instructions of the processor), elsewhere within one unit of the last digit that is shown.
"""

import json
import platform
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from tools.compare_tables import differences

GOLDEN = Path(__file__).parents[2] / "golden"
MADE_WITH = GOLDEN / "made_with.json"
UNIT = 0.1  # scores are shown in percent, with one decimal


def check_golden(study: str, tables: Path, datasets: Collection[str] = ()) -> None:
    """Compare each golden table of a study with that of a folder; an error lists the cells that differ.

    Only rows of `datasets` are compared if some are given.
    """
    exact = json.loads(MADE_WITH.read_text(encoding="utf-8")) == environment()
    golden = sorted((GOLDEN / study).glob("*.csv"))
    assert golden
    lines = [
        f"{file.stem}: {line}"
        for file in golden
        for line in differences(file, tables / file.name, datasets, within=0 if exact else UNIT)
    ]
    assert not lines, "\n".join([f"{tables} differs from {GOLDEN / study}:", *lines])


def environment() -> dict:
    """What decides the last digits of a result: versions of packages, instructions of the processor."""
    return {
        "machine": platform.machine(),
        "simd": np.show_config(mode="dicts")["SIMD Extensions"]["found"],
        "blas": sorted({pool.get("architecture", "") for pool in threadpool_info()}),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "highspy")},
    }


if __name__ == "__main__":  # with PYTHONPATH=., after the tables were replaced
    MADE_WITH.write_text(json.dumps(environment(), indent=2) + "\n", encoding="utf-8")
