"""The same study gives the same bits: on one core and on two, in another order, in another folder.

What differs by nature is left out: seconds, dates, and what a report says of them.
"""

import json
import os

import joblib
import pandas as pd
import pytest
import yaml

from entrolab.io.model_reading import load

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"
ALL = [
    TABLE,
    "results/tiny/tables/correlations.csv",
    "results/tiny/figures/figure1.svg",
    "results/tiny/figures/figure3.html",
]
SECONDS = ["path_seconds"]
CORRELATIONS = {
    "type": "measured",
    "script": "correlations",
    "caption": "A term and the whole",
    "datasets": "moons",
    "columns": ["metric"],
    "metrics": {"spearman_h{sizes}": "h = {sizes}"},
    "params": {
        **{"sizes": [1, 3], "layers": 4, "operators": 5},
        **{"activation": "rbf", "weights": "normal", "formula": "right", "data": "scaled"},
    },
}


@pytest.fixture(scope="module")
def study(new_project) -> dict:
    """Two learners, one of which draws at random, a measured table, and figures that show no seconds."""
    whole = yaml.safe_load((new_project().folder / "studies" / "tiny.yaml").read_text(encoding="utf-8"))
    scores = {"models": ["lda", "eem"], "criterion": "dcs_gaussian"}
    tables = {"table1": whole["tables"]["table1"] | scores, "correlations": CORRELATIONS}
    figures = {name: whole["figures"][name] for name in ("figure1", "figure3")}
    models = {name: whole["models"][name] for name in ("lda", "eem", "melm")}
    return {**whole, "models": models, "tables": tables, "figures": figures}


@pytest.fixture(scope="module")
def one(new_project, study):
    """The study as it is made on two cores."""
    project = new_project(study)
    result = project.run(*ALL)
    assert result.returncode == 0, result.stdout[-5000:]
    return project


@pytest.fixture(scope="module")
def other(new_project, study, one):
    """The study made on one core, in another order, with another hash seed, beside a style for figures."""
    project = new_project(study)
    (project.folder / "matplotlibrc").write_text("lines.linewidth: 7\naxes.grid: True\nsavefig.bbox: tight\n")
    changed = {"PYTHONHASHSEED": "1"}
    first = project.run(
        "--cores=1", f"results/tiny/seed0/records/{trained(one)[-1]}.json", environment=changed
    )
    assert first.returncode == 0, first.stdout[-5000:]
    rest = project.run("--cores=1", "--scheduler=greedy", *ALL, environment=changed)
    assert rest.returncode == 0, rest.stdout[-5000:]
    return project


def trained(project) -> list[str]:
    """The runs, as dataset/model, in the order in which their jobs ended."""
    folder = project.folder / "results" / "tiny" / "records"
    records = sorted(folder.rglob("*.json"), key=lambda file: file.stat().st_mtime_ns)
    return [record.relative_to(folder).with_suffix("").as_posix() for record in records]


def bytes_of(project, pattern: str) -> dict[str, bytes]:
    files = {
        path.relative_to(project.folder).as_posix(): path.read_bytes()
        for path in sorted((project.folder / "results").glob(pattern))
        if path.is_file()
    }
    assert files
    return files


@pytest.mark.fault("Determinism", "one core instead of two, jobs in another order", "tables equal to the bit")
def test_tables_do_not_depend_on_cores_or_order(one, other):
    assert sorted(trained(other)) == sorted(trained(one))
    assert trained(other) != trained(one)
    assert one.tables() == other.tables()


@pytest.mark.fault(
    "Determinism", "another PYTHONHASHSEED, another folder", "candidates, predictions equal to the bit"
)
@pytest.mark.parametrize("stage", ["candidates", "selection", "predictions"])
def test_results_behind_the_tables_are_equal(one, other, stage):
    files = [
        path.relative_to(one.folder) for path in (one.folder / "results").glob(f"tiny/{stage}/*/*.parquet")
    ]
    assert len(files) == 4
    for file in files:
        ours, theirs = (pd.read_parquet(project.folder / file) for project in (one, other))
        pd.testing.assert_frame_equal(
            ours.drop(columns=SECONDS, errors="ignore"),
            theirs.drop(columns=SECONDS, errors="ignore"),
            check_exact=True,
        )


