"""The scripts that studies name: their files, and the keyword arguments that they take.

Scripts are read and not imported, because what they import takes seconds.
"""

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal  # noqa: F401  names in the annotations of scripts

from pydantic import ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation

from entrolab.study.sections import ConfigError, Section, mistakes_of, unknown

_PACKAGE = Path(__file__).resolve().parents[1]
_SHIPPED = _PACKAGE / "project" / "workflow"
SCRIPTS = (_SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parents[1] / "workflow") / "scripts"


def script_file(folder: str, script: str, study_file: str) -> Path:
    """The file of a script: a name in a folder of workflow/scripts, or a path from the study's folder."""
    own = script.endswith(".py")
    file = Path(study_file).parent / script if own else SCRIPTS / folder / f"{script}.py"
    # Relative to the working directory, so that results stay up to date if the checkout is moved.
    return Path(os.path.relpath(file))


def script_mistakes(
    folder: str, script: str, function: str, params: Mapping, study_file: str
) -> Iterator[str]:
    """Yield the mistakes in an entry's ``script`` and ``params``, which `function` of the script takes."""
    file = script_file(folder, script, study_file)
    if not file.is_file():
        known = sorted(one.stem for one in (SCRIPTS / folder).glob("*.py"))
        yield from unknown(script, [*known, "the path of a file"], "script", "script")
        return
    try:
        arguments_of(file, function).model_validate(dict(params))
    except ConfigError as error:
        yield f"script: {error}"
    except ValidationError as error:
        yield from (f"{place}: {line}" for place, line in mistakes_of(error, "params"))


def arguments_of(file: Path, function: str) -> type[Section]:
    """The keyword arguments of a script's function as a section, with their types and defaults."""
    try:
        nodes = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from None
    found = [node.args for node in nodes if isinstance(node, ast.FunctionDef) and node.name == function]
    if not found:
        raise ConfigError(f"found no function {function!r} in {file}")
    fields: dict[str, Any] = {}
    for argument, default in zip(found[-1].kwonlyargs, found[-1].kw_defaults, strict=True):
        kind = ast.unparse(argument.annotation) if argument.annotation else Any
        try:
            fields[argument.arg] = kind, ... if default is None else ast.literal_eval(default)
            create_model("Argument", __base__=Section, __module__=__name__, **fields).model_rebuild()
        except (ValueError, PydanticUndefinedAnnotation, PydanticSchemaGenerationError):
            raise ConfigError(
                f"found {ast.unparse(argument)!r} in {file}; accepted: types of Python and Literal, and "
                "defaults that are written out"
            ) from None
    return create_model("Arguments", __base__=Section, __module__=__name__, **fields)
