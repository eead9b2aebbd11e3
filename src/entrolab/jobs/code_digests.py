"""Digests of the code that decides the results of a stage; Snakemake itself does not follow imports.

A digest covers the files that `FILES` gives to the stage, the code of the learners that it fits, and the
versions of what both are built on. Comments, docstrings and layout do not count.
"""

import ast
import hashlib
import platform
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import entrolearn

LIBRARY, LAB = Path(entrolearn.__file__).parent, Path(__file__).parents[1]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
INSTALLED = {"site-packages", "dist-packages"}
FAMILIES = {"cluster", "machines", "manifold", "maxent", "networks", "sparse_svm"}
# The modules of entrolearn that learners share, and all of it that learners can use.
SHARED = "entrolearn/*.py entrolearn/measures/*.py entrolearn/metrics/*.py entrolearn/optimize/*.py"
SHARED += " -entrolearn/__init__.py -entrolearn/documentation.py -entrolearn/suggest.py"
ALL = " ".join([SHARED, *(f"entrolearn/{family}/*.py" for family in sorted(FAMILIES))])

ROWS = "data/dataset.py io/records.py io/parquet.py io/files.py"
FITS = f"{SHARED} {ROWS} data/preprocessing.py fit/learners.py io/limits.py fit/protocols.py fit/scoring.py"
FITS += " fit/run.py fit/thresholds.py"
SHOWS = f"{SHARED} {ROWS} data/preprocessing.py schema/*.py study/*.py tables/*.py experiments/*.py text.py"
SHOWS += " fit/*.py -fit/training.py -fit/refit.py"
SHOWS += " seeds/*.py claims/*.py results/*.py data/table_formats.py"
DRAWS = f"{SHOWS} {FITS} entrolearn/plotting/*.py entrolearn/manifold/*.py figures/*.py"
DRAWS += " io/model_reading.py"
# Stage -> its files; "-" excludes some, {} is the part of "stage:part", whose own files come on top.
FILES = {
    "prepare": f"{ROWS} data/prepare.py data/raw_table.py data/columns.py data/origins.py io/limits.py "
    "entrolearn/path.py data/formats/{}.py",
    "prepare:bundled": "data/bundled.py",
    "prepare:generators": "data/generators.py data/series.py",
    "prepare:table": "data/table_formats.py entrolearn/columns.py",
    "scale": f"{ROWS} data/scale.py data/preprocessing.py",
    "split": f"{ROWS} fit/protocols.py entrolearn/path.py",
    "fit": f"{FITS} fit/*.py -fit/selection.py -fit/refit.py",
    "select": f"{SHARED} io/parquet.py fit/selection.py fit/scoring.py fit/metrics.py",
    "refit": f"{FITS} fit/refit.py fit/curves.py fit/selection.py io/model_reading.py",
    "measure": f"{FITS} experiments/measurement.py experiments/measuring.py",
    "figure": DRAWS,
    "table": SHOWS,
    "claims": SHOWS,
    "findings": f"{SHOWS} checks/*.py",
    "report": f"{DRAWS} checks/*.py data/**/*.py io/*.py report/*.py",
    "tracking": f"{DRAWS} data/**/*.py io/*.py tracking/*.py",
    "check": "study/learners.py",
}


