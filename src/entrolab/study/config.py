"""Read and check the settings, the catalog of data sets and the studies, and fill in defaults.

All files written by users are checked here before any job starts. An error is one line: the file, the place
in it, what was found there and what is accepted.
"""

import itertools
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from entrolab import find_learners_in
from entrolab.data.user_tables import entry_of
from entrolab.fit.metrics import CLASSES, NUMBERS, metrics_of
from entrolab.fit.run import BASELINE
from entrolab.schema.sections import ConfigError, check, check_known, plain, shortened
from entrolab.study.catalog import Catalog
from entrolab.study.cell_numbers import with_numbers
from entrolab.study.checking import check_study
from entrolab.study.claims import load_claims
from entrolab.study.definition import Figure, Model, OwnData, StudyFile, Table
from entrolab.study.published import check_published
from entrolab.study.seeds import check_seeds
from entrolab.study.settings import Settings
from entrolab.study.study import Study
from entrolab.tables.types import TABLE_TYPES
from entrolearn.suggest import did_you_mean

NAME = r"[a-z][a-z0-9_]{0,99}"  # names of studies
# Rules of the workflow. No study can have one of these names, since both are targets.
RULES = {
    *("all", "papers", "data", "download", "prepare", "scale", "split", "fit", "select", "refit"),
    *("measure", "table", "figure", "claims", "findings", "page", "report"),
    *("track", "track_table", "track_study"),
}
TARGETS = {"all", "papers", "data", "report"}  # rules that users call

# Default metrics of a study: those of this list that fit its data sets.
SCORES = ["balanced_accuracy", "gmean", "accuracy", "auc", "log_loss", "rmse", "mae", "r2"]
# The group of all data sets, unless a study has its own group of this name; and the tables shown by default.
ALL = "all"
SHOWN = {"scores": CLASSES, "errors": NUMBERS}
# The figures of studies with checks, unless they have their own: name -> type and tasks.
BY_TASK = {
    "roc": ("roc", {"binary"}),
    "confusion": ("confusion_matrix", CLASSES),
    "residuals": ("residuals", NUMBERS),
}
MOST_IN_FIGURE = 12  # models
# The model that studies with checks have in addition.
DUMMY = Model(
    estimators={
        "classification": "sklearn.dummy.DummyClassifier",
        "regression": "sklearn.dummy.DummyRegressor",
    },
)

# Parts of the YAML parser's messages on common mistakes -> what is accepted instead.
YAMLS_WORDS = {
    "cannot start any token": "spaces before keys, no tabs, and values that begin with @, % or ` in quotes",
    "mapping values are not allowed": "a blank after each colon, and the keys of one level in one column",
    "did not find expected key": "the keys of one level in one column",
}

# Grids of studies with more points are tracked as tables: a run takes some 12 ms.
MOST_POINTS = 500


class Studies(Mapping):
    """The studies by name, each read and checked when it is first asked for; a mistake is a `ConfigError`.

    Attributes
    ----------
    catalog : dict
        The data sets of the catalog, by key.
    read : dict
        The studies that have been read, by name.
    """

    def __init__(self, files: Mapping[str, Path], catalog: Mapping[str, Mapping], seed: int):
        self.catalog, self.read = catalog, {}
        self._files = {name: file for name, file in files.items() if _can_be_a_study(name)}
        self._seed, self._datasets = seed, {}

    def __iter__(self):
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, name) -> bool:  # without reading it
        return name in self._files

    def __getitem__(self, name: str) -> Study:
        if name not in self.read:
            study = load_study(self._files[name], self.catalog, self._seed)
            self._add_datasets(study)
            self.read[name] = study
        return self.read[name]

    @property
    def downloads(self) -> dict[str, Mapping]:
        """The data sets that have to be downloaded, by key."""
        return {key: entry for key, entry in self.catalog.items() if "files" in entry}

    def dataset(self, key: str) -> Mapping:
        """The entry of a data set: of a study that has been read, else of the catalog, else of any study."""
        if key not in self._datasets and key not in self.catalog:
            for name in self:
                self[name]
        known = {**self.catalog, **self._datasets}
        check_known(key, known, "config/datasets.yaml", "results/data", "data set")
        return known[key]

    def _add_datasets(self, study: Study) -> None:
        """Note the data sets of a study; the results of all of them are in one folder.

        A study's own data set replaces the catalog's data set of the same name, unless another study uses
        that.
        """
        entries = {key: self.catalog[key] for key in _of_catalog(study)} | study.own_data
        for key, entry in entries.items():
            if self._datasets.setdefault(key, entry) != entry:
                raise ConfigError(
                    f"{study.file}: datasets.{key}: another study has a different data set of this name; "
                    "accepted: another name"
                )


