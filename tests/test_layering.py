"""The arrows of the architecture, read from the imports of every module.

entrolab -> search, selection, feature_learning, feature_selection, metrics, plotting, streaming
-> families -> leaves -> suggest, user_warnings, validation, numpy, scipy, scikit-learn

All but the first are entrolearn, a distribution of its own, which never imports entrolab. Within entrolab,
each of `PARTS` imports earlier ones.

An import counts wherever it stands: at the top, in a function, for type checkers only, or by `import_module`
with a literal name. A new module at the package's top, and a family's new shared part, is named in the tables
below.
"""

import ast
import graphlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
LIBRARY, LAB = "entrolearn", "entrolab"

# What even the leaves may import.
ROOTS = {"suggest", "user_warnings", "validation"}
LEAVES = {"axes", "columns", "kernels", "log_joint", "measures", "optimize", "path"}
# Each family with the parts that its learners are joined from. Learners do not know one another.
FAMILIES = {
    "machines": {
        "additive",
        "base",
        "boxes",
        "devices",
        "dual_ridge",
        "entropy_path",
        "gradients",
        "layered",
        "layers",
        "moments",
        "readouts",
        "ridge",
        "smooth",
        "sums",
    },
    "sparse_svm": {"base", "lp"},
    "manifold": {"densities", "objective", "exact", "binned", "solvers"},
    "cluster": {"equal_rows", "gaussians", "hartigan", "posteriors", "potentials"},
    "networks": {"perceptron", "relative", "sources", "spans", "targets"},
    "maxent": {"dual", "features", "quadrature", "solvers"},
}
ABOVE_FAMILIES = {
    "feature_learning",
    "feature_selection",
    "search",
    "selection",
    "metrics",
    "plotting",
    "streaming",
}
LEVEL = (
    dict.fromkeys(ROOTS, -1)
    | dict.fromkeys(LEAVES, 0)
    | dict.fromkeys(FAMILIES, 1)
    | dict.fromkeys(ABOVE_FAMILIES, 2)
    | {LAB: 3}
)

# The parts of the lab, lowest first. A part imports earlier ones; the modules beside the parts import all.
PARTS = (
    "text",
    "io",
    "jobs",
    "schema",
    "data",
    "fit",
    "results",
    "experiments",
    "tables",
    "figures",
    "study",
)
PARTS += ("seeds", "claims", "checks", "report", "tracking", "stages")

SCIENTIFIC = {"numpy", "scipy", "sklearn"}
# What `pip install entrolearn` brings: its dependencies, and the two that scikit-learn brings along.
INSTALLED = SCIENTIFIC | {"highspy", "joblib", "threadpoolctl"}
ONLY_IN = {
    "contourpy": "plotting",
    "dask": "streaming",
    "distributed": "streaming",
    "mlflow": "entrolab.tracking",
    "matplotlib": "plotting",
    "pandas": "entrolab",
    "pyarrow": "streaming",
    "pymanopt": "manifold.solvers",
    "snakemake": "entrolab",
    "tqdm": "streaming",
    "zarr": "streaming",
}
# Functions that hand out a frame of pandas, or ask a file for its rows before it is read.
EXCEPTIONS = {("plotting.display", "pandas")}


@dataclass(frozen=True)
class Import:
    """Who imports what: our modules by their `short` names, or a library."""

    importer: str
    imported: str
    line: int
    own: bool

    def broken_rule(self) -> str | None:
        """The rule that this import breaks, in words; None where it keeps them all."""
        if self.importer == "":
            return None  # the root's table of public names; its own test holds that it loads nothing
        if unit(self.importer) not in LEVEL:
            return "this module has no layer: name it in tests/test_layering.py"
        return self._broken_arrow() if self.own else self._broken_dependency()

    def _broken_arrow(self) -> str | None:
        here, there = unit(self.importer), unit(self.imported)
        if here == LAB:
            return self._broken_order()
        if there == LAB:
            return "entrolearn never imports entrolab"
        if there == "":
            return "below entrolab, a name is imported from the module that defines it"
        if there not in LEVEL:
            return f"{there} has no layer: name it in tests/test_layering.py"
        if LEVEL[there] > LEVEL[here]:
            return f"arrows point down: {there} is above {here}"
        if LEVEL[there] == LEVEL[here] == LEVEL["measures"] and there != here:
            return "leaves never import each other"
        if here in FAMILIES and there in FAMILIES:
            return self._broken_family(here, there)
        return None

    def _broken_order(self) -> str | None:
        here, there = (f"{name}..".split(".")[1] for name in (self.importer, self.imported))
        if here in PARTS and there in PARTS and PARTS.index(there) > PARTS.index(here):
            return f"parts of the lab import earlier ones: {there} is after {here}"
        is_module = (SOURCE / LAB / f"{there}.py").is_file() and there not in PARTS
        return f"no part imports a module beside the parts: {there}" if here in PARTS and is_module else None

    def _broken_family(self, here: str, there: str) -> str | None:
        if here != there:
            return "families never import each other"
        gathers = self.importer == here  # the family's __init__
        parts = FAMILIES[here]
        if gathers or self.imported.partition(".")[2] in parts:
            return None
        return f"within a family only its parts are imported ({', '.join(sorted(parts)) or 'it has none'})"

    def _broken_dependency(self) -> str | None:
        home = ONLY_IN.get(self.imported)
        if home is not None:
            inside = f"{self.importer}.".startswith(f"{home}.")
            inside |= (self.importer, self.imported) in EXCEPTIONS
            return None if inside else f"only {home} imports {self.imported}"
        allowed = {0: SCIENTIFIC, 3: None}.get(LEVEL[unit(self.importer)], INSTALLED)
        if allowed is None or self.imported in allowed:
            return None
        return f"here only {', '.join(sorted(allowed))} and the standard library are imported"


