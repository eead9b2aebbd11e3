"""Definition of a study (config/papers/*.yaml)."""

import codecs
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from entrolab.data.table_formats import ARROW, DTYPES, suffix_of
from entrolab.figures.registry import FIGURE_TYPES
from entrolab.fit import thresholds
from entrolab.fit.metrics import METRICS
from entrolab.schema.sections import (
    Column,
    ImportPath,
    Interval,
    Name,
    OfDataset,
    Section,
    Text,
    Whole,
    by,
    described,
    each_once,
    list_of,
    mapping_of,
    matching,
    number,
    one_of,
    per_dataset,
    shortened,
    text_or_section,
    whole,
    wrong,
)
from entrolab.tables.entries import Grid, Params, expand_short_form
from entrolab.tables.types import TABLE_TYPES

# Criteria that compare two classes.
DIVERGENCES = ("dcs_gaussian", "dcs_kde")
Criterion = one_of("cv", *DIVERGENCES)
# Key -> the keys that it excludes.
APART_OF_DATA = {
    "openml_task": ("openml", "file", "test", "label", "groups", "time"),
    "openml": ("file", "test"),
    "test": ("groups", "time"),
}
Columns = described(list_of(str), "a list of columns' names, in quotes if they are numbers")
# The options of pandas that apply to delimited text alone.
OF_TEXT = ("sep", "decimal", "thousands", "encoding", "quotechar", "comment", "skiprows", "keep_default_na")
Mark = matching(r"[^\n\r]", "one character")


def check_apart(given: Collection[str], apart: Mapping[str, Collection[str]]) -> None:
    """Raise an error for a key beside another that excludes it."""
    for key, others in apart.items():
        if key in given and (found := [name for name in others if name in given]):
            raise wrong(f"found {found[0]!r} beside {key!r}; accepted: one of them")


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise wrong(f"found {name!r}; accepted: an encoding of Python, such as cp1252 or utf-16") from None
    return name


class Read(Section):
    """How pandas reads a table: options of ``pandas.read_csv``, of which four apply to other files too."""

    sep: matching(
        r"[^\n\r]|\\s\+", 'one character (a tab is "\\t", in these quotes) or \\s+ for any blanks'
    ) = None
    decimal: Mark = None
    thousands: Mark = None
    encoding: Annotated[Text, AfterValidator(_known_encoding)] = None
    na_values: described(list_of(str), "a list of texts, in quotes") = None
    keep_default_na: bool = None
    dtype: mapping_of(one_of(*DTYPES), "types by column") = None
    parse_dates: Columns = None
    date_format: described(Text | mapping_of(Text, "formats by column"), "a format, or formats by column") = (
        None
    )
    quotechar: Mark = None
    comment: Mark = None
    skiprows: described(
        whole(ge=0) | list_of(whole(ge=0)), "a number of lines, or a list of lines from 0"
    ) = None

    @model_validator(mode="after")
    def _marks_differ(self):
        if self.thousands == (self.decimal or "."):
            raise wrong(f"found {self.thousands!r} for thousands and decimals; accepted: two marks")
        return self


class OwnData(Section):
    """A table of your own or of OpenML, with named columns; everything else is read from the table."""

    file: described(Text | list_of(Text), "the path of a file, or a list of some") = None
    openml: Whole = None
    openml_task: Whole = None
    label: Column = None
    test: Text = None
    groups: Column = None
    time: Column = None
    weight: Column = None
    positive: described(
        str | int | float | bool | list_of(str | int | float | bool), "a label, or a list of some"
    ) = None
    task: one_of("binary", "multiclass", "regression") = None
    read: Read = None
    drop: Columns = None
    categorical: Columns = None
    keep: Columns = None

    @model_validator(mode="after")
    def _from_one_source(self):
        """The table has exactly one source; a task of OpenML provides the label and the splits itself."""
        check_apart(self.model_fields_set, APART_OF_DATA)
        if not self.model_fields_set & {"openml", "openml_task"}:
            for name in ("file", "label"):
                if getattr(self, name) is None:
                    raise wrong(f"the key {name!r} is missing")
        if self.positive is not None and self.task in ("multiclass", "regression"):
            raise wrong(f"found 'positive' beside the task {self.task!r}; accepted: only for two classes")
        return self

    @model_validator(mode="after")
    def _read_as_its_format(self):
        """Options of delimited text apply to no other file."""
        files = [self.file] if isinstance(self.file, str) else self.file or ()
        others = [name for name in OF_TEXT if name in getattr(self.read, "model_fields_set", ())]
        if others and all(suffix_of(Path(file)) in ARROW for file in files):
            raise wrong(
                f"found read.{others[0]} for {files[0] if files else 'OpenML'}; accepted: it for text files"
            )
        return self


class Scaling(Section):
    """How the features of a data set are scaled before it is split."""

    method: per_dataset(one_of("minmax", "joint_minmax", "maxabs", "standard", "none"))
    range: Interval = None
    targets: per_dataset(Interval) = None
    dtype: per_dataset(one_of("float64", "float32")) = None

    @field_validator("range", "targets")
    @classmethod
    def _ascends(cls, ends):
        if isinstance(ends, list) and ends[0] >= ends[1]:
            raise wrong(f"found {ends}; accepted: the lower end first")
        return ends


