"""The parameters of the scripts that studies name.

A script has one function that the workflow calls. It is given parts of the study by the names of its
parameters; all others are keys of a study's entry, with types and defaults. Signatures are read without
importing the script, because what it imports takes seconds.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import create_model

from entrolab.study.sections import ConfigError, Section, number
from entrolearn.suggest import did_you_mean

SIMPLE = {"int": int, "float": number(), "str": str, "bool": bool}


class Script(NamedTuple):
    """The parts of a study that a script's function is given, and its other parameters as a section."""

    given: tuple[str, ...]
    Params: type[Section]


def read_script(file: Path, function: str, given: tuple[str, ...]) -> Script:
    """Read the signature of a script's function; a mistake is a `ConfigError`.

    `given` are the names of parameters that are parts of the study.
    """
    try:
        return _signature(file.read_bytes(), function, given)
    except OSError:
        known = sorted(one.stem for one in file.parent.glob("*.py"))
        accepted = f"{', '.join([*known, ''])}or the path of a file"
        line = f"found no script {str(file)!r}{did_you_mean(file.stem, known)}; accepted: {accepted}"
    except (SyntaxError, ValueError) as error:
        line = f"found {str(file)!r}, which is no Python: {error}"
    except LookupError:
        line = f"found {str(file)!r} without a function {function}({', '.join(given)}, ...)"
    raise ConfigError(line)


@cache
def _signature(content: bytes, function: str, given: tuple[str, ...]) -> Script:
    nodes = ast.parse(content).body
    functions = {node.name: node.args for node in nodes if isinstance(node, ast.FunctionDef)}
    taken = functions[function]
    parameters = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs]
    given_defaults = [*taken.defaults, *taken.kw_defaults]
    defaults = [*[None] * (len(parameters) - len(given_defaults)), *given_defaults]
    fields: dict[str, Any] = {
        parameter.arg: (_type(parameter.annotation), ... if default is None else None)
        for parameter, default in zip(parameters, defaults, strict=True)
        if parameter.arg not in given
    }
    asked = tuple(one.arg for one in parameters if one.arg in given)
    return Script(asked, create_model("Params", __base__=Section, **fields))


def _type(annotation: ast.expr | None) -> Any:
    """The type that an annotation names, of numbers, texts, their lists and mappings; else any."""
    match annotation:
        case ast.Name(id=name) if name in SIMPLE:
            return SIMPLE[name]
        case ast.Subscript(value=ast.Name(id="list"), slice=inside):
            return list[_type(inside)]  # type: ignore[misc]
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[_, inside])):
            return dict[str, _type(inside)]  # type: ignore[misc]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            return Literal[ast.literal_eval(inside)]
        case ast.BinOp(left=left, right=right):
            return _type(left) | _type(right)
        case ast.Constant(value=None):
            return None
    return Any