def load_configuration(home: str | os.PathLike, config: Mapping) -> tuple[Studies, Settings]:
    """The studies, which are read when they are asked for, and the settings.

    `home` is the folder of the project, `config` the config of the workflow, whose settings have the defaults
    of config/config.yaml. Mistakes raise a `ConfigError`.
    """
    home = Path(home)
    settings = check(Settings, {**read_yaml(home / "config" / "config.yaml"), **config}, "config")
    folders = [home / "config" / "papers", *map(Path, filter(None, [settings.extra_studies]))]
    find_learners_in(folders)
    files = study_files(folders)
    for name in settings.papers:
        check_known(name, files, "config", "papers", "study")
    catalog = load_catalog([home / "config" / "datasets.yaml", *filter(None, [settings.extra_datasets])])
    return Studies(files, catalog, settings.seed), settings


def check_targets(targets: Iterable, studies: Iterable[str]) -> None:
    """Raise an error for a target that is a plain word but neither a rule nor a study."""
    known = {*studies, *RULES}
    files = {file.stem: file.name for file in Path().glob("*.yaml") if file.stem not in known}
    for target in targets:
        word = re.fullmatch(r"\w+", str(target)) and not os.path.exists(target)
        if word and target not in known:
            hint = did_you_mean(target, [*studies, *TARGETS, *files])
            for study, name in files.items():
                hint = hint.replace(repr(study), repr(name))
            raise ConfigError(
                f"there is no study {target!r}{hint}; "
                f"accepted: {', '.join(sorted(studies))}, or the file of a study, `entrolab mine.yaml`"
            )


def _can_be_a_study(name: str) -> bool:
    return bool(re.fullmatch(NAME, name)) and name not in RULES


def _of_catalog(study: Study) -> set[str]:
    """The data sets that a study takes from the catalog."""
    drawn = {figure.dataset for figure in study.figures.values() if getattr(figure, "dataset", None)}
    return ({*study.tasks} | drawn) - study.own_data.keys()


def load_catalog(files: Iterable[Path]) -> dict[str, dict]:
    """The entries of several catalogs of data sets, by key; no key may be in two catalogs."""
    catalog: dict[str, dict] = {}
    for file in files:
        entries = plain(check(Catalog, read_yaml(file), file))
        if repeated := sorted(catalog.keys() & entries.keys()):
            raise ConfigError(
                f"{file}: the key {repeated[0]!r} is taken by another data set; accepted: another key"
            )
        catalog |= entries
    return catalog


def study_files(folders: Iterable[Path]) -> dict[str, Path]:
    """The files of all studies in some folders by name; a study is named after its file."""
    studies: dict[str, Path] = {}
    for folder in folders:
        is_there = os.path.isdir(folder)
        files = sorted(Path(folder).glob("*.yaml")) if is_there else []
        if not files:
            found = "found no study (*.yaml)" if is_there else "this folder does not exist"
            raise ConfigError(f"{folder}: {found}; accepted: a folder with studies, one file each")
        for file in files:
            if not file.samefile(studies.setdefault(file.stem, file)):
                raise ConfigError(
                    f"{file}: the name {file.stem!r} is taken by another study; accepted: another file name"
                )
    return studies


def load_study(file: Path, catalog: Mapping[str, Mapping], seed: int = 0) -> Study:
    """Load and check a study, and fill in its defaults.

    Values that differ between data sets remain references, ``{of_dataset: name}``; they are resolved per run.
    """
    check_name(file)
    content = read_yaml(file)
    study = study_of(file, content, catalog, seed)
    check_study(file, study, {**catalog, **study.own_data})
    if study.published:
        study = study.model_copy(update={"published": _beside(file, "published", study.published)})
        check_published(study.published, study)
    if study.seeds:
        # The file is written by `make seeds` and may not exist yet.
        study = study.model_copy(update={"seeds": os.path.normpath(file.parent / study.seeds)})
        if os.path.isfile(study.seeds):
            check_seeds(study.seeds)
    with_numbers(study)  # which raises for a cell that does not exist
    if study.log_candidates is None:
        grids = "runs" if study.n_points() <= MOST_POINTS else "table"
        study = study.model_copy(update={"log_candidates": grids})
    if "claims" not in content:
        return study
    claims = _beside(file, "claims", content["claims"])
    listed = load_claims(Path(claims), read_yaml(Path(claims)), study)
    return study.model_copy(update={"claims": listed, "claims_file": claims})


