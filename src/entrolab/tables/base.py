"""The base class of table types, and the contents of a cell."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from entrolab.fit.run import BASELINE
from entrolab.tables.entries import TableEntry, Tolerance
from entrolab.tables.quantities import Quantity
from entrolab.text import full_label, one_line

if TYPE_CHECKING:
    from entrolab.results.reader import Results

NAN = math.nan

# A cell's address: data set, model, metric; "" for a part that the table type does not use.
Cell = tuple[str, str, str]

# The status of a cell. The last two: the study has nothing to compute, or itself states the number.
Status = Literal["ok", "failed", "no data", "published only", "known"]
PUBLISHED_ONLY: Status = "published only"
# The data set of tables that measure on generated data.
GENERATED = "generated"
# The row of all data sets, and the entry of all models.
ALL = "all"


class PublishedValue(NamedTuple):
    """A published value, corrected, its ±, NaN if there is none, and its number of decimals.

    `printed` is the metric and the number in the paper, which differ from the cell's if they are corrected.
    """

    value: float = NAN
    std: float = NAN
    decimals: int = 0
    printed: tuple[str, float] | None = None


NOTHING = PublishedValue()


class Head(NamedTuple):
    """The head of a row or a column, in two lines."""

    label: str = ""
    sublabel: str = ""


@dataclass(frozen=True)
class TableSpec:
    """All that a table shows, except its numbers.

    Attributes
    ----------
    study : Study
        The study, or the part of it that the table depends on.
    name : str
    type : TableType
    entry : TableEntry
        The table in the study's file, with defaults; its class is that of the table type.
    datasets, models : mapping of str to Head
        The heads of rows and columns by key, in the study's order.
    metrics : mapping of str to Quantity
        The same of metrics, with what their numbers are.
    trials : int
        The number of trials of the protocol, 0 if it has folds.
    sample : int
        The number of rows sampled from larger data sets, 0 for all rows.
    """

    study: Any = field(compare=False)  # a Study, which imports this module
    name: str
    type: "TableType" = field(compare=False)  # the entry decides it
    entry: Any
    datasets: Mapping[str, Head]
    models: Mapping[str, Head]
    metrics: Mapping[str, Quantity]
    trials: int = 0
    sample: int = 0

    def tolerance(self, metric: str) -> Tolerance:
        """The difference of a metric's numbers from the published ones that counts as reproduced."""
        return self.metrics[metric].tolerance or self.entry.tolerance or self.type.tolerance

    def heads(self, part: str) -> Mapping[str, Head | Quantity]:
        """The heads of a part of a cell's address: "dataset", "model" or "metric"."""
        return getattr(self, f"{part}s")

    def label_of(self, dataset: str, model: str, metric: str) -> str:
        """The labels of a cell's row and column in one text."""
        heads = (self.datasets.get(dataset), self.models.get(model), self.metrics.get(metric))
        return ", ".join(filter(None, (full_label(head) for head in heads if head)))


@dataclass(frozen=True)
class Found:
    """Our numbers in a cell with a note, or the status and the reason of a missing number.

    A number is `given` if no learner produced it: it describes data, or is a parameter that the study sets.
    It `is_judged` unless the study sets it without the paper's having done so.
    """

    ours: float = NAN
    ours_std: float = NAN
    oracle: float = NAN
    status: Status = "ok"
    reason: str = ""  # parts joined by semicolons; a part may end in "in k of n fits"
    given: bool = False
    is_judged: bool = True
    readings: Mapping[str, float] = field(default_factory=dict)  # the number by other readings of the paper


@dataclass(frozen=True)
class Judged:
    """The comparison of our number with the published value."""

    verdict: str
    difference: float = NAN
    note: str = ""


class TableType:
    """A table type: its entry in a study, its files, its quantities and the contents of its cells.

    Attributes
    ----------
    rows, columns : tuple of {"dataset", "model", "metric"}
        Which parts of a cell's address make the table's rows and columns; the second of two is under the
        first.
    stages : tuple of str
        The stages whose files a table is made of, keys of `FILES`.
    trains : bool
        Whether its cells have to be trained.
    ranks : bool
        Whether its numbers are the scores of runs, by which models are ranked.
    tolerance : Tolerance
        That of entries without any.
    explanation : str
        Sentences on its numbers, for entries without any; `{metrics}`, `{criterion}`, and those of
        :class:`Quantity` stand for words of the study.
    Entry : type
        The keys and values of an entry in a study.
    """

    rows: tuple[str, ...] = ("dataset",)
    columns: tuple[str, ...] = ("model",)
    stages: tuple[str, ...] = ()
    trains = False
    ranks = False
    tolerance = Tolerance()
    explanation = ""
    Entry: type[TableEntry] = TableEntry

    def for_entry(self, entry: TableEntry) -> "TableType":
        """The type as an entry sets it: its rows and columns may depend on the entry."""
        return self

    def divides_for(self, table: TableEntry, study: Any) -> bool:
        """Whether a table depends on the splits of the study's protocol."""
        return True

    def names_to_check(self, table: TableEntry, study: Any) -> Iterator[tuple[str, str, Sequence[str], str]]:
        """Yield the names in an entry that must be known: (place, name, known names, kind of thing named)."""
        yield from ()

    def with_defaults(self, name: str, table: TableEntry, groups: Mapping, study: Any) -> TableEntry:
        """An entry with its defaults from the study: its published table, and all models by name."""
        filled = {"published": table.published or name}
        if getattr(table, "models", None) == ALL:
            # All models except those that have their own criteria or are only published.
            filled["models"] = [
                key
                for key, one in study.models.items()
                if one.criteria is None and not one.published_only and (self.ranks or key != BASELINE)
            ]
        return table.model_copy(update=filled)

    def stages_of(self, table: TableEntry) -> tuple[str, ...]:
        """The stages whose files this table is made of."""
        return self.stages

    def models(self, table: TableEntry, study: Any) -> dict[str, Head]:
        """The models of a table with their labels."""
        return {"": Head()}

    def extra_rows(self, table: TableEntry) -> dict[str, Head]:
        """Extra rows with their heads: those of generated data, or those below the data sets."""
        return {}

    def metrics(self, table: TableEntry) -> dict[str, Quantity]:
        """The metrics of a table, with what their numbers are."""
        raise NotImplementedError

    def rows_and_models(self, table: TableEntry, study: Any) -> list[tuple[str, str]]:
        """The (data set, model) pairs whose files a table is made of, row by row."""
        models = self.models(table, study)
        if self.trains:
            return list(study.pairs(table.datasets, models))
        group = getattr(table, "datasets", None)
        datasets = [GENERATED] if group is None else study.datasets[group]
        return list(itertools.product(datasets, models))

    def cells(self, spec: TableSpec) -> list[Cell]:
        """Every cell of a table, row by row."""
        return [
            (dataset, model, metric)
            for dataset in spec.datasets
            for model in spec.models
            for metric in spec.metrics
        ]

    def published_at(self, cell: Cell) -> Cell:
        """The address of a cell in the file of published values."""
        return cell

    def cell_value(self, cell: Cell, spec: TableSpec, results: "Results") -> Found | None:
        """Our numbers in a cell; None if the table leaves the cell out."""
        raise NotImplementedError

    def measurement(self, table: TableEntry, study: Any, dataset: str) -> dict:
        """The part of the spec of a measurement that depends on the table."""
        raise NotImplementedError


def phrase(text: object) -> str:
    """One part of a reason: the parts are joined with semicolons."""
    return one_line(text).replace(";", ",")
