"""Digests of code: what they cover, and which edits change them."""

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import entrolearn
from entrolab.data.origins import made_by
from entrolab.figures.registry import FIGURE_TYPES
from entrolab.io.files import SCRIPTS
from entrolab.jobs import code_digests
from entrolab.jobs.code_digests import LAB, LIBRARY, code_digest, learner_files, script_files, stage_files
from entrolab.study.config import load_catalog

ROOT = Path(__file__).parents[2]
# Modules that decide no number: messages, whole-or-nothing writing, tables of public names, what starts jobs.
WITHOUT_INFLUENCE = {"entrolab", "entrolab.text", "entrolab.io.atomic", "entrolearn", "entrolearn.suggest"}
WITHOUT_INFLUENCE |= {f"entrolab.jobs.{file.stem}" for file in (LAB / "jobs").glob("*.py")}
# A study asks its types of figures for runs, files and specs, which are inputs and params of jobs.
WITHOUT_INFLUENCE |= {"entrolab.figures.registry"}


def module_name(file: Path) -> str:
    parts = file.relative_to(LAB.parent if file.is_relative_to(LAB) else LIBRARY.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    return {module_name(file): file for package in (LAB, LIBRARY) for file in package.rglob("*.py")}


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of ours that a module imports, wherever the import stands."""
    return names_in(modules()[module])


def names_in(file: Path) -> frozenset[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(filter(None, map(known, names)))


def known(name: str) -> str:
    """The module of ours that a dotted name is, or is in; "" if there is none."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def closure(*start: str) -> set[str]:
    """All modules of ours that some modules import, and these import, and so on."""
    todo, found = [*start], set()
    while todo:
        module = todo.pop()
        if module not in found and module not in WITHOUT_INFLUENCE:
            found.add(module)
            todo += imports(module)
    return found


def imported_by(stages: str, function: str) -> set[str]:
    """The modules from which a function of `entrolab.stages` takes the names that it uses."""
    tree = ast.parse((LAB / "stages" / f"{stages}.py").read_bytes())
    [body] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    used = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            found |= {known(f"{node.module}.{a.name}") for a in node.names if (a.asname or a.name) in used}
    return found - {""}


FORMATS = {made_by(entry) for entry in load_catalog([ROOT / "config" / "datasets.yaml"]).values()}
STAGES = {
    **{f"prepare:{one.rpartition('.')[2]}": ({one}, "data", "prepare") for one in sorted(FORMATS)},
    "prepare:table": ({"entrolab.data.formats.table"}, "data", "prepare"),
    "scale": (set(), "data", "scale"),
    "split": (set(), "data", "split"),
    "measure": (set(), "fit", "measure"),
    "claims": (set(), "tables", "claims"),
    "table": (set(), "tables", "table"),
    "report": (set(), "tables", "page"),
    "tracking": (set(), "tracking", "track"),
}


def covered(stage: str) -> set[str]:
    return {module_name(file) for file in stage_files(stage)}


@pytest.mark.parametrize("stage", STAGES)
def test_a_digest_covers_all_that_a_stage_imports(stage):
    named, stages, function = STAGES[stage]
    assert closure(*named, *imported_by(stages, function)) - covered(stage) == set()


def test_the_digests_of_a_run_cover_all_that_it_imports():
    for stage in ("select", "refit"):
        assert closure(*imported_by("fit", stage)) - covered(stage) == set()
    # Fits ask it only for the candidates whose predictions they store: an edit of it fits nothing again.
    assert closure(*imported_by("fit", "fit")) - covered("fit") == {"entrolab.fit.selection"}


def test_the_digest_of_figures_covers_all_that_their_types_import():
    drawn = closure("entrolab.figures.making", *(one.__module__ for one in FIGURE_TYPES.values()))
    assert drawn - covered("figure") == set()


def test_the_digest_of_figures_covers_all_that_scripts_import():
    scripts = [*(ROOT / "workflow" / "scripts" / "figures").glob("*.py")]
    found = closure(*set().union(*(names_in(file) for file in scripts)))
    assert found - covered("figure") == set()


LEARNER_PATHS = [f"entrolearn.{name}" for name in entrolearn.__all__ if name[0].isupper()]
LEARNER_PATHS += [f"{module}.{name}" for name, module in entrolearn._MOVED.items() if name[0].isupper()]


@pytest.mark.parametrize("path", LEARNER_PATHS)
def test_the_digest_of_a_learner_covers_all_that_its_module_imports(path):
    module, _, name = path.rpartition(".")
    files = {module_name(file) for file in learner_files(path)}
    assert closure(getattr(import_module(module), name).__module__) - files - covered("fit") == set()


def test_each_family_has_a_table_entry_of_its_own():
    families = {folder.name for folder in LIBRARY.iterdir() if (folder / "__init__.py").is_file()}
    assert families - code_digests.FAMILIES == {"measures", "metrics", "optimize", "plotting", "streaming"}


def test_a_reader_is_of_its_own_format_alone():
    """Editing a reader prepares the data sets of its format again, and no others."""
    other = covered("prepare:csv") - covered("prepare:arff")
    assert other == {"entrolab.data.formats.csv"}
    assert not any(name.startswith("entrolab.data.formats") for name in covered("fit"))


def test_rewording_tables_and_selecting_anew_fits_and_measures_nothing():
    shown = (
        "entrolab.tables",
        "entrolab.figures",
        "entrolab.study",
        "entrolab.report",
        "entrolab.claims",
    )
    for stage in ("fit", "refit", "measure"):
        assert not [one for one in covered(stage) if one.startswith(shown)]
    assert {"entrolab.fit.selection", "entrolab.fit.refit"}.isdisjoint(covered("fit"))


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*/*.py")), ids=lambda file: file.stem)
def test_the_digest_of_a_script_covers_all_that_it_imports(script):
    tree = ast.parse(script.read_bytes())
    named = {
        f"{node.module}.{one.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    files = script_files(script)
    assert files[0] == script
    assert closure(*filter(None, map(known, named))) - {module_name(file) for file in files[1:]} == set()


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("mine.py", "import entrolab.fit.refit, beside_mine  # which", False),
        ("mine.py", "import entrolab.fit.refit, beside_mine\nlimit = 2", True),
        ("beside_mine.py", "limit = 2", True),
    ],
)
def test_the_digest_of_a_measurement_follows_its_script(tmp_path, monkeypatch, name, text, counts):
    monkeypatch.syspath_prepend(tmp_path)
    files = {"mine.py": "import entrolab.fit.refit, beside_mine", "beside_mine.py": "limit = 1"}
    digests = []
    for contents in (files, files | {name: text}):
        for file, content in contents.items():
            (tmp_path / file).write_text(content)
        forget()
        digests.append(code_digest("measure", script=str(tmp_path / "mine.py")))
    assert (digests[0] != digests[1]) == counts


def forget():
    """Forget what has been read, as a new process does."""
    for one in ("code_digest", "versions", "_of_learner", "_version", "_imported_names"):
        getattr(code_digests, one).cache_clear()


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """A function of files that a user writes: the digest of a fit of ``mine.Mine``."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("mine", "beside", "helpers"):  # of other tests
        monkeypatch.delitem(sys.modules, name, raising=False)

    def of(files: dict[str, str]) -> str:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        forget()
        return code_digest("fit", "mine.Mine")

    return of


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("script.py", '"""Words."""\nimport beside, numpy\n\ndef draw(files): ...', False),
        ("script.py", "import beside, numpy\ndef draw(files, *, size=1): ...", True),
        ("beside.py", "x = 2", True),
        ("plots.py", "x = 2", False),  # which nothing imports
    ],
)
def test_the_digest_of_a_script_follows_its_code_and_what_it_imports(digest, tmp_path, name, text, counts):
    files = {"script.py": "import beside, numpy\ndef draw(files): ...", "beside.py": "x = 1"}
    digests = []
    for edit in ({}, {name: text}):
        digest({**files, **edit})
        digests.append(code_digest("figure", script=str(tmp_path / "script.py")))
    assert (digests[0] != digests[1]) is counts


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("mine.py", "import beside\nimport helpers.a\nclass Mine:  # one\n\n    strength = 1.0\n", False),
        (
            "mine.py",
            'import beside\nimport helpers.a\nclass Mine:\n    """Mine."""\n\n    strength = 1.0',
            False,
        ),
        ("mine.py", "import beside\nimport helpers.a\nclass Mine:\n    strength = 2.0\n", True),
        ("mine.py", "class Mine:", True),  # no Python
        ("beside.py", "x = 2", True),
        ("helpers/a.py", "from . import b", True),
        ("helpers/b.py", "x = 2", True),
        ("plots.py", "x = 2", False),  # which nothing imports
    ],
)
def test_the_digest_of_a_users_learner_follows_its_code(digest, name, text, counts):
    files = {
        "mine.py": "import beside\nimport helpers.a\nclass Mine:\n    strength = 1.0\n",
        "beside.py": "x = 1",
        "helpers/__init__.py": "",
        "helpers/a.py": "",
        "helpers/b.py": "x = 1",
        "plots.py": "x = 1",
    }
    assert (digest(files) != digest(files | {name: text})) == counts


@pytest.fixture
def fresh():
    forget()
    yield
    forget()


def test_a_learner_of_a_family_changes_with_its_family_and_what_all_share(fresh, monkeypatch):
    names = ("EEMClassifier", "MELM", "EntropySearch")
    fits = {name: code_digest("fit", f"entrolearn.{name}") for name in names}
    assert len({*fits.values()}) == 3
    assert code_digest("fit", "entrolearn.ELMClassifier") == fits["EEMClassifier"]  # the digest is a family's
    files = {module_name(file) for file in learner_files("entrolearn.EntropySearch")}
    assert {"entrolearn.machines.eem", "entrolearn.manifold.melm"} <= files  # above the families: all of them


def test_all_change_with_the_version_of_a_dependency_and_a_learner_with_that_of_its_package(
    fresh, monkeypatch
):
    before = {path: code_digest("fit", path) for path in ("yaml.Learner", "entrolearn.MELM")}
    number = {"PyYAML": "1"}
    monkeypatch.setattr(code_digests, "packages_distributions", lambda: {"yaml": ["PyYAML"]})
    real = code_digests.version

    def version(name: str) -> str:
        return number.get(name) or real(name)

    monkeypatch.setattr(code_digests, "version", version)
    forget()
    assert code_digest("fit", "yaml.Learner") != before["yaml.Learner"]
    assert code_digest("fit", "entrolearn.MELM") == before["entrolearn.MELM"]
    number["scikit-learn"] = "99"
    forget()
    assert code_digest("fit", "entrolearn.MELM") != before["entrolearn.MELM"]
