"""The two distributions of this repository, installed from their wheels where there is no checkout."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
import skops.io
import yaml
from golden_tables import check_golden
from packaging.requirements import Requirement
from sklearn.datasets import load_iris

from entrolab.fit.learners import build

ROOT = Path(__file__).parents[2]
FOLDERS = {"entrolearn": ROOT, "entrolab": ROOT / "src" / "entrolab"}
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"

EXAMPLE = """
import sys
from entrolearn import EEMClassifier
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
assert EEMClassifier(n_hidden=20, random_state=0).fit(X, y).score(X, y) > 0.8
assert not {"pandas", "entrolab", "matplotlib"} & sys.modules.keys()
try:
    import entrolab
except ModuleNotFoundError as error:
    print(error)
"""


def project(name: str) -> dict:
    return tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())["project"]


def run(*command, folder: Path) -> str:
    """What a program says that is started in a folder, with none of this environment's paths."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["PATH"] = os.defpath
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    return done.stdout + done.stderr


def needed(requirements: list[str], extras: set[str], known: dict[str, set[str]]) -> None:
    """Add the installed distributions that some requirements lead to, but those of this repository."""
    for requirement in map(Requirement, requirements):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        wanted = {"", *extras}
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in wanted):
            continue
        if name in known and requirement.extras <= known[name]:
            continue
        known.setdefault(name, set()).update(requirement.extras)
        if name in FOLDERS:
            own = project(name)
            more = [own["optional-dependencies"][extra] for extra in requirement.extras]
            needed([*own["dependencies"], *sum(more, [])], set(), known)
        else:
            needed(distribution(name).requires or [], set(requirement.extras), known)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for place in FOLDERS.values():
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=place)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """An environment with nothing but pip, which the one of the tests may lack."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, folder=folder)
    return folder


def link(requirements: list[str], environment: Path) -> None:
    """Link what some requirements lead to from this environment into another."""
    known: dict[str, set[str]] = {}
    needed(requirements, set(), known)
    for each in known.keys() - FOLDERS.keys():
        found = distribution(each)
        for entry in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            place = environment / SITE / entry
            if not place.exists():
                place.symlink_to(found.locate_file(entry))


def install(name: str, wheels: Path, environment: Path) -> None:
    """Install a distribution from its wheel; no index is asked."""
    link([name], environment)
    # Not --no-deps: pip refuses a wheel that requires what is not there.
    pip = [environment / "bin" / "python", "-m", "pip", "install", "-q", "--no-compile"]
    run(*pip, "--no-index", "--find-links", wheels, name, folder=wheels)


@pytest.fixture(scope="module")
def learners(wheels, environment) -> Path:
    install("entrolearn", wheels, environment)
    return environment


@pytest.fixture(scope="module")
def both(learners, wheels, environment) -> Path:
    install("entrolab", wheels, environment)
    return environment


def test_both_have_one_version_and_the_second_asks_for_it_exactly():
    learners, lab = project("entrolearn"), project("entrolab")
    assert learners["version"] == lab["version"]
    (asked,) = (one for one in map(Requirement, lab["dependencies"]) if one.name == "entrolearn")
    assert str(asked.specifier) == f"=={learners['version']}"
    assert asked.extras <= learners["optional-dependencies"].keys()


def test_the_conda_environment_has_both_and_their_requirements():
    learners, lab = project("entrolearn"), project("entrolab")
    (asked,) = (one for one in map(Requirement, lab["dependencies"]) if one.name == "entrolearn")
    extras = [learners["optional-dependencies"][extra] for extra in asked.extras]
    required = [*learners["dependencies"], *sum(extras, []), *lab["dependencies"]]
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = (entry["pip"] for entry in conda if isinstance(entry, dict))
    own = {entry for entry in pip if entry.startswith("-e ")}
    assert {(ROOT / entry.removeprefix("-e ")).resolve() for entry in own} == {*FOLDERS.values()}
    listed = [entry.replace("matplotlib-base", "matplotlib") for entry in conda if isinstance(entry, str)]
    python = Requirement(f"python{learners['requires-python']}")
    assert set(map(Requirement, {*listed, *pip} - own)) - {Requirement("pip"), python} == set(
        map(Requirement, required)
    ) - {asked}


def test_the_learners_work_alone(learners, tmp_path):
    said = run(learners / "bin" / "python", "-c", EXAMPLE, folder=tmp_path)
    assert "No module named 'entrolab'" in said


LOADED = """
import importlib.util, sys
assert importlib.util.find_spec("entrolab") is None
import numpy, skops.io
types = skops.io.get_untrusted_types(file="model.skops")
assert {name.partition(".")[0] for name in types} == {"entrolearn", "mine"}
rows = numpy.load("rows.npy")
assert (skops.io.load("model.skops", trusted=types).predict(rows) == numpy.load("predicted.npy")).all()
"""
MINE = """
from sklearn.preprocessing import StandardScaler
class Scaler(StandardScaler): pass
"""


def test_a_stored_model_loads_without_the_workflow(learners, tmp_path, monkeypatch):
    link(["skops"], learners)
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    X, y = load_iris(return_X_y=True)
    spec = {"estimator": "entrolearn.EEMClassifier", "steps": [{"estimator": "mine.Scaler"}]}
    fitted = build(spec, 0).fit(X, y)
    skops.io.dump(fitted, tmp_path / "model.skops")
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "predicted.npy", fitted.predict(X))
    run(learners / "bin" / "python", "-c", LOADED, folder=tmp_path)


def test_the_workflow_is_found_without_a_checkout(both, tmp_path):
    said = run(both / "bin" / "entrolab", "--dry-run", "demo", folder=tmp_path)
    assert dict(line.split()[:2] for line in said.splitlines())["fit"] == "25"
    assert str(ROOT) not in said


def test_published_values_come_with_the_wheel(both, tmp_path):
    code = "from entrolab import load_published; print(len(load_published('eem', 'table4')))"
    assert run(both / "bin" / "python", "-c", code, folder=tmp_path).strip() == "81"


@pytest.mark.slow
def test_the_demonstration_of_the_wheels_has_the_golden_tables(both, tmp_path):
    run(both / "bin" / "entrolab", "demo", folder=tmp_path)
    check_golden("demo", tmp_path / "results" / "demo" / "tables")
    assert {"mlflow.db", "mlruns", "results", "logs"} <= {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "results" / "report" / "index.html").exists()
