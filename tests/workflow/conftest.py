"""A project of a user's own: a folder with a study and a data set, run by the real workflow."""

import base64
import copy
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import psutil
import pytest
import yaml
from mlflow_addresses import VARIABLES
from scripted_server import Script, serving

ROOT = Path(__file__).parents[2]

STUDY = yaml.safe_load("""
title: Two learners on two small data sets
scaling: {method: minmax, range: [0, 1]}
protocol: {folds: 3}
named_seeds: true
checks: false
metrics: [gmean, accuracy]
criteria: [cv, dcs_gaussian]
datasets: {both: [sklearn-wine-0, my-moons], moons: [my-moons], wines: [sklearn-wine-0]}
models:
  lda: {label: LDA, estimator: sklearn.discriminant_analysis.LinearDiscriminantAnalysis}
  svm: {label: SVM, sublabel: rbf, estimator: sklearn.svm.SVC, params: {kernel: rbf},
      grid: {gamma: [0.1, 1.0], C: [1, 10]}}
  # Chosen from by nothing but the figure that shows its sizes.
  eem: {label: EEM, estimator: entrolearn.EEMClassifier, grid: {n_hidden: {range: [5, 15, 5]}},
      criteria: [dcs_gaussian]}
  # Starts and planes alone are shown of it.
  melm: {label: MELM, estimator: entrolearn.MELM, params: {n_init: 2}}
  # Rows are no kernel matrix, which SVC says when it is fitted; nothing is known of that before.
  broken: {label: SVM, estimator: sklearn.svm.SVC, params: {kernel: precomputed}}
tables:
  table1: {type: scores, caption: GMEAN of two learners, datasets: both, models: [lda, svm], metric: gmean,
      criterion: cv}
  table2: {type: scores, caption: A learner that fails, datasets: moons, models: [broken], metric: accuracy,
      criterion: dcs_gaussian}
  table3: {type: scores, caption: A part of the grid to choose from, datasets: both, models: [svm],
      metric: gmean, criterion: dcs_gaussian, among: {gamma: {max: 0.1}, C: {max: 1}}}
  table4: {type: times, caption: Seconds, datasets: both, models: [lda, svm]}
  table5: {type: measured, script: starts, caption: Where starts end, datasets: moons, models: [melm],
      params: {starts: 16}, columns: [metric], metrics: {best: {label: best, decimals: 3},
      expected: {label: best of 16, summary: {at_least: 95}}}, summary: enough}
  table6: {type: measured, script: growth, caption: Time and size, datasets: moons,
      models: {svm: {params: {C: 1}}, broken: {}}, rows: [model], columns: [metric],
      params: {n_rows: [20, 40, 80], sizes: [], rows_at: 80, size_at: 1, size_names: {}},
      metrics: {seconds_by_rows: seconds, numbers_by_rows: numbers}}
figures:
  figure1: {type: process, caption: A machine and two moons, dataset: my-moons, model: eem,
      params: {n_hidden: 10}}
  figure2: {type: grid_curves, caption: Three sizes, datasets: moons, models: [eem], parameter: n_hidden,
      metric: gmean}
  figure3: {type: projections, caption: Planes, datasets: wines, models: [melm, lda]}
  figure4: {type: script, script: starts, of: measured, caption: Starts, table: table5}
""")

MOONS = {
    "title": "Two small moons",
    "source": "generated",
    "generator": {"name": "two_moons", "n_samples": 90, "noise": 0.2, "seed": 1},
    "task": "binary",
    "positive": [1],
    "expect": {"rows": 90, "features": 2, "negative": 45, "positive": 45},
    "reference": "generated",
}

# A study that is made in a few seconds, for tests that make it often: it draws a random layer, and shows
# nothing that another run would show otherwise.
SMALL = {
    **{key: value for key, value in STUDY.items() if key != "figures"},
    "title": "Two learners, to be disturbed",
    "models": {name: STUDY["models"][name] for name in ("lda", "eem")},
    "tables": {
        "table1": {
            "type": "scores",
            "caption": "GMEAN of two learners",
            "datasets": "both",
            "models": ["lda", "eem"],
            "metric": "gmean",
            "criterion": "dcs_gaussian",
        },
        "table2": {"type": "characteristics", "caption": "Counts", "datasets": "both"},
    },
}