@pytest.mark.fault("Determinism", "another PYTHONHASHSEED, another folder", "data, folds equal to the bit")
@pytest.mark.parametrize("pattern", ["data/*.npz", "tiny/scaled/*.npz", "tiny/folds/*.npz"])
def test_data_and_folds_are_equal(one, other, pattern):
    assert bytes_of(one, pattern) == bytes_of(other, pattern)


def models_of(project) -> dict[str, str]:
    """The hash of the contents of each model, whose file also has memory addresses and the time."""
    folder = project.folder / "results/tiny/models"
    return {str(file.relative_to(folder)): joblib.hash(load(file, [])) for file in folder.rglob("*.skops")}


@pytest.mark.fault("Determinism", "the same fit in another run", "models equal to the bit")
def test_kept_models_are_equal(one, other):
    assert models_of(one) == models_of(other)
    assert len(models_of(one)) == 4


@pytest.mark.fault(
    "Determinism",
    "a matplotlibrc in the working folder",
    "svg, png, csv and html of figures equal to the bit",
)
def test_figures_are_equal(one, other):
    assert bytes_of(one, "tiny/figures/*") == bytes_of(other, "tiny/figures/*")


COUNTED = "results/tiny/seed0/records/my-moons/threads.json"

# A learner of a user's own that says in its error how many threads it was given.
THREADS = """
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info

class Threads(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError(f"threads: {sorted({pool['num_threads'] for pool in threadpool_info()})}")

    def predict(self, X):
        raise NotImplementedError
"""


@pytest.fixture(scope="module")
def on_threads(new_project, study, tmp_path_factory):
    """Train a run that is large enough for threads, and one that counts them."""
    module = tmp_path_factory.mktemp("module")
    (module / "counting_threads.py").write_text(THREADS)

    def make(*arguments: str, **environment: str):
        project = new_project()
        catalog = yaml.safe_load((project.folder / "data.yaml").read_text(encoding="utf-8"))
        moons = catalog["my-moons"]
        moons["generator"]["n_samples"] = 3000
        moons["expect"] |= {"rows": 3000, "negative": 1500, "positive": 1500}
        models = {
            "eem": study["models"]["eem"] | {"grid": {"n_hidden": [100, 300]}},
            "threads": {"label": "T", "estimator": "counting_threads.Threads"},
        }
        table = study["tables"]["table1"] | {"datasets": "moons"}
        tables = {"table1": table | {"models": ["eem"]}, "counted": table | {"models": ["threads"]}}
        counted = {**study, "models": models, "tables": tables}
        del counted["figures"]
        project.write(counted, catalog)
        path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(module)]))
        result = project.run(TABLE, COUNTED, *arguments, environment={**environment, "PYTHONPATH": path})
        assert result.returncode == 0, result.stdout[-5000:]
        return project

    return make


@pytest.fixture(scope="module")
def on_one_thread(on_threads):
    """As rules ask for it, whatever the user's variables say."""
    seven = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "7")
    return on_threads(**seven)


@pytest.fixture(scope="module")
def on_two_threads(on_threads):
    return on_threads("--set-threads=train=2")


def threads_of(project) -> str:
    return json.loads((project.folder / COUNTED).read_text(encoding="utf-8"))["error"]


@pytest.mark.fault(
    "Determinism", "OMP_NUM_THREADS=7 and the like", "every job trains on one thread all the same"
)
def test_a_job_has_the_threads_of_its_rule(on_one_thread, on_two_threads):
    assert "threads: [1]" in threads_of(on_one_thread)
    assert "threads: [2]" in threads_of(on_two_threads)


@pytest.mark.fault(
    "Determinism",
    "two BLAS threads instead of one",
    "candidates equal to 1e-9 of their size, tables to their digits",
)
def test_two_threads_round_otherwise_and_no_more(on_one_thread, on_two_threads):
    file = "results/tiny/seed0/candidates/my-moons/eem.parquet"
    ours, theirs = (
        pd.read_parquet(project.folder / file).drop(columns=SECONDS)
        for project in (on_one_thread, on_two_threads)
    )
    pd.testing.assert_frame_equal(ours, theirs, check_exact=False, rtol=1e-9, atol=0)
    assert on_one_thread.tables() == on_two_threads.tables()
