"""Digests of the code that decides the results of a stage; Snakemake itself does not follow imports.

A digest covers the modules that `STARTS` gives to the stage, its learners and its script, all that these
import, and the versions of what they are built on. Comments, docstrings and layout do not count.
"""

import ast
import hashlib
import platform
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

import entrolearn

LIBRARY, LAB = Path(entrolearn.__file__).parent, Path(__file__).parents[1]
OURS = {"entrolab": LAB, "entrolearn": LIBRARY}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
INSTALLED = {"site-packages", "dist-packages"}

# What tables and claims are made with.
SHOWS = "study.study results.reader claims seeds.rendering tables text"
# Stage -> the modules of the lab that its job starts with, of a package all; "-" leaves one out.
STARTS = {
    "prepare": "data.dataset data.prepare",
    "scale": "data.dataset data.preprocessing data.scale",
    "split": "data.dataset fit.protocols",
    # Fits ask `fit.selection` only for the candidates whose predictions they store.
    "fit": "data.preprocessing fit.run fit.training -fit.selection",
    "select": "fit.metrics fit.selection io.parquet",
    "refit": "data.preprocessing fit.refit fit.run",
    "measure": "data.preprocessing experiments.measurement experiments.measuring fit.learners",
    "table": SHOWS,
    "claims": SHOWS,
    "figure": f"{SHOWS} figures",
    "findings": f"{SHOWS} checks",
    "report": f"{SHOWS} figures checks report",
    "tracking": f"{SHOWS} figures tracking",
    "check": "study.learners",
}
# Files that decide no number: they count for the stages that start with them, not for those that import them.
LEFT_OUT = {LAB / name for name in ("text.py", "io/atomic.py", "figures/registry.py")}
LEFT_OUT |= {LIBRARY / name for name in ("__init__.py", "documentation.py", "suggest.py")}
LEFT_OUT |= {*LAB.glob("jobs/*.py")}


@cache
def code_digest(stage: str, *import_paths: str, script: str = "") -> str:
    """The digest of the code of a stage, such as "fit", of its learners and of its script."""
    files, packages = code_of(stage, *import_paths, script=script)
    lines = sorted(f"{file.name} {_parsed(file)[0]}" for file in files)
    lines += [f"{name} {_version(name)}" for name in sorted(packages)]
    lines += [f"{name} {number}" for name, number in versions().items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """The versions that all results depend on, by package."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: _version(name) for name in ("numpy", "scipy", "sklearn")}}


def code_of(stage: str, *import_paths: str, script: str = "") -> tuple[set[Path], set[str]]:
    """The files that a digest covers, and the installed packages that learners and the script import."""
    own = STARTS[stage].split()
    left_out = LEFT_OUT.union(*(_files(f"{LAB.name}.{name[1:]}") for name in own if name[0] == "-"))
    starts = [f"{LAB.name}.{name}" for name in own if name[0] != "-"]
    files = {file for name in (*starts, *import_paths) for file in _files(name)}
    files |= {Path(script)} if script else set()
    packages = {name for name in import_paths if not _files(name)}
    todo = [*files]
    while todo:
        file = todo.pop()
        is_ours = any(map(file.is_relative_to, OURS.values()))
        for name in _parsed(file)[1]:
            if is_ours and not name.startswith((f"{LAB.name}.", f"{LIBRARY.name}.")):
                continue  # the names in the library by `import entrolearn`, or another package
            found = _files(name)
            if not found:
                packages.add(name)
            found = found - left_out - files
            files |= found
            todo += found
    roots = {name.partition(".")[0] for name in packages}
    return files, roots - OURS.keys() - sys.stdlib_module_names


@cache
def _files(name: str) -> frozenset[Path]:
    """The files of the module or package of ours, or of the user's, that a dotted name is, or is in."""
    package, *parts = name.split(".")
    if package not in OURS:
        return frozenset(() if package in sys.stdlib_module_names else _own_files(package))
    if name == LIBRARY.name:
        return frozenset(LIBRARY.rglob("*.py"))
    if package == LIBRARY.name and (public := entrolearn._MODULES.get(".".join(parts))):
        return _files(public)
    while parts:
        module = OURS[package].joinpath(*parts)
        if module.with_suffix(".py").is_file():
            return frozenset({module.with_suffix(".py")})
        if module.is_dir():
            return frozenset(module.glob("*.py"))
        parts.pop()
    return frozenset()


def _own_files(package: str) -> list[Path]:
    """The files of a package or module that is not installed, but lies in a folder of the user's.

    Of a package, all, because its files may import each other.
    """
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # ValueError: `__main__`
        return []
    folders = [*(spec.submodule_search_locations or ())] if spec else []
    found = [file for folder in folders for file in Path(folder).rglob("*.py")]
    found = found or ([Path(spec.origin)] if spec and spec.has_location and spec.origin else [])
    return [file for file in found if INSTALLED.isdisjoint(file.parts)]


@cache
def _version(package: str) -> str:
    """The version of an installed package; "" if there is none."""
    try:
        return version({"sklearn": "scikit-learn"}.get(package, package))
    except PackageNotFoundError:
        return " ".join(map(version, packages_distributions().get(package, ())))


@cache
def _parsed(file: Path) -> tuple[str, frozenset[str]]:
    """The digest of a file's syntax tree, and the dotted names that it imports absolutely.

    The digest is that of the bytes if they are no Python.
    """
    content, found = b"", set()
    try:
        content = file.read_bytes()
        tree = ast.parse(content)
        found.update(_imports([tree]))
        content = ast.dump(tree).encode()
    except (OSError, SyntaxError, ValueError):
        pass
    return hashlib.sha256(content).hexdigest(), frozenset(found)


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that statements, and those inside them, import absolutely; remove their docstrings."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(node, part, ())
            yield from _imports(inside if isinstance(inside, list) else ())
