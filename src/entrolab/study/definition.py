"""What a study may say (config/papers/*.yaml) beside its tables and figures, of which their types say it."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator, model_validator

from entrolab.fit.learners import expand_values
from entrolab.fit.metrics import METRICS
from entrolab.study.sections import (
    Column,
    ImportPath,
    Interval,
    Name,
    OfDataset,
    Section,
    Text,
    Whole,
    described,
    each_once,
    list_of,
    mapping_of,
    matching,
    one_of,
    per_dataset,
    shortened,
    text_or_section,
    whole,
    wrong,
)

# Values of one parameter that has a short form.
MOST_EXPANDED = 10_000


def _is_short_form(value) -> bool:
    """Whether a value is ``{logspace: [int, int, base]}`` or ``{range: [first, last, step]}``."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((form, numbers),) = value.items()
    if form not in ("logspace", "range") or not isinstance(numbers, list) or len(numbers) != 3:
        return False
    if any(isinstance(n, bool) or not isinstance(n, (int, float)) or not math.isfinite(n) for n in numbers):
        return False
    return numbers[2] > 0 and (form == "range" or all(isinstance(n, int) for n in numbers[:2]))


def _expanded(value: Mapping) -> list:
    """The values of a short form."""
    ((form, (first, last, step)),) = value.items()
    if (last - first) / (step if form == "range" else 1) > MOST_EXPANDED:
        raise wrong(f"found {value}; accepted: at most {MOST_EXPANDED:,} values")
    try:
        values = expand_values(value)
    except ValueError as error:
        raise wrong(f"{error}; accepted: {{range: [first, last, step]}} that contains both ends") from None
    if not values or not all(map(math.isfinite, values)):
        raise wrong(
            f"found {value}; accepted: {{logspace: [first exponent, last exponent, base]}}, "
            "the first not above the last, of finite numbers"
        )
    return values


def _values_of_grid(value):
    """A list of values, expanded where it has a short form, or a name of values by data set."""
    if isinstance(value, list) and value:
        return value
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get("of_dataset"), str):
        return value
    if _is_short_form(value):
        return _expanded(value)
    raise wrong(
        f"found {shortened(value)}, expected a list of values, {{logspace: [first exponent, last exponent, "
        "base]}, {range: [first, last, step]} or {of_dataset: name}"
    )


def _expand_short_form(value):
    return _expanded(value) if _is_short_form(value) else value


Params = dict[str, Annotated[Any, AfterValidator(_expand_short_form)]]
Grid = dict[str, Annotated[Any, AfterValidator(_values_of_grid)]]


class OwnData(Section):
    """A csv file of one's own, whose first line names its columns; all else is read from it."""

    file: Text
    label: Column
    positive: described(
        str | int | float | bool | list_of(str | int | float | bool), "a label, or a list of some"
    ) = None
    task: one_of("binary", "multiclass", "regression") = None
    delimiter: matching(
        r"[^\n\r]|whitespace", 'one character (a tab is "\\t", in these quotes) or whitespace'
    ) = None
    drop: described(list_of(str | int), "a list of columns' names") = None
    categorical: described(list_of(str | int), "a list of columns' names") = None
    missing: list_of(str, unique=False) = None
    missing_rows: one_of("drop") = None


class Scaling(Section):
    """How the features of a data set are scaled before they are divided."""

    method: per_dataset(one_of("minmax", "joint_minmax", "maxabs", "standard", "none"))
    range: Interval = None
    fit_on: one_of("all", "train") = "all"
    targets: per_dataset(Interval) = None
    dtype: per_dataset(one_of("float64", "float32")) = None


class Folds(Section):
    """Cross-validation."""

    folds: whole(ge=2)
    repeats: Whole = 1
    inner: one_of("leave-two-folds-out") = "leave-two-folds-out"
    rows: whole(ge=2) = None


Count = described(Whole | OfDataset, "a whole number from 1, or {of_dataset: name}")


class Inner(Section):
    """The inner folds of the training rows, by which parameters are selected; `used` of them are run."""

    folds: whole(ge=2) = 4
    used: Count = None

    @model_validator(mode="after")
    def _use_all(self):
        if self.used is None:
            self.used = self.folds
        return self


class Trials(Section):
    """Random divisions into training and test rows."""

    trials: Whole
    train: Count
    test: Count
    shuffle: described(bool | OfDataset, "true, false or {of_dataset: name}") = None
    inner: Inner = Inner()


