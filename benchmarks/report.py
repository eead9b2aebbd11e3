"""Write tables to the terminal, as Markdown and as one tidy file, with the machine and the versions."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_info

from entrolab.io.atomic import replacing
from entrolab.jobs.checkout import commit_of

PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy", "pymanopt")
PACKAGES += ("hpelm", "python-picard", "skglm", "river")  # peers
MODULES = {"scikit-learn": "sklearn", "python-picard": "picard"}


@dataclass(frozen=True)
class Section:
    """One table and the lines under it.

    The index names what was measured, the columns say what was found; empty where nothing was.
    """

    title: str
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Heading, table and notes."""
        parts = [f"## {self.title}"]
        if not self.table.empty:
            n_names = self.table.index.nlevels
            cells = self.table.reset_index().map(in_words)
            align = ["left" if i < n_names else "right" for i in range(cells.shape[1])]
            parts.append(cells.to_markdown(index=False, disable_numparse=True, colalign=align))
        return "\n\n".join([*parts, *self.notes])

    def tidy(self) -> pd.DataFrame:
        """One row per cell: section, row, column, value."""
        if self.table.empty:
            return pd.DataFrame()
        names = [" ".join(map(str, name)) if isinstance(name, tuple) else name for name in self.table.index]
        rows = pd.Index(names, name="row")
        columns = (
            pd.DataFrame({"section": self.title, "row": rows, "column": column, "value": cells.to_numpy()})
            for column, cells in self.table.items()
        )
        return pd.concat(columns, ignore_index=True)


def in_words(value) -> str:
    """A cell: three significant digits, or all digits before the point; a dash for a missing value.

    Examples
    --------
    >>> [in_words(value) for value in (0.012345, 12345.6, 100_000, float("nan"), "SVC")]
    ['0.0123', '12,346', '100,000', '–', 'SVC']
    """
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def machine() -> str:
    """The machine and the software of the measurements, in one line."""
    pools = sorted(
        {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["version"]}
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = [_processor(), f"{os.cpu_count()} cores", f"{memory:.0f} GiB"]
    found += [f"Python {platform.python_version()}"]
    found += [f"{name} {version(name)}" for name in PACKAGES if find_spec(MODULES.get(name, name))]
    commit = commit_of(Path(__file__).parent) or version("entrolearn")
    return ", ".join([*found, *pools, f"entrolearn {commit}"])


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def write(sections: Sequence[Section], folder: Path, when: datetime) -> list[Path]:
    """Write all sections as <date>.md and <date>.csv; return the paths."""
    stem = when.strftime("%Y-%m-%d-%H%M")
    page, cells = folder / f"{stem}.md", folder / f"{stem}.csv"
    head = f"# Benchmarks of {when:%d %B %Y, %H:%M}\n\n{machine()}"
    with replacing(page) as temporary:
        text = "\n\n".join([head, *(section.markdown() for section in sections)]) + "\n"
        temporary.write_text(text, encoding="utf-8")
    with replacing(cells) as temporary:
        pd.concat([section.tidy() for section in sections]).to_csv(temporary, index=False)
    return [page, cells]
