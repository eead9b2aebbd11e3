"""Write the JSON schemas and the key reference of studies and catalogs: ``python -m entrolab.study``.

The JSON schemas, with which editors complete and check these files, are written to ``workflow/schemas`` in
the current folder, the key reference to ``config/README.md``.
"""

import json
from pathlib import Path

from pydantic import TypeAdapter

from entrolab.io.markers import replace_between
from entrolab.study.catalog import Catalog
from entrolab.study.claims import Claims
from entrolab.study.definition import Study
from entrolab.study.reference import BEGIN, END, reference

HERE = Path("workflow", "schemas")
PAGE = Path("config", "README.md")


DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
# Schema file -> the section that it describes.
SCHEMAS = {"study.json": Study, "catalog.json": Catalog, "claims.json": Claims}


def schema_of(name: str) -> dict:
    """The JSON schema of one of `SCHEMAS`."""
    return DIALECT | TypeAdapter(SCHEMAS[name]).json_schema()


def text_of(name: str) -> str:
    """The text of a schema's file."""
    return json.dumps(schema_of(name), ensure_ascii=False) + "\n"


def with_reference(page: str) -> str:
    """A page with its key reference replaced."""
    return replace_between(page, BEGIN, END, reference())


def main() -> None:
    HERE.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (HERE / name).write_text(text_of(name), encoding="utf-8")
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
