"""The page of all keys, and the JSON schemas of configuration files, both made from `entrolab.study`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import TypeAdapter

from entrolab.figures.registry import FIGURE_TYPES
from entrolab.schema.sections import Section
from entrolab.study import catalog, claims, definition, settings
from entrolab.tables.types import TABLE_TYPES

DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
# Schema file -> the section that it describes.
SCHEMAS = {"study.json": definition.StudyFile, "catalog.json": catalog.Catalog, "claims.json": claims.Claims}
# The parts of the reference: heading -> sections by name; without generators, which the schemas have.
PARTS: dict[str, dict[str, type[Section]]] = {
    "config.yaml": {"": settings.Settings},
    "A study": {
        "": definition.StudyFile,
        "scaling": definition.Scaling,
        "preprocessing": definition.Preprocessing,
        "protocol: folds": definition.Folds,
        "protocol: trials": definition.Trials,
        "a data set of your own": definition.OwnData,
        "a model": definition.Model,
    },
    "A claim": {"": claims.Claim},
    "Tests of claims, by type": dict(claims.TESTS),
    "Tables, by type": {name: one.Entry for name, one in TABLE_TYPES.items()},
    "Figures, by type": FIGURE_TYPES,
    "A data set of the catalog": {
        "": catalog.DataSet,
        "files": catalog.File,
        **{f"expect of {task}": one.model_fields["expect"].annotation for task, one in catalog.TASKS.items()},
    },
    "Formats of its files, by type": catalog.FORMATS,
}
# Keys left out: every entry has them, or the heading states them.
SAID = {"type", "caption", "notes", "published", "name"}
NAMES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def schema_of(name: str) -> dict:
    """The JSON schema of one of `SCHEMAS`."""
    return DIALECT | TypeAdapter(SCHEMAS[name]).json_schema()


def write_schemas(folder: Path) -> None:
    """Write the JSON schemas, with which editors complete and check configuration files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (folder / name).write_text(json.dumps(schema_of(name), ensure_ascii=False) + "\n", encoding="utf-8")


def reference() -> str:
    """All keys as Markdown: a line for the keys of a section with the same values and the same default."""
    lines = []
    for heading, sections in PARTS.items():
        lines += [f"## {heading}", "", "| of | keys | value | default |", "| --- | --- | --- | --- |"]
        keys = {name: tuple(_keys(section)) for name, section in sections.items()}
        each = set.intersection(*map(set, keys.values())) if heading.endswith("by type") else set()
        of = {"each": tuple(key for key in next(iter(keys.values())) if key in each)}
        of |= {name: tuple(key for key in some if key not in each) for name, some in keys.items()}
        for some in dict.fromkeys(of.values()):
            names = [name for name in of if of[name] == some]  # of sections with the same keys
            shown = ", ".join(name if " " in name or name in ("", "each") else f"`{name}`" for name in names)
            for accepted in dict.fromkeys(values for _, values in some):
                alike = ", ".join(f"`{key}`" for key, values in some if values == accepted)
                lines.append(f"| {' | '.join((shown, alike, *accepted))} |")
                shown = ""
        lines.append("")
    return "\n".join(lines)


def _keys(section: type[Section]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each key of a section, with its value and its default in words."""
    schema = section.model_json_schema()
    required = schema.get("required", ())
    for key, value in schema["properties"].items():
        if key in SAID and section is not settings.Settings:
            continue
        default = "must be given" if key in required else _default(value.get("default"))
        words = _in_words(value, schema.get("$defs", {}))
        yield key, (words.replace("|", "&#124;"), default.replace("|", "&#124;"))


def _default(value) -> str:
    """A default as a study would contain it; empty if there is none."""
    text = _as_yaml(value)
    return f"`{text}`" if text not in ("", "{}", "[]", "{: }") else ""


def _as_yaml(value) -> str:
    if isinstance(value, Mapping):
        parts = (f"{name}: {_as_yaml(one)}" for name, one in value.items() if one is not None)
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_as_yaml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _in_words(schema: Mapping, definitions: Mapping) -> str:
    """A description of what a JSON schema accepts."""
    if "description" in schema:
        return schema["description"]
    if "$ref" in schema:
        keys = definitions[schema["$ref"].rpartition("/")[2]]["properties"]
        return f"mapping: {', '.join(f'`{key}`' for key in keys)}"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            words = [_in_words(one, definitions) for one in schema[several] if "not" not in one]
            return " or ".join(dict.fromkeys(words))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join("`true`" if value is True else f"`{value}`" for value in values)
    match schema.get("type"):
        case "array":
            return f"list of {_in_words(schema['items'], definitions)}"
        case "object":
            values = schema.get("additionalProperties") or next(
                iter(schema.get("patternProperties", {}).values()), True
            )
            return "mapping" if values is True else f"mapping, each {_in_words(values, definitions)}"
        case None:
            return "any value"
        case kind:
            limits = [f"{sign} {schema[key]}" for key, sign in LIMITS.items() if key in schema]
            return " ".join([NAMES.get(kind, kind), *limits])