def unit(module: str) -> str:
    """The first part of a module's short name: a family, a leaf, "entrolab"."""
    return module.partition(".")[0]


def short(name: str) -> str:
    """A module's name, relative to entrolearn: "machines.eem", "entrolab.fit.training", "" for the root."""
    return name.removeprefix(LIBRARY).lstrip(".")


def modules(source: Path) -> dict[str, Path]:
    """Every module of both packages, by its short name."""
    found = {}
    for file in sorted(path for package in (LIBRARY, LAB) for path in (source / package).rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        found[short(".".join(parts[:-1] if parts[-1] == "__init__" else parts))] = file
    return found


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[Import]:
    """What one module imports, our modules by their short names, libraries by their first."""
    for line, name in _imported_names(module, file):
        if unit(name) in {LIBRARY, LAB}:
            own = short(name)
            while own not in known:  # a name inside a module rather than a module
                own = own.rpartition(".")[0]
            yield Import(module, own, line, own=True)
        elif unit(name) not in sys.stdlib_module_names:
            yield Import(module, unit(name), line, own=False)


def _imported_names(module: str, file: Path) -> Iterator[tuple[int, str]]:
    package = [*([] if unit(module) == LAB else [LIBRARY]), *filter(None, module.split("."))]
    if file.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=origin, names=names, level=level):
                base = package[: len(package) - level + 1] if level else []
                for alias in names:
                    yield node.lineno, ".".join([*base, *filter(None, [origin]), alias.name])
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                if ast.unparse(function) in {"import_module", "importlib.import_module", "__import__"}:
                    yield node.lineno, name


def all_imports(source: Path) -> list[tuple[Path, Import]]:
    """Every import of both packages, with its file."""
    known = modules(source)
    return [(file, each) for module, file in known.items() for each in imports(module, file, known)]


def violations(source: Path, found: list[tuple[Path, Import]]) -> list[str]:
    """One line per import that breaks a rule: file, line, what it imports, the rule."""
    return [
        f"{file.relative_to(source)}:{each.line} imports {each.imported or 'the root'}: {rule}"
        for file, each in found
        if (rule := each.broken_rule())
    ]


def cycle(found: list[tuple[Path, Import]]) -> list[str]:
    """Modules that import each other in a circle; empty where there is none."""
    graph: dict[str, set[str]] = {}
    for _, each in found:
        if each.own and each.importer and each.imported != each.importer:  # the root imports lazily
            graph.setdefault(each.importer, set()).add(each.imported)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


TESTS = Path(__file__).parent
# Tests of the lab, the pages and the tools; all others run where only entrolearn is installed.
TESTS_OF_THE_LAB = {"entrolab", "workflow", "docs", "tools", "benchmarks", "interoperability"}


def test_the_tests_of_the_library_run_without_the_lab():
    files = [file for file in TESTS.rglob("*.py") if file.relative_to(TESTS).parts[0] not in TESTS_OF_THE_LAB]
    assert len(files) > 150
    found = {
        f"{file.relative_to(TESTS)}:{line} imports {name}"
        for file in files
        for line, name in _imported_names("", file)
        if unit(name) in {LAB, "mlflow", "snakemake"}
    }
    assert found == set()


@pytest.fixture(scope="module")
def found() -> list[tuple[Path, Import]]:
    return all_imports(SOURCE)


def test_every_import_follows_the_arrows(found):
    assert (broken := violations(SOURCE, found)) == [], "\n".join(broken)


def test_no_modules_import_each_other_in_a_circle(found):
    assert cycle(found) == []


def placed(source: Path, name: str) -> Path:
    """The path of a planted file, given in full in entrolab and relative to the package in entrolearn."""
    return source / name if unit(name.replace("/", ".")) == LAB else source / LIBRARY / name


