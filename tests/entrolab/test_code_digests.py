"""Digests of code: what they cover, and which edits change them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from entrolab.data.origins import made_by
from entrolab.figures.registry import FIGURE_TYPES
from entrolab.jobs import code_digests
from entrolab.jobs.code_digests import LAB, LEFT_OUT, LIBRARY, STARTS, code_digest, code_of
from entrolab.study.config import load_catalog

ROOT = Path(__file__).parents[2]


def module_name(file: Path) -> str:
    parts = file.relative_to(LAB.parent if file.is_relative_to(LAB) else LIBRARY.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NOT_FOLLOWED = {*map(module_name, LEFT_OUT)}


def covered(stage: str, *import_paths: str) -> set[str]:
    return {module_name(file) for file in code_of(stage, *import_paths)[0]}


def used_by(stages: str, function: str) -> set[str]:
    """The modules of the lab from which a function of `entrolab.stages` takes the names that it uses."""
    tree = ast.parse((LAB / "stages" / f"{stages}.py").read_bytes())
    [body] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    used = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    return {
        node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("entrolab.")
        if used & {alias.asname or alias.name for alias in node.names}
    }


# Not `page`: the settings that the report reads are no code; not `checkout`, whose commit is no result.
FUNCTIONS = {"data": ["prepare", "scale", "split"], "fit": ["fit", "select", "refit", "measure"]}
FUNCTIONS |= {"tables": ["table", "claims", "figure", "findings"]}


@pytest.mark.parametrize(
    ("stages", "stage"), [(stages, one) for stages, names in FUNCTIONS.items() for one in names]
)
def test_a_digest_covers_the_modules_that_a_stage_uses(stages, stage):
    # The words of messages do not count.
    assert used_by(stages, stage) - covered(stage) - NOT_FOLLOWED == set()


def test_a_digest_covers_all_that_python_imports():
    """Except packages' own modules without code, and what only modules that decide nothing import."""
    program = f"import {', '.join('entrolab.' + name for name in STARTS['split'].split())}\n"
    program += "import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith(("entrolab.", "entrolearn."))}
    code = {name for name in loaded if not (LIBRARY.parent / name.replace(".", "/")).is_dir()}
    assert "entrolab.fit.protocols" in code
    assert code - covered("split") - NOT_FOLLOWED == set()


def test_the_digest_of_figures_covers_their_types_and_a_scripts_that_of_what_it_imports():
    assert {one.__module__ for one in FIGURE_TYPES.values()} <= covered("figure")
    script = ROOT / "workflow" / "scripts" / "experiments" / "information_networks.py"
    files, packages = code_of("measure", script=str(script))
    assert script in files
    assert "entrolearn.networks.ica" in {module_name(one) for one in files - {script}}
    assert "numpy" in packages


def test_a_reader_is_of_its_own_format_alone():
    """Editing a reader prepares the data sets of its format again, and no others."""
    readers = {made_by(entry) for entry in load_catalog([ROOT / "config" / "datasets.yaml"]).values()}
    for reader in readers:
        assert (covered("prepare", reader) & readers) == {reader}
    assert covered("fit").isdisjoint(readers)


def test_rewording_tables_and_selecting_anew_fits_and_measures_nothing():
    shown = ("entrolab.tables", "entrolab.figures", "entrolab.study", "entrolab.report", "entrolab.claims")
    for stage in ("fit", "refit", "measure"):
        assert not [one for one in covered(stage) if one.startswith(shown)]
    assert {"entrolab.fit.selection", "entrolab.fit.refit"}.isdisjoint(covered("fit"))
    assert "entrolab.fit.selection" in covered("select") & covered("refit") & covered("table")


def forget():
    """Forget what has been read, as a new process does."""
    for one in ("code_digest", "versions", "_files", "_version", "_parsed"):
        getattr(code_digests, one).cache_clear()


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """A function of files that a user writes: the digest with ``mine.Mine`` or a script."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("mine", "beside", "helpers"):  # of other tests
        monkeypatch.delitem(sys.modules, name, raising=False)

    def of(files: dict[str, str], *import_paths: str, **options: str) -> str:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        forget()
        return code_digest("split", *import_paths, **options)

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
    first, second = (digest(files | edit, script=str(tmp_path / "script.py")) for edit in ({}, {name: text}))
    assert (first != second) is counts


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
    first, second = (digest(files | edit, "mine.Mine") for edit in ({}, {name: text}))
    assert (first != second) is counts


@pytest.fixture
def fresh():
    forget()
    yield
    forget()


def test_a_learner_changes_with_all_that_its_module_imports():
    found = covered("fit", "entrolearn.EEMClassifier")
    assert {"entrolearn.machines.eem", "entrolearn.kernels", "entrolearn.path"} <= found
    assert found.isdisjoint({"entrolearn.machines.elm", "entrolearn.manifold.melm"})
    # By the package that it is public in, each of its modules.
    assert {"entrolearn.manifold.melm", "entrolearn.manifold.kde"} <= covered(
        "fit", "entrolearn.manifold.GEM"
    )


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