class Preprocessing(Section):
    """Preprocessing fitted on the training rows; in tables of your own, missing values are also imputed."""

    scale: one_of("minmax", "maxabs", "standard", "none") = "minmax"
    categories: one_of("one-hot", "ordinal", "target") = "one-hot"


class Folds(Section):
    """Cross-validation; optionally by group (rows of a group stay together) or in time (past to future)."""

    folds: whole(ge=2) = 5
    repeats: Whole = 1
    inner: one_of("leave-two-folds-out") = "leave-two-folds-out"
    rows: whole(ge=2) = None
    method: one_of("group", "time") = None

    @model_validator(mode="after")
    def _drawn_once(self):
        if self.method is not None and self.rows is not None:
            raise wrong(f"found 'rows' beside the method {self.method!r}; accepted: one of them")
        if self.method == "time" and self.repeats > 1:
            raise wrong(f"found {self.repeats} repeats in time, which would all be equal; accepted: 1")
        return self


Count = described(Whole | OfDataset, "a whole number from 1, or {of_dataset: name}")


class Inner(Section):
    """Inner folds of the training rows for selecting parameters; `used` of them are run."""

    folds: whole(ge=2) = 4
    used: Count = None

    @field_validator("used")
    @classmethod
    def _at_most_all(cls, used, info: ValidationInfo):
        if isinstance(used, int) and used > info.data.get("folds", used):
            raise wrong(f"found {used}; accepted: at most the number of inner folds, {info.data['folds']}")
        return used

    @model_validator(mode="after")
    def _use_all(self):
        if self.used is None:
            self.used = self.folds
        return self


class Trials(Section):
    """Random splits into training and test rows."""

    trials: Whole
    train: Count
    test: Count
    shuffle: described(bool | OfDataset, "true, false or {of_dataset: name}") = None
    inner: Inner = Inner()

    @field_validator("shuffle")
    @classmethod
    def _differ(cls, shuffle, info: ValidationInfo):
        if shuffle is False and info.data.get("trials", 1) > 1:
            raise wrong(
                f"found false for {info.data['trials']} trials, which would all be equal; accepted: 1 trial"
            )
        return shuffle

    @field_validator("inner")
    @classmethod
    def _have_rows(cls, inner, info: ValidationInfo):
        train = info.data.get("train")
        if isinstance(train, int) and inner.folds > train:
            raise wrong(f"found {inner.folds} folds; accepted: at most its {train} training rows")
        return inner


def _which(protocol) -> str:
    return "<trials>" if isinstance(protocol, Mapping) and "trials" in protocol else "<folds>"


Protocol = Annotated[
    Annotated[Folds, Tag("<folds>")] | Annotated[Trials, Tag("<trials>")], Discriminator(_which)
]


class Step(Section):
    """Preprocessing that is fitted on the training rows only."""

    estimator: ImportPath
    params: Params = None


class Estimators(Section):
    """One learner for classification and one for regression."""

    classification: ImportPath = None
    regression: ImportPath = None

    @model_validator(mode="after")
    def _one(self):
        if not self.model_fields_set:
            raise wrong("found {}; accepted: classification, regression")
        return self


class Alternative(Section):
    """One of the learners that a model selects from."""

    estimator: ImportPath
    params: Params = Field(default={})
    grid: Grid = Field(default={})


class Search(Section):
    """A random search: the points drawn from the grid, and the seconds after which no other begins."""

    points: Whole = 20
    seconds: number(gt=0) = None


Threshold = one_of(*thresholds.BY)

# The keys that name the learners of a model.
LEARNERS = ("estimator", "estimators", "one_of")
OF_LEARNERS = (
    *LEARNERS,
    "params",
    "steps",
    "grid",
    "search",
    "threshold",
    "criteria",
    "candidates",
    "trials",
)
APART_OF_MODELS = {
    "known": ("published_only", *OF_LEARNERS),
    "published_only": OF_LEARNERS,
    "estimators": ("estimator", "one_of"),
    "one_of": ("estimator", "params"),
}
# Values by metric, as tables show them: 84.1, or [84.1, 2.6] with a ±.
Known = mapping_of(
    described(number() | list_of(number(), at_least=2, at_most=2, unique=False), "a number, or [number, ±]"),
    "values by metric",
)


