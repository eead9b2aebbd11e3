"""Model files made by hand: what a schema of skops names is called, or taken for, when the file is loaded."""

import json
import zipfile
from pathlib import Path


def node(module: str, name: str, loader: str, **content) -> dict:
    """What a schema says of one object."""
    return {"__module__": module, "__class__": name, "__loader__": loader, "protocol": 2, **content}


def texts_of(*texts: str) -> dict:
    """A tuple of texts."""
    held = [node("builtins", "str", "JsonNode", content=json.dumps(text)) for text in texts]
    return node("builtins", "tuple", "TupleNode", content=held)


def dict_of(**held: dict) -> dict:
    """A dictionary whose keys are texts."""
    keys = [node("builtins", "str", "TypeNode") for _ in held]
    return node(
        "builtins",
        "dict",
        "DictNode",
        content=held,
        key_types=node("builtins", "list", "ListNode", content=keys),
    )


def called(module: str, name: str, *texts: str, loader: str = "ConstructorFromReduceNode") -> dict:
    """Something that is called with texts."""
    if loader == "ConstructorFromReduceNode":
        return node(module, name, loader, content=texts_of(*texts))
    return node(module, name, loader, content=dict_of(), __reduce__={"args": texts_of(*texts)})


def write_model(file: Path, schema: dict) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