# Three tasks, data sets of several sizes, learners by task, and a column of published numbers alone.
TRIALS = yaml.safe_load("""
title: Two learners and three tasks
scaling: {method: {of_dataset: scaling}, range: [-1, 1], targets: [0, 1]}
protocol: {trials: 3, train: {of_dataset: n_train}, test: 40, inner: {folds: 4, used: {of_dataset: inner}}}
named_seeds: true
checks: false
metrics: [accuracy, f1, rmse, support]
criteria: [cv]
of_dataset:
  scaling: {default: minmax, sklearn-iris: maxabs}
  n_train: {default: 80, my-moons: 50, sklearn-diabetes: 120}
  inner: {default: 4, sklearn-diabetes: 1}
  neighbours: {default: [1, 5], my-moons: [3]}
datasets:
  classes: [sklearn-iris, my-moons]
  values: [sklearn-diabetes]
  moons: [my-moons]
  all: [sklearn-iris, my-moons, sklearn-diabetes]
models:
  svm: {label: SVM, estimators: {classification: sklearn.svm.SVC, regression: sklearn.svm.SVR},
      grid: {gamma: {logspace: [-1, 0, 10]}, C: [1, 10]}, trials: 2}
  knn: {label: kNN, estimators: {classification: sklearn.neighbors.KNeighborsClassifier},
      grid: {n_neighbors: {of_dataset: neighbours}}}
  paper: {label: In print, published_only: true}
tables:
  accuracies: {type: scores, caption: Accuracy, datasets: classes, models: [svm, knn, paper],
      metric: accuracy, criterion: cv, tolerance: {points: 1}}
  both_scores: {type: scores, caption: Two metrics, datasets: moons, models: [svm],
      metric: [accuracy, f1, support], criterion: cv}
  sizes: {type: characteristics, caption: Sizes, datasets: all,
      counts: [n_features, n_classes, n_train, n_test]}
  chosen: {type: parameters, caption: Parameters, datasets: all,
      models: {svm: {n_support: n_support, C: C, sigma: 1/gamma}, knn: {k: n_neighbors}}, criterion: cv}
  sparse: {type: measured, script: density, caption: Density,
      models: {knn: {}, svm: {params: {kernel: linear}}},
      params: {dims: [20, 30], densities: [0.5, 0.1], n_rows: 30},
      columns: [model, metric],
      places: {"d{dims}_density{densities:g}": "d = {dims}, density {densities:g}"},
      metrics: {fit_seconds: seconds, ratio: ratio}}
figures:
  each: {type: script, script: trials, of: predictions, caption: Each trial, datasets: all,
      models: [svm, knn], metric: [accuracy, rmse], criterion: cv}
  density: {type: script, script: density, of: measured, caption: Density, table: sparse}
  kept: {type: script, script: support, of: models, caption: Kept rows, datasets: moons, models: [svm]}
""")