class Model(Section):
    """A column of tables: a learner with its grid, or published or known values."""

    label: str = None
    sublabel: str = ""
    estimator: ImportPath = None
    estimators: Estimators = None
    one_of: mapping_of(Alternative, "learners by name, at least one, each with an estimator", Name) = {}
    published_only: Literal[True] = None
    known: mapping_of(Known, "data sets, each with values by metric") = None
    trials: described(Whole | OfDataset, "a number of trials, at least 1, or {of_dataset: name}") = None
    params: Params = Field(default={})
    steps: list[text_or_section(ImportPath, Step)] = Field(default=[])
    grid: Grid = Field(default={})
    search: Search = None
    threshold: Threshold = None
    criteria: Annotated[list[str], AfterValidator(each_once)] = None
    candidates: Annotated[list[Criterion], AfterValidator(each_once)] = None

    @model_validator(mode="before")
    @classmethod
    def _one_learner(cls, data):
        """A model has one learner, one per task, several to select from, or none."""
        check_apart(data if isinstance(data, Mapping) else (), APART_OF_MODELS)
        return data

    @field_validator("search", mode="before")
    @classmethod
    def _as_search(cls, search):
        return {} if search == "random" else search

    @field_validator("steps", mode="after")
    @classmethod
    def _as_sections(cls, steps):
        return [Step(estimator=step) if isinstance(step, str) else step for step in steps]

    @model_validator(mode="after")
    def _has_a_learner(self):
        if not self.model_fields_set & {*LEARNERS, "published_only", "known"}:
            raise wrong("the key 'estimator' is missing")
        return self


def _as_model(model):
    return Model(estimator=model) if isinstance(model, str) else model


class Erratum(Section):
    """A place where the paper is wrong or ambiguous, and what the study uses instead."""

    where: str
    published: str
    taken: str
    evidence: str
    tested_by: list_of(str) = None


class Difference(Section):
    """An explanation tried for values outside their margins, and its result."""

    tables: list_of(str)
    datasets: list_of(str) = None
    models: list_of(str) = None
    metrics: list_of(str) = None
    tried: str
    gave: str
    tested_by: list_of(str) = None

    def applies_to(self, table: str, dataset: str, model: str, metric: str) -> bool:
        """Whether the explanation is one of a value; a missing key matches everything.

        Examples
        --------
        >>> sonar = Difference(tables=["table4"], datasets=["sonar"], tried="a seed", gave="nothing")
        >>> [sonar.applies_to("table4", one, "eem_rbf", "gmean") for one in ("heart", "sonar")]
        [False, True]
        """
        restricted = ((dataset, self.datasets), (model, self.models), (metric, self.metrics))
        return table in self.tables and all(name in names for name, names in restricted if names)


Keys = described(
    list_of(str), "a list of keys of the catalog, or {file: its path, label: a column} for your own table"
)


def _value_of_dataset(value):
    """A value for one data set, which must not be a reference."""
    if isinstance(value, Mapping) and "of_dataset" in value:
        raise wrong(f"found {shortened(value)}; accepted: the value itself")
    return expand_short_form(value)


Values = mapping_of(Annotated[Any, AfterValidator(_value_of_dataset)], "values by data set", Any)


Table = by("type", {name: one.Entry for name, one in TABLE_TYPES.items()})
Figure = by("type", FIGURE_TYPES)


class StudyFile(Section):
    """The file of a study: data sets, learners with grids, protocol, tables and figures."""

    title: matching(r"[^{}]+", "a text without braces") = None
    reference: str = ""
    about: str = ""
    answer: list_of(Text, at_most=2, unique=False) = []
    answer_figure: str = None
    # The report links to it, so scripts are refused, and square brackets, which would break a Markdown link.
    url: matching(r"(https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+)?", "an http or https address") = ""
    published: str = None
    claims: str = None
    seeds: str = None
    limit_seconds: number(gt=0) = None
    minutes: number(gt=0) = None
    scaling: Scaling = None
    preprocessing: Preprocessing = None
    protocol: Protocol = Field(default=Folds())
    of_dataset: dict[Name, Values] = {}
    metrics: list_of(one_of(*METRICS)) = None
    criteria: list_of(Criterion) = ["cv"]
    candidates: list_of(Criterion) = None
    log_candidates: one_of("runs", "table") = None
    model_format: one_of("skops", "cloudpickle") = "skops"
    named_seeds: bool = False
    checks: bool = True
    datasets: mapping_of(
        text_or_section(Keys, OwnData),
        "groups by name, each a list of keys of the catalog or {file: its path, label: a column}",
        Name,
    )
    models: mapping_of(
        Annotated[text_or_section(ImportPath, Model), AfterValidator(_as_model)],
        "learners by name, each an import path, or a mapping with one as `estimator`",
        Name,
    )
    tables: mapping_of(Table, "tables by name", Name) = None
    figures: Annotated[dict[Name, Figure], Field(description="figures by name")] = None
    errata: list[Erratum] = []
    differences: list[Difference] = []

    @model_validator(mode="after")
    def _scaled_once(self):
        """Features are scaled either over all rows, as papers do, or by each fit, which is the default."""
        if self.scaling is None:
            self.preprocessing = self.preprocessing or Preprocessing()
            return self
        if self.preprocessing is not None:
            raise wrong("found 'scaling' (over all rows) beside 'preprocessing'; accepted: one of them")
        if own := [key for key, data in self.datasets.items() if isinstance(data, OwnData)]:
            raise wrong(
                f"found 'scaling' (over all rows) with your own table {own[0]!r}; accepted: 'preprocessing', "
                "which is fitted on the training rows"
            )
        return self
