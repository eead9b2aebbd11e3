"""Studies for tests, from content such as that of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from entrolab.study.config import study_of
from entrolab.study.study import Study
from entrolab.tables.base import TableSpec

OF_PAPERS = {"named_seeds": True, "checks": False}


def made_study(content: Mapping, name: str = "paper", task: str = "binary", **tasks: str) -> Study:
    """The study with its defaults, like a paper's; its data sets have one task, but those among `tasks`."""
    content = OF_PAPERS | content
    keys = [key for group in content["datasets"].values() for key in group]
    catalog = {key: {"task": tasks.get(key.replace("-", "_"), task)} for key in keys}
    return study_of(Path(f"{name}.yaml"), content, catalog)


def with_entry(spec: TableSpec, **keys) -> TableSpec:
    """The spec of a table whose entry has other values of some keys."""
    return replace(spec, entry=spec.entry.model_copy(update=keys))


MODELS = {
    name: {
        "label": name.upper(),
        "estimator": "sklearn.svm.SVC",
        "params": {"kernel": "rbf"},
        "steps": ["sklearn.decomposition.PCA"],
    }
    for name in ("elm", "eem", "svm")
}

# Entries of all table types, without caption and data sets.
ENTRIES = {
    "scores": {"models": list(MODELS), "metric": "gmean"},
    "times": {"models": list(MODELS), "cost": "fit_seconds"},
    "characteristics": {"counts": ["n_features", "n_negative", "n_positive"]},
    "parameters": {
        "models": {"elm": {"C": "C"}, "svm": {"C": "C", "sigma": "1/gamma", "n_support": "n_support"}},
        "criterion": "cv",
    },
    "measured": {
        "script": "separability",
        "models": list(MODELS),
        "metrics": {"separability": {"label": "visual separability", "decimals": 2}},
        "explanation": "Mean balanced accuracy.",
    },
}


def spec_of_kind(kind: str, datasets: Sequence[str] = ("iris",), **changes) -> TableSpec:
    """The spec of a table of a type, with other values of some keys of its entry in `ENTRIES`."""
    content = {
        "metrics": ["gmean", "accuracy", "iterations"],
        "datasets": {"all": list(datasets)},
        "models": MODELS,
        "tables": {"table1": {"type": kind, "caption": "x", "datasets": "all", **ENTRIES[kind], **changes}},
    }
    return made_study(content).spec_of_table("table1")
