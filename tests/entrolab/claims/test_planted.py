"""Claims on tables of a learner and its twin: known outcomes, and a bug planted in one that flips them."""

import yaml
from made_tables import make_tables
from planted_learner import Mine

from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.study.config import load_study

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
    {"id": name, "place": "section 1", "claim": f"{name} is so.", "tests": [test]}
    for name, test in TESTS.items()
]
STUDY = {
    "title": "A learner and its twin",
    "scaling": {"method": "standard"},
    "protocol": {"folds": 5},
    "metrics": ["accuracy"],
    "checks": False,
    "datasets": {"tumours": ["sklearn-wdbc"]},
    "models": {
        "lda": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "mine": "planted_learner.Mine",
    },
    "tables": {"table1": {"type": "scores", "caption": "", "datasets": "tumours", "metric": "accuracy"}},
    "claims": "claims.txt",
}


def test_a_bug_planted_in_a_learner_flips_the_outcomes_that_rest_on_it(catalog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claims.txt").write_text(yaml.safe_dump({"claims": CLAIMS}))
    (tmp_path / "twins.yaml").write_text(yaml.safe_dump(STUDY))
    study = load_study(tmp_path / "twins.yaml", catalog)

    def outcomes() -> dict[str, str]:
        make_tables(study, catalog, ["table1"])
        found = evaluate(study.claims, Numbers(study))
        return dict(zip(found["id"], found["outcome"], strict=True))

    before = outcomes()
    assert before == {
        "the-same": "holds",
        "no-worse": "holds",
        "not-better": "undecided",
        "learns": "holds",
        "learns-too": "holds",
    }
    monkeypatch.setattr(Mine, "sign", -1)
    assert outcomes() == before | {
        "the-same": "fails",
        "no-worse": "fails",
        "not-better": "holds",
        "learns-too": "fails",
    }
