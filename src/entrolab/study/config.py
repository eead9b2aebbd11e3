"""Settings, the catalog of data sets and the studies: read, checked, defaults filled in.

Everything that a person writes is checked here, before a job starts, and what is wrong is told in one line:
the file, the place in it, what was found there and what is accepted.
"""

import hashlib
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from entrolab.data.user_tables import entry_of
from entrolab.fit.metrics import CLASSES, NUMBERS, metrics_of
from entrolab.jobs.preflight import find_learners_in
from entrolab.study.catalog import Catalog
from entrolab.study.checking import check_study
from entrolab.study.claims import load_claims
from entrolab.study.definition import Study, Table
from entrolab.study.lookup import grouped
from entrolab.study.published import check_published
from entrolab.study.sections import ConfigError, check, check_known, shortened
from entrolab.study.seeds import check_seeds
from entrolab.study.settings import Settings
from entrolab.tables.types import TABLE_TYPES
from entrolab.text import without_secrets
from entrolearn.suggest import did_you_mean

# Settings that add a user's own files to the project's.
EXTRA = ("extra_studies", "extra_datasets")

NAME = r"[a-z][a-z0-9_]{0,99}"  # of a study
# Rules of the workflow, whose names no study can have as its target.
RULES = {
    *("all", "papers", "data", "download", "prepare", "scale", "split", "train", "measure"),
    *("measure_generated", "claims", "track", "track_study", "table", "figure", "page_to_hover", "page"),
    "report",
}

# Of these, a study that names none has those that fit its data sets.
SCORES = ["balanced_accuracy", "gmean", "accuracy", "rmse"]
# The group of all data sets, if a study has no other of this name; and the tables that show them by default.
ALL = "all"
SHOWN = {"scores": CLASSES, "errors": NUMBERS}

# Parts of what YAML's parser says of common slips, and what was wanted.
YAMLS_WORDS = {
    r"'\t'": "spaces",
    "mapping values are not allowed": "a blank after each colon, and the keys of one level in one column",
    "expected <block end>": "the keys of one level in one column",
}

# Values of a whole file with its aliases written out, and bits of a whole number.
MOST_VALUES = 1_000_000
MOST_BITS = 63


def load_configuration(
    home: str | os.PathLike, config: Mapping, targets: Iterable | None = None
) -> tuple[dict, dict, dict]:
    """The catalog of data sets, the studies and the settings.

    Parameters
    ----------
    home : path
        The folder of the Snakefile.
    config : mapping
        The workflow's config.
    targets : iterable, optional
        What Snakemake is asked for: only the studies that these need are read. All of them unless given.

    Returns
    -------
    catalog, studies : dict of dict
        By key and by name.
    settings : dict

    Raises
    ------
    ConfigError
    """
    home = Path(home)
    config = check(Settings, config, "config")
    folders = _folders(home, config)
    find_learners_in(folders)
    files = study_files(folders)
    settings = load_settings(config, files)
    catalog = load_catalog([home / "config" / "datasets.yaml", *filter(None, [config.get("extra_datasets")])])
    _check_targets(targets or (), files)
    needed = files if targets is None else studies_of(targets, files, settings["papers"])
    studies = {name: load_study(files[name], catalog) for name in files if name in needed}
    return _with_own_data(catalog, studies), studies, settings


def _check_targets(targets: Iterable, studies: Iterable[str]) -> None:
    """Refuse a word that is neither a rule nor a study."""
    known = {*studies, *RULES}
    for target in targets:
        if re.fullmatch(r"\w+", str(target)) and target not in known and not os.path.exists(target):
            raise ConfigError(
                f"there is no study {target!r}{did_you_mean(target, known)}; "
                f"accepted: {', '.join(sorted(studies))}, or the file of a study, `entrolab mine.yaml`"
            )