@cache
def code_digest(stage: str, *import_paths: str, script: str = "") -> str:
    """The digest of the code of a stage, such as "fit" or "prepare:csv", of its script and its learners."""
    files, imported = stage_files(stage), set(import_paths)
    if script:
        files += tuple(script_files(Path(script)))
        imported |= _imported(Path(script)) - {LAB.name, LIBRARY.name}
    lines = [_digest(file) for file in files]
    lines += sorted(set(chain.from_iterable(map(_of_learner, imported))))
    lines += [f"{name} {number}" for name, number in versions().items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """The versions that all results depend on, by package."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: _version(name) for name in ("numpy", "scipy", "sklearn")}}


@cache
def stage_files(stage: str) -> tuple[Path, ...]:
    """The files of a stage, sorted."""
    name, _, part = stage.partition(":")
    return tuple(_files(f"{FILES[name]} {FILES.get(stage, '')}".replace("{}", part)))


def script_files(script: Path) -> list[Path]:
    """A script, and the modules of ours that it imports, that these import, and so on."""
    found, todo = [], [script]
    while todo:
        file = todo.pop()
        if file not in found and not file.is_relative_to(LAB / "jobs"):
            found.append(file)
            todo += sorted(filter(None, map(_module_file, _imported_names(file))))
    return found


def _module_file(name: str) -> Path | None:
    """The file of the module of ours that a dotted name is, or is in."""
    package, *parts = name.split(".")
    folder = {"entrolab": LAB, "entrolearn": LIBRARY}.get(package)
    while folder and parts:
        module = folder.joinpath(*parts)
        for file in (module.with_suffix(".py"), module / "__init__.py"):
            if file.is_file():
                return file
        parts.pop()
    return None


def learner_files(import_path: str) -> list[Path]:
    """The files of a learner of entrolearn: of its family, or all of them if it is in none."""
    module = entrolearn._MODULES.get(import_path.removeprefix("entrolearn."), import_path)
    family = module.split(".")[1]
    return _files(f"entrolearn/{family}/*.py" if family in FAMILIES else ALL)


def _files(patterns: str) -> list[Path]:
    found: set[Path] = set()
    for pattern in patterns.split():
        name = pattern.removeprefix("-")
        inside = name.removeprefix("entrolearn/")
        matched = (LAB if inside == name else LIBRARY).glob(inside)
        found = found - {*matched} if pattern.startswith("-") else found | {*matched}
    return sorted(found)


@cache
def _of_learner(import_path: str) -> list[str]:
    """Digests and versions of what a learner consists of."""
    package = import_path.partition(".")[0]
    if package == "entrolearn":
        return [_digest(file) for file in learner_files(import_path)]
    # A user's own code, with all that it imports: whole packages, because their files may import each other.
    lines: list[str] = []
    todo, seen = [package], {*sys.stdlib_module_names}
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        files = _files(ALL) if name == "entrolearn" else _own_files(name)
        lines += map(_digest, files)
        if name != "entrolearn":
            todo += [one for file in files for one in _imported(file)]
        if not files:
            lines.append(f"{name} {_version(name)}")
    return lines


def _own_files(package: str) -> list[Path]:
    """The files of a package or module that is not installed, but lies in a folder of the user's."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # ValueError: `__main__`
        return []
    folders = [*(spec.submodule_search_locations or ())] if spec else []
    found = [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]
    found = found or ([Path(spec.origin)] if spec and spec.has_location and spec.origin else [])
    return [file for file in found if INSTALLED.isdisjoint(file.parts)]


@cache
def _version(package: str) -> str:
    """The version of an installed package; "" if there is none."""
    try:
        return version({"sklearn": "scikit-learn"}.get(package, package))
    except PackageNotFoundError:
        return " ".join(map(version, packages_distributions().get(package, ())))


def _imported(file: Path) -> frozenset[str]:
    """The first parts of the names that a file imports absolutely."""
    return frozenset(name.partition(".")[0] for name in _imported_names(file))


@cache
def _imported_names(file: Path) -> frozenset[str]:
    """The dotted names that a file imports absolutely."""
    try:
        nodes = [*ast.walk(ast.parse(file.read_bytes()))]
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def _digest(file: Path) -> str:
    try:
        return f"{file.name} {_content_digest(file.read_bytes())}"
    except OSError as error:
        return f"{file.name} {error}"


@cache
def _content_digest(content: bytes) -> str:
    """The digest of a syntax tree without docstrings; of the bytes if they are no Python."""
    try:
        tree = ast.parse(content)
        _strip_docstrings([tree])
        content = ast.dump(tree).encode()
    except (SyntaxError, ValueError):
        pass
    return hashlib.sha256(content).hexdigest()


def _strip_docstrings(nodes: Iterable[ast.AST]) -> None:
    for node in nodes:
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(node, part, ())
            _strip_docstrings(inside if isinstance(inside, list) else ())
