"""Studies for tests, from content such as that of a file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from entrolab.study.config import study_of
from entrolab.study.study import Study
from entrolab.tables.base import TableSpec


def made_study(content: Mapping, name: str = "paper", task: str = "binary", **tasks: str) -> Study:
    """The study with its defaults; its data sets have one task, except those among `tasks`."""
    keys = [key for group in content["datasets"].values() for key in group]
    catalog = {key: {"task": tasks.get(key.replace("-", "_"), task)} for key in keys}
    return study_of(Path(f"{name}.yaml"), content, catalog)


def with_entry(spec: TableSpec, **keys) -> TableSpec:
    """The spec of a table whose entry has other values of some keys."""
    return replace(spec, entry=spec.entry.model_copy(update=keys))
