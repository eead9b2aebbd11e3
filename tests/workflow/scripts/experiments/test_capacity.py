"""The cost of one large data set."""

from measured_scripts import at, measured


def test_capacity_is_seconds_and_memory_of_a_process_of_its_own():
    models = {"ridge": {"estimator": "sklearn.linear_model.Ridge", "steps": [], "params": {}}}
    place = at(task="regression")
    rows = measured("capacity", place=place, models=models, n_rows=200_000, features=50)
    found = {row["metric"]: row["value"] for row in rows}
    assert found.keys() == {"fit_seconds", "predict_seconds", "peak_mib"}
    assert found["fit_seconds"] > 0
    # Ridge centres a copy of the data, 200,000 x 50 numbers of 8 bytes: 76 MiB, more than malloc serves from
    # what was freed before
    assert 70 < found["peak_mib"] < 200
