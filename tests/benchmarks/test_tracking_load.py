"""The load of many writers: what is lost, in part or doubled is noticed."""

import pytest

from benchmarks import tracking_load
from benchmarks.tracking_load import _create, read, write
from entrolab.tracking.ledger import mlflow


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A store with five runs of one writer, four of them spoilt in four ways, and what its writer said."""
    folder = tmp_path_factory.mktemp("load")
    uri = f"sqlite:///{folder}/mlflow.db"
    experiment = _create(uri, (folder / "artifacts").as_uri())
    said = write(uri, experiment, 5, 3)
    client = mlflow.MlflowClient(uri, uri)
    runs = {run.data.tags["number"]: run.info.run_id for run in client.search_runs([experiment])}
    client.log_metric(runs["0"], "m0", 1.5, timestamp=3, step=3)  # a value beside the right one
    client.set_tag(runs["1"], "t0", "another's")
    client.delete_run(runs["2"])
    tracking_load._log(client, experiment, "3", "3")
    return uri, experiment, said


def test_a_writer_says_what_it_wrote(loaded):
    _, _, said = loaded
    assert len(said.seconds) == 5
    assert said.failures == []
    assert said.retries == 0
    assert said.ended - said.began >= sum(said.seconds)


def test_what_is_whole_in_part_gone_and_doubled_is_told_apart(loaded):
    uri, experiment, _ = loaded
    found = read(uri, experiment)
    assert {number: found["3", number] for number in "01234"} == {
        "0": ["in part"],
        "1": ["in part"],
        "2": [],
        "3": ["whole", "whole"],
        "4": ["whole"],
    }


def test_a_run_that_fails_is_counted_and_the_others_are_written(loaded, monkeypatch):
    uri, experiment, _ = loaded
    log = tracking_load._log

    def fails_once(client, experiment, writer, number):
        if number == "1":
            raise OSError("the disk is full\nindeed")
        log(client, experiment, writer, number)

    monkeypatch.setattr(tracking_load, "_log", fails_once)
    said = write(uri, experiment, 3, 8)
    assert (len(said.seconds), said.failures) == (2, ["the disk is full"])
    found = read(uri, experiment)
    assert [found["8", number] for number in "012"] == [["whole"], [], ["whole"]]
