"""Base class and value types of configuration sections, and the wording of validation errors.

Each error is one line: the file, the place in it, what was found there, what is accepted.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

import entrolearn
from entrolab.text import OneLine
from entrolearn.suggest import did_you_mean

__all__ = [
    "ConfigError",
    "Column",
    "ImportPath",
    "Heading",
    "Interval",
    "Name",
    "OfDataset",
    "Section",
    "Text",
    "Whole",
    "check",
    "check_known",
    "by",
    "described",
    "each_once",
    "list_of",
    "mapping_of",
    "matching",
    "mistakes_of",
    "number",
    "one_of",
    "per_dataset",
    "plain",
    "shortened",
    "text_or_section",
    "unknown",
    "whole",
    "wrong",
]


# Type of a validation error -> what was expected, in the terms of YAML.
IN_YAML = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping, `key: value`",
    "model_type": "a mapping, `key: value`",
    "union_tag_not_found": "a mapping, `key: value`",
}


class ConfigError(OneLine, ValueError):
    """Raised for mistakes in a configuration file or on the command line."""


def unknown(name: str, known: Iterable[str], where: str, what: str) -> Iterator[str]:
    """Yield an error line if a name is not known; `where` is its place, `what` the kind of thing it names."""
    known = list(known)
    if name not in known:
        yield f"{where}: unknown {what} {name!r}{did_you_mean(name, known)}; accepted: {', '.join(known)}"


def check_known(name: str, known: Iterable[str], file, where: str, what: str) -> None:
    """Raise an error if a name is not known, see :func:`unknown`."""
    for line in unknown(name, known, where, what):
        raise ConfigError(f"{file}: {line}")


def shortened(value) -> str:
    """The representation of a value, abbreviated if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def wrong(line: str, kind: str = "line") -> PydanticCustomError:
    """The error that a validator raises; `line` is the message without the place."""
    # Braces in a message would be placeholders of pydantic's.
    return PydanticCustomError(kind, "{line}", {"line": line})


