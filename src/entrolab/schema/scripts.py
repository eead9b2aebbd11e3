"""The parameters of functions that configuration files name, as sections; no function is imported.

A study's script has one function that the workflow calls. It is given parts of the study by the names of its
parameters; all others are keys of a study's entry. The options of a format or a generator in the catalog are
the parameters of its function. Importing a function would take seconds, because of what its module imports.

A parameter has no annotation, or one of ``int``, ``float``, ``str``, ``bool``, ``Literal`` of constants,
``list[...]`` or ``Sequence[...]``, ``dict[str, ...]``, and unions of these and ``None`` by ``|``.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import create_model

from entrolab.io.files import SCRIPTS, script_file
from entrolab.schema.sections import ConfigError, Section, described, number
from entrolearn.suggest import did_you_mean

SIMPLE = {"int": int, "float": number(), "str": str, "bool": bool}
# The same in words, for unions.
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "None": "null",
}
ACCEPTED = "int, float, str, bool, Literal, list[...], Sequence[...], dict[str, ...], or several with |"


class Script(NamedTuple):
    """The parts of a study that a script's function is given, and its other parameters as a section."""

    given: tuple[str, ...]
    Params: type[Section]


def read_script(
    folder: str,
    script: str,
    study_file: str,
    function: str,
    first: tuple[str, ...],
    given: tuple[str, ...] = (),
) -> Script:
    """Read the signature of a script's function; a mistake is a `ConfigError`.

    For `folder` and `script` see :func:`entrolab.io.files.script_file`. `first` are the names of its first
    parameters, `given` those of other parameters that are parts of the study.
    """
    try:
        found = functions(script_file(folder, script, study_file))[function]
        if tuple(one.arg for one in _positional(found)[: len(first)]) != first:
            raise LookupError(first)
        asked = tuple(one.arg for one in [*_positional(found), *found.kwonlyargs] if one.arg in given)
        return Script(asked, params_of(found, without=(*first, *given)))
    except OSError:
        known = sorted(file.stem for file in (SCRIPTS / folder).glob("*.py"))
        accepted = f"{', '.join(known)}, or the path of a file"
        line = f"{did_you_mean(script, known)}; accepted: {accepted}"
    except ConfigError as error:
        line = f", whose {error}"
    except (SyntaxError, ValueError) as error:
        line = f", which is no Python: {error}"
    except LookupError:
        line = f" without a function {function}({', '.join(first)}, ...)"
    raise ConfigError(f"found {script!r}{line}")


def functions(file: Path) -> dict[str, ast.arguments]:
    """The parameters of each function of a file, by name."""
    return _functions(file.read_bytes())


@cache
def _functions(content: bytes) -> dict[str, ast.arguments]:
    return {node.name: node.args for node in ast.parse(content).body if isinstance(node, ast.FunctionDef)}


def params_of(
    function: ast.arguments,
    without: tuple[str, ...] = (),
    base: type[Section] = Section,
) -> type[Section]:
    """A function's parameters as a section; `base` has further keys.

    A `ConfigError` is raised for an annotation that is none of the accepted ones, and for a name that a key
    cannot have.
    """
    parameters = [*_positional(function), *function.kwonlyargs]
    given = [*function.defaults, *function.kw_defaults]
    defaults = [*[None] * (len(parameters) - len(given)), *given]
    fields: dict[str, Any] = {}
    for parameter, default in zip(parameters, defaults, strict=True):
        name, annotation = parameter.arg, parameter.annotation
        if name in without:
            continue
        if name.startswith("_") or hasattr(base, name) or name in base.model_fields:
            raise ConfigError(
                f"parameter {name!r} has a name of a key or method of every entry, or a private one; "
                "accepted: other names"
            )
        try:
            type_ = Any if annotation is None else _type(annotation)
        except ValueError:
            found = ast.unparse(annotation)
            raise ConfigError(f"parameter {name!r} is annotated {found}; accepted: {ACCEPTED}") from None
        fields[name] = (type_, ... if default is None else None)
    return create_model("Params", __base__=base, **fields)


def _positional(function: ast.arguments) -> list[ast.arg]:
    return [*function.posonlyargs, *function.args]


def _type(annotation: ast.expr) -> Any:
    """The type that an annotation names; a ValueError for one that is not accepted."""
    match annotation:
        case ast.Name(id=name) if name in SIMPLE:
            return SIMPLE[name]
        case ast.Subscript(value=ast.Name(id="list" | "Sequence"), slice=inside):
            return list[_type(inside)]  # type: ignore[misc]
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[ast.Name(id="str"), inside])):
            return dict[str, _type(inside)]  # type: ignore[misc]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            return Literal[ast.literal_eval(inside)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            types = _type(left), _type(right)
            if types == (None, None):
                raise ValueError(annotation)
            return described(types[0] | types[1], _in_words(annotation))
        case ast.Constant(value=None):
            return None
    raise ValueError(annotation)


def _in_words(annotation: ast.expr) -> str:
    """An accepted annotation in the terms of YAML."""
    match annotation:
        case ast.BinOp(left=left, right=right):
            return f"{_in_words(left)} or {_in_words(right)}"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            values = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return " or ".join(map(ast.unparse, values))
        case ast.Subscript(value=ast.Name(id="dict")):
            return "a mapping"
        case ast.Subscript():
            return "a list"
    return WORDS[ast.unparse(annotation)]
