"""The protocol of a study as sentences."""

from collections.abc import Callable, Mapping

from entrolab.fit.metrics import METRICS
from entrolab.tables.scores import CRITERIA


def protocol(study: Mapping) -> list[str]:
    """The protocol of a study in sentences."""
    scheme = study["protocol"]
    metrics = [METRICS[name].label for name in study["metrics"]]
    criteria = [CRITERIA[name] for name in study["criteria"]]
    return [
        *(_trials(scheme, study) if "trials" in scheme else _folds(scheme, study)),
        *_scaling(study),
        f"Score: {metrics[0]}" + (f"; also {', '.join(metrics[1:])}." if metrics[1:] else "."),
        f"Parameters are selected by {'; also by '.join(criteria)}.",
        "The oracle column uses test data and is a diagnostic only.",
    ]


INNER = {
    "leave-two-folds-out": "Inner cross-validation for a left-out fold: each other fold is left out in turn "
    "as well, so that the fit without a pair of folds serves both of them.",
}


def _folds(scheme: Mapping, study: Mapping) -> list[str]:
    often = "once" if scheme["repeats"] == 1 else f"{scheme['repeats']} times"
    where = " where there are classes" if "regression" in study.get("tasks", {}).values() else ""
    said = [f"{scheme['folds']}-fold cross-validation, stratified{where}, {often}."]
    if "rows" in scheme:
        said.append(f"Of larger data sets {scheme['rows']:,} rows, in the proportion of their classes.")
    return [*said, INNER.get(scheme["inner"], f"Inner validation: {scheme['inner']}.")]


def _trials(scheme: Mapping, study: Mapping) -> list[str]:
    rows = [scheme["train"], scheme["test"]]
    taken = "training and test rows, in numbers of each data set's own,"
    if all(isinstance(number, int) for number in rows):
        taken = "{:,} training and {:,} test rows".format(*rows)
    drawn = {
        True: f"{scheme['trials']} random trials: in each all rows are shuffled, {taken} are taken, and any "
        "others are left out",
        False: "one trial in the order of the files, trained on the first rows and tested on the last",
    }
    said = _by_dataset(scheme.get("shuffle", True), drawn.__getitem__, study, between="; ")
    return [
        f"{said[0].upper()}{said[1:]}.",
        f"Inner validation: the training rows are split into {scheme['inner']['folds']} folds; "
        f"{_left_out(scheme['inner'])} for validation.",
    ]


def _left_out(inner: Mapping) -> str:
    if not isinstance(inner["used"], int):
        return "some of them, a number of each data set's own, are left out in turn"
    if inner["used"] == 1:
        return "one of them is left out"
    which = "each" if inner["used"] == inner["folds"] else f"each of the first {inner['used']}"
    return f"{which} is left out in turn"


def _scaling(study: Mapping) -> list[str]:
    scaling = study["scaling"]
    if scaling["method"] == "none":
        return ["Features are not scaled."]
    interval = "[{}, {}]".format(*scaling.get("range", (0, 1)))
    methods = {
        "minmax": f"scaled linearly to {interval}",
        "joint_minmax": f"scaled to {interval} by the smallest and largest value of all features",
        "maxabs": "divided by its largest absolute value",
        "standard": "standardised to zero mean and unit variance",
        "none": "not scaled",
    }
    rows = {"all": "all rows", "train": "the training rows alone"}[scaling["fit_on"]]
    how = _by_dataset(scaling["method"], methods.__getitem__, study)
    said = [f"Each feature is {how}, by the values of {rows}."]
    if "dtype" in scaling:
        precision = {"float64": "double precision", "float32": "single precision"}
        said.append(f"Features are stored in {_by_dataset(scaling['dtype'], precision.__getitem__, study)}.")
    if "targets" in scaling:
        bounds = _by_dataset(scaling["targets"], lambda ends: "[{}, {}]".format(*ends), study)
        said.append(f"Targets of regression are scaled linearly to {bounds}.")
    return said


def _by_dataset(value, in_words: Callable[[object], str], study: Mapping, between: str = " or ") -> str:
    """A value in words; if it differs between data sets, each other value with its data sets."""
    if not isinstance(value, Mapping):
        return in_words(value)
    values = dict(study["of_dataset"][value["of_dataset"]])
    said = [in_words(values.pop("default"))] if "default" in values else []
    others: dict[str, list[str]] = {}
    for dataset, of_dataset in values.items():
        others.setdefault(in_words(of_dataset), []).append(dataset)
    return between.join(
        [*said, *(f"{words} (of {', '.join(datasets)})" for words, datasets in others.items())]
    )