def study_names(home: str | os.PathLike, config: Mapping) -> list[str]:
    """The names of all studies, of which none is read; a folder may hold other files that end in .yaml."""
    names = study_files(_folders(Path(home), config))
    return [name for name in names if re.fullmatch(NAME, name) and name not in RULES]


def _folders(home: Path, config: Mapping) -> list[Path]:
    return [home / "config" / "papers", *map(Path, filter(None, [config.get("extra_studies")]))]


def asked_targets(arguments: Sequence[str]) -> list | None:
    """What Snakemake is asked for on its command line; None where that is not what was called.

    While it reads the Snakefile, Snakemake does not tell.
    """
    if not arguments or not {"snakemake", "entrolab"} & {*Path(arguments[0]).parts[-2:]}:
        return None
    from snakemake.cli import get_argument_parser

    # Without the profiles: they name no targets, and Snakemake is by now in another folder than
    # the one that they were named from.
    known = get_argument_parser().parse_args(list(arguments[1:]))
    return [*(known.targets or ()), *(known.target_jobs or ())]


def studies_of(targets: Iterable, names: Iterable[str], papers: Iterable[str]) -> set[str]:
    """The studies that targets of Snakemake need: those that they name, or all where one names none.

    Parameters
    ----------
    targets : iterable
        Rules, files, or jobs with a ``wildcards_dict``; none at all stands for `papers`.
    names : iterable of str
        All studies.
    papers : iterable of str
        Those that a run without a target makes.
    """
    names, needed = set(names), set()
    for target in [*targets] or ["all"]:
        if target in ("all", "report"):
            needed |= {*papers}
            continue
        if hasattr(target, "wildcards_dict"):
            named = {target.wildcards_dict.get("study")}
        else:
            # A file of a data set may have the name of a study: results/data/heart.npz.
            parts = Path(str(target)).parts[:3]
            named = set() if parts[:2] == ("results", "data") else {Path(part).stem for part in parts}
        if not named & names:
            return names
        needed |= named & names
    return needed


def _with_own_data(catalog: Mapping[str, Mapping], studies: Mapping[str, Mapping]) -> dict[str, dict]:
    """The catalog with the studies' own data sets, whose results all studies keep in one place.

    A data set of one's own takes the place of the catalog's of its name, unless another study needs that.
    """
    used = {key: catalog[key] for study in studies.values() for key in _of_catalog(study)}
    own: dict[str, dict] = {}
    for study in studies.values():
        for key, entry in study["own_data"].items():
            if (used | own).get(key, entry) != entry:
                raise ConfigError(
                    f"{study['file']}: datasets.{key}: another study has other data of this name; "
                    "accepted: another name"
                )
            own[key] = entry
    return {**catalog, **own}


def _of_catalog(study: Mapping) -> set[str]:
    """The data sets of a study that are the catalog's."""
    drawn = {figure["dataset"] for figure in study["figures"].values() if "dataset" in figure}
    return ({*grouped(study)} | drawn) - study["own_data"].keys()


def load_settings(config: Mapping, studies: Iterable[str]) -> dict:
    """The settings, defaults filled in; ``papers`` is a list of names of `studies`."""
    # Snakemake notes what its jobs are told, for as long as their results stand.
    store = config.get("store")
    if store and without_secrets(store) != store:
        raise ConfigError(
            "config: store: an address with a user, a password or a query would be kept among snakemake's "
            "notes; accepted: scheme, host and path alone, else give it in the variable MLFLOW_TRACKING_URI"
        )
    papers = config["papers"]
    papers = [papers] if isinstance(papers, str) else list(papers)
    for study_name in papers:
        check_known(study_name, studies, "config", "papers", "study")
    return {"store": None, "mirror": None, **dict.fromkeys(EXTRA), **config, "papers": papers}


def store_digest(settings: Mapping) -> str:
    """What tells one tracking store from another: another address lacks the runs that were logged so far.

    Snakemake notes it: of the address it has nothing that may be a secret, not even its digest.
    """
    address = without_secrets(settings["store"] or os.environ.get("MLFLOW_TRACKING_URI") or "")
    return hashlib.sha256(os.fsencode(address)).hexdigest()[:16]