@pytest.fixture
def plant(tmp_path):
    """Two small packages that keep the rules; the function puts one more line into one of their files."""
    kept = {
        "__init__.py": "from entrolearn.machines.eem import EEMClassifier",
        "validation.py": "from sklearn.utils import check_array",
        "path.py": "import functools\nfrom sklearn.base import clone",
        "measures/__init__.py": "from entrolearn.measures.density import bandwidth",
        "measures/density.py": "import math\nimport numpy as np",
        "metrics.py": "from sklearn.metrics import make_scorer",
        "selection.py": "import joblib\nfrom entrolearn import measures\nfrom .metrics import gmean",
        "plotting/__init__.py": "from entrolearn.plotting.style import save_figure",
        "plotting/style.py": "import matplotlib.pyplot as plt",
        "machines/__init__.py": "",
        "machines/moments.py": "import numpy",
        "machines/layers.py": "import scipy.linalg",
        "machines/readouts.py": "from .moments import ClassMoments",
        "machines/eem.py": "from entrolearn.machines import layers, readouts\nfrom ..path import path",
        "machines/elm.py": "from entrolearn.machines.layers import RandomLayer",
        "cluster/__init__.py": "from .cec import CEC",
        "cluster/cec.py": "from entrolearn.measures import bandwidth",
        "entrolab/__init__.py": "",
        "entrolab/fit/training.py": "import pandas\nfrom .. import data",
        "entrolab/stages/fit.py": "from .. import tracking",
        "entrolab/command.py": "import snakemake",
        "entrolab/io/files.py": "import os",
        "entrolab/tables/base.py": "import math",
        "entrolab/tracking.py": "import mlflow",
    }
    for name, text in kept.items():
        file = placed(tmp_path, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def add(name: str, line: str) -> Path:
        with (placed(tmp_path, name)).open("a") as file:
            file.write(f"{line}\n")
        return tmp_path

    return add


def test_package_that_keeps_the_rules_has_no_violation_and_no_circle(plant):
    source = plant("metrics.py", "")
    found = all_imports(source)
    assert violations(source, found) == []
    assert cycle(found) == []


@pytest.mark.parametrize(
    ("file", "line", "rule"),
    [
        ("machines/eem.py", "from entrolearn.cluster.cec import CEC", "families never import each other"),
        ("cluster/cec.py", "from ..machines import moments", "families never import each other"),
        ("machines/elm.py", "from entrolearn.machines.eem import EEM", "only its parts are imported"),
        ("machines/layers.py", "from .eem import EEM", "only its parts are imported"),
        ("machines/elm.py", "from entrolearn import EEMClassifier", "from the module that defines it"),
        ("machines/eem.py", "import entrolearn.selection", "arrows point down: selection is above machines"),
        ("path.py", "from entrolearn.machines import eem", "arrows point down: machines is above path"),
        ("selection.py", "from entrolab import training", "entrolearn never imports entrolab"),
        ("path.py", "def f():\n    import entrolab", "entrolearn never imports entrolab"),
        ("path.py", "def f():\n    from entrolearn.measures import density", "leaves never import each othe"),
        ("machines/eem.py", "import pandas as pd", "only entrolab imports pandas"),
        ("selection.py", "def f():\n    import snakemake.utils", "only entrolab imports snakemake"),
        ("entrolab/fit/training.py", "import mlflow.sklearn", "only entrolab.tracking imports mlflow"),
        ("entrolab/fit/training.py", "import_module('mlflow')", "only entrolab.tracking imports mlflow"),
        ("entrolab/fit/training.py", "from matplotlib import pyplot", "only plotting imports matplotlib"),
        ("entrolab/fit/training.py", "def f():\n    from entrolab.tables import base", "tables is after fit"),
        ("entrolab/io/files.py", "from entrolab.command import main", "a module beside the parts: command"),
        ("machines/eem.py", "def f():\n    import pyarrow.parquet", "only streaming imports pyarrow"),
        ("measures/density.py", "import joblib", "here only numpy, scipy, sklearn"),
        ("machines/eem.py", "import torch", "here only highspy, joblib, numpy"),
        ("helpers.py", "import os.path, numpy", "this module has no layer"),
    ],
)
def test_planted_violation_is_found_with_its_file_line_and_rule(plant, file, line, rule):
    source = plant(file, line)
    (found,) = violations(source, all_imports(source))
    at = (placed(source, file)).read_text().splitlines().index(line.splitlines()[-1]) + 1
    assert found.startswith(f"{placed(source, file).relative_to(source)}:{at} imports ")
    assert rule in found


def test_planted_circle_is_found_even_where_one_of_its_imports_waits_in_a_function(plant):
    source = plant("machines/moments.py", "def f():\n    from entrolearn.machines import readouts")
    found = all_imports(source)
    assert violations(source, found) == []
    assert set(cycle(found)) == {"machines.moments", "machines.readouts"}
