"""Signatures of the scripts that measure what a table shows.

A script has a function ``measure(rows, at, ...)`` that returns rows of `entrolab.experiments.measuring`. By
the names of its parameters it asks for parts of the study, see `GIVEN`; all others are the ``params`` of its
table, with types and defaults. The signature is read before any job starts, without importing the script.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import create_model

from entrolab.experiments.measurement import FOLDER
from entrolab.study.sections import ConfigError, Section, number
from entrolearn.suggest import did_you_mean

# The parts of a study that a script is given under these names.
GIVEN = {
    "rows": "the data set, with `raw` and `scaled`",
    "at": "the study, table, data set, its task, and the seed",
    "models": "the learners of the table's models by name, for the task of the data set",
    "steps": "the steps of the table's models by name, or the learner of a model without steps",
    "grids": "the grid of each model, or of its steps, and the learners that it selects from",
    "protocol": "the study's protocol for the data set, of one repeat",
}
SIMPLE = {"int": int, "float": number(), "str": str, "bool": bool}


class Script(NamedTuple):
    """What is known of a script without importing it: the parts of the study it asks for, its own keys."""

    given: tuple[str, ...]
    Params: type[Section]


@cache
def read_script(path: Path, name: str) -> Script:
    """Read the signature of a script, which a study calls `name`; a mistake is a `ConfigError`."""
    try:
        tree = ast.parse(path.read_bytes())
    except OSError:
        known = sorted(file.stem for file in FOLDER.glob("*.py"))
        accepted = f"{', '.join(known)}, or the path of a file"
        raise ConfigError(f"found {name!r}{did_you_mean(name, known)}; accepted: {accepted}") from None
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"found {name!r}, which is no Python: {error}") from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "measure"]
    taken = found[-1].args if found else ast.arguments([], [], None, [], [], None, [])
    positional = [*taken.posonlyargs, *taken.args]
    if [parameter.arg for parameter in positional[:2]] != ["rows", "at"]:
        raise ConfigError(f"found {name!r} without a function measure(rows, at, ...)")
    defaults: list = [None] * (len(positional) - len(taken.defaults)) + taken.defaults + taken.kw_defaults
    fields: dict[str, Any] = {}
    for parameter, default in zip([*positional, *taken.kwonlyargs], defaults, strict=True):
        if parameter.arg not in GIVEN:
            fields[parameter.arg] = (_type(parameter.annotation), ... if default is None else None)
    given = tuple(one.arg for one in [*positional, *taken.kwonlyargs] if one.arg in GIVEN)
    return Script(given, create_model("Params", __base__=Section, **fields))


def _type(annotation: ast.expr | None) -> Any:
    """The type that an annotation names, of numbers, texts, their lists and mappings; else any."""
    match annotation:
        case ast.Name(id=name) if name in SIMPLE:
            return SIMPLE[name]
        case ast.Subscript(value=ast.Name(id="list"), slice=inside):
            return list[_type(inside)]
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[_, inside])):
            return dict[str, _type(inside)]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            return Literal[ast.literal_eval(inside)]
        case ast.BinOp(left=left, right=right):
            return _type(left) | _type(right)
        case ast.Constant(value=None):
            return None
    return Any