def load_catalog(files: Iterable[Path]) -> dict[str, dict]:
    """The entries of some catalogs of data sets, by key. A key is in one of them only."""
    catalog: dict[str, dict] = {}
    for file in files:
        entries = check(Catalog, read_yaml(file), file)
        if repeated := sorted(catalog.keys() & entries.keys()):
            raise ConfigError(
                f"{file}: there is a data set {repeated[0]!r} already; give this one another key"
            )
        catalog |= entries
    return catalog


def study_files(folders: Iterable[Path]) -> dict[str, Path]:
    """The files of all studies of some folders by name, which is the file's."""
    studies: dict[str, Path] = {}
    for folder in folders:
        is_there = os.path.isdir(folder)
        files = sorted(Path(folder).glob("*.yaml")) if is_there else []
        if not files:
            found = "no study (*.yaml) in this folder" if is_there else "there is no such folder"
            raise ConfigError(f"{folder}: {found}; accepted: a folder with studies, one file each")
        for file in files:
            if file.stem in studies:
                raise ConfigError(
                    f"{file}: there is a study {file.stem!r} already; give this file another name"
                )
            studies[file.stem] = file
    return studies


def load_study(file: Path, catalog: Mapping[str, Mapping]) -> dict:
    """A study as a plain dict, defaults filled in, every name in it known to exist.

    Its ``tasks`` say what is learnt of each of its data sets. What differs between data sets stays as it is
    written, ``{of_dataset: name}``, until a cell asks for it.

    Parameters
    ----------
    file : Path
    catalog : mapping
        The entries of the data sets that there are.
    """
    if not re.fullmatch(NAME, file.stem):
        raise ConfigError(
            f"{file}: a study's file is named in lower-case letters, digits and _, at most 100 of "
            "them, such as eem.yaml"
        )
    if file.stem in RULES:
        raise ConfigError(f"{file}: `snakemake {file.stem}` is there already; give this file another name")
    study = check(Study, read_yaml(file), file)
    study |= _groups(file, study["datasets"], catalog)
    catalog = {**catalog, **study["own_data"]}
    study["tasks"] = {key: catalog[key]["task"] for key in grouped(study)}
    study = {**_with_defaults(study, file), "file": str(file)}
    check_study(file, study, catalog)
    if "published" in study:
        study["published"] = _beside(file, "published", study["published"])
        check_published(study["published"], study)
    if "seeds" in study:
        # Written by `make seeds`, and not there before.
        study["seeds"] = os.path.normpath(file.parent / study["seeds"])
        if os.path.isfile(study["seeds"]):
            check_seeds(study["seeds"])
    return study | _claims(file, study)


def _groups(file: Path, datasets: Mapping, catalog: Mapping[str, Mapping]) -> dict:
    """The groups of a study's data sets, of which each of its own is one; and the entries of these."""
    own = {key: entry_of(file, key, value) for key, value in datasets.items() if isinstance(value, Mapping)}
    groups = {group: [group] if group in own else keys for group, keys in datasets.items()}
    for group, keys in groups.items():
        for key in keys:
            check_known(key, {**catalog, **own}, file, f"datasets.{group}", "data set")
    return {"datasets": groups, "own_data": own}


def read_yaml(file: Path):
    """A YAML file's content. Refuses a repeated key, and reads ``1e-3`` as the number that it looks like."""
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
        raise ConfigError(f"{file}: there is nothing in it")
    if _n_values(content, {}) > MOST_VALUES:
        raise ConfigError(
            f"{file}: aliases (*name) make it refer to itself, or have more than {MOST_VALUES:,} values"
        )
    return content


