"""The protocol of a study: the settings of its file, and what was done to tables of its own."""

from collections.abc import Mapping

from entrolab.data.user_tables import columns_by_kind, shortlist, warnings_of
from entrolab.fit.metrics import METRICS
from entrolab.fit.thresholds import FOLDS
from entrolab.schema.sections import plain
from entrolab.study.study import Study
from entrolab.tables.scores import CRITERIA


def protocol(study: Study, *, with_oracle: bool = True) -> list[str]:
    """The protocol of a study in lines; `with_oracle` adds one on the oracle."""
    metrics = [METRICS[name].label for name in study.metrics]
    features, of = plain(study.preprocessing), "of the training rows of each fit"
    if study.scaling:
        features, of = plain(study.scaling), "before the splits"
    return [
        f"Splits, stratified where there are classes: {_settings(plain(study.protocol), study)}.",
        f"Features, {of}: {_settings(features, study)}.",
        *(line for key, entry in study.own_data.items() for line in _table(key, entry)),
        f"Score: {metrics[0]}" + (f"; also {', '.join(metrics[1:])}." if metrics[1:] else "."),
        f"Parameters are selected by {'; also by '.join(CRITERIA[name] for name in study.criteria)}.",
        *(
            f"The threshold of {name} is chosen by {METRICS[model.threshold].label} in {FOLDS} folds of the "
            "training rows of each fit."
            for name, model in study.models.items()
            if model.threshold
        ),
        *(["The oracle column uses test data and is a diagnostic only."] if with_oracle else []),
    ]


def _settings(value, study: Study) -> str:
    """Settings in words; of a value that differs between data sets, each value with its data sets."""
    if not isinstance(value, dict):
        return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    if set(value) != {"of_dataset"}:
        parts = ((name, one, _settings(one, study)) for name, one in value.items())
        return ", ".join(
            f"{name} ({text})" if isinstance(one, dict) else f"{name} {text}" for name, one, text in parts
        )
    by_value: dict[str, list[str]] = {}
    for dataset, one in study.of_dataset[value["of_dataset"]].items():
        by_value.setdefault(_settings(one, study), []).append(dataset)
    return "; ".join(f"{text} of {', '.join(datasets)}" for text, datasets in by_value.items())


def _table(key: str, entry: Mapping) -> list[str]:
    """The columns, groups, weights and splits of a user's table, in sentences."""
    columns = columns_by_kind(entry)
    said = [f"{what}: {shortlist(names)}" for what, names in columns.items() if what != "numbers"]
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
