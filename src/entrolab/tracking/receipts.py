"""Receipts of the tracking store, read when the workflow plans; this module does not import MLflow."""

import os
from pathlib import Path

from entrolab.io.records import read_json
from entrolab.tracking.written import runs_in


def lost_receipts(study: str, store: str | None, folder: str | os.PathLike = "results") -> list[Path]:
    """The receipts of a study whose runs are not in the store, so that they are written again.

    A store that is not a file is not asked: then the receipt of the study is returned, whose job asks for all
    of its runs.
    """
    live = runs_in(store)
    whole = Path(folder, study, "tracked.json")
    found = [*Path(folder, study).glob("seed*/tracked/**/*.json"), *filter(Path.exists, [whole])]
    if live is None:
        return [file for file in found if file == whole]
    return [file for file in found if not live.issuperset(_runs(file))]


def _runs(receipt: Path) -> list[str]:
    """The ids in a receipt; one that no store has if the receipt is damaged or of an earlier version."""
    try:
        return read_json(receipt)["runs"]
    except (KeyError, ValueError):
        return [""]