def _n_values(content, known: dict[int, float]) -> float:
    """How many values there are with every alias written out; infinite where one stands within itself."""
    if not isinstance(content, (dict, list)):
        return 1
    if id(content) not in known:
        known[id(content)] = math.inf
        parts = content.values() if isinstance(content, dict) else content
        known[id(content)] = 1 + sum(_n_values(part, known) for part in parts)
    return known[id(content)]


# Unquoted keys that YAML reads as booleans or null.
_NO_NAMES = {"tag:yaml.org,2002:bool": "true or false", "tag:yaml.org,2002:null": "nothing"}


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor):
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key, "a key is a list or a mapping; accepted: a name")
            if key.value in seen:
                self._refuse(key, f"key {key.value!r} is repeated")
            if means := _NO_NAMES.get(key.tag):
                self._refuse(
                    key, f"key {key.value!r} means {means} in YAML; accepted: '{key.value}' in quotes"
                )
            seen.add(key.value)
        return node

    def flatten_mapping(self, node):
        super().flatten_mapping(node)
        # Of each key the last alone, which is the one that counts: merges of merges would grow without end.
        node.value = [*{(key.tag, key.value): (key, value) for key, value in node.value}.values()]

    def construct_object(self, node, deep=False):
        try:
            made = super().construct_object(node, deep)
        except (ValueError, OverflowError, LookupError, AttributeError) as error:
            self._refuse(node, f"found {shortened(node.value)}, {error}; accepted: text in quotes")
        if isinstance(made, int) and made.bit_length() > MOST_BITS:
            self._refuse(
                node, f"found {shortened(node.value)}; accepted: whole numbers of at most {MOST_BITS} bits"
            )
        return made

    def _refuse(self, key: yaml.Node, problem: str) -> None:
        raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


# ------------------------------------------------------------------------------------------------ defaults


def _with_defaults(study: dict, file: Path) -> dict:
    """The study with what follows from its name and its data: title, metrics, labels, tables."""
    scores = [score for score in SCORES if any(metrics_of(task, [score]) for task in study["tasks"].values())]
    study = {"title": file.stem.replace("_", " ").capitalize(), "metrics": scores, **study}
    study |= _tables(study)
    models = {
        name: {"label": name.replace("_", " "), "criteria": study["criteria"], **model}
        for name, model in study["models"].items()
    }
    return {**study, "models": models}


def _tables(study: Mapping) -> dict:
    """The tables, with the groups that they show; by default a table of all scores."""
    groups = {ALL: list(study["tasks"]), **study["datasets"]}
    tables = study.get("tables")
    if tables is None:
        by_table = {
            name: [key for key, task in study["tasks"].items() if task in tasks]
            for name, tasks in SHOWN.items()
        }
        # A group that no file can name, so that it takes the place of none.
        groups |= {f"{ALL} {name}": keys for name, keys in by_table.items() if keys}
        by_default = {
            name: {"type": "scores", "datasets": f"{ALL} {name}"} for name, keys in by_table.items() if keys
        }
        tables = check(dict[str, Table], by_default, study["title"])
    shown = {entry.get("datasets") for entry in [*tables.values(), *study["figures"].values()]}
    return {
        "datasets": {
            name: keys for name, keys in groups.items() if name in study["datasets"] or name in shown
        },
        "tables": {
            name: TABLE_TYPES[table["type"]].filled(name, table, groups, study)
            for name, table in tables.items()
        },
    }


def _claims(file: Path, study: Mapping) -> dict:
    """The claims of a study, and the file that it names for them."""
    if "claims" not in study:
        return {"claims": []}
    found = _beside(file, "claims", study["claims"])
    return {"claims": load_claims(Path(found), read_yaml(Path(found)), study), "claims_file": found}


def _beside(file: Path, key: str, path: str) -> str:
    """The path of a file that a study names."""
    found = os.path.normpath(file.parent / path)
    if not os.path.isfile(found):
        raise ConfigError(f"{file}: {key}: there is no file {found}")
    return found
