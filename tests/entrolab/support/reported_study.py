"""A small study and what its cells leave behind, for the tests of the report."""

import json

import pandas as pd
from made_studies import made_study

from entrolab.study.study import Study

CONTENT = {
    "title": "Machines & <entropy>",
    "reference": "A. Author. A Journal 1 (2020).",
    "url": "https://example.org/paper",
    "scaling": {"method": "minmax", "range": [0, 1]},
    "protocol": {"folds": 2},
    "metrics": ["gmean", "accuracy"],
    "datasets": {"real": ["iris", "wine"]},
    "models": {
        "eem_rbf": {
            "label": "EEM",
            "sublabel": "rbf",
            "estimator": "entrolearn.EEMClassifier",
            "grid": {"n_hidden": [50, 100]},
        },
        "svm_rbf": {
            "label": "SVM",
            "sublabel": "<rbf>",
            "estimator": "sklearn.svm.SVC",
            "grid": {"gamma": {"logspace": [-1, 0, 10]}},
        },
    },
    "tables": {
        "table4": {
            "type": "scores",
            "caption": "GMEAN",
            "datasets": "real",
            "metric": "gmean",
            "notes": ["A note of the study."],
        }
    },
    "errata": [
        {
            "where": "eq. (3) and Table 4",
            "published": "-ln",
            "taken": "-2 ln",
            "evidence": "quadrature",
            "tested_by": ["tests/test_a.py::test_b"],
        }
    ],
}
STUDY = made_study(CONTENT)


def with_sections(study: Study, **sections) -> Study:
    """The study with other sections, which are such as those of a file."""
    made = made_study(CONTENT | sections)
    named = {*sections, *(("tasks",) if "datasets" in sections else ())}
    return study.model_copy(update={name: getattr(made, name) for name in named})


def record(dataset, model, **changes):
    return {
        "key": f"paper/{dataset}/{model}",
        "dataset": dataset,
        "model": model,
        "success": True,
        "status": "ok",
        "error": "",
        "notes": {},
        "seed": 0,
        "n_candidates": 4,
        "n_failed": 0,
        "seconds": 30.0,
        "started": "2026-01-02T03:04:05+00:00",
        "versions": {"python": "3.11.2"},
        "machine": {"system": "Linux", "processor": "", "cores": 2},
    } | changes


def score_rows(dataset, model, params):
    return pd.DataFrame(
        {
            "study": "paper",
            "dataset": dataset,
            "model": model,
            "repeat": 0,
            "fold": [0, 1],
            "criterion": "cv",
            "point": 0,
            "params": [json.dumps(one) for one in params],
            "criterion_value": 1.0,
            "gmean": 0.8,
            "accuracy": 0.8,
            "success": True,
            "error": "",
        }
    )
