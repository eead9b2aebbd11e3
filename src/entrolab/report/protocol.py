"""The protocol of a study as sentences."""

from collections.abc import Callable, Mapping

from entrolab.data.user_tables import warnings_of
from entrolab.fit.metrics import METRICS
from entrolab.fit.thresholds import FOLDS
from entrolab.schema.sections import OfDataset
from entrolab.study.definition import Folds, Inner, Model, Trials
from entrolab.study.study import Study
from entrolab.tables.scores import CRITERIA
from entrolearn.columns import DURATION


def protocol(study: Study, *, with_oracle: bool = True) -> list[str]:
    """The protocol of a study in sentences; `with_oracle` adds one on the oracle."""
    scheme = study.protocol
    metrics = [METRICS[name].label for name in study.metrics]
    criteria = [CRITERIA[name] for name in study.criteria]
    return [
        *(_trials(scheme, study) if isinstance(scheme, Trials) else _folds(scheme, study)),
        *(_scaling(study) if study.scaling else _preprocessing(study)),
        *(line for key, entry in study.own_data.items() for line in _table(key, entry)),
        f"Score: {metrics[0]}" + (f"; also {', '.join(metrics[1:])}." if metrics[1:] else "."),
        f"Parameters are selected by {'; also by '.join(criteria)}.",
        *_thresholds(study.models),
        *(["The oracle column uses test data and is a diagnostic only."] if with_oracle else []),
    ]


def _thresholds(models: Mapping[str, Model]) -> list[str]:
    by_metric: dict[str, list[str]] = {}
    for name, model in models.items():
        if model.threshold:
            by_metric.setdefault(model.threshold, []).append(name)
    return [
        f"The threshold of {', '.join(names)} is chosen by {METRICS[metric].label} in {FOLDS} folds of the "
        "training rows of each fit."
        for metric, names in by_metric.items()
    ]


MOST_NAMED = 12  # columns in a sentence

INNER = {
    "leave-two-folds-out": "Inner cross-validation: for each test fold, every other fold is left out in turn "
    "too, so each fit without a pair of folds is used for both of them.",
}


def _folds(scheme: Folds, study: Study) -> list[str]:
    if scheme.method == "time":
        return [
            f"{scheme.folds + 1} blocks of rows in order of time: each but the first is predicted from "
            "all rows before it.",
            "Inner validation: the last of these rows, as many as in a block, or half of them.",
        ]
    often = "once" if scheme.repeats == 1 else f"{scheme.repeats} times"
    where = " where there are classes" if "regression" in study.tasks.values() else ""
    said = [f"{scheme.folds}-fold cross-validation, stratified{where}, {often}."]
    if scheme.rows:
        said.append(f"Of larger data sets, {scheme.rows:,} rows in the proportions of their classes.")
    return [*said, INNER[scheme.inner]]


def _trials(scheme: Trials, study: Study) -> list[str]:
    rows = [scheme.train, scheme.test]
    taken = "training and test rows, in numbers of each data set's own,"
    if all(isinstance(number, int) for number in rows):
        taken = "{:,} training and {:,} test rows".format(*rows)
    drawn = {
        True: f"{scheme.trials} random trials: in each, all rows are shuffled, {taken} are taken, and any "
        "others are left out",
        False: "one trial in the order of the files, trained on the first rows and tested on the last",
    }
    said = _by_dataset(scheme.shuffle is None or scheme.shuffle, drawn.__getitem__, study, between="; ")
    return [
        f"{said[0].upper()}{said[1:]}.",
        f"Inner validation: the training rows are split into {scheme.inner.folds} folds; "
        f"{_left_out(scheme.inner)} for validation.",
    ]


def _left_out(inner: Inner) -> str:
    if not isinstance(inner.used, int):
        return "some of them, a number of each data set's own, are left out in turn"
    if inner.used == 1:
        return "one of them is left out"
    which = "each" if inner.used == inner.folds else f"each of the first {inner.used}"
    return f"{which} is left out in turn"


