"""What is wrong with a configuration, in one line: the file, the place, what was found, what is accepted."""

import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from entrolearn.suggest import did_you_mean

__all__ = ["ConfigError", "check_known", "check_schema", "shortened"]


# What people who write YAML call what JSON's schemas speak of.
IN_YAML = {"array": "a list", "object": "a mapping, `key: value`"}


class ConfigError(ValueError):
    """Something in a configuration file that cannot be run."""


def check_known(name: str, known: Iterable[str], file, where: str, what: str) -> None:
    """Refuse a name that is not among the known ones; `where` it stands, and `what` it should name."""
    known = list(known)
    if name not in known:
        hint = did_you_mean(name, known)
        raise ConfigError(f"{file}: {where}: unknown {what} {name!r}{hint}; accepted: {', '.join(known)}")


def check_schema(data, schema: Path, file: str, key: str = "", dataset: str = "") -> None:
    """Refuse what a schema, or its part for a top-level key, does not take; say for which data set."""
    errors = list(_validator(schema, key).iter_errors(data))
    if not errors:
        return
    # A misspelt key is reported before the key that it leaves missing.
    typos = [error for error in errors if error.validator == "additionalProperties"]
    error = (typos or errors)[0]
    where = ".".join(str(part) for part in [*filter(None, [key]), *error.absolute_path])
    of_dataset = f" (for {dataset!r})" if dataset else ""
    raise ConfigError(f"{file}: {where + ': ' if where else ''}{_in_words(error)}{of_dataset}")


def _is_finite(number: float) -> bool:
    """YAML's .inf and .nan are no numbers of JSON's, and no limit of a schema stops a NaN."""
    try:
        return math.isfinite(number)
    except OverflowError:  # of hundreds of digits
        return False


_Validator = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            kind: lambda checker, value, kind=kind: (
                Draft202012Validator.TYPE_CHECKER.is_type(value, kind) and _is_finite(value)
            )
            for kind in ("number", "integer")
        }
    ),
)


@cache
def _validator(schema: Path, key: str = "") -> Draft202012Validator:
    whole = yaml.safe_load(Path(schema).read_text(encoding="utf-8"))
    return _Validator({**whole["properties"][key], "$defs": whole["$defs"]} if key else whole)


def _in_words(error: ValidationError) -> str:
    """A schema violation in one line: what was found, what is accepted."""
    found, wanted = error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            known = list(error.schema["properties"])
            key = next(key for key in found if key not in known)
            return f"unknown key {key!r}{did_you_mean(key, known)}; accepted: {', '.join(known)}"
        case "required":
            return f"the key {next(key for key in wanted if key not in found)!r} is missing"
        case "enum":
            accepted = ", ".join(str(value) for value in wanted)
            return f"found {found!r}{did_you_mean(str(found), wanted)}; accepted: {accepted}"
        case "type" if "description" not in error.schema:
            wanted = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"found {shortened(found)}, expected {IN_YAML.get(wanted, f'a value of type {wanted}')}"
    if error.schema is False:
        return "this key is not accepted beside the others of this entry"
    if "description" in error.schema:
        return f"found {shortened(found)}, expected {error.schema['description']}"
    return " ".join(error.message.split())


def shortened(value) -> str:
    """A value as it was found, if that is not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
