"""A study with published values and claims, and its tables with further seeds."""

import subprocess
import sys

import pandas as pd
import pytest
import yaml

from entrolab.seeds.values import read_seeds

pytestmark = pytest.mark.workflow

STUDY = {
    "title": "Two learners, published",
    "protocol": {"folds": 3},
    "metrics": ["accuracy"],
    "checks": False,
    "datasets": {"moons": ["my-moons"]},
    "models": {
        "lda": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "nb": "sklearn.naive_bayes.GaussianNB",
    },
    "tables": {"table1": {"type": "scores", "caption": "Accuracy", "datasets": "moons"}},
    "claims": "claims.txt",
    "published": "tiny.csv",
    "seeds": "../seeds.csv",
}
CLAIM = {"id": "learns", "place": "section 1", "claim": "It learns."}
TEST = {"type": "bound", "tables": ["table1"], "metric": "accuracy", "at_least": 60}
PUBLISHED = """table,dataset,model,metric,value,std
table1,my-moons,lda,accuracy,85,40
table1,my-moons,nb,accuracy,5,1
"""


@pytest.fixture(scope="module")
def project(new_project):
    project = new_project(STUDY)
    studies = project.folder / "studies"
    (studies / "claims.txt").write_text(yaml.safe_dump({"claims": [CLAIM | {"tests": [TEST]}]}))
    (studies / "tiny.csv").write_text(PUBLISHED)
    make_seeds(project, 2)
    result = project.run("results/tiny/tables/table1.csv", "results/tiny/claims.csv")
    assert result.returncode == 0, result.stdout[-5000:]
    return project


def make_seeds(project, n_seeds: int) -> None:
    """Make table1 with some seeds, as `make seeds` does."""
    command = [sys.executable, "-m", "entrolab.seeds", "tiny", "table1", "--cores", "2"]
    settings = ["--config", "extra_studies=studies", "extra_datasets=data.yaml"]
    result = subprocess.run(
        [*command, "--seeds", str(n_seeds), *settings],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:]


def test_the_claims_are_tested_on_the_tables(project):
    claims = pd.read_csv(project.folder / "results/tiny/claims.csv").set_index("id")
    # Discriminant analysis and naive Bayes both exceed 60 %.
    assert claims.at["learns", "outcome"] == "holds"


def test_seeds_are_made_and_the_page_shows_the_verdicts_over_them(project):
    values = read_seeds(project.folder / "seeds.csv")
    shown = pd.read_csv(project.folder / "results/tiny/tables/table1.csv").dropna(subset="published")
    assert values["0"].tolist() == pytest.approx(shown["ours"].tolist(), rel=1e-5)
    assert (values["0"] != values["1"]).any()
    assert not (project.folder / "results/tiny/seed1/models").exists()

    page = (project.folder / "results/tiny/tables/table1.html").read_text()
    assert "over 2 seeds" in page
    assert "of 2 numbers with 2 seeds" in page
