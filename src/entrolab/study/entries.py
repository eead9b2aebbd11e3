"""What the entries of all tables and figures share, and the types of values that several kinds take."""

from entrolab.study.definition import Params
from entrolab.study.sections import Section, Whole, described, list_of, mapping_of, one_of

__all__ = [
    "Entry",
    "ModelNames",
    "ModelsWithParams",
    "OfData",
    "Points",
    "Task",
    "SixModels",
    "TwelveModels",
    "WithParams",
]


class Entry(Section):
    """A table or a figure of a study."""

    kind: str
    caption: str
    notes: list[str] = []


class TableEntry(Entry):
    """A table; `printed` is the published table to compare with, if not the one of this table's name."""

    printed: str = None


class OfData(TableEntry):
    """A table of a group of data sets."""

    datasets: str


class WithParams(Section):
    """A model with what is fixed of it."""

    params: Params = None


ModelsWithParams = mapping_of(WithParams, "models by name, each with what is fixed")
ModelNames = described(one_of("all") | list_of(str), "all, or a list of model names")
Points = described(
    list_of(Whole, at_least=3), "a list of at least three numbers, since an exponent is fitted to them"
)
Task = one_of("binary", "regression")


# As many lines, or panels, as can be told apart.
SixModels = described(list_of(str, at_most=6), "a list of one to six model names")
TwelveModels = described(list_of(str, at_most=12), "a list of one to twelve model names")