class Project:
    """A folder with `studies/tiny.yaml` and `data.yaml`, and the commands that a user runs in it.

    `root` is the checkout whose workflow and packages are run.
    """

    def __init__(self, folder: Path, study: dict, catalog: dict, root: Path = ROOT):
        self.folder, self.root = folder, root
        (folder / "studies").mkdir(parents=True, exist_ok=True)
        self.write(study, catalog)

    def write(self, study: dict, catalog: dict) -> None:
        for file, content in (("studies/tiny.yaml", study), ("data.yaml", catalog)):
            (self.folder / file).write_text(yaml.safe_dump(content, sort_keys=False))

    def command(self, *arguments: str, **config) -> list[str]:
        settings = {"extra_studies": "studies", "extra_datasets": "data.yaml", **config}
        flags, targets = (
            [one for one in arguments if one.startswith("-") is wanted] for wanted in (True, False)
        )
        return [
            *(sys.executable, "-m", "snakemake", "-s", str(self.root / "Snakefile")),
            *("--directory", str(self.folder), "--cores", "2", *flags),
            *("--config", *(f"{name}={value}" for name, value in settings.items())),
            *("--", *targets),
        ]

    @property
    def environment(self) -> dict[str, str]:
        """The tests' own, less what would send runs or settings elsewhere."""
        elsewhere = (*VARIABLES, "SNAKEMAKE_PROFILE", "SNAKEMAKE_OUTPUT_CACHE")
        kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
        kept |= {"XDG_CACHE_HOME": str(self.folder / "cache")}
        return kept if self.root == ROOT else kept | {"PYTHONPATH": str(self.root / "src")}

    def run(
        self,
        *arguments: str,
        environment: Mapping[str, str | None] | None = None,
        before: Sequence[str] = (),
        umask: int = -1,
        **config,
    ) -> subprocess.CompletedProcess:
        """Run snakemake to its end, by another command if need be; what it says is in ``stdout``.

        A variable of the environment that is None is left out.
        """
        changed = {**self.environment, **(environment or {})}
        return subprocess.run(
            [*before, *self.command(*arguments, **config)],
            env={name: value for name, value in changed.items() if value is not None},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="backslashreplace",
            umask=umask,
            check=False,
        )

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None, **config
    ) -> subprocess.Popen:
        """Start snakemake as the leader of its own group of processes; what it says is in the file `said`."""
        with self.said.open("w") as said:
            return subprocess.Popen(
                self.command(*arguments, **config),
                env={**self.environment, **(environment or {})},
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),  # which nohup ignores
            )

    @property
    def said(self) -> Path:
        """What a run that was started has said: beside the folder, which a test may fill or protect."""
        return self.folder.with_name(f"{self.folder.name}.said")

    def tables(self, study: str = "tiny") -> dict[str, bytes]:
        """The bytes of every table of a study."""
        folder = self.folder / "results" / study / "tables"
        return {file.name: file.read_bytes() for file in sorted(folder.glob("[!.]*"))}

    def finished_files(self) -> dict[str, str]:
        """The sha256 of each result that snakemake takes for finished."""
        markers = (self.folder / ".snakemake" / "incomplete").glob("*")
        begun = {base64.b64decode(marker.name).decode() for marker in markers}
        files = (path for path in (self.folder / "results").rglob("*") if path.is_file())
        names = {path.relative_to(self.folder).as_posix(): path for path in files}
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in names.items()
            if not name.startswith("results/report/")  # written anew for each study
            and "/benchmarks/" not in name  # no outputs: never begun, as far as snakemake knows
            and not any(part.startswith(".") for part in Path(name).parts)
            and not any(name == one or name.startswith(f"{one}/") for one in begun)
        }

    def lost_since(self, before: Mapping[str, str]) -> list[str]:
        """What is gone of an earlier `finished_files`, or has been made again, which changes its seconds."""
        now = self.finished_files()
        return [name for name, digest in before.items() if now.get(name) != digest]

    @staticmethod
    def wait_until(condition: Callable[[], object], running: subprocess.Popen) -> None:
        """Wait for something that a run does, before it ends."""
        while not condition():
            assert running.poll() is None, "the run ended before it came to that"
            time.sleep(0.02)


