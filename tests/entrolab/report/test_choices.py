"""Selected parameters."""

import json
from dataclasses import replace

import pandas as pd
from reported_study import STUDY

from entrolab.report.choices import chosen_parameters


def test_chosen_parameters_count_every_fold_and_list_the_whole_grid(results):
    chosen = {(row["model"], row["parameter"]): row["values"] for row in chosen_parameters(results)}
    assert chosen == {
        ("EEM rbf", "n_hidden"): [
            {"value": "50", "times": 0, "share": 0, "edge": False},
            {"value": "100", "times": 2, "share": 100, "edge": False},
        ],
        ("SVM <rbf>", "gamma"): [
            {"value": "0.1", "times": 1, "share": 50, "edge": False},
            {"value": "1", "times": 1, "share": 50, "edge": False},
        ],
    }


def test_chosen_learners_are_counted_and_their_parameters_where_they_were_taken(results):
    one_of = {"logistic": {"grid": {"C": [1]}}, "svm": {"grid": {"C": [1, 2]}}}
    models = {"m": {"label": "M", "sublabel": "", "grid": {"step1__k": [5]}, "one_of": one_of}}
    taken = [{"one_of": "svm", "C": 2}, {"one_of": "logistic", "C": 1}, {"one_of": "svm", "C": 2}]
    rows = [{"params": json.dumps({**one, "step1__k": 5})} for one in taken]
    scores = pd.DataFrame(rows).assign(model="m", criterion="cv", success=True)
    results = replace(results, study=STUDY | {"models": models}, selection=scores)
    found = [
        (row["parameter"], [(value["value"], value["times"]) for value in row["values"]])
        for row in chosen_parameters(results)
    ]
    assert found == [
        ("one_of", [("logistic", 1), ("svm", 2)]),
        ("step1__k", [("5", 3)]),
        ("logistic: C", [("1", 1)]),
        ("svm: C", [("1", 0), ("2", 2)]),
    ]


def test_selected_values_at_an_end_of_three_numbers_or_more_are_flagged(results):
    grids = {"C": [1, 2, 4], "kind": ["a", "b", "c"], "two": [1, 2]}
    models = {"m": {"label": "M", "sublabel": "", "grid": grids}}
    taken = [{"C": 4, "kind": "a", "two": 1}, {"C": 2, "kind": "b", "two": 2}]
    rows = [{"params": json.dumps(one)} for one in taken]
    scores = pd.DataFrame(rows).assign(model="m", criterion="cv", success=True)
    results = replace(results, study=STUDY | {"models": models}, selection=scores)
    flagged = [
        (row["parameter"], one["value"])
        for row in chosen_parameters(results)
        for one in row["values"]
        if one["edge"]
    ]
    assert flagged == [("C", "4")]
