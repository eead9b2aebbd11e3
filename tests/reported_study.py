"""A small study and what its cells leave behind, for the tests of the report."""

import json

import pandas as pd

MODELS = {
    "eem_rbf": {
        "label": "EEM",
        "sublabel": "rbf",
        "estimator": "entrolearn.EEMClassifier",
        "params": {},
        "steps": [],
        "grid": {"n_hidden": [50, 100]},
        "criteria": ["cv"],
    },
    "svm_rbf": {
        "label": "SVM",
        "sublabel": "<rbf>",
        "estimator": "sklearn.svm.SVC",
        "params": {},
        "steps": [],
        "grid": {"gamma": {"logspace": [-1, 0, 10]}},
        "criteria": ["cv"],
    },
}

STUDY = {
    "title": "Machines & <entropy>",
    "reference": "A. Author. A Journal 1 (2020).",
    "about": "",
    "answer": [],
    "url": "https://example.org/paper",
    "scaling": {"method": "minmax", "range": [0, 1], "fit_on": "all"},
    "protocol": {"folds": 2, "repeats": 1, "inner": "leave-two-folds-out"},
    "metrics": ["gmean", "accuracy"],
    "criteria": ["cv"],
    "datasets": {"real": ["iris", "wine"]},
    "tasks": {"iris": "binary", "wine": "binary", "extra": "binary"},
    "models": MODELS,
    "tables": {
        "table4": {
            "type": "scores",
            "caption": "GMEAN",
            "datasets": "real",
            "models": ["eem_rbf", "svm_rbf"],
            "metric": "gmean",
            "criterion": "cv",
            "notes": ["A note of the study."],
            "published": "table4",
            "among": {},
            "tolerance": {},
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


# What the catalog says of the study's data sets.


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
