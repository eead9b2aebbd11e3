"""Whatever becomes of the tracking store: it is written, or one line names it and says what is wrong."""

import errno
import fcntl
import multiprocessing
import os
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

import mlflow
import pytest
import requests
from mlflow_addresses import restore_addresses
from scripted_server import answer

from entrolab.tracking import artifacts, stores
from entrolab.tracking.stores import StoreUnavailable, open_store
from entrolab.tracking.written import runs_in

REMEDY = "and run again; the results are kept, the next run of this step logs them"


def fault(name: str, outcome: str) -> pytest.MarkDecorator:
    return pytest.mark.fault("Store", name, outcome)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working folder without a store."""
    monkeypatch.chdir(tmp_path)
    restore_addresses(monkeypatch)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    return tmp_path


@pytest.fixture
def store(folder, empty_store) -> Path:
    """A store without runs in the working folder."""
    with sqlite3.connect(empty_store) as source, sqlite3.connect("mlflow.db") as copy:
        source.backup(copy)
    return folder / "mlflow.db"


def log(store_uri: str = "sqlite:///mlflow.db", *, patience: float = 60, many: int = 1) -> set[str]:
    """Log runs with an artifact to the experiment "study", and return their ids."""
    with open_store(store_uri, patience) as store:
        experiment = mlflow.get_experiment_by_name("study")
        place = store.folder and (store.folder / "study").as_uri()
        number = experiment.experiment_id if experiment else mlflow.create_experiment("study", place)
        ids = set()
        for _ in range(many):
            with mlflow.start_run(experiment_id=number) as run:
                mlflow.log_text("5", "five.txt")
            ids.add(run.info.run_id)
        return ids


def refused(store_uri: str = "sqlite:///mlflow.db", patience: float = 0.1) -> str:
    """The one line that is said instead of logging."""
    with pytest.raises(StoreUnavailable) as caught:
        log(store_uri, patience=patience)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 700
    assert line.endswith(REMEDY)
    return line


# ---------------------------------------------------------------------------------------------------------
# Not there, or not a store


def leave_log() -> None:
    """Leave the write-ahead log of another store, as a program that is killed leaves it."""
    with closing(sqlite3.connect("gone.db")) as gone:
        gone.execute("PRAGMA journal_mode = WAL")
        gone.execute("CREATE TABLE gone (text)")
        shutil.copy("gone.db-wal", "mlflow.db-wal")


ABSENT = {
    "absent": lambda: None,
    "an empty file": lambda: Path("mlflow.db").touch(),
    "deleted, its write-ahead log left behind": leave_log,
}


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=fault(name, "made, and everything is logged")) for name in ABSENT]
)
def test_store_that_is_not_there_is_made(folder, empty_store, monkeypatch, what):
    # Making one takes seconds.
    made = lambda uri, artifacts: shutil.copy(empty_store, uri.removeprefix("sqlite:///"))  # noqa: E731
    monkeypatch.setattr(stores, "SqlAlchemyStore", made)
    ABSENT[what]()
    assert log() == runs_in(None)
    with closing(sqlite3.connect("mlflow.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]


@fault("the disk full while it is made", "one line; no half of a store is left")
def test_store_is_made_whole_or_not_at_all(folder, monkeypatch):
    def full(uri, artifacts):
        Path(uri.removeprefix("sqlite:///")).write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(stores, "SqlAlchemyStore", full)
    assert "No space left on device" in refused()
    assert [path.name for path in folder.iterdir()] == ["mlflow.db.lock"]


def changed(*statements: str) -> Callable[[], None]:
    """A function that changes the store."""

    def change():
        with closing(sqlite3.connect("mlflow.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return change


NO_STORES = {
    "text instead of a database": (
        lambda: Path("mlflow.db").write_text("this is not a database\n" * 1000),
        "file is not a database",
    ),
    "a damaged database": (
        lambda: Path("mlflow.db").write_bytes(Path("mlflow.db").read_bytes()[:20_000]),
        "database disk image is malformed",
    ),
    "another program's database": (
        lambda: (Path("mlflow.db").unlink(), changed("CREATE TABLE bookmarks (url TEXT)")()),
        f"not the tables of MLflow {mlflow.__version__} (version None, not ",
    ),
    "another MLflow's database": (
        changed("UPDATE alembic_version SET version_num = 'bda7b8c39065'"),
        f"not the tables of MLflow {mlflow.__version__} (version bda7b8c39065, not ",
    ),
    "a migration cut short": (
        changed("DELETE FROM alembic_version", "DROP TABLE webhooks"),
        f"not the tables of MLflow {mlflow.__version__} (version None, not ",
    ),
}


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=fault(name, "one line, the file left as it is")) for name in NO_STORES]
)
def test_what_is_no_store_is_left_as_it_is_and_named(store, what):
    spoil, reason = NO_STORES[what]
    spoil()
    before = store.read_bytes()
    line = refused()
    assert line.startswith(f"tracking store sqlite:///mlflow.db: {reason}")
    assert ("`mlflow db upgrade sqlite:///" in line) == ("MLflow" in reason)
    assert store.read_bytes() == before
    assert runs_in(None) in (None, set())


# ---------------------------------------------------------------------------------------------------------
# There, and not to be written


def is_open(store: Path) -> bool:
    """Whether a job has the store, so that it waits for no other job."""
    with open(f"{store}.lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_until(condition: Callable[[], bool], running: Callable[[], bool]) -> None:
    while not condition():
        assert running(), "it ended before it came to that"
        time.sleep(0.01)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@fault("locked by another program for a while", "waited for, then everything is logged")
def test_locked_store_is_waited_for(store, mode):
    with closing(sqlite3.connect(store, isolation_level=None)) as other, ThreadPoolExecutor() as threads:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("BEGIN EXCLUSIVE")
        logged = threads.submit(log)
        wait_until(lambda: is_open(store), logged.running)
        time.sleep(0.2)  # until it asks for the database
        other.execute("ROLLBACK")
        assert logged.result() == runs_in(None)


@fault("locked for longer than is waited", "one line; the next run logs everything")
def test_store_that_stays_locked_is_given_up(store):
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert refused().startswith("tracking store sqlite:///mlflow.db: database is locked; correct this")
    assert log() == runs_in(None)


def test_a_job_waits_until_another_has_closed_the_store(store):
    order = []

    def second():
        with open_store("sqlite:///mlflow.db"):
            order.append("second")

    with ThreadPoolExecutor() as threads:
        with open_store("sqlite:///mlflow.db") as opened:
            waiting = threads.submit(second)
            time.sleep(0.05)
            order.append("first")
        waiting.result()
    assert order == ["first", "second"]
    assert (opened.address, opened.folder) == ("sqlite:///mlflow.db", store.parent / "mlruns")


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
            ("file", "mlflow.db", "attempt to write a readonly database"),
            ("folder", ".", "Read-only file system"),
            ("folder of artifacts", "mlruns", "Read-only file system"),
        ]
    ],
)
def test_read_only_store_gives_one_line(store, what, reason):
    Path("mlruns").mkdir()
    uri = f"sqlite:///{store}"
    with read_only(Path(what).resolve()):
        line = refused(uri)
        if what != "mlruns":
            assert runs_in(uri) == set()
    assert line.startswith(f"tracking store {uri}: ")
    assert reason in line
    assert log(uri) <= runs_in(uri)


def test_errors_of_a_job_are_its_own(store):
    with pytest.raises(ValueError, match="^mine$"), open_store("sqlite:///mlflow.db"):
        raise ValueError("mine")


# ---------------------------------------------------------------------------------------------------------
# Many at once


@pytest.mark.slow
@fault("brand-new, with 8 writers at once", "all succeed: 40 runs, none lost, none doubled")
def test_programs_that_open_a_new_store_together_all_succeed(folder):
    """Processes that divide from this one: so many imports of MLflow would be minutes."""
    fork = multiprocessing.get_context("fork")
    start = fork.Barrier(8)
    jobs = [fork.Process(target=lambda: (start.wait(), log(many=5))) for _ in range(8)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * 8
    assert len(runs_in(None)) == 40


# ---------------------------------------------------------------------------------------------------------
# Moved


def test_artifact_paths_of_a_moved_store_follow_it(tmp_path):
    """Each path of each column becomes the one with the new folder; those of other places are kept."""
    old, here, kept = tmp_path / "old" / "mlruns", tmp_path / "new" / "mlruns", tmp_path / "disk" / "mlruns"
    here.mkdir(parents=True)
    (kept / "kept").mkdir(parents=True)
    (here / "copied").mkdir()
    (old / "copied").mkdir(parents=True)
    (old / "left").mkdir()
    moves = {
        f"{old.as_uri()}/a": f"{here.as_uri()}/a",  # gone there
        f"{old.as_uri()}/ab": f"{here.as_uri()}/ab",
        f"{old}/c": f"{here.as_uri()}/c",  # a path, as older versions of MLflow wrote it
        f"{old.as_uri()}/d/": f"{here.as_uri()}/d/",
        f"{old.as_uri()}/copied": f"{here.as_uri()}/copied",
        f"{old.as_uri()}/left": f"{old.as_uri()}/left",  # still there, and not copied
        f"{kept.as_uri()}/kept": f"{kept.as_uri()}/kept",
        f"{here.as_uri()}/here": f"{here.as_uri()}/here",
        f"{tmp_path.as_uri()}/other/folder": f"{tmp_path.as_uri()}/other/folder",
        "s3://bucket/mlruns/e": "s3://bucket/mlruns/e",
    }
    below = {f"{a.rstrip('/')}/m/x": f"{b.rstrip('/')}/m/x" for a, b in moves.items()}
    expected = {None: None, "models:/m-1": "models:/m-1", **below}
    store = tmp_path / "new" / "mlflow.db"
    with closing(sqlite3.connect(store)) as connection:
        for table in {table for table, _ in artifacts.COLUMNS}:
            columns = [column for name, column in artifacts.COLUMNS if name == table]
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            rows = list(moves if table == "experiments" else expected)
            marks = ", ".join("?" * len(columns))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})", [[row] * len(columns) for row in rows]
            )
        connection.commit()
        for _ in range(2):
            artifacts.follow_move(store)
            for table, column in artifacts.COLUMNS:
                found = [place for (place,) in connection.execute(f"SELECT {column} FROM {table}")]
                assert found == list((moves if table == "experiments" else expected).values())


@pytest.mark.parametrize(("way", "name"), [(shutil.move, "näher? 50%3F#"), (shutil.copytree, "näher")])
@fault("a folder moved or copied elsewhere, with ?, # and %3F in its name", "the paths are corrected")
def test_artifacts_are_read_after_the_folder_was_moved(store, folder, monkeypatch, way, name):
    here = folder.with_name(f"{folder.name} {name}")
    [run] = log(f"sqlite:///{store}")
    way(folder, here)
    monkeypatch.chdir(here)
    if way is shutil.move:
        folder.mkdir()  # where pytest deletes it
    else:
        shutil.rmtree(folder / "mlruns")
    with open_store("sqlite:///mlflow.db"):
        assert mlflow.artifacts.load_text(f"{mlflow.get_run(run).info.artifact_uri}/five.txt") == "5"
    assert log() | {run} == runs_in(None)
    assert len([*Path("mlruns").rglob("five.txt")]) == 2
    assert name == "näher" or not here.with_name(f"{folder.name} näher").exists()


# ---------------------------------------------------------------------------------------------------------
# Servers and addresses


@pytest.mark.slow
@fault("a tracking server that goes away halfway", "one line; when it is back, everything is logged")
def test_server_that_goes_away_halfway(store):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

    @contextmanager
    def server() -> Iterator[Callable[[], object]]:
        command = f"mlflow server --workers 1 --backend-store-uri sqlite:///mlflow.db --port {url[17:]}"
        running = subprocess.Popen(
            [sys.executable, "-m", *command.split(), "--artifacts-destination", "served"],
            env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_TRACKING_URI": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            wait_until(lambda: _answers(url), lambda: running.poll() is None)
            yield lambda: os.killpg(running.pid, signal.SIGKILL) or running.wait()
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()

    with server() as kill:
        first = log(url)

        def killed() -> None:
            with open_store(url) as opened:
                assert opened.folder is None
                kill()
                mlflow.get_run(*first)

        with pytest.raises(StoreUnavailable, match=rf"^tracking store {url}: .*{REMEDY}$"):
            killed()
        assert runs_in(url) is None
    with server():
        assert first | log(url) == runs_in("sqlite:///mlflow.db")


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/health", timeout=10).ok
    except requests.ConnectionError:
        return False


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
def test_server_that_answers_nonsense_gives_one_short_line(folder, server, what):
    status, body, reason = ANSWERS[what]
    server.steps = [answer(body.encode(), status)]
    url = server.url.removesuffix("/set/data.csv")
    line = refused(url)
    assert line.startswith(f"tracking store {url}: ")
    assert reason in line


@pytest.mark.parametrize(
    ("uri", "shown", "reason"),
    [
        ("sqlite://mlflow.db", "sqlite://mlflow.db", "names no file"),
        ("sqlite:///:memory:", "sqlite:///:memory:", "names no file"),
        ("sqlite:///what?/mlflow.db", "sqlite:///what", "names no file"),
        ("sqlite:///folder.db", "sqlite:///folder.db", "unable to open database file"),
        ("sqlite:///text/mlflow.db", "sqlite:///text/mlflow.db", "File exists|Not a directory"),
        ("carrier-pigeon://me:hunter@home", "carrier-pigeon://home", "'sqlite'"),
        ("mlruns", "mlruns", "maintenance mode"),
        ("mysql://127.0.0.1:9/runs", "mysql://127.0.0.1:9/runs", "No module named|refused"),
        ("http://me:hunter@127.0.0.1:9", "http://127.0.0.1:9", "Connection refused"),
        ("http://127.0.0.1:9?token=hunter", "http://127.0.0.1:9", "Connection refused"),
        ("http://127.0.0.1:9/#hunter", "http://127.0.0.1:9/", "Connection refused"),
        ("postgresql://me:hunter@127.0.0.1:9/runs", "postgresql://127.0.0.1:9/runs", "No module|refused"),
        ("postgresql://me:pa@rt:hunter@127.0.0.1/runs", "postgresql://127.0.0.1/runs", "are %40"),
        ("postgresql://me:pa/rt:hunter@127.0.0.1/runs", "postgresql://\\*\\*\\*", ""),
    ],
)
@fault("an address that leads to no store, with a password or a token", "one line, without secrets")
def test_address_that_leads_to_no_store_gives_one_line_without_secrets(folder, uri, shown, reason):
    Path("folder.db").mkdir()
    Path("text").touch()
    with pytest.raises(StoreUnavailable, match=f"^tracking store {shown}: .*({reason}).*; correct") as caught:
        log(uri)
    told = "".join(traceback.format_exception(caught.value))
    assert "hunter" not in told
    assert "pa@rt" not in told
    assert {path.name for path in folder.iterdir()} <= {"folder.db", "folder.db.lock", "text"}


# ---------------------------------------------------------------------------------------------------------
# What is there, without MLflow


def test_live_runs_are_read_while_others_write_and_without_mlflow(store):
    assert runs_in("sqlite:///none.db") == set()
    assert runs_in("http://127.0.0.1:9") is None
    kept, deleted = log() | log(), log()
    with open_store("sqlite:///mlflow.db"):
        mlflow.delete_run(*deleted)
    os.environ["MLFLOW_TRACKING_URI"] = ""
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE runs SET lifecycle_stage = 'deleted'")
        assert runs_in(None) == runs_in(f"sqlite:///{store}") == kept
    asked = f"""
import sys
from entrolab.tracking.written import runs_in
assert runs_in(None) == {kept}
assert not {{"mlflow", "sqlalchemy", "pandas"}} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", asked], check=True)
