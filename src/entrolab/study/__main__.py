"""Write the JSON schemas and the key reference of studies and catalogs.

``python -m entrolab.study`` writes the JSON schemas, by which editors complete and check them, to
``workflow/schemas`` of the present folder, and the key reference into ``config/README.md``.
"""

import json
from pathlib import Path

from entrolab.study.catalog import OF_TASK, DataSet
from entrolab.study.definition import Study
from entrolab.study.reference import BEGIN, END, reference

HERE = Path("workflow", "schemas")
PAGE = Path("config", "README.md")


def schema_of_studies() -> dict:
    """The JSON schema of a study's file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema()}


def schema_of_catalogs() -> dict:
    """The JSON schema of a catalog's file."""
    entry = DataSet.model_json_schema(ref_template="#/$defs/{model}")
    definitions = entry.pop("$defs")
    entry["allOf"] = []
    for task, expected in OF_TASK.items():
        definitions[f"expect_{task}"] = expected.model_json_schema()
        taken = {"required": ["task"], "properties": {"task": {"const": task}}}
        then = {"properties": {"expect": {"$ref": f"#/$defs/expect_{task}"}}}
        entry["allOf"].append({"if": taken, "then": then})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A catalog of data sets",
        "type": "object",
        "additionalProperties": entry,
        "$defs": definitions,
    }


SCHEMAS = {"study.json": schema_of_studies, "catalog.json": schema_of_catalogs}


def text_of(name: str) -> str:
    """A schema as its file has it."""
    return json.dumps(SCHEMAS[name](), ensure_ascii=False) + "\n"


def with_reference(page: str) -> str:
    """A page with its key reference made anew."""
    before, _, rest = page.partition(BEGIN)
    return before + reference() + rest.partition(END)[2]


def main() -> None:
    HERE.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (HERE / name).write_text(text_of(name), encoding="utf-8")
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
