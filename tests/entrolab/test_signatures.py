"""Signatures of logged models."""

import mlflow
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from entrolab.fit.refit import of_table
from entrolab.tracking.signatures import signature_of


@pytest.mark.parametrize(
    ("categories", "values"),
    [
        (["0.5", "1.5"], [0.5, 1.5]),
        (["-1", "1"], [-1, 1]),
        (["False", "True"], [False, True]),
        (
            ["2026-01-01 00:00:00", "2026-01-02 12:30:00"],
            pd.to_datetime(["2026-01-01 00:00", "2026-01-02 12:30"]),
        ),
        (["blue", "red"], ["blue", "red"]),
        (["0.5", "1.5"], ["0.5", "1.5"]),
    ],
    ids=["fractions", "whole numbers", "truth values", "times", "text", "fractions in text"],
)
def test_a_served_model_takes_its_training_table(tmp_path, categories, values):
    X, y = np.array([[0.0, 1], [1, 2]] * 5), np.arange(10) % 2
    columns = {"encoded": {"kind": categories, "size": None}, "missing": [], "labels": ["no", "yes"]}
    model = of_table(LogisticRegression().fit(X, y), columns)
    path = tmp_path / "model"
    types = ["entrolearn.columns.ColumnEncoder", "entrolearn.columns.LabelEncodedClassifier"]
    mlflow.sklearn.save_model(
        model, path, signature=signature_of(model), pip_requirements=[], skops_trusted_types=types
    )
    table = pd.DataFrame({"kind": values, "size": [1, 2]})
    assert mlflow.pyfunc.load_model(path).predict(table).tolist() == ["no", "yes"]
