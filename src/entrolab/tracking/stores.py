"""Open the tracking store for one writer: create SQLite files, lock, retry, and report errors in one line."""

import fcntl
import logging
import os
import re
import sqlite3
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import mlflow
import tenacity
from alembic.script import ScriptDirectory
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.store.db.db_types import DATABASE_ENGINES
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.tracking.registry import UnsupportedModelRegistryStoreURIException
from sqlalchemy import create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from entrolab.io.atomic import NO_ROOM, replacing
from entrolab.text import Told, hide_secrets, without_secrets
from entrolab.tracking.artifacts import FOLDER, follow_move

DEFAULT_STORE = "sqlite:///mlflow.db"
PATIENCE = 60.0  # seconds to wait for a locked store
LONGEST_REASON = 400  # maximum length: a server may respond with a whole page

# No traceback per attempt while waiting for a lock: the last error is reported.
logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


class StoreUnavailable(Told, RuntimeError):
    """Raised if the tracking store cannot be written: it is locked, read-only, unreachable or not a store."""


@dataclass(frozen=True)
class Store:
    """An open store."""

    client: MlflowClient  # with retries while another program holds the store
    address: str  # without user, password and query
    artifacts: Path | None  # the folder for new experiments; None if a server has its own
    one_writer: bool  # whether no other job can write at the same time


@dataclass(frozen=True)
class _RetryingClient:
    """The methods of a client, with retries while another program holds the store."""

    client: MlflowClient
    retrying: tenacity.Retrying

    def __getattr__(self, method: str) -> Callable:
        return partial(self.retrying, getattr(self.client, method))


@contextmanager
def opened(store_uri: str | None, patience: float) -> Iterator[Store]:
    """Open a store for one writer, or raise `StoreUnavailable` with the reason in one line."""
    uri = store_uri or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_STORE
    shown = without_secrets(uri)
    remote = uri.startswith(("http://", "https://"))
    try:
        _check_address(uri)
        file = _sqlite_file(uri)
        with nullcontext(uri) if file is None else _sole_writer(file, patience) as opened_uri:
            if file is not None:
                follow_move(file)
            elif not remote:
                _check_answers(uri)
            client = _RetryingClient(MlflowClient(opened_uri, registry_uri=opened_uri), _retrying(patience))
            artifacts = None if remote else (file.parent if file else Path.cwd()) / FOLDER
            yield Store(client, shown, artifacts, file is not None)
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError, ImportError, NoStore) as error:
        # The chained error may contain the password, and a log would keep it.
        raise StoreUnavailable(_reason(uri, error)) from (error if shown == uri else None)


def _retrying(patience: float) -> tenacity.Retrying:
    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_locked),
        wait=tenacity.wait_exponential(multiplier=0.05, max=1),
        stop=tenacity.stop_after_delay(patience),
        reraise=True,
    )


