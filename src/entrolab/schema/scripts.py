"""The parameters of the scripts that studies name.

A script has one function that the workflow calls. It is given parts of the study by the names of its
parameters; all others are keys of a study's entry, with types and defaults. Signatures are read without
importing the script, because what it imports takes seconds.
"""

import ast
from functools import cache
from typing import Any, Literal, NamedTuple

from pydantic import create_model

from entrolab.io.files import SCRIPTS, script_file
from entrolab.schema.sections import ConfigError, Section, number
from entrolearn.suggest import did_you_mean

SIMPLE = {"int": int, "float": number(), "str": str, "bool": bool}


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
        return _signature(script_file(folder, script, study_file).read_bytes(), function, first, given)
    except OSError:
        known = sorted(file.stem for file in (SCRIPTS / folder).glob("*.py"))
        accepted = f"{', '.join(known)}, or the path of a file"
        line = f"{did_you_mean(script, known)}; accepted: {accepted}"
    except (SyntaxError, ValueError) as error:
        line = f", which is no Python: {error}"
    except LookupError:
        line = f" without a function {function}({', '.join(first)}, ...)"
    raise ConfigError(f"found {script!r}{line}")


@cache
def _signature(content: bytes, function: str, first: tuple[str, ...], given: tuple[str, ...]) -> Script:
    nodes = ast.parse(content).body
    functions = {node.name: node.args for node in nodes if isinstance(node, ast.FunctionDef)}
    taken = functions[function]
    positional = [*taken.posonlyargs, *taken.args]
    if tuple(one.arg for one in positional[: len(first)]) != first:
        raise LookupError(first)
    parameters = [*positional, *taken.kwonlyargs]
    given_defaults = [*taken.defaults, *taken.kw_defaults]
    defaults = [*[None] * (len(parameters) - len(given_defaults)), *given_defaults]
    fields: dict[str, Any] = {
        parameter.arg: (_type(parameter.annotation), ... if default is None else None)
        for parameter, default in zip(parameters, defaults, strict=True)
        if parameter.arg not in (*first, *given)
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
