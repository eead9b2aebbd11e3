"""Look up values of a checked study by data set and model, and resolve ``{of_dataset: name}``."""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from entrolab.fit.learners import ONE_OF, estimator_of
from entrolab.study.sections import ConfigError, check_known

__all__ = ["grouped", "labels", "pairs", "protocol_of", "resolved", "runs_on", "scaling_of"]


# Default inner folds of the rows of a training file.
INNER = {"folds": 4, "used": 4}


def grouped(study: Mapping) -> list[str]:
    """The data sets in the groups of a study, each once."""
    return list(dict.fromkeys(itertools.chain.from_iterable(study["datasets"].values())))


def runs_on(study: Mapping, dataset: str, model: str) -> bool:
    """Whether a model has a learner for the task of a data set."""
    entry = study["models"][model]
    return bool(entry.get(ONE_OF)) or estimator_of(entry, study["tasks"][dataset]) is not None


def pairs(study: Mapping, group: str, models: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a data set of a group and a model that has a learner for it."""
    for pair in itertools.product(study["datasets"][group], models):
        if runs_on(study, *pair):
            yield pair


def labels(study: Mapping, models: Iterable[str]) -> dict[str, dict]:
    """The labels of some models, by name."""
    return {name: {part: study["models"][name][part] for part in ("label", "sublabel")} for name in models}


def scaling_of(study: Mapping, dataset: str) -> dict:
    """The scaling of a data set in a study; empty if preprocessing is part of every fit."""
    return resolved(study.get("scaling", {}), study, dataset, "scaling")


def protocol_of(study: Mapping, dataset: str, model: str | None = None) -> dict:
    """The protocol for a data set; a model may have fewer trials, and unshuffled rows have only one."""
    protocol = resolved(study["protocol"], study, dataset, "protocol")
    entry = study.get("own_data", {}).get(dataset, {})
    if "test_rows" in entry.get("expect", {}):
        test = entry["expect"]["test_rows"]
        train = entry["expect"]["rows"] - test
        return {"trials": 1, "train": train, "test": test, "shuffle": False, "inner": INNER}
    if splits := entry.get("splits"):
        inner = "leave-two-folds-out" if "folds" in splits else INNER
        return {**splits, "inner": inner, "method": "given"}
    if entry.get("groups") and "folds" in protocol:
        protocol = {"method": "group", **protocol}
    if not protocol.get("shuffle", True):
        return protocol | {"trials": 1}
    entry = {} if model is None else study["models"][model]
    if "trials" not in entry:
        return protocol
    return protocol | {"trials": resolved(entry["trials"], study, dataset, f"models.{model}.trials")}


def resolved(value, study: Mapping, dataset: str, where: str):
    """A value in which every reference ``{of_dataset: name}`` is replaced by the value for the data set."""
    if isinstance(value, Mapping) and set(value) == {"of_dataset"}:
        return _looked_up(value["of_dataset"], study, dataset, where)
    if isinstance(value, Mapping):
        return {name: resolved(one, study, dataset, f"{where}.{name}") for name, one in value.items()}
    if isinstance(value, list):
        return [resolved(one, study, dataset, f"{where}.{k}") for k, one in enumerate(value)]
    return value


def _looked_up(name: str, study: Mapping, dataset: str, where: str):
    check_known(name, study["of_dataset"], study["file"], where, "name of of_dataset")
    values = study["of_dataset"][name]
    if dataset not in values and "default" not in values:
        raise ConfigError(
            f"{study['file']}: of_dataset.{name}: no value for the data set {dataset!r}, needed by {where}; "
            "accepted: a value for it, or a default"
        )
    return values.get(dataset, values.get("default"))