def study_of(file: Path, content, catalog: Mapping[str, Mapping], seed: int = 0) -> Study:
    """The study that the content of a file describes, with its defaults; names and learners are unchecked."""
    found = check(StudyFile, content, file)
    groups, own = _groups(file, found.datasets, catalog)
    keys = dict.fromkeys(itertools.chain.from_iterable(groups.values()))
    tasks = {key: {**catalog, **own}[key]["task"] for key in keys}
    given = {key: getattr(found, key) for key in StudyFile.model_fields}
    derived = {"name": file.stem, "file": str(file), "seed": seed, "datasets": groups, "tasks": tasks}
    return _with_defaults(Study.model_construct(**given | derived | {"own_data": own, "claims": []}))


def check_name(file: Path) -> None:
    """Raise an error for a file that cannot be a study's: its name is a target of Snakemake."""
    if not re.fullmatch(NAME, file.stem):
        raise ConfigError(
            f"{file}: not a file name of a study; accepted: at most 100 lower-case letters, digits and _, "
            "such as eem.yaml"
        )
    if file.stem in RULES:
        raise ConfigError(f"{file}: {file.stem!r} is a rule of the workflow; accepted: another file name")


def _groups(file: Path, datasets: Mapping, catalog: Mapping[str, Mapping]) -> tuple[dict, dict]:
    """The groups of a study's data sets (each own data set is a group), and the entries of its own data."""
    own = {key: entry_of(file, key, plain(one)) for key, one in datasets.items() if isinstance(one, OwnData)}
    groups = {group: [group] if group in own else keys for group, keys in datasets.items()}
    for group, keys in groups.items():
        for key in keys:
            check_known(key, {**catalog, **own}, file, f"datasets.{group}", "data set")
    return groups, own


def read_yaml(file: Path):
    """The content of a YAML file; repeated keys are refused."""
    try:
        content = yaml.load(Path(file).read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark else "?"
        problem = error.problem or error.context
        accepted = next((f"; accepted: {said}" for part, said in YAMLS_WORDS.items() if part in problem), "")
        raise ConfigError(f"{file}: {where}: {problem}{accepted}") from None
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        byte = error.object[error.start]
        raise ConfigError(f"{file}: line {line}: found the byte 0x{byte:02x}; accepted: UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise ConfigError(f"{file}: lists or mappings are nested too deeply") from None
    if content is None:
        raise ConfigError(f"{file}: this file is empty")
    return content


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # by libyaml, ten times as fast
    """Reads words and numbers as YAML 1.2 does: ``no``, 12:30, 017 and dates are texts, 1e-3 is a number."""

    yaml_implicit_resolvers: dict = {}

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key, "a key is a list or a mapping; accepted: a name")
            if key.value in seen:
                self._refuse(key, f"key {key.value!r} is repeated")
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node, deep=False):
        try:
            return super().construct_object(node, deep=True)  # which refuses a list or mapping in itself
        except (ValueError, OverflowError, LookupError, AttributeError) as error:
            self._refuse(node, f"found {shortened(node.value)}, {error}; accepted: text in quotes")

    def _refuse(self, key: yaml.Node, problem: str) -> None:
        raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)


FLOAT = r"[-+]?((\d+\.\d*|\.\d+)([eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.(inf|Inf|INF))|\.(nan|NaN|NAN)"
for _tag, _pattern in {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(0|[1-9]\d*)",
    "float": FLOAT,
    "merge": "<<",
}.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), None)


class Dumper(yaml.SafeDumper):
    """Writes in quotes the texts that any version of YAML reads as other values."""


Dumper.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(f"^(?:{FLOAT})$"), None)


