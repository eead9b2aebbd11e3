"""Whatever becomes of the tracking store: one line that names it, and the next run logs what is missing."""

import json
import os
import pickle
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
import requests
import skops.io
from held_store import held_by_another_program, tracker_has_its_turn
from scripted_server import answer
from sklearn.svm import SVC
from stored_runs import client_of, study_in
from tracked_runs import (
    SCORES,
    STUDY,
    artifacts_at,
    change_study,
    client,
    mlflow,
    model_of,
    runs_of,
    track,
    write_run,
    write_tables,
)

from entrolab.tracking import StoreUnavailable, StudyRun, stores, track_study

BOTH = ["svm_rbf", "logistic"]


def fault(name: str, outcome: str) -> pytest.MarkDecorator:
    return pytest.mark.fault("Store", name, outcome)


def wait_until(condition: Callable[[], object], running: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that another program or thread does, before it ends."""
    until = time.monotonic() + seconds
    while not condition():
        assert running(), "it ended before it came to that"
        assert time.monotonic() < until, f"it has not come to that in {seconds:.0f} s"
        time.sleep(0.01)


def refused(runs, **changes) -> str:
    """The one line that the tracker says instead of tracking."""
    with pytest.raises(StoreUnavailable) as caught:
        track(runs, **changes)
    line = str(caught.value)
    assert "\n" not in line
    assert line.endswith("and run again; the results are kept, and the next run of this step logs them")
    return line


def all_tracked() -> None:
    """Every run is one finished run; ``runs_of`` fails where one has two."""
    runs = runs_of()
    assert set(runs) == {"small", *(f"small/moons/{model}" for model in BOTH)}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}


# ---------------------------------------------------------------------------------------------------------
# Not there, or not a store


ABSENT = {"absent": lambda: None, "an empty file": lambda: Path("mlflow.db").touch()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=fault(name, "made, and everything is logged")) for name in ABSENT]
)
def test_store_that_is_not_there_is_made(untracked, what):
    ABSENT[what]()
    assert track(untracked)["written"] == BOTH
    all_tracked()


# Another program, too, takes the scores that a test wrote.
TOLD = f"""
import sys
sys.path.append({str(Path(__file__).parents[1])!r})
import told_scores
told_scores.predictions.score_selection = told_scores.as_told
"""

DIES_WITH_A_CHANGE = """
import os, signal, sqlite3
connection = sqlite3.connect("mlflow.db")
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("UPDATE experiments SET name = 'of a store that is gone' WHERE name = 'seed'")
connection.commit()
os.kill(os.getpid(), signal.SIGKILL)
"""


def leave_wal() -> None:
    """Let a program die that has written to the store and not closed it."""
    dead = subprocess.run([sys.executable, "-c", DIES_WITH_A_CHANGE])
    assert dead.returncode == -signal.SIGKILL
    assert Path("mlflow.db-wal").stat().st_size


@fault("a write-ahead log left by a kill", "what it holds is kept; the runs are logged")
def test_write_ahead_log_of_a_killed_program_is_taken_over(runs):
    leave_wal()
    assert track(runs)["written"] == BOTH
    all_tracked()
    assert client().get_experiment_by_name("of a store that is gone")


@pytest.mark.slow
@fault("deleted, its write-ahead log left behind", "made anew, with nothing of the old one")
def test_write_ahead_log_of_a_store_that_is_gone_does_not_get_into_the_new_one(runs):
    leave_wal()
    Path("mlflow.db").unlink()
    assert track(runs)["written"] == BOTH
    all_tracked()
    assert {experiment.name for experiment in client().search_experiments()} == {"Default", "small"}
    with closing(sqlite3.connect("mlflow.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def changed(statement: str) -> Callable[[], None]:
    """A function that makes one change to the store."""

    def change():
        with closing(sqlite3.connect("mlflow.db")) as connection, connection:
            connection.execute(statement)

    return change


def foreign() -> None:
    Path("mlflow.db").unlink()
    changed("CREATE TABLE bookmarks (url TEXT)")()


NO_STORES = {
    "text instead of a database": (
        lambda: Path("mlflow.db").write_text("this is not a database\n" * 1000),
        "file is not a database; move it aside",
    ),
    "a damaged database": (
        lambda: Path("mlflow.db").write_bytes(Path("mlflow.db").read_bytes()[:20_000]),
        "database disk image is malformed; move it aside",
    ),
    "another program's database": (foreign, "its tables are not those of MLflow"),
    "a newer MLflow's database": (
        changed("UPDATE alembic_version SET version_num = 'ffffffffffff'"),
        f"its tables are not those of MLflow {mlflow.__version__} (version ffffffffffff, not ",
    ),
}


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(
            name, marks=fault(name, "one line, the file left as it is; another store has everything")
        )
        for name in NO_STORES
    ],
)
def test_what_is_no_store_is_left_as_it_is_and_named(runs, what):
    spoil, reason = NO_STORES[what]
    shutil.copy("mlflow.db", "other.db")
    spoil()
    before = Path("mlflow.db").read_bytes()
    line = refused(runs)
    assert line.startswith("tracking store sqlite:///mlflow.db: ")
    assert reason in line
    assert "move it aside" in line
    assert Path("mlflow.db").read_bytes() == before
    Path("other.db").replace("mlflow.db")
    assert track(runs)["written"] == BOTH
    all_tracked()


OLDER_STORE = """
import sys
from alembic import command
from mlflow.store.db.utils import _get_alembic_config
from mlflow.store.tracking.dbmodels.initial_models import Base
import sqlalchemy

engine = sqlalchemy.create_engine("sqlite:///mlflow.db")
Base.metadata.create_all(engine)
with engine.begin() as connection:
    config = _get_alembic_config("sqlite:///mlflow.db")
    config.attributes["connection"] = connection
    command.upgrade(config, sys.argv[1])
"""


@pytest.mark.slow
@fault("an older MLflow's database", "one line that says how to bring it up to date, which does")
def test_store_of_an_older_version_is_not_migrated_unasked(untracked):
    older = "bda7b8c39065"
    subprocess.run([sys.executable, "-c", OLDER_STORE, older], check=True)
    line = refused(untracked)
    assert f"(version {older}, not " in line
    command = f"mlflow db upgrade sqlite:///{Path('mlflow.db').resolve()}"
    assert f"`{command}`" in line
    assert stores._schema(Path("mlflow.db")) == older
    subprocess.run([sys.executable, "-m", *command.split()], check=True, capture_output=True)
    assert track(untracked)["written"] == BOTH
    all_tracked()


MAKES_A_STORE = """
import mlflow
mlflow.MlflowClient("sqlite:///mlflow.db", "sqlite:///mlflow.db").search_experiments()
"""


@pytest.mark.slow
@fault("a migration cut short", "one line; another store has everything")
def test_half_a_migration_is_named_and_not_gone_on_with(runs):
    Path("mlflow.db").rename("other.db")

    def tables() -> int:
        try:
            with closing(sqlite3.connect("mlflow.db")) as connection:
                return connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        except sqlite3.OperationalError:  # locked, just then
            return 0

    making = subprocess.Popen([sys.executable, "-c", MAKES_A_STORE], stderr=subprocess.DEVNULL)
    wait_until(lambda: tables() > 10, lambda: making.poll() is None)
    making.kill()
    making.wait()
    assert "a migration was interrupted" in refused(runs)
    Path("other.db").replace("mlflow.db")
    assert track(runs)["written"] == BOTH
    all_tracked()


# ---------------------------------------------------------------------------------------------------------
# There, and not to be written


@fault("locked by another program for a while", "waited for, then everything is logged")
def test_locked_store_is_waited_for(runs):
    store = Path("mlflow.db")
    with held_by_another_program(store) as holder, ThreadPoolExecutor() as threads:
        tracked = threads.submit(track, runs, patience=60)
        # It has its turn among the trackers, and waits for the other program alone.
        wait_until(lambda: tracker_has_its_turn(store), tracked.running)
        holder.stdin.close()
        assert tracked.result()["written"] == BOTH
    all_tracked()


@fault("locked for longer than is waited", "one line; the next run logs everything")
def test_store_that_stays_locked_is_given_up(runs):
    with held_by_another_program(Path("mlflow.db")):
        line = refused(runs, patience=0.5)
    assert line.startswith(
        "tracking store sqlite:///mlflow.db: another program keeps it locked; close that program "
    )
    assert track(runs)["written"] == BOTH
    all_tracked()


@contextmanager
def read_only(path: Path) -> Iterator[None]:
    """Mount a file or a folder over itself, to be read alone: permissions do not bind everyone."""
    if subprocess.run(["mount", "--bind", path, path], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("mounting needs Linux and root")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)  # busy or not


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        pytest.param(what, reason, marks=fault(f"read-only {name}", "one line; the next run logs everything"))
        for name, what, reason in [
            ("file", "store/mlflow.db", "attempt to write a readonly database"),
            ("folder", "store", "Read-only file system"),
            ("folder of artifacts", "store/mlruns", "Read-only file system"),
        ]
    ],
)
def test_read_only_store_gives_one_line(runs, what, reason):
    Path("store/mlruns").mkdir(parents=True)
    shutil.move("mlflow.db", "store/mlflow.db")
    with read_only(Path(what).resolve()):
        line = refused(runs, store_uri="sqlite:///store/mlflow.db")
    assert line.startswith("tracking store sqlite:///store/mlflow.db: ")
    assert f"{reason}" in line
    assert "; make it reachable and writable, or name another in MLFLOW_TRACKING_URI, " in line
    assert track(runs, store_uri="sqlite:///store/mlflow.db")["written"] == BOTH


# ---------------------------------------------------------------------------------------------------------
# Many at once


ALL_AT_ONCE = """
import multiprocessing, pickle, sys
from entrolab.tracking import StudyRun, track_dataset

def track(where, store=None):
    paper, dataset = where.split("/")
    study = pickle.loads(bytes.fromhex(sys.argv[1])).model_copy(update={"name": paper})
    runs = [StudyRun.at(study, dataset, "svm_rbf")]
    track_dataset(study, dataset, runs, store_uri=store)

def track_with_the_others(where):
    start.wait()
    track(where)

track(sys.argv[2], "sqlite:///warm.db")
fork = multiprocessing.get_context("fork")
start = fork.Barrier(len(sys.argv[2:]))
jobs = [fork.Process(target=track_with_the_others, args=[where]) for where in sys.argv[2:]]
for job in jobs:
    job.start()
for job in jobs:
    job.join()
sys.exit(sum(job.exitcode != 0 for job in jobs))
"""


def track_all_at_once(papers: dict[str, int]) -> None:
    """Track so many data sets of each paper, each in a process of its own, all at the same moment.

    They divide from one that has tracked to ``warm.db``: so many imports of all that tracking takes would be
    minutes.
    """
    places = [f"{paper}/d{number}" for paper, many in papers.items() for number in range(many)]
    for place in places:
        paper, dataset = place.split("/")
        write_run(StudyRun.at(STUDY.model_copy(update={"name": paper}), dataset, "svm_rbf"))
    tasks = {place.split("/")[1]: STUDY.tasks["moons"] for place in places}
    study = pickle.dumps(STUDY.model_copy(update={"tasks": tasks})).hex()
    command = [sys.executable, "-c", TOLD + ALL_AT_ONCE, study, *places]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for paper, many in papers.items():
        runs = runs_of(paper)
        assert set(runs) == {paper, *(f"{paper}/d{number}/svm_rbf" for number in range(many))}
        assert {run.info.status for run in runs.values()} == {"FINISHED"}


@pytest.mark.slow
@fault("brand-new, with 16 writers at once", "16 of 16 succeed: 16 runs")
def test_programs_that_open_a_new_store_together_all_succeed(place):
    Path("mlflow.db").rename("warm.db")
    track_all_at_once({"small": 16})


@pytest.mark.slow
@fault("64 jobs at once", "64 runs: none lost, none doubled")
def test_64_jobs_at_once_write_64_runs(place):
    shutil.copy("mlflow.db", "warm.db")
    track_all_at_once({"small": 64})


@pytest.mark.slow
@fault("two papers tracked at once", "each has its runs, and its experiment once")
def test_two_papers_are_tracked_at_once(place):
    shutil.copy("mlflow.db", "warm.db")
    track_all_at_once({"one": 8, "other": 8})


# ---------------------------------------------------------------------------------------------------------
# What a kill or a hand leaves


@fault("a run left RUNNING of a model that the study has no more", "closed as killed by the next run")
def test_run_left_running_of_a_model_that_is_gone_is_closed(runs):
    first = track(runs)
    client().update_run(first["runs"]["logistic"], status="RUNNING")  # as a kill leaves it
    track(runs[:1])
    runs = runs_of()
    assert runs["small/moons/logistic"].info.status == "KILLED"
    assert runs["small/moons/svm_rbf"].info.status == "FINISHED"


@fault("artifacts deleted by hand", "noticed when the step runs: logged anew")
def test_runs_whose_artifacts_are_gone_are_written_anew(runs, tmp_path):
    Path("table.html").write_text("<table></table>")
    track(runs)

    def of_paper():
        return track_study(STUDY, ["table.html"], config="published.csv", patience=5)

    of_paper()
    shutil.rmtree("mlruns")
    second = track(runs)
    assert second["written"] == BOTH
    assert of_paper()["written"]
    all_tracked()
    assert json.loads(Path(client().download_artifacts(second["runs"]["svm_rbf"], "record.json")).read_text())
    assert track(runs)["written"] == []
    assert not of_paper()["written"]


TRACK_AGAIN = """
import json, pickle, sys
from entrolab.tracking import StudyRun, track_dataset
from entrolab.tracking.ledger import mlflow

study, tables = pickle.loads(bytes.fromhex(sys.argv[1])), json.loads(sys.argv[2])
runs = [StudyRun.at(study, "moons", model) for model in ("svm_rbf", "logistic")]
again = track_dataset(study, "moons", runs, tables=tables)
"""


def in_another_program(script: str, *arguments: str) -> dict:
    """What it prints. MLflow remembers, while a program runs, where the artifacts of each run were."""
    command = [
        sys.executable,
        "-c",
        TOLD + TRACK_AGAIN + script,
        pickle.dumps(STUDY).hex(),
        json.dumps(write_tables()),
        *arguments,
    ]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


@pytest.mark.slow
@fault("a logged model deleted in the UI", "noticed when the step runs: logged anew")
def test_run_whose_model_is_gone_is_written_anew(runs):
    track(runs)
    [output] = runs_of()["small/moons/svm_rbf"].outputs.model_outputs
    client().delete_logged_model(output.model_id)
    assert in_another_program("print(json.dumps(again))")["written"] == ["svm_rbf"]
    all_tracked()


AFTER_THE_MOVE = """
import numpy as np

mlflow.set_tracking_uri("sqlite:///mlflow.db")
loaded = mlflow.sklearn.load_model(f"models:/{sys.argv[3]}")
decision = loaded.decision_function(np.load("X.npy")).tolist()
print(json.dumps({"written": again["written"], "decision": decision}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["moved", "copied"])
@fault("the checkout moved or copied elsewhere", "the next run mends the paths; logged models load")
def test_models_load_after_the_folder_was_moved(runs, data, tmp_path, monkeypatch, way):
    done = track(runs)
    [output] = runs_of()["small/moons/svm_rbf"].outputs.model_outputs
    np.save("X.npy", data[0])
    here = tmp_path.with_name(f"{tmp_path.name} näher")
    (shutil.move if way == "moved" else shutil.copytree)(tmp_path, here)
    monkeypatch.chdir(here)
    found = in_another_program(AFTER_THE_MOVE, output.model_id)
    assert found["written"] == []
    original = skops.io.load(model_of(runs[0]))
    np.testing.assert_array_equal(found["decision"], original.decision_function(data[0]))
    all_tracked()
    assert runs_of()["small/moons/svm_rbf"].info.run_id == done["runs"]["svm_rbf"]
    assert all(where.startswith(f"{(here / 'mlruns').as_uri()}/") for where in artifacts_at())


def test_artifacts_that_are_elsewhere_on_purpose_stay_there(runs, tmp_path):
    elsewhere = tmp_path / "disk" / "mlruns" / "own"
    elsewhere.mkdir(parents=True)
    client().create_experiment("own", elsewhere.as_uri())
    client().create_experiment("bucket", "s3://somewhere/mlruns/bucket")
    track(runs)
    assert {elsewhere.as_uri(), "s3://somewhere/mlruns/bucket"} <= artifacts_at()


@fault("a store of two checkouts, one of which is deleted", "the other's runs and artifacts stand")
def test_artifacts_lie_beside_their_store(runs, tmp_path, monkeypatch):
    shutil.copytree(tmp_path, tmp_path.with_name("other"), ignore=shutil.ignore_patterns("mlflow.db*"))
    (tmp_path.parent / "both").mkdir()
    store = f"sqlite:///{shutil.move('mlflow.db', tmp_path.parent / 'both' / 'mlflow.db')}"
    first = track(runs, store_uri=store)
    monkeypatch.chdir(tmp_path.with_name("other"))
    assert track(runs, store_uri=store)["written"] == []
    shutil.rmtree(tmp_path)
    assert track(runs, store_uri=store)["written"] == []
    run = mlflow.MlflowClient(store).get_run(first["runs"]["svm_rbf"])
    assert run.info.artifact_uri.startswith((tmp_path.parent / "both" / "mlruns" / "small").as_uri())


@pytest.mark.slow
@fault("a folder whose name has ?, # and %3F", "made there, with its artifacts; nothing beside it")
def test_store_is_made_in_a_folder_of_any_name(untracked, tmp_path, monkeypatch):
    odd = tmp_path / "in" / "what? 50%3F#"
    shutil.copytree(tmp_path, odd)
    monkeypatch.chdir(odd)
    found = in_another_program("print(json.dumps(again))")
    assert (found["store"], found["written"]) == ("sqlite:///mlflow.db", BOTH)
    assert all(where.startswith(f"{(odd / 'mlruns').as_uri()}/") for where in artifacts_at() - {None})
    assert len([*Path("mlruns").rglob("record.json")]) == len(BOTH)
    assert [*odd.parent.iterdir()] == [odd]
    assert in_another_program("print(json.dumps(again))")["written"] == []


# ---------------------------------------------------------------------------------------------------------
# A server


@pytest.fixture
def tracking_server(place, tmp_path):
    """A function that starts MLflow's own server, and gives its address when it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    started = []
    shutil.move("mlflow.db", "server.db")

    def start() -> tuple[str, subprocess.Popen]:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "mlflow", "server", "--workers", "1"),
                *("--backend-store-uri", f"sqlite:///{tmp_path}/server.db"),
                *("--artifacts-destination", str(tmp_path / "served"), "--port", str(port)),
            ],
            env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(server)
        wait_until(lambda: answers(url), lambda: server.poll() is None, seconds=120)
        return url, server

    yield start
    for server in started:
        kill(server)


def answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/health", timeout=10).ok
    except requests.ConnectionError:
        return False


def kill(server: subprocess.Popen) -> None:
    """Kill a server and its workers."""
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def test_study_tracked_to_a_server_is_the_study_tracked_to_a_file(tracking_server, runs, tmp_path):
    shutil.copy("server.db", "own.db")
    Path("table.html").write_text("<table></table>")
    url, _ = tracking_server()
    stores = [f"sqlite:///{tmp_path}/own.db", url]
    for store in stores:
        assert track(runs, store_uri=store)["written"] == BOTH
        track_study(STUDY, ["table.html"], config="published.csv", store_uri=store)
        assert track(runs, store_uri=store)["written"] == []
    file, server = (study_in(client_of(store), "small", tmp_path) for store in stores)
    assert server == file
    assert set(server["runs"]) == {"small", "small/moons/svm_rbf", "small/moons/logistic"}
    assert server["registered"]["best"]["run"] == "small/moons/svm_rbf"
    [run, *_] = client_of(url).search_runs([client_of(url).get_experiment_by_name("small").experiment_id])
    assert run.info.artifact_uri.startswith("mlflow-artifacts:/")


def test_an_experiment_that_another_writer_made_meanwhile_is_shared(runs, monkeypatch):
    asked = mlflow.MlflowClient.get_experiment_by_name

    def too_early(client, name):
        """Not there yet; made by another writer before this one comes to it."""
        monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", asked)
        other = client.create_run(client.create_experiment(name), start_time=1, tags={"entrolearn.key": name})
        made.append(other.info.run_id)

    made = []
    monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", too_early)
    assert [track(runs)["study_run"]] == made


@pytest.mark.slow
@pytest.mark.fault(
    "Store",
    "a tracking server that goes away halfway",
    "one line; when it is back, the next run logs the rest",
)
def test_server_that_goes_away_halfway_gets_the_rest_later(tracking_server, data, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "0")
    # More than it can log before it is noticed that the first is there.
    models = [f"svm{number}" for number in range(6)]
    change_study(
        monkeypatch,
        models=dict.fromkeys(models, "sklearn.svm.SVC"),
        tables={"table4": {**SCORES, "criterion": "cv", "models": models}},
    )
    runs = [StudyRun.at(STUDY, "moons", model) for model in models]
    for run in runs:
        write_run(run, estimator=SVC().fit(*data))
    url, server = tracking_server()

    def finished() -> set[str]:
        with closing(sqlite3.connect("server.db", timeout=20)) as connection:
            return {
                key
                for (key,) in connection.execute(
                    "SELECT value FROM tags JOIN runs USING (run_uuid) WHERE tags.key = 'model' "
                    "AND status = 'FINISHED'"
                )
            }

    with ThreadPoolExecutor() as threads:
        tracked = threads.submit(track, runs, store_uri=url)
        wait_until(finished, tracked.running)
        kill(server)
        with pytest.raises(StoreUnavailable, match=rf"^tracking store {url}: .*logs them$"):
            tracked.result()
    before = finished()
    assert 0 < len(before) < len(models)

    tracking_server()
    done = track(runs, store_uri=url)
    # A run that the server had not heard the end of is written anew.
    assert done["written"] == [model for model in models if model not in before]
    logged = mlflow.MlflowClient(url).search_runs([done["experiment"]])
    assert sorted(run.data.tags["entrolearn.key"] for run in logged) == sorted(
        ["small", *(run.key for run in runs)]
    )
    assert {run.info.status for run in logged} == {"FINISHED"}
    # Of equals the first is the best.
    best = mlflow.MlflowClient(url).get_model_version_by_alias("small.moons", "best")
    assert best.run_id == done["runs"]["svm0"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", url)
    np.testing.assert_array_equal(
        mlflow.sklearn.load_model("models:/small.moons@best").predict(data[0]),
        skops.io.load(model_of(runs[0])).predict(data[0]),
    )


ANSWERS = {
    "404": (404, "Not Found", "404"),
    "500": (500, "Internal Server Error", "500"),
    "503": (503, "<html>\nback soon\n</html>", "503"),
    "HTML": (200, "<html>" + "log in " * 1000, "not in a valid JSON format"),
}


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(name, marks=fault(f"a server that answers {name}", "one short line; the results stand"))
        for name in ANSWERS
    ],
)
def test_server_that_answers_nonsense_gives_one_short_line(runs, server, monkeypatch, what):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    status, body, reason = ANSWERS[what]
    server.steps = [answer(body.encode(), status)]
    url = server.url.removesuffix("/set/data.csv")
    line = refused(runs, store_uri=url)
    assert line.startswith(f"tracking store {url}: ")
    assert reason in line
    assert len(line) < 1000
    assert track(runs)["written"] == BOTH


@fault("a password or a token in the address", "neither told nor logged")
@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://me:secret@127.0.0.1:9", "http://127.0.0.1:9: no answer (Connection refused); make it"),
        ("http://secret@127.0.0.1:9", "http://127.0.0.1:9: no answer (Connection refused); make it"),
        ("http://127.0.0.1:9?token=secret", "http://127.0.0.1:9: has a query; name only the server"),
        ("http://127.0.0.1:9/#secret", "http://127.0.0.1:9/: has a query; name only the server"),
        ("postgresql://me:secret@127.0.0.1:9/runs", "postgresql://127.0.0.1:9/runs: "),
        ("postgresql://127.0.0.1:9/runs?user=me&password=secret", "postgresql://127.0.0.1:9/runs: "),
        ("postgresql://127.0.0.1:9/runs?secret", "postgresql://127.0.0.1:9/runs: "),
        (
            "postgresql://alice:pa@rt:secret@127.0.0.1/runs",
            "postgresql://127.0.0.1/runs: is not an address of a database; write @, : and / in a password",
        ),
        ("postgresql://alice:pa/rt:secret@127.0.0.1/runs", "postgresql://***: "),
        ("postgresql://alice:pa?rt:secret@127.0.0.1/runs", "postgresql://***: "),
    ],
)
def test_password_of_a_store_is_in_no_line_of_a_traceback(runs, monkeypatch, uri, shown):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(StoreUnavailable) as caught:
        track(runs, store_uri=uri)
    told = "".join(traceback.format_exception(caught.value))
    assert f"tracking store {shown}" in told
    assert "secret" not in told
    assert "pa@rt" not in told
