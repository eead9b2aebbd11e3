"""Numbers of tables in the texts of a study's errata and differences."""

import csv
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from entrolab.schema.sections import ConfigError, Section
from entrolab.study.seeds import CELL

if TYPE_CHECKING:
    import pandas as pd

    from entrolab.study.study import Study

SEED_0 = "0"
# The texts of an erratum and of a difference that may quote numbers.
TEXTS = {"errata": ("published", "taken", "evidence"), "differences": ("tried", "gave")}
# {table/dataset/model/metric:.1f}; {table/dataset/model/metric/1-4:.1f} is the range over the seeds 1 to 4.
_QUOTED = re.compile(r"\{([^{}:]*/[^{}:]*)(?::([^{}]*))?\}")


def with_numbers(study: "Study", tables: "Mapping[str, pd.DataFrame] | None" = None) -> "Study":
    """A study whose errata and differences have numbers in the place of ``{table/dataset/model/metric:.1f}``.

    A cell must be in the study's file ``seeds``. Its number is that of the made table in `tables`, else that
    of seed 0; a range over seeds is always that of the file. Any other place, or a wrong format, raises a
    `ConfigError`.
    """
    made = {
        (name, *cell): number
        for name, table in (tables or {}).items()
        for *cell, number in table[[*CELL[1:], "ours"]].dropna(subset="ours").itertuples(index=False)
    }
    stored = {}
    if os.path.isfile(file := study.seeds or ""):
        with open(file, encoding="utf-8", newline="") as lines:
            stored = {tuple(row[part] for part in CELL): row for row in csv.DictReader(lines)}

    def number(quoted: re.Match) -> str:
        parts = quoted[1].split("/")
        cell, seeds = tuple(parts[:4]), "/".join(parts[4:]) or SEED_0
        try:
            first, last = map(int, [*seeds.split("-"), seeds][:2])
            values = [float(stored[cell][str(seed)]) for seed in range(first, last + 1)]
            if seeds == SEED_0:
                values = [made.get(cell, values[0])]
            return " to ".join(
                dict.fromkeys(format(one, quoted[2] or "g") for one in (min(values), max(values)))
            )
        except (KeyError, ValueError):
            raise ConfigError(
                f"{study.file}: found {quoted[0]}; accepted: {{{'/'.join(CELL)}:.1f}} or "
                f"{{{'/'.join(CELL)}/1-4:.1f}}, of a cell and seeds in {file or 'the file `seeds`'}"
            ) from None

    def filled(entry: Section, texts: tuple[str, ...]) -> Section:
        return entry.model_copy(update={key: _QUOTED.sub(number, getattr(entry, key)) for key in texts})

    return study.model_copy(
        update={
            part: [filled(entry, texts) for entry in getattr(study, part)] for part, texts in TEXTS.items()
        }
    )