def in_one_line(value) -> str:
    """A value as one line of YAML.

    Examples
    --------
    >>> in_one_line({"drop": ["no", "12:30", "1e3", "size"]})
    "{drop: ['no', '12:30', '1e3', size]}"
    """
    options = {"default_flow_style": True, "sort_keys": False, "width": 10**6, "allow_unicode": True}
    return yaml.dump(value, Dumper=Dumper, **options).removesuffix("\n").removesuffix("\n...")


# ------------------------------------------------------------------------------------------------ defaults


def _with_defaults(study: Study) -> Study:
    """The study with the defaults that depend on its name and data: title, metrics, labels, tables."""
    tasks = study.tasks.values()
    scores = [score for score in SCORES if any(metrics_of(task, [score]) for task in tasks)]
    title = study.title or study.name.replace("_", " ").capitalize()
    given = {
        "title": title,
        "metrics": study.metrics or scores,
        "candidates": study.candidates or study.criteria,
    }
    if study.checks:
        given["models"] = {**study.models, BASELINE: study.models.get(BASELINE, DUMMY)}
    study = study.model_copy(update=given)
    study = study.model_copy(update=_tables(study))
    models = {name: _model(name, model, study) for name, model in study.models.items()}
    study = study.model_copy(update={"models": models})
    if study.figures is None:
        study = study.model_copy(update=_figures(study))
    figures = {name: figure.with_defaults(study) for name, figure in study.figures.items()}
    return study.model_copy(update={"figures": figures})


def _model(name: str, model: Model, study: Study) -> Model:
    """A model with its label, its criteria and the criteria whose values its candidates have."""
    criteria = ["cv"] if model is DUMMY else model.criteria  # it projects nothing, and has no grid
    given = {
        "label": name.replace("_", " "),
        "criteria": criteria or study.criteria,
        "candidates": study.candidates if criteria is None else criteria,
    }
    return model.model_copy(update={key: one for key, one in given.items() if getattr(model, key) is None})


def _figures(study: Study) -> dict:
    """The figures and the groups that they show; none by default for a study without checks."""
    if not study.checks:
        return {"figures": {}}
    of_folds = {"type": "script", "script": "trials", "of": "predictions", "caption": "Scores by fold"}
    metrics = [one for task in study.tasks.values() for one in metrics_of(task, study.metrics)[:1]]
    of_folds |= {"metric": list(dict.fromkeys(metrics)), "criterion": "cv"}
    of_folds |= {"models": [*study.models][-MOST_IN_FIGURE:]}
    figures, groups = (
        {"fold_scores": {**of_folds, "datasets": ALL}},
        {ALL: list(study.tasks), **study.datasets},
    )
    for name, (type_name, tasks) in BY_TASK.items():
        if keys := [key for key, task in study.tasks.items() if task in tasks]:
            groups[f"{ALL} {name}"] = keys
            figures[name] = {"type": type_name, "datasets": f"{ALL} {name}"}
    checked = check(dict[str, Figure], figures, study.file)
    shown = {getattr(entry, "datasets", None) for entry in checked.values()}
    kept = {name: keys for name, keys in groups.items() if name in study.datasets or name in shown}
    answer = study.answer_figure or "fold_scores"
    return {"datasets": kept, "figures": checked, "answer_figure": answer}


def _tables(study: Study) -> dict:
    """The tables and the groups that they show; by default one table of all scores."""
    groups = {ALL: list(study.tasks), **study.datasets}
    tables = study.tables
    if tables is None:
        by_default = {}
        for name, tasks in SHOWN.items():
            if keys := [key for key, task in study.tasks.items() if task in tasks]:
                # A name that no file can contain, so that it replaces no group of the study.
                groups[f"{ALL} {name}"] = keys
                by_default[name] = {"type": "scores", "datasets": f"{ALL} {name}"}
        tables = check(dict[str, Table], by_default, study.file)
    shown = {
        getattr(entry, "datasets", None) for entry in [*tables.values(), *(study.figures or {}).values()]
    }
    kept = {name: keys for name, keys in groups.items() if name in study.datasets or name in shown}
    filled = {
        name: TABLE_TYPES[one.type].with_defaults(name, one, groups, study) for name, one in tables.items()
    }
    return {"datasets": kept, "tables": filled}


def _beside(file: Path, key: str, path: str) -> str:
    """The path of a file that a study names, relative to the study's own file."""
    found = os.path.normpath(file.parent / path)
    if not os.path.isfile(found):
        raise ConfigError(f"{file}: {key}: the file {found} does not exist")
    return found