class Section(BaseModel):
    """Base class of the mappings in configuration files: no unknown keys, no conversion of values."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data):
        """A misspelt key is the one mistake that is reported: the right one would be missing."""
        if not isinstance(data, Mapping):
            raise wrong(f"found {shortened(data)}, expected {IN_YAML['model_type']}")
        known = list(cls.model_fields)
        for key in data:
            if key not in known:
                hint = did_you_mean(str(key), known)
                raise wrong(f"unknown key {key!r}{hint}; accepted: {', '.join(known)}")
        return data


def plain(value):
    """Convert sections to dicts; keys without a value are absent."""
    if isinstance(value, Section):
        given = {name: getattr(value, name) for name in type(value).model_fields}
        value = {name: one for name, one in given.items() if one is not None}
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def check(definition, data, file, where: str = "", dataset: str = ""):
    """Validate `data` by a section or the type of a value, and return the section or the value.

    `where` is the place of `data` in the file, `dataset` the data set that it applies to, if it is only one.
    Mistakes raise a `ConfigError`, with one line each.
    """
    try:
        if isinstance(definition, type) and issubclass(definition, Section):
            return definition.model_validate(data)
        return TypeAdapter(definition).validate_python(data, strict=True)
    except ValidationError as error:
        of_dataset = f" (for {dataset!r})" if dataset else ""
        lines = [
            f"{file}: {place + ': ' if place else ''}{line}{of_dataset}"
            for place, line in mistakes_of(error, where)
        ]
        raise ConfigError(*dict.fromkeys(lines)) from None


def mistakes_of(error: ValidationError, where: str) -> Iterator[tuple[str, str]]:
    """Yield (place, message) for each error."""
    for one in error.errors(include_url=False):
        place = [where, *(part for part in one["loc"] if not str(part).startswith("<"))]
        kind, found = one["type"], one["input"]
        if place[-1] == "[key]":
            place = place[:-2]
        if kind == "missing":
            *place, key = place
            kind = "no_key"
        if kind == "union_tag_not_found" and isinstance(found, Mapping):
            kind, key = "no_key", _key(one)
            for name in found:
                if hint := did_you_mean(str(name), [key]):
                    yield _dotted(place), f"unknown key {name!r}{hint}"
        if kind == "union_tag_invalid":
            place.append(_key(one))
        yield (
            _dotted(place),
            f"the key {key!r} is missing" if kind == "no_key" else _in_words(kind, found, one),
        )


def _key(error: Mapping) -> str:
    """The key that selects the section, see :func:`by`."""
    return error["ctx"]["discriminator"].removesuffix("()")


def _in_words(kind: str, found, error: Mapping) -> str:
    if kind in ("line", "repeated"):
        return error["msg"]
    if kind in IN_YAML:
        return f"found {shortened(found)}, expected {IN_YAML[kind]}"
    if kind == "literal_error":
        names = re.findall(r"'([^']*)'", error["ctx"]["expected"]) or [error["ctx"]["expected"]]
    elif kind == "union_tag_invalid":
        names = re.findall(r"'<([^']*)>'", error["ctx"]["expected_tags"])
        found = found[_key(error)]
    else:
        return f"found {shortened(found)}: {error['msg']}"
    return f"found {found!r}{did_you_mean(str(found), names)}; accepted: {', '.join(names)}"


def _dotted(place: Iterable) -> str:
    return ".".join(str(part) for part in place if part != "")


# -------------------------------------------------------------------------------------------- types of values


def described(type_: Any, description: str) -> Any:
    """`type_` with a single message for all its errors: "expected `description`"."""

    def expected(value, handler):
        try:
            return handler(value)
        except ValidationError as error:
            if any(one["type"] == "repeated" and not one["loc"] for one in error.errors()):
                raise  # its message is more specific
            raise wrong(f"found {shortened(value)}, expected {description}") from None

    return Annotated[type_, Field(description=description), WrapValidator(expected)]


def number(**limits: float) -> Any:
    """The type of finite numbers within limits: gt, ge, lt, le; integers stay integers."""
    finite = int | Annotated[float, Field(allow_inf_nan=False)]
    return Annotated[described(finite, "a number"), Field(**limits)]


def whole(**limits: int) -> Any:
    """The type of whole numbers within limits."""
    return Annotated[int, Field(**limits)]


def each_once(values: list) -> list:
    """Return the list; raise an error if a value is repeated."""
    if any(value in values[:k] for k, value in enumerate(values)):
        raise wrong(f"found {shortened(values)}; accepted: each value once", "repeated")
    return values


def list_of(type_: Any, at_least: int = 1, at_most: int | None = None, unique: bool = True) -> Any:
    """The type of lists of `type_` with a limited length and, if `unique`, without repeated values."""
    limits = Field(min_length=at_least, max_length=at_most, json_schema_extra={"uniqueItems": unique})
    return Annotated[list[type_], limits, *([AfterValidator(each_once)] if unique else [])]


def mapping_of(type_: Any, what: str, keys: Any = str, at_most: int | None = None) -> Any:
    """The type of non-empty mappings with values of `type_`, which `what` describes."""
    return Annotated[dict[keys, type_], Field(min_length=1, max_length=at_most, description=what)]


def one_of(*names: str) -> Any:
    """The type of texts that are one of `names`."""
    return Literal[names]


def matching(pattern: str, description: str, at_most: int | None = None) -> Any:
    """The type of texts that match a pattern from start to end."""
    text = Annotated[str, Field(pattern=f"^(?:{pattern})$", max_length=at_most)]
    return described(text, description)


Text = Annotated[str, Field(min_length=1)]
# Titles and captions: Snakemake's report would take braces for wildcards.
Heading = matching(r"[^{}]*", "a text without braces")
Whole = whole(ge=1)
Name = matching(
    "[a-z][a-z0-9_]*",
    "a name of lower-case letters, digits and _ that starts with a letter, at most 100 in all",
    at_most=100,
)


def _with_module(value):
    """Return an import path; for a class name without a module, raise an error that suggests its path."""
    if isinstance(value, str) and value.isidentifier():
        paths = _public_estimators()
        for name in difflib.get_close_matches(value, paths, n=1):
            raise wrong(f"found {value!r}, did you mean {paths[name]!r}?; accepted: a dotted import path")
    return value


def _public_estimators() -> dict[str, str]:
    """The import paths of the estimators of scikit-learn and entrolearn, by class name."""
    from sklearn.utils.discovery import all_estimators

    found = {}
    for name, one in all_estimators():
        parts = one.__module__.split(".")
        found[name] = ".".join([*(part for part in parts if not part.startswith("_")), name])
    found |= {name: f"{module}.{name}" for name, module in entrolearn._IN_SUBPACKAGES.items()}
    return found | {name: f"entrolearn.{name}" for name in entrolearn.__all__}


ImportPath = Annotated[
    matching(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", "a dotted import path such as sklearn.svm.SVC"),
    BeforeValidator(_with_module),
]
Column = described(str, "a column's name, in quotes if it is a number")
Interval = list_of(number(), at_least=2, at_most=2, unique=False)


class OfDataset(Section):
    """``{of_dataset: name}``: a value that differs between data sets."""

    of_dataset: str


def _is_mapping(value) -> str:
    return "<mapping>" if isinstance(value, Mapping) else "<value>"


def text_or_section(type_: Any, section: Any) -> Any:
    """The type of values that are `type_`, or mappings that are `section`."""
    return Annotated[
        Annotated[type_, Tag("<value>")] | Annotated[section, Tag("<mapping>")], Discriminator(_is_mapping)
    ]


def per_dataset(type_: Any) -> Any:
    """The type of values that are `type_` or ``{of_dataset: name}``."""
    return text_or_section(type_, OfDataset)


@dataclass(frozen=True)
class _ByKey:
    """The JSON schema of :func:`by`, which makes editors report errors of the selected section only."""

    key: str
    names: tuple[str, ...]

    def __get_pydantic_json_schema__(self, core_schema, handler) -> dict:
        cases = [(name, handler(core_schema["choices"][f"<{name}>"])) for name in self.names]
        return {
            "description": f"mapping, whose `{self.key}` is {', '.join(f'`{name}`' for name in self.names)}",
            "type": "object",
            "required": [self.key],
            "properties": {self.key: {"enum": [*self.names]}},
            "allOf": [
                {"if": {"properties": {self.key: {"const": name}}}, "then": one} for name, one in cases
            ],
        }


def by(key: str, sections: Mapping[str, type[Section]]) -> Any:
    """The type of mappings that are one of several sections, selected by the value of their `key`."""

    def tag(data) -> str | None:
        return f"<{data[key]}>" if isinstance(data, Mapping) and key in data else None

    tag.__name__ = key  # errors refer to it by this name
    cases = tuple(Annotated[one, Tag(f"<{name}>")] for name, one in sections.items())
    return Annotated[Union[cases], Discriminator(tag), _ByKey(key, tuple(sections))]  # noqa: UP007  of a tuple
