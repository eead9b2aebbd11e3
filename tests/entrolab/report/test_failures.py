"""Missing results."""

from dataclasses import replace

import pandas as pd
from reported_study import with_sections

from entrolab.report.failures import failures


def test_failures_of_one_reason_share_a_line(results):
    assert failures(results) == [
        {
            "dataset": "wine",
            "of": "EEM rbf, SVM <rbf>",
            "verdict": "no data",
            "reason": "wine: 404 <gone>",
        }
    ]


def test_failures_name_what_a_table_has_in_the_place_of_a_model(results):
    entry = {
        "type": "measured",
        "script": "information",
        "caption": "",
        "datasets": "real",
        "models": ["svm_rbf"],
        "variants": {"": "", "_reject_0.1": "10 % rejected"},
        "metrics": {"accuracy": "A"},
    }
    study = with_sections(results.study, tables={"known": entry})
    row = {"dataset": "iris", "verdict": "failed", "reason": "uncertain", "model": "svm_rbf_reject_0.1"}
    known = replace(results, study=study, tables={"known": pd.DataFrame([row])})
    (line,) = failures(known)
    assert line["of"] == "SVM <rbf>, 10 % rejected"
