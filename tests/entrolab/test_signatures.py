"""Logged models as MLflow serves them: every format of a request, probabilities, and a caller's mistakes."""

import io
import json

import mlflow
import numpy as np
import pandas as pd
import pytest
import skops.io
from mlflow.models import Model
from mlflow.pyfunc.scoring_server import invocations
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from entrolab.fit.refit import of_table
from entrolab.tracking.signatures import save_model, signature_of
from entrolearn.columns import DATE, ColumnEncoder

# A row of each kind of column, and rows that differ from it in one of them: a model of one neighbour finds
# the label of each row only if each value has arrived.
FIRST = {
    "count": 1,
    "gap": 5,
    "size": 0.5,
    "new": True,
    "sold": True,
    "colour": "red",
    "code": 1,
    "zone": 1,
    "day": "2026-01-01",
}
OTHER = {"count": 2, "gap": 3, "size": 1.5, "new": False, "sold": False, "colour": "blue", "code": 3}
OTHER |= {"zone": 2, "day": "2026-01-08 12:30:00"}
GAPS = ("gap", "sold", "colour", "zone", "day")
ROWS = [FIRST, *(FIRST | {name: value} for name, value in OTHER.items())]
ROWS += [FIRST | {name: None} for name in GAPS]
CSV = pd.DataFrame(ROWS).convert_dtypes().to_csv(index=False)
FRAME = pd.read_csv(io.StringIO(CSV))
KINDS = dict.fromkeys(FIRST) | {
    "colour": ["blue", "red"],
    "code": ["1", "3"],
    "zone": ["1", "2"],
    "day": DATE,
}
LABELS = [f"row {place}" for place in range(len(ROWS))]


def saved(folder, learner, kinds=KINDS, frame=FRAME, labels=LABELS):
    """A model of a table, and how MLflow loads it."""
    codes = ColumnEncoder(kinds).transform(frame)
    learner = make_pipeline(SimpleImputer(strategy="constant", fill_value=-1), learner)
    model = of_table(
        learner.fit(codes, range(len(frame))), {"encoded": kinds, "missing": [], "labels": labels}
    )
    types = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    save_model(model, folder / "model", Model(), trusted_types=types)
    return mlflow.pyfunc.load_model(folder / "model")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("served"), KNeighborsClassifier(1))


def asked(model, body, content_type="application/json") -> list:
    """What MLflow's server answers."""
    body = body if isinstance(body, str) else json.dumps(body)
    answer = invocations(body.encode(), content_type, model, model.metadata.get_input_schema())
    assert answer.status == 200
    return json.loads(answer.response)["predictions"]


def test_the_table_has_the_columns_that_schemas_refuse():
    kinds = {name: FRAME[name].dtype.kind for name in ("count", "gap", "size", "new", "code", "zone")}
    assert kinds == {"count": "i", "gap": "f", "size": "f", "new": "b", "code": "i", "zone": "f"}


def test_every_format_of_a_request_gets_the_labels_of_the_rows(served):
    split, records = (json.loads(FRAME.to_json(orient=orient)) for orient in ("split", "records"))
    columns = {name: [row[name] for row in records] for name in FRAME}
    answers = {
        "csv": asked(served, CSV, "text/csv"),
        "split": asked(served, {"dataframe_split": split}),
        "records": asked(served, {"dataframe_records": records}),
        "columns": asked(served, {"inputs": columns}),
        "instances": asked(served, {"instances": records}),
        "frame": served.predict(FRAME).tolist(),
        "estimator": served.get_raw_model().predict(FRAME).tolist(),
        "others": served.predict(FRAME[FRAME.columns[::-1]].assign(more=1)).tolist(),
    }
    assert answers == dict.fromkeys(answers, LABELS)


def test_the_types_of_columns_do_not_change_the_answers(served):
    assert served.predict(FRAME.convert_dtypes()).tolist() == LABELS
    first = "\n".join(CSV.splitlines()[:2])
    assert pd.read_csv(io.StringIO(first))["gap"].dtype.kind == "i"
    assert asked(served, first, "text/csv") == LABELS[:1]


def test_categories_durations_and_codes_are_answered_or_one_line(tmp_path):
    frame = pd.DataFrame({"kind": ["a", "b"], "time": pd.to_timedelta([1, 2], "h"), "zip": ["007", "8"]})
    kinds = {"kind": ["a", "b"], "time": "duration", "zip": ["007", "8"]}
    model = saved(tmp_path, KNeighborsClassifier(1), kinds, frame.astype({"kind": "category"}), [3, 5])
    assert model.predict(frame.astype({"kind": "category"})).tolist() == [3, 5]
    rows = frame.astype({"time": str})
    for orient in ("split", "records"):
        body = {f"dataframe_{orient}": json.loads(rows.to_json(orient=orient))}
        assert asked(model, body) == [3, 5]
    # pandas.read_csv takes the codes for numbers.
    assert refused(model, rows.to_csv(index=False), "text/csv").endswith("read with dtype={'zip': str}")


def test_probabilities_are_a_column_for_each_label(served):
    rows = json.loads(FRAME.to_json(orient="split"))
    found = asked(served, {"dataframe_split": rows, "params": {"response_method": "predict_proba"}})
    expected = [{label: float(label == one) for label in LABELS} for one in LABELS]
    assert found == expected  # of one neighbour
    frame = served.predict(FRAME, params={"response_method": "predict_proba"})
    np.testing.assert_array_equal(frame[LABELS], np.eye(len(ROWS)))


def refused(model, body, content_type="application/json") -> str:
    """The line that MLflow's server answers, and that it has no traceback."""
    with pytest.raises(mlflow.MlflowException) as caught:
        asked(model, body, content_type)
    assert caught.value.get_http_status_code() == 400
    assert "stack_trace" not in caught.value.serialize_as_json()
    return caught.value.message.splitlines()[-1]


def test_a_mistake_is_answered_with_the_line_of_the_model(served):
    wrong = FRAME.head(1).astype({"count": object})
    wrong.loc[0, "count"] = "old"
    line = "Error: column 'count': found 'old'; accepted: numbers with a decimal point"
    assert refused(served, wrong.to_csv(index=False), "text/csv") == line
    assert refused(served, {"dataframe_records": wrong.to_dict("records")}) == line
    assert "'size'" in refused(served, FRAME.drop(columns="size").to_csv(), "text/csv")
    rows = json.loads(FRAME.to_json(orient="split"))
    of_params = refused(served, {"dataframe_split": rows, "params": {"response_method": "fit"}})
    assert "response_method: found 'fit'; accepted: predict, predict_proba" in of_params


def test_a_regressor_has_no_probabilities(tmp_path):
    model = saved(tmp_path, KNeighborsRegressor(1), labels=[])
    assert asked(model, CSV, "text/csv") == list(range(len(ROWS)))
    body = {"inputs": FRAME.astype(str).to_dict("list"), "params": {"response_method": "predict_proba"}}
    assert refused(model, body).endswith("accepted: predict")


def test_rows_of_numbers_are_declared():
    fitted = KNeighborsClassifier(1).fit([[0.0, 1.0], [1.0, 0.0]], [3, 7])
    signature = signature_of(fitted)
    (rows,), (labels,) = signature.inputs.inputs, signature.outputs.inputs
    assert (rows.shape, rows.type, labels.type) == ((-1, 2), np.dtype(float), np.dtype(int))
    assert [param.name for param in signature.params] == ["response_method"]