@contextmanager
def _sole_writer(file: Path, patience: float) -> Iterator[str]:
    """Lock a SQLite store, which is made if it does not exist, and yield its address.

    Programs that open a new store at the same time break each other's migrations. Each therefore locks a file
    next to the store, which the system unlocks if the program dies. The timeout for this lock is ten times
    that for a store that another program keeps locked.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    retrying = _retrying(patience)
    with open(f"{file}.lock", "a") as lock:
        _retrying(10 * patience)(fcntl.flock, lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not file.exists() or retrying(_schema, file) is None:
            # Files left by a killed program: SQLite would write their contents into the new store.
            for leftover in ("-journal", "-shm", "-wal"):
                Path(f"{file}{leftover}").unlink(missing_ok=True)
            # Created atomically: a store with an incomplete migration cannot be opened.
            with replacing(file) as temporary:
                # Fails at once if SQLite cannot open the file, for example if its path has 512 characters.
                sqlite3.connect(temporary).close()
                # A URI without quotes and colons, because MLflow inserts this folder into SQL unquoted.
                SqlAlchemyStore(address_of(temporary), (file.parent / FOLDER).as_uri())
        retrying(check_schema, file)
        retrying(_check_writable, file)
        yield address_of(file)


def _sqlite_file(uri: str) -> Path | None:
    """The file of a SQLite store; None for any other store."""
    url = _url_of(uri)
    if url is None or url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise NoStore(
            "names no file (write three slashes and a path, four if it is absolute: sqlite:///mlflow.db)",
            "name one",
        )
    if "?" in uri:
        raise NoStore("has a `?`, which ends the path of a SQLite file", "move the store to another path")
    return Path(url.database).resolve()


def address_of(file: Path) -> str:
    """The address of a SQLite file, relative if a parent has a `?`, which SQLAlchemy does not quote."""
    path = str(file) if "?" not in str(file) else os.path.relpath(file)
    if "?" in path:
        raise NoStore(f"{file} has a `?`, which ends the path of a SQLite file", "move the store elsewhere")
    return URL.create("sqlite", database=path).render_as_string()


def _check_address(uri: str) -> None:
    """Raise an error for addresses whose passwords MLflow would show in errors and logs."""
    scheme, _, rest = uri.partition("://")
    if scheme in ("http", "https") and ("?" in rest or "#" in rest):
        raise NoStore("has a query", "name only the server, and give a token in MLFLOW_TRACKING_TOKEN")
    if scheme.partition("+")[0] in DATABASE_ENGINES and _url_of(uri) is None:
        raise NoStore("is not an address of a database", "write @, : and / in a password as %40, %3A and %2F")


def _check_answers(uri: str) -> None:
    """Raise at once if the database does not respond or lacks its driver; MLflow would retry for minutes."""
    url = _url_of(uri)
    if url is not None and url.get_backend_name() in DATABASE_ENGINES:
        engine = create_engine(url)
        try:
            engine.connect().close()
        finally:
            engine.dispose()


def _schema(file: Path) -> str | None:
    """The version of MLflow's tables in a file; "none" for other tables, None without tables."""
    with closing(sqlite3.connect(file, timeout=0.1)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "alembic_version" in tables:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return found[0] if found else "none"
        return "none" if tables else None


def check_schema(file: Path) -> None:
    """Raise an error for a file that MLflow would migrate in place, or to which it would add its tables."""
    migrations = ScriptDirectory(Path(mlflow.__file__).parent / "store" / "db_migrations")
    found, wanted = _schema(file), migrations.get_current_head()
    if found != wanted:
        raise NoStore(
            f"its tables are not those of MLflow {mlflow.__version__} (version {found}, not {wanted}): "
            "they were made by another version or program, or a migration was interrupted",
            f"copy the file, then `mlflow db upgrade {address_of(file)}` brings an older version up to date; "
            "if that fails, move it aside",
        )


def _check_writable(file: Path) -> None:
    """Raise at once if the file cannot be written, and set WAL, with which readers do not wait."""
    with closing(sqlite3.connect(file, timeout=0.1, isolation_level=None)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("PRAGMA user_version = 0")  # a transaction alone would not detect a read-only file
        connection.execute("ROLLBACK")


class NoStore(ValueError):
    """Raised if an address is not that of a store; `remedy` says what to do."""

    def __init__(self, reason: str, remedy: str):
        super().__init__(reason)
        self.remedy = remedy


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, BlockingIOError) or "is locked" in str(error)


def _reason(uri: str, error: Exception) -> str:
    """The reason why a store is not available and the remedy, in one line without secrets."""
    stands = "the results are kept, and the next run of this step logs them"
    text = _no_answer(str(error)) or next(iter(str(error).strip().splitlines()), type(error).__name__)
    remedy = "make it reachable and writable"
    if _is_locked(error):
        text = "another program keeps it locked"
        remedy = "close that program (a database browser, a backup, another workflow)"
    elif isinstance(error, NoStore):
        remedy = error.remedy
    elif isinstance(error, UnsupportedModelRegistryStoreURIException):
        known = ", ".join(filter(None, error.supported_uri_schemes))
        text = f"unknown type of store; accepted are addresses that begin with {known}"
        remedy = "correct the address, as in sqlite:///mlflow.db or http://127.0.0.1:5000"
    elif isinstance(error, ImportError):
        remedy = "install the packages that this type of store needs"
    elif getattr(error, "errno", None) in NO_ROOM or "disk is full" in text:
        remedy = "free some space there"
    elif isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        remedy = "move it aside"  # not a database, or a damaged one
    text = textwrap.shorten(hide_secrets(text, uri), LONGEST_REASON, placeholder=" ...")
    return (
        f"tracking store {without_secrets(uri)}: {text}; {remedy}, or name another in MLFLOW_TRACKING_URI, "
        f"and run again; {stands}"
    )


def _no_answer(text: str) -> str:
    """ "no answer" with the reason, if a message of requests says that a server does not respond; else ""."""
    if "Max retries exceeded" not in text:
        return ""
    reasons = (
        r"\[Errno -?\d+\] ([\w ]+)",
        r"(too many \d+ error \w+|certificate [\w ]+)",
        r"Caused by (\w+)",
    )
    found = [match[1] for reason in reasons if (match := re.search(reason, text))]
    return f"no answer ({found[0]})" if found else "no answer"


def _url_of(uri: str) -> URL | None:
    """The parts of a database's address; None if it is not one."""
    try:
        return make_url(uri)
    except (ArgumentError, ValueError):  # ValueError: a port that is not a number
        return None