def _which(protocol) -> str:
    return "<trials>" if isinstance(protocol, Mapping) and "trials" in protocol else "<folds>"


Protocol = Annotated[
    Annotated[Folds, Tag("<folds>")] | Annotated[Trials, Tag("<trials>")], Discriminator(_which)
]


class Step(Section):
    """Preprocessing that is fitted on the training rows alone."""

    estimator: ImportPath
    params: Params = None


class Estimators(Section):
    """A learner for each kind of task."""

    classification: ImportPath = None
    regression: ImportPath = None

    @model_validator(mode="after")
    def _one(self):
        if not self.model_fields_set:
            raise wrong("found {}; accepted: classification, regression")
        return self


class Alternative(Section):
    """One of the learners that a model chooses from."""

    estimator: ImportPath
    params: Params = Field(default={})
    grid: Grid = Field(default={})


Steps = list[text_or_section(ImportPath, Step)]


# The keys that name what a model learns by.
LEARNERS = ("estimator", "estimators", "one_of")


class Model(Section):
    """A column of tables: a learner with its grid, or a name that is in print alone."""

    label: str = None
    sublabel: str = ""
    estimator: ImportPath = None
    estimators: Estimators = None
    one_of: mapping_of(Alternative, "learners by name, at least one, each with an estimator", Name) = {}
    printed_only: Literal[True] = None
    trials: described(Whole | OfDataset, "a number of trials, at least 1, or {of_dataset: name}") = None
    params: Params = Field(default={})
    steps: Steps = Field(default=[])
    grid: Grid = Field(default={})
    criteria: Annotated[list[str], AfterValidator(each_once)] = None

    @model_validator(mode="before")
    @classmethod
    def _one_learner(cls, data):
        """A learner, one for each kind of task, some to choose from, or none at all."""
        if not isinstance(data, Mapping):
            return data
        ways = {
            "printed_only": (*LEARNERS, "params", "steps", "grid", "criteria", "trials"),
            "estimators": ("estimator", "one_of"),
            "one_of": ("estimator", "params"),
        }
        for way, absent in ways.items():
            if way in data:
                for key in absent:
                    if key in data:
                        raise wrong(f"found {key!r} beside {way!r}; accepted: one of them")
                break
        return data

    @field_validator("steps", mode="after")
    @classmethod
    def _as_sections(cls, steps):
        return [Step(estimator=step) if isinstance(step, str) else step for step in steps]

    @model_validator(mode="after")
    def _has_a_learner(self):
        if not self.model_fields_set & {*LEARNERS, "printed_only"}:
            raise wrong("the key 'estimator' is missing")
        return self


def _as_model(model):
    return Model(estimator=model) if isinstance(model, str) else model


class Erratum(Section):
    """Where a paper is wrong or ambiguous as printed, and what is taken instead."""

    where: str
    printed: str
    taken: str
    evidence: str


Keys = described(
    list_of(str), "a list of keys of the catalog, or {file: its path, label: a column} of one's own"
)


def _value_of_dataset(value):
    """A value for one data set, which refers to no others."""
    if isinstance(value, Mapping) and "of_dataset" in value:
        raise wrong(f"found {shortened(value)}; accepted: the value itself")
    return _expand_short_form(value)


Values = mapping_of(Annotated[Any, AfterValidator(_value_of_dataset)], "values by data set", Any)


class Study(Section):
    """A study: data sets, learners with grids, and what is shown of them."""

    title: Text = None
    reference: str = ""
    about: str = ""
    answer: list_of(Text, at_most=2, unique=False) = []
    answer_figure: str = None
    # The report links to it: an address, and no program; without the brackets of Markdown's links.
    url: matching(r"(https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+)?", "an http or https address") = ""
    published: str = None
    scaling: Scaling = Field(default=Scaling(method="minmax"))
    protocol: Protocol = Field(default=Folds(folds=5))
    of_dataset: dict[Name, Values] = {}
    metrics: list_of(one_of(*METRICS)) = None
    criteria: list_of(one_of("cv", "dcs_gaussian", "dcs_kde")) = ["cv"]
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
    # Each is checked as its kind says.
    tables: mapping_of(Any, "tables by name", Name) = None
    figures: dict[Name, Any] = {}
    errata: list[Erratum] = []
