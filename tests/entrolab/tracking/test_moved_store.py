"""A registered model predicts in a process of its own, after its folder was moved."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import skops.io
from run_files import files_of
from tracked_runs import STUDY, model_of, track

from entrolab.tracking.artifacts import COLUMNS

PREDICTS = """
import json
import mlflow
import numpy as np
from entrolab.tracking.artifacts import follow_move

follow_move("mlflow.db")  # as the next run and the page of the runs do
mlflow.set_tracking_uri("sqlite:///mlflow.db")
model = mlflow.sklearn.load_model("models:/small.moons@best")
served = mlflow.pyfunc.load_model("models:/small.moons@best")
X = np.load("X.npy")
print(json.dumps({
    "decision": model.decision_function(X).tolist(),
    "served": served.predict(X).tolist(),
    "inputs": str(served.metadata.signature.inputs.inputs[0]),
    "example": served.input_example is None,
}))
"""


def test_a_registered_model_predicts_after_the_folder_was_moved(runs, data, tmp_path, monkeypatch):
    track()
    X, _ = data
    np.save("X.npy", X)
    here = tmp_path.with_name(f"{tmp_path.name} näher")
    shutil.move(tmp_path, here)
    monkeypatch.chdir(here)
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI"):
        monkeypatch.delenv(name)
    done = subprocess.run([sys.executable, "-c", PREDICTS], stdout=subprocess.PIPE, text=True, check=True)
    with closing(sqlite3.connect("mlflow.db")) as store:
        places = {
            place
            for table, column in COLUMNS
            for (place,) in store.execute(f"SELECT {column} FROM {table}")
            if place and not place.startswith("models:/")
        }
    assert all(place.startswith(f"{(here / 'mlruns').as_uri()}/") for place in places)
    found = json.loads(done.stdout.splitlines()[-1])
    original = skops.io.load(model_of(files_of(STUDY, "moons", "svm_rbf")))
    np.testing.assert_array_equal(found["decision"], original.decision_function(X))
    np.testing.assert_array_equal(found["served"], original.predict(X))
    assert found["example"]  # no rows of the user's
    assert "(-1, 2)" in found["inputs"]
