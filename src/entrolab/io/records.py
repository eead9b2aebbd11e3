"""Read and write run records: provenance and outcome of one learner on one data set, as JSON."""

import json
import os
import platform
import re
import resource
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from entrolab.io.atomic import write_text
from entrolab.text import damaged


def versions() -> dict[str, str]:
    """The versions of the packages that results depend on."""
    packages = ("numpy", "scipy", "scikit-learn", "entrolearn")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def machine() -> dict:
    """Hardware and operating system, without the host name."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def peak_mib() -> float:
    """The peak memory of this process or of one that it has started and that has ended, in MiB."""
    processes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    most = max(resource.getrusage(who).ru_maxrss for who in processes)
    return round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)


def read_json(path: str | os.PathLike) -> dict:
    """Read a JSON file; raise `Unreadable` for a damaged file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise damaged(path, "JSON", error) from None


def write_json(path: str | os.PathLike, content: Mapping) -> None:
    """Write strict JSON, which has no numbers for NaN and infinity: they become text, such as "Infinity"."""
    strict = json.loads(json.dumps(content), parse_constant=str)
    write_text(path, json.dumps(strict, indent=1) + "\n")


def _processor() -> str:
    """The model name of the processor."""
    info = Path("/proc/cpuinfo")
    found = re.search(
        r"^model name\s*:(.*)$", info.read_text(encoding="utf-8") if info.exists() else "", re.M
    )
    return found[1].strip() if found else platform.processor()
