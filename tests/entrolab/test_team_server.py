"""A server on PostgreSQL holds what the embedded store holds, and takes over what that one held."""

import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psycopg2
import pytest
import requests
import skops.io
import sqlalchemy
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from stored_runs import client_of, study_in
from team_server import database_of, need_postgresql, script, team_server
from tracked_runs import PUBLISHED, STUDY, mlflow, track, write_run, write_tables

from entrolab.tracking import StoreUnavailable, StudyRun, track_dataset, track_study
from entrolab.tracking.moving import NotMoved, main, move

BETTER = (0.9, 0.9, 0.9, 0.95)


def make_runs(paper: str, X, y) -> list[StudyRun]:
    """Two runs of one data set, the first of them the better one, in the working folder."""
    made = [StudyRun.at(paper, "moons", model) for model in ("svm_rbf", "logistic")]
    write_run(made[0], estimator=SVC(C=1.0).fit(X, y), gmeans=BETTER)
    write_run(made[1], estimator=LogisticRegression().fit(X, y))
    return made


class Team:
    """A project with an embedded store, and a server that took it over."""

    def __init__(self, project: Path, uri: str, server: Path, X):
        self.project, self.uri, self.server, self.X = project, uri, server, X


@pytest.fixture(scope="module")
def moved(tmp_path_factory, empty_store):
    need_postgresql()
    project = tmp_path_factory.mktemp("project")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0], [2.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    with pytest.MonkeyPatch.context() as patch, team_server() as (uri, folder):
        patch.chdir(project)
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        # A test reads the database too, as the server does.
        patch.setenv("PGPASSFILE", str(folder / "pgpass"))
        Path("published.csv").write_text(PUBLISHED)
        Path("table.html").write_text("<table></table>")
        with closing(sqlite3.connect(empty_store)) as source, closing(sqlite3.connect("mlflow.db")) as copy:
            source.backup(copy)
        runs = make_runs("small", X, y)
        track(runs)
        # A run that was deleted, a second version, and a metric that no PostgreSQL would take for a number.
        write_run(runs[0], estimator=SVC(C=2.0).fit(X, y), gmeans=(0.95, 0.9, 0.9, 0.95))
        track(runs)
        track_study(STUDY, "small", ["table.html"], config="published.csv")
        client = client_of("sqlite:///mlflow.db")
        odd = client.create_run(client.create_experiment("odd ' name", "s3://bucket/odd"))
        client.log_metric(odd.info.run_id, "nan", float("nan"))
        client.log_metric(odd.info.run_id, "inf", float("inf"))
        client.log_param(odd.info.run_id, "text", "zażółć \\ ' \" %s :x")
        done = script("import", "mlflow.db", SERVER=str(folder))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("moved: 4 experiments, 5 runs, ")
        yield Team(project, uri, folder, X)


@pytest.fixture
def team(moved, monkeypatch):
    monkeypatch.chdir(moved.project)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return moved


def runs_of(paper: str) -> list[StudyRun]:
    return [StudyRun.at(paper, "moons", model) for model in ("svm_rbf", "logistic")]


def runs_at(uri: str) -> dict[str, str]:
    """All that runs say, as text: a metric that is no number is equal to nothing."""
    return {
        run.info.run_id: str(run.data.to_dictionary()) for run in client_of(uri).search_runs(["1", "2", "3"])
    }


# ---------------------------------------------------------------------------------------------------------
# What was moved


@pytest.mark.fault("Trust", "a team's server, asked by a name that is not its own", "refused")
@pytest.mark.parametrize("host", ["hostile.example", "10.hostile.example", "192.168.hostile.example"])
def test_the_server_answers_to_no_name_but_its_own(team, host):
    address, port = f"{team.uri}/api/2.0/mlflow/experiments/search?max_results=1", urlsplit(team.uri).port
    assert requests.get(address, timeout=30).status_code == 200
    for name in (host, f"{host}:{port}"):
        assert requests.get(address, headers={"Host": name}, timeout=30).status_code == 403


def test_every_row_is_on_the_server_as_it_was_but_for_the_places_of_artifacts(team):
    old = sqlalchemy.create_engine("sqlite:///mlflow.db")
    new = sqlalchemy.create_engine(database_of(team.server))
    here = (team.project / "mlruns").as_uri()
    seen = 0
    with old.connect() as before, new.connect() as after:
        for table in sqlalchemy.inspect(old).get_table_names():
            # Other tests log other experiments there.
            rows = before.execute(sqlalchemy.text(f'SELECT * FROM "{table}"')).mappings().all()
            there = after.execute(sqlalchemy.text(f'SELECT * FROM "{table}"')).mappings().all()
            plain = {_plain(row, here) for row in rows}
            assert plain <= {_plain(row, here) for row in there}, table
            seen += len(rows)
    assert seen > 300
    old.dispose()
    new.dispose()


def _plain(row, here: str) -> frozenset:
    """A row as SQLite has it, with the places of artifacts as the server has them."""
    folders = {f"{here}/small": "2", (here + "/seed"): "1"}

    def value(column):
        if isinstance(column, bool):
            return int(column)
        for folder, number in folders.items():
            if isinstance(column, str) and column.startswith(f"{folder}/"):
                return f"mlflow-artifacts:/{number}{column[len(folder) :]}"
        return column

    # The experiments' own are looked at below.
    return frozenset((name, value(column)) for name, column in row.items() if name != "artifact_location")


def test_experiments_have_their_places_on_the_server_and_their_artifacts_there(team):
    places = {one.name: one.artifact_location for one in client_of(team.uri).search_experiments()}
    assert {name: places[name] for name in ("Default", "seed", "small", "odd ' name")} == {
        "Default": "mlflow-artifacts:/0",
        "seed": "mlflow-artifacts:/1",
        "small": "mlflow-artifacts:/2",
        "odd ' name": "s3://bucket/odd",
    }
    there, here = team.server / "artifacts" / "2", team.project / "mlruns" / "small"
    both = [sorted(path.relative_to(root) for path in root.rglob("*")) for root in (there, here)]
    assert both[0] == both[1]
    assert len(both[0]) > 20


def test_moved_study_is_the_same_through_the_client_with_every_artifact(team, tmp_path):
    embedded = study_in(client_of("sqlite:///mlflow.db"), "small", tmp_path)
    assert study_in(client_of(team.uri), "small", tmp_path) == embedded
    assert set(embedded["runs"]) == {"small", "small/moons/svm_rbf", "small/moons/logistic"}
    assert embedded["registered"]["best"]["run"] == "small/moons/svm_rbf"


def test_moved_model_loads_by_its_alias_through_the_server(team):
    mlflow.set_tracking_uri(team.uri)
    try:
        loaded = mlflow.sklearn.load_model("models:/small.moons@best")
    finally:
        mlflow.set_tracking_uri(None)
    original = skops.io.load(runs_of("small")[0].fitted)
    np.testing.assert_array_equal(loaded.decision_function(team.X), original.decision_function(team.X))


def test_moved_study_is_found_and_nothing_is_logged_anew(team):
    again = track(runs_of("small"), store_uri=team.uri)
    assert again["written"] == []
    paper = track_study(STUDY, "small", ["table.html"], config="published.csv", store_uri=team.uri)
    assert paper["written"] is False


def test_odd_values_and_a_bucket_stay_what_they_were(team):
    old, new = client_of("sqlite:///mlflow.db"), client_of(team.uri)
    found = new.get_experiment_by_name("odd ' name")
    assert found.artifact_location == "s3://bucket/odd"
    [here], [there] = (client.search_runs([found.experiment_id]) for client in (old, new))
    assert there.data.params == {"text": "zażółć \\ ' \" %s :x"}
    assert np.isnan(there.data.metrics["nan"])
    assert there.data.metrics["inf"] == here.data.metrics["inf"] > 1e300


def test_new_experiments_and_versions_go_on_counting(team):
    client = client_of(team.uri)
    highest = max(int(one.experiment_id) for one in client_of("sqlite:///mlflow.db").search_experiments())
    made = client.create_experiment("a later one")
    try:
        assert int(made) > highest
    finally:
        client.delete_experiment(made)


def test_server_in_use_takes_no_second_store_and_stays_as_it_was(team):
    before = runs_at(team.uri)
    with pytest.raises(SystemExit) as caught:
        main(["mlflow.db", database_of(team.server), str(team.server / "artifacts")])
    line = str(caught.value)
    assert "it is in use: its table " in line
    assert line.endswith("nothing was moved")
    assert "\n" not in line
    assert runs_at(team.uri) == before


@pytest.mark.parametrize(
    ("store", "database", "reason"),
    [
        ("gone.db", None, "the file does not exist"),
        ("published.csv", None, "file is not a database"),
        ("mlflow.db", "sqlite:///other.db", "the database is sqlite; accepted: postgresql://"),
        ("mlflow.db", "nowhere", "the database is no address; accepted: postgresql://"),
        ("mlflow.db", "postgresql://me:secret@127.0.0.1:9/x", "Connection refused"),
    ],
)
def test_what_cannot_be_moved_is_one_line_without_a_password(team, tmp_path, store, database, reason):
    with pytest.raises(NotMoved, match=reason) as caught:
        move(store, database or database_of(team.server), tmp_path)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------------------------------
# What is logged there


def test_study_tracked_to_a_server_is_the_study_tracked_to_a_file(team, data, tmp_path, monkeypatch):
    shutil.copytree(team.project, tmp_path / "own", ignore=shutil.ignore_patterns("mlruns", "results"))
    monkeypatch.chdir(tmp_path / "own")
    runs = make_runs("other", *data)
    arguments = {"tables": write_tables("other"), "patience": 5}
    done = {
        uri: track_dataset(STUDY, "other", "moons", runs, store_uri=uri, **arguments)
        for uri in (f"sqlite:///{tmp_path}/own/mlflow.db", team.uri)
    }
    for uri in done:
        track_study(STUDY, "other", ["table.html"], config="published.csv", store_uri=uri)
    both = [study_in(client_of(uri), "other", tmp_path) for uri in done]
    assert both[0] == both[1]
    assert both[1]["registered"]["best"]["run"] == "other/moons/svm_rbf"
    run = client_of(team.uri).get_run(done[team.uri]["runs"]["svm_rbf"])
    assert run.info.artifact_uri.startswith("mlflow-artifacts:/")
    assert track_dataset(STUDY, "other", "moons", runs, store_uri=team.uri, **arguments)["written"] == []
    # A changed run replaces its run, and gets a second version.
    write_run(runs[0], estimator=SVC(C=3.0).fit(*data), gmeans=(0.9, 0.9, 0.95, 0.95))
    write_tables("other")
    changed = track_dataset(STUDY, "other", "moons", runs, store_uri=team.uri, **arguments)
    assert changed["runs"]["svm_rbf"] != done[team.uri]["runs"]["svm_rbf"]
    assert client_of(team.uri).get_model_version_by_alias("other.moons", "best").version == "3"


def test_experiment_and_run_that_another_writer_made_meanwhile_are_shared(team, data, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("published.csv").write_text(PUBLISHED)
    runs = make_runs("raced", *data)
    asked = mlflow.MlflowClient.get_experiment_by_name

    def too_early(client, name):
        """Not there yet; made by another writer before this one comes to it."""
        monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", asked)
        other = client.create_run(client.create_experiment(name), start_time=1, tags={"entrolearn.key": name})
        made.append(other.info.run_id)

    made = []
    monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", too_early)
    done = track_dataset(STUDY, "raced", "moons", runs, store_uri=team.uri, tables=write_tables("raced"))
    assert [done["study_run"]] == made


@pytest.mark.fault("Store", "a path where no tracking server is", "one line; the results stand")
def test_wrong_path_of_a_server_gives_one_line(team):
    with pytest.raises(StoreUnavailable, match="404") as caught:
        track(runs_of("small"), store_uri=f"{team.uri}/wrong")
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------------------------------------------------
# The server itself


def test_database_asks_for_a_password_and_its_role_may_do_nothing_else(team, monkeypatch):
    assert stat.S_IMODE((team.server / "pgpass").stat().st_mode) == 0o600
    address = database_of(team.server)
    with closing(psycopg2.connect(address)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = 'mlflow'"
        )
        assert cursor.fetchone() == (False,)
        cursor.execute("SHOW listen_addresses")
        assert cursor.fetchone() == ("127.0.0.1",)
    monkeypatch.delenv("PGPASSFILE")
    for wrong in (
        address,
        address.replace("mlflow@", "mlflow:wrong@"),
        address.replace("mlflow@", "postgres@"),
    ):
        with pytest.raises(psycopg2.OperationalError, match="password"):
            psycopg2.connect(wrong)
    password = (team.server / "pgpass").read_text().strip().rpartition(":")[2]
    shown = subprocess.run(["ps", "-e", "-o", "args="], capture_output=True, text=True, check=True).stdout
    assert password not in shown
    assert password not in (team.server / "mlflow.log").read_text()


def test_started_twice_it_is_one_server_and_says_the_line_to_export(team):
    for verb in ("start", "status"):
        done = script(verb, SERVER=str(team.server))
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == f"export MLFLOW_TRACKING_URI={team.uri}"


@pytest.mark.parametrize("which", ["PORT", "DATABASE_PORT"])
def test_port_that_is_taken_is_named_before_anything_is_made(team, tmp_path, which):
    folder = tmp_path / "second"
    taken = team.uri.rpartition(":")[2]
    others = {"PORT": "65001", "DATABASE_PORT": "65002"}
    done = script("start", SERVER=str(folder), **others | {which: taken})
    assert done.returncode == 1
    assert f"port {taken}, for " in done.stderr
    assert "is taken; another: " in done.stderr
    assert done.stderr.count("\n") == 1
    assert not folder.exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"PORT": "http"}, "PORT=http: a port is a number from 1 to 65535"),
        ({"DATABASE_PORT": "70000"}, "DATABASE_PORT=70000: a port is a number from 1 to 65535"),
        ({"PORT": "5440", "DATABASE_PORT": "5440"}, "PORT and DATABASE_PORT are both 5440: they differ"),
        ({"WORKERS": "0"}, "WORKERS=0: it is a whole number, at least 1"),
        ({"SERVER": "/srv/with space"}, "SERVER=/srv/with space: a path without spaces and quotes"),
        ({"PYTHON": "/no/python"}, "/no/python is no Python that runs: make env (or name one in PYTHON)"),
    ],
)
def test_wrong_setting_is_one_line(settings, reason):
    done = script("start", **settings)
    assert (done.returncode, done.stderr) == (1, f"tracking server: {reason}\n")


def test_verbs_where_there_is_no_server_say_so(tmp_path):
    where = {"SERVER": str(tmp_path / "none")}
    assert script("status", **where).returncode == 3
    for verb, *arguments in (["stop"], ["import", "mlflow.db"], ["restart"]):
        done = script(verb, *arguments, **where)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
