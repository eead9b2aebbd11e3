"""`make seeds` by the real workflow: the values of each seed, and the page that shows them."""

import subprocess
import sys

import pandas as pd
import pytest

from entrolab.seeds.values import read_seeds

pytestmark = pytest.mark.workflow

PUBLISHED = """table,dataset,model,metric,value,std
table1,my-moons,lda,gmean,85,40
table1,my-moons,eem,gmean,5,1
"""


@pytest.fixture(scope="module")
def project(new_project):
    study = {
        "protocol": {"folds": 3},
        "metrics": ["gmean"],
        "datasets": {"moons": ["my-moons"]},
        "models": {
            "lda": {"estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"},
            "eem": {"estimator": "entrolearn.EEMClassifier", "grid": {"n_hidden": [5, 10]}},
        },
        "tables": {"table1": {"type": "scores", "caption": "GMEAN", "datasets": "moons"}},
        "seeds": "../seeds.csv",
        "published": "published.csv",
    }
    project = new_project(study)
    project.study = study
    (project.folder / "studies/published.csv").write_text(PUBLISHED)
    return project


@pytest.fixture
def command(project):
    """Run `python -m entrolab.seeds` in the project's folder: its exit code, and what it says itself."""

    def run(*arguments: str) -> tuple[int, list[str]]:
        settings = ["--config", "extra_studies=studies", "extra_datasets=data.yaml"]
        result = subprocess.run(
            [sys.executable, "-m", "entrolab.seeds", *arguments, *settings],
            cwd=project.folder,
            env=project.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        own = [line for line in result.stdout.splitlines() if line.startswith(("tiny ", "seeds.csv"))]
        return result.returncode, own or [result.stdout[-3000:]]

    return run


def test_a_table_is_made_with_each_seed_by_the_workflow(project, command):
    file = project.folder / "seeds.csv"
    code, said = command("make", "tiny", "--seeds", "1", "--cores", "1")
    assert code == 0, said
    assert [line.split(":")[0] for line in said] == ["tiny table1, seed 0"]
    first = read_seeds(file)
    assert first[["dataset", "model"]].values.tolist() == [["my-moons", "lda"], ["my-moons", "eem"]]
    shown = pd.read_csv(project.folder / "results/tiny/tables/table1.csv")
    assert first["0"].tolist() == pytest.approx(shown["ours"].tolist(), rel=1e-5)

    # Only the second seed is missing.
    code, said = command("make", "tiny", "--seeds", "2", "--cores", "1")
    assert [line.split(":")[0] for line in said] == ["tiny table1, seed 1"]
    whole = read_seeds(file)
    assert (whole["0"] != whole["1"]).all()
    assert not (project.folder / "results/seeds/tiny/1/results/tiny/tracked").exists()
    pd.testing.assert_frame_equal(whole.drop(columns="1"), first)


def test_the_page_of_the_table_shows_the_verdicts_over_seeds(project):
    assert project.run("results/tiny/tables/table1.html").returncode == 0
    page = (project.folder / "results/tiny/tables/table1.html").read_text()
    assert "over 2 seeds" in page
    assert "of 2 numbers with 2 seeds" in page
    assert "Verdicts over seeds" in page
