"""The base class of table types, and what a cell of a table is made of."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from entrolab.fit.learners import learners_of
from entrolab.study.entries import TableEntry
from entrolab.study.lookup import pairs
from entrolab.tables.verdicts import beside
from entrolab.text import one_line

NAN = math.nan

# A cell's address: data set, model, metric; "" for what a table type does without.
Cell = tuple[str, str, str]

# The status of a cell for which the study has nothing to compute.
PUBLISHED_ONLY = "published only"
# Stands for the data set in tables that measure on generated data.
GENERATED = "generated"
# The row below the data sets, of all of them.
ALL = "all"


class PublishedValue(NamedTuple):
    """A published value and its ±, NaN where there is none, and how many decimals it is published with."""

    value: float = NAN
    std: float = NAN
    decimals: int = 0


NOTHING = PublishedValue()


@dataclass(frozen=True)
class Found:
    """Our numbers in a cell and a note, or the status that says why there are none, and its reason.

    Attributes
    ----------
    ours, ours_std, oracle : float
    status : {"ok", "failed", "no data", "published only"}
        The status of a cell without a number; "published only" where the study has nothing to compute.
    reason : str
        Parts joined by semicolons; a part may end in "in k of n fits".
    readings : mapping of str to float
        The same number by other readings of the paper.
    """

    ours: float = NAN
    ours_std: float = NAN
    oracle: float = NAN
    status: str = "ok"
    reason: str = ""
    readings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """The comparison of our number with the published value."""

    verdict: str
    difference: float = NAN
    note: str = ""


class TableType:
    """A table type: the entry of a study, the files that it reads, what is in a cell, how it is judged.

    Attributes
    ----------
    rows, columns : tuple of {"dataset", "model", "metric"}
        Which parts of a cell's address make the table's rows and columns; the second of two is under the
        first.
    stages : tuple of str
        The stages whose files a table is made of, keys of `FILES`.
    trains : bool
        Whether its cells have to be trained.
    measured_by : str
        The module whose ``measure`` gives its numbers, if they are measured for the table alone.
    one_dataset : bool
        Whether it takes a single data set.
    generates : bool
        Whether it takes none: its data are made for it.
    divides : bool
        Whether the study's protocol has to say how its data sets are divided.
    ranks : bool
        Whether its numbers are the scores of runs, by which models are ranked.
    measures : str or None
        What its numbers measure where they mean the same as the published values, "" where the metric says
        it; None where they are compared in the table alone.
    compares : str
        How a table that has published values shows them.
    Entry : type
        What an entry of a study may say.
    """

    rows: tuple[str, ...] = ("dataset",)
    columns: tuple[str, ...] = ("model",)
    stages: tuple[str, ...] = ()
    trains = False
    measured_by = ""
    one_dataset = False
    generates = False
    divides = True
    ranks = False
    measures: str | None = None
    compares = "Ours above, the published number below."
    Entry: type[TableEntry] = TableEntry

    def names(self, table: Mapping, study: Mapping) -> Iterator[tuple[str, str, Sequence[str], str]]:
        """Names in an entry that must be known: (place, name, known names, what is named)."""
        yield from ()

    def filled(self, name: str, table: Mapping, groups: Mapping, study: Mapping) -> dict:
        """An entry with what follows from its study: here its published table and all models by name."""
        named = {}
        if table.get("models") == ALL:
            # A model with criteria of its own was not asked to be a column of every table, nor one in print
            # alone.
            entries = study["models"].items()
            named = {"models": [key for key, one in entries if not {"criteria", "published_only"} & {*one}]}
        return {"published": name, **table, **named}

    def reads(self, table: Mapping) -> tuple[str, ...]:
        """The stages whose files this table is made of."""
        return self.stages

    def models(self, table: Mapping, study: Mapping) -> dict[str, dict]:
        """The models of a table with their labels."""
        return {"": heading()}

    def places(self, table: Mapping) -> dict[str, dict]:
        """What stands in the place of data sets where they are generated, or below them, with its labels."""
        return {}

    def metrics(self, table: Mapping) -> dict[str, dict]:
        """The metrics of a table with their labels."""
        raise NotImplementedError

    def rows_and_models(self, table: Mapping, study: Mapping) -> list[tuple[str, str]]:
        """The (data set, model) pairs whose files a table is made of, row by row."""
        models = self.models(table, study)
        if self.trains:
            return list(pairs(study, table["datasets"], models))
        datasets = [GENERATED] if self.generates else study["datasets"][table["datasets"]]
        return list(itertools.product(datasets, models))

    def has_learner(self, table: Mapping, model: Mapping) -> bool:
        """Whether a model has something that the table's measurement can fit."""
        return bool(learners_of(model))

    def cells(self, spec: Mapping) -> list[Cell]:
        """Every cell of a table, row by row."""
        return [
            (dataset, model, metric)
            for dataset in spec["datasets"]
            for model in spec["models"]
            for metric in spec["metrics"]
        ]

    def published_at(self, cell: Cell) -> Cell:
        """Where the file of published values has a cell."""
        return cell

    def found(self, cell: Cell, spec: Mapping, results) -> Found:
        """Look up what there is of ours in a cell; `results` is a `Results`."""
        raise NotImplementedError

    def measurement(self, table: Mapping, study: Mapping, dataset: str) -> dict:
        """What ``measure`` is to know of a table."""
        raise NotImplementedError

    def judge(
        self,
        cell: Cell,
        spec: Mapping,
        found: Mapping[Cell, Found],
        published_values: Mapping[Cell, PublishedValue],
    ) -> Judged:
        """Judge a cell that has a number, here by its distance from the published value.

        The other cells are there to compare with.
        """
        ours, published = found[cell], published_values.get(self.published_at(cell), NOTHING)
        verdict = beside(ours.ours, published.value, self.tolerance(cell, spec, ours, published))
        note = self.note(cell, found, published_values, verdict)
        return Judged(verdict, ours.ours - published.value, note)

    def tolerance(self, cell: Cell, spec: Mapping, ours: Found, published: PublishedValue) -> float:
        """The largest difference from the published value that counts as reproduced."""
        return 0.0

    def note(self, cell: Cell, found: Mapping, published_values: Mapping, verdict: str) -> str:
        """The footnote of a cell with a number."""
        return ""

    def says(self, spec: Mapping) -> str:
        """What our numbers in a table are, in a sentence or two."""
        raise NotImplementedError

    def agreement(self, spec: Mapping) -> str:
        """What "reproduced" means, in two words."""
        return "within ±"

    def meanings(self, spec: Mapping) -> Mapping[str, str]:
        """What verdicts mean in a table, where that is more than `VERDICTS` says."""
        return {}

    def shown_as(self, metric: str) -> "TableType":
        """The type of table whose digits and words a metric's numbers are shown with."""
        return self

    def digits(self, metric: str, published_values: Sequence[float]) -> int:
        """Decimals to show of a metric, given all its published values."""
        raise NotImplementedError

    def number(self, metric: str, value: float, digits: int) -> str:
        """A number of ours as it is shown."""
        # "z" keeps a rounded-away minus from being shown as -0.0.
        return f"{value:z.{digits}f}"

    def published_number(self, metric: str, value: float, digits: int) -> str:
        """A published value as it is shown."""
        return self.number(metric, value, digits)

    def difference(self, metric: str, difference: float, published: float, digits: int) -> str:
        """How far ours is from the published value, in words."""
        return f"ours − published {difference:+z.{digits}f}"

    def beside_published(self, metric: str, difference: float, published: float) -> str:
        """What is shown beside the published value."""
        return ""


def heading(label: str = "", sublabel: str = "") -> dict[str, str]:
    """The heading of a row or a column, in two lines."""
    return {"label": label, "sublabel": sublabel}


def phrase(text: object) -> str:
    """One part of a reason: the parts are joined with semicolons."""
    return one_line(text).replace(";", ",")
