"""Claims tested by the workflow: known outcomes, and a bug planted in a learner that flips them."""

import pytest
import yaml

from entrolab.claims.rendering import outcomes
from entrolab.results.frames import read_claims

pytestmark = pytest.mark.workflow

# A learner beside the study that is scikit-learn's, until a bug is planted.
LEARNER = """
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


class Mine(LinearDiscriminantAnalysis):
    def predict(self, X):
        return super().predict({argument})
"""

TABLES = {
    "table1": {
        "type": "scores",
        "caption": "Accuracy of two learners",
        "datasets": "moons",
        "models": ["lda", "mine"],
        "metric": "accuracy",
        "criterion": "cv",
    }
}

ON = {"tables": ["table1"], "metric": "accuracy"}


def compared(type, a, b, **keys):
    return {"type": type, **ON, "models": [a], "against": [b], **keys}


TESTS = {
    "the-same": compared("equal", "mine", "lda", within={"points": 1}),
    "no-worse": compared("no_worse", "mine", "lda", within={"points": 1}),
    "not-better": compared("better", "lda", "mine"),
    "learns": {"type": "bound", **ON, "models": ["lda"], "at_least": 60},
    "learns-too": {"type": "count", **ON, "models": ["mine"], "at_least": 60, "count": {"min": 1}},
}
CLAIMS = [
    *(
        {"id": name, "place": "section 1", "claim": f"{name} is so.", "tests": [test]}
        for name, test in TESTS.items()
    ),
    {"id": "unknown", "place": "section 2", "claim": "Nobody knows.", "untested": "more data"},
]


STUDY = {
    "title": "A learner and its twin",
    "scaling": {"method": "standard"},
    "protocol": {"folds": 5},
    "metrics": ["accuracy"],
    "datasets": {"moons": ["my-moons"]},
    "models": {"lda": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis", "mine": "planted.Mine"},
    "tables": TABLES,
    "claims": "claims.txt",
}


@pytest.fixture(scope="module")
def project(new_project):
    project = new_project(STUDY)
    # Not .yaml, which would be a study.
    (project.folder / "studies" / "claims.txt").write_text(yaml.safe_dump({"claims": CLAIMS}))
    return project


def outcomes_of(project, argument: str) -> dict[str, str]:
    """The outcomes by claim, with a learner that predicts `argument`."""
    (project.folder / "studies" / "planted.py").write_text(LEARNER.format(argument=argument))
    result = project.run("results/tiny/claims.csv")
    assert result.returncode == 0, result.stdout[-5000:]
    found = read_claims(project.folder / "results/tiny/claims.csv")
    assert sum(outcomes(found).values()) == len(CLAIMS)
    return dict(zip(found["id"], found["outcome"], strict=False))


def test_a_bug_planted_in_a_learner_flips_the_outcomes_that_rest_on_it(project):
    before = outcomes_of(project, "X")
    assert before == {
        "the-same": "holds",
        "no-worse": "holds",
        "not-better": "undecided",
        "learns": "holds",
        "learns-too": "holds",
        "unknown": "not tested",
    }
    after = outcomes_of(project, "-X")
    assert after == before | {
        "the-same": "fails",
        "no-worse": "fails",
        "not-better": "holds",
        "learns-too": "fails",
    }