def _scaling(study: Study) -> list[str]:
    scaling = study.scaling
    if scaling.method == "none":
        return ["Features are not scaled."]
    interval = "[{}, {}]".format(*(scaling.range or (0, 1)))
    methods = {
        "minmax": f"scaled linearly to {interval}",
        "joint_minmax": f"scaled to {interval} by the smallest and largest value of all features",
        "maxabs": "divided by its largest absolute value",
        "standard": "standardised to zero mean and unit variance",
        "none": "not scaled",
    }
    rows = {"all": "all rows", "train": "the training rows only"}[scaling.fit_on]
    how = _by_dataset(scaling.method, methods.__getitem__, study)
    said = [f"Each feature is {how}, by the values of {rows}."]
    if scaling.dtype:
        precision = {"float64": "double precision", "float32": "single precision"}
        said.append(f"Features are stored in {_by_dataset(scaling.dtype, precision.__getitem__, study)}.")
    if scaling.targets:
        bounds = _by_dataset(scaling.targets, lambda ends: "[{}, {}]".format(*ends), study)
        said.append(f"Targets of regression are scaled linearly to {bounds}.")
    return said


def _preprocessing(study: Study) -> list[str]:
    """The preprocessing that is fitted on training rows, in sentences."""
    entry, own = study.preprocessing, study.own_data.values()
    scaled = {
        "minmax": "scaled linearly to [0, 1]",
        "maxabs": "divided by its largest absolute value",
        "standard": "brought to zero mean and unit variance",
        "none": "left as it is",
    }[entry.scale]
    said = [f"Each feature is {scaled}, fitted on the training rows of each fit only."]
    kinds = [kind for one in own for kind in one["format"]["columns"].values()]
    encoded = {
        "one-hot": "a column of zeros and ones each (of more than 100, the rarest share one); missing and "
        "unknown categories have only zeros",
        "ordinal": "their number in alphabetical order; a missing one is replaced by the most frequent",
        "target": "the mean label of their training rows (target encoding, cross-fitted)",
    }[entry.categories]
    if any(isinstance(kind, list) for kind in kinds):
        said.append(f"Categories become {encoded}.")
    if any(one["n_missing"] for one in own):
        said.append("A missing number is replaced by the median of its column in the training rows.")
    return said


def _table(key: str, entry: Mapping) -> list[str]:
    """The columns, groups, weights and splits of a user's table, in sentences."""
    said, columns = [], entry["format"]["columns"]
    for what, names in {
        "categories": [name for name, kind in columns.items() if isinstance(kind, list)],
        "durations, taken as seconds": [name for name, kind in columns.items() if kind == DURATION],
        "dates, taken as days": [
            name for name, kind in columns.items() if isinstance(kind, str) and kind != DURATION
        ],
        "missing values": [f"{name} ({count})" for name, count in entry["n_missing"].items()],
        "left out": [f"{name} ({why})" for name, why in entry["left_out"].items()],
    }.items():
        if names:
            shown = ", ".join(names[:MOST_NAMED]) + (
                f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else ""
            )
            said.append(f"{what}: {shown}")
    if splits := entry["splits"]:
        named = "; ".join(f"{name} {count:,}" for name, count in splits.items())
        said.append(f"split as OpenML's task defines ({named})")
    if entry["groups"]:
        said.append(f"in {entry['groups']} groups by {entry['format']['groups']}, each in one fold")
    if "weight" in entry["format"]:
        column = entry["format"]["weight"]
        said.append(f"rows have the weights {column} in fits; scores weight all rows equally")
    if entry["test"]:
        said.append(f"tested once, on the {entry['expect']['test_rows']:,} rows of a separate file")
    if entry["n_unlabelled"]:
        said.append(f"rows without a label, left out: {entry['n_unlabelled']}")
    lines = [f"Of {key}: {'; '.join(said)}."] if said else []
    return [*lines, *warnings_of(key, entry)]


def _by_dataset(value, in_words: Callable[[object], str], study: Study, between: str = " or ") -> str:
    """A value in words; if it differs between data sets, the other values with their data sets."""
    if not isinstance(value, OfDataset):
        return in_words(value)
    values = dict(study.of_dataset[value.of_dataset])
    said = [in_words(values.pop("default"))] if "default" in values else []
    others: dict[str, list[str]] = {}
    for dataset, of_dataset in values.items():
        others.setdefault(in_words(of_dataset), []).append(dataset)
    return between.join(
        [*said, *(f"{words} (of {', '.join(datasets)})" for words, datasets in others.items())]
    )