@pytest.fixture(scope="session")
def new_project(tmp_path_factory):
    """Make a project; the tiny study unless told otherwise."""

    def make(study: dict = STUDY, catalog: dict | None = None) -> Project:
        return Project(tmp_path_factory.mktemp("project"), study, catalog or {"my-moons": MOONS})

    return make


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The tiny study, made once in a copy of the checkout; tests read it and leave its files alone."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "Snakefile", root)
    for name in ("config", "src", "workflow"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    project = Project(root / "mine", STUDY, {"my-moons": MOONS}, root)
    project.result = project.run("tiny")
    assert project.result.returncode == 0, project.result.stdout[-5000:]
    return project


@pytest.fixture
def server() -> Iterator[Script]:
    """A scripted server: set `server.steps`, read `server.requests`, fetch from `server.url`."""
    with serving("table.csv") as script:
        yield script


@pytest.fixture(scope="session")
def entry_of_table() -> Callable[..., dict]:
    """A function that makes the catalog's entry of a csv file with two features and classes 0 and 1."""

    def make(content: bytes, url: str, **changes) -> dict:
        pinned = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        return {
            "title": "A table",
            "source": "files",
            "files": [{"path": "mine/table.csv", "url": url, **pinned}],
            "format": {"name": "csv"},
            "task": "binary",
            "positive": [1],
            "expect": {"rows": content.count(b"\n"), "features": 2},
            "reference": "generated",
            **changes,
        }

    return make


@pytest.fixture
def small() -> dict:
    """The study of faults, to be changed at will."""
    return copy.deepcopy(SMALL)


@pytest.fixture(scope="session")
def quick(new_project):
    """The first table of the study of faults on one data set, made with nothing in its way."""
    study = copy.deepcopy(SMALL)
    study["datasets"]["both"] = ["my-moons"]
    project = new_project(study)
    project.study = study
    project.result = project.run("results/tiny/tables/table1.csv")
    assert project.result.returncode == 0, project.result.stdout[-5000:]
    return project


@pytest.fixture
def copied(quick, tmp_path):
    """A copy of the quick study, to be disturbed."""
    shutil.copytree(quick.folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project", quick.study, {"my-moons": MOONS})


# Python imports it when it starts.
HOLDING = '''
"""Wait before a file whose path has the text of the file `hold` is moved into place, while that is there."""

import os
import time
from pathlib import Path

HOLD, move = Path(__file__).with_name("hold"), os.replace


def wait(before):
    while HOLD.exists() and HOLD.read_text() in before:
        HOLD.with_name(f"held-{os.getpid()}").touch()
        time.sleep(0.01)


def replace(source, target, **options):
    wait(os.fspath(target))
    move(source, target, **options)


os.replace = replace
'''

# A learner of a user's own.
HELD = '''
"""Discriminant analysis whose fits wait before they begin, as files wait."""

import sitecustomize
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


class HeldLDA(LinearDiscriminantAnalysis):
    def fit(self, X, y):
        sitecustomize.wait("fits")
        return super().fit(X, y)
'''


class HeldProject(Project):
    """The quick study, still to be made; its jobs wait before a file or a fit until they are released."""

    def __init__(self, folder: Path, study: dict):
        self.aside = folder.with_name(f"{folder.name}-aside")
        study = copy.deepcopy(study)
        study["models"]["lda"]["estimator"] = "held.HeldLDA"
        super().__init__(folder, study, {"my-moons": MOONS})
        self.aside.mkdir()
        for module, content in (("sitecustomize", HOLDING), ("held", HELD)):
            (self.aside / f"{module}.py").write_text(content)

    @property
    def environment(self) -> dict[str, str]:
        paths = f"{self.aside}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        return super().environment | {"PYTHONPATH": paths}

    def held(self, before: str, *arguments: str) -> tuple[subprocess.Popen, list[psutil.Process]]:
        """A run with a process that waits, and the processes from the server to that one."""
        self.release()  # a process of an earlier run may have come to its mark as that ended
        (self.aside / "hold").write_text(before)
        running = self.start(*arguments)
        self.wait_until(lambda: list(self.aside.glob("held-*")), running)
        (mark,) = self.aside.glob("held-*")
        chain = [psutil.Process(int(mark.name.removeprefix("held-")))]
        while chain[0].ppid() != running.pid:
            chain.insert(0, chain[0].parent())
        return running, chain

    def release(self) -> None:
        (self.aside / "hold").unlink(missing_ok=True)
        for mark in self.aside.glob("held-*"):
            mark.unlink()


@pytest.fixture
def new_held(quick, tmp_path):
    """Make the quick study, to be held, in an empty folder."""
    made = []

    def make() -> HeldProject:
        made.append(HeldProject(tmp_path / "held", quick.study))
        return made[-1]

    yield make
    for project in made:
        project.release()


@pytest.fixture(scope="session")
def undisturbed(new_project):
    """The study of faults, made once with nothing in its way; tests read it and leave it alone."""
    project = new_project(SMALL)
    project.result = project.run("tiny")
    assert project.result.returncode == 0, project.result.stdout[-5000:]
    return project


@pytest.fixture(scope="module")
def trials(new_project):
    """The tables and figures of the study of random trials, made once."""
    project = new_project(TRIALS)
    (project.folder / "studies" / "tiny.csv").write_text(
        "table,dataset,model,metric,value,std\naccuracies,sklearn-iris,paper,accuracy,95,\n"
    )
    project.write({**TRIALS, "published": "tiny.csv"}, {"my-moons": MOONS})
    targets = [
        f"results/tiny/{folder}/{name}.csv" for folder in ("tables", "figures") for name in TRIALS[folder]
    ]
    project.result = project.run(*targets)
    assert project.result.returncode == 0, project.result.stdout[-5000:]
    return project
