"""Records: what became of one cell (one learner on one data set), written once, read by all that follows."""

import json
import os
import platform
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from entrolab.fit.learners import ONE_OF, learners_of
from entrolab.io.atomic import replacing
from entrolab.text import Unreadable


def new_record(cell: Mapping, started: datetime, seconds: float = 0.0) -> dict:
    """The part of a cell's record that does not depend on how it went; the rest is filled in as of no result.

    Parameters
    ----------
    cell : mapping
        As :func:`entrolab.study.job_specs.run_spec` gives it.
    started : datetime
        With a time zone.
    seconds : float
        What it took, by a clock that nobody sets.
    """
    return {
        "key": f"{cell['paper']}/{cell['dataset']}/{cell['model']}",
        "paper": cell["paper"],
        "dataset": cell["dataset"],
        "model": cell["model"],
        "estimator": " or ".join(learners_of(cell)),
        "params": cell["params"],
        "grid": cell["grid"],
        **({ONE_OF: cell[ONE_OF]} if cell.get(ONE_OF) else {}),
        "seed": cell["seed"],
        "n_candidates": 0,
        "n_failed": 0,
        "notes": {},
        "success": False,
        "kind": "",
        "error": "",
        "seconds": seconds,
        "started": started.isoformat(timespec="seconds"),
        "data": {},
        "versions": versions(),
        "machine": machine(),
    }


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    packages = ("numpy", "scipy", "scikit-learn", "entrolearn")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def machine() -> dict:
    """The kind of machine, not its name."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def read_json(path: str | os.PathLike) -> dict:
    """A JSON file's content; a file that is not whole is named."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise Unreadable(f"{path}: not a whole JSON file ({error}); delete it and run again") from None


def write_json(path: str | os.PathLike, content: Mapping) -> None:
    """Write JSON that any reader takes: no NaN, no infinity."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _processor() -> str:
    """The processor's model, which Linux tells in a file and others through the platform module."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
