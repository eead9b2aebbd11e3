"""The number of attempts to download a data set."""

import json
from pathlib import Path


def attempt_of(dataset: str) -> int:
    """A number that grows while the data are not available, so that each run tries to download them.

    It is stored outside the receipt, because Snakemake deletes that before the job starts.
    """
    file = Path("resources", "raw", dataset, "attempt.json")
    try:
        last = json.loads(file.read_text(encoding="utf-8"))
        return last["attempt"] + (not last["available"])
    except (OSError, ValueError, KeyError):
        return 1
