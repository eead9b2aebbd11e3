"""The parts of a study that decide how a table looks, and the outcomes of its claims."""

from collections.abc import Mapping
from pathlib import Path

from entrolab.claims.repository_tests import stored_outcomes
from entrolab.study.claims import tested_tables

# The keys of a model that tables show or look up.
OF_MODELS = ["label", "sublabel", "estimator", "estimators", "one_of", "grid", "criteria"]
OF_MODELS += ["published_only", "known", "trials"]
# The keys of a study that its tables show or look up.
OF_TABLES = ("metrics", "criteria", "protocol", "datasets", "tasks", "file", "seed")
OF_CLAIMS = ("claims", "of_dataset", *OF_TABLES)


def for_table(study: Mapping, table: str) -> dict:
    """The part of a study that a table shows; the table is made again when it changes."""
    return {
        **{name: study[name] for name in OF_TABLES},
        "of_dataset": study.get("of_dataset", {}),
        "models": _models(study),
        "tables": {table: study["tables"][table]},
    }


def for_claims(study: Mapping, name: str, home: str | Path) -> dict:
    """The part of a study that decides the outcomes of its claims."""
    names = tested_tables(study["claims"])
    return {
        **{key: study[key] for key in OF_CLAIMS},
        "models": _models(study),
        **{
            part: {one: study[part][one] for one in names if one in study[part]}
            for part in ("tables", "figures")
        },
        "by_tests": stored_outcomes(name, study["claims"], home),
    }


def _models(study: Mapping) -> dict:
    return {
        name: {key: model[key] for key in OF_MODELS if key in model}
        for name, model in study["models"].items()
    }
