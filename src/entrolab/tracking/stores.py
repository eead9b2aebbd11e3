"""Open the tracking store for one writer, and report its errors in one line."""

import fcntl
import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import mlflow
from alembic.script import ScriptDirectory
from mlflow.exceptions import MlflowException
from mlflow.store.db.db_types import DATABASE_ENGINES
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from entrolab.io.atomic import replacing
from entrolab.text import Told, hide_secrets, one_line, without_secrets
from entrolab.tracking.artifacts import FOLDER, follow_move
from entrolab.tracking.written import address

PATIENCE = 60.0  # seconds to wait for a database that another program keeps locked

# No traceback for each statement that fails: the error is reported.
logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


class StoreUnavailable(Told, RuntimeError):
    """Raised if the tracking store cannot be written: it is locked, read-only, unreachable or not a store."""


@dataclass(frozen=True)
class Store:
    """An open store."""

    address: str  # without user, password and query
    folder: Path | None  # of the artifacts of new experiments; None if a server has its own


@contextmanager
def open_store(store_uri: str | None, patience: float = PATIENCE) -> Iterator[Store]:
    """Open a store for one writer, and make it MLflow's tracking and registry store.

    A SQLite file is created if it does not exist, and its artifact paths are corrected if it was moved; other
    jobs that open it wait until it is closed. If the store fails, on opening or later, `StoreUnavailable` is
    raised, with the reason and a remedy in one line without secrets.
    """
    uri = address(store_uri)
    shown = without_secrets(uri)
    try:
        file = file_of(uri)
        with nullcontext() if file is None else _sole_writer(file, patience):
            mlflow.set_tracking_uri(uri if file is None else address_of(file))
            mlflow.set_registry_uri(mlflow.get_tracking_uri())
            folder = None if uri.startswith("http") else (file.parent if file else Path.cwd()) / FOLDER
            yield Store(shown, folder)
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError, ImportError) as error:
        reason = one_line(hide_secrets(_reason(error), uri))
        # Not chained, because the original error may contain the password.
        raise StoreUnavailable(
            f"tracking store {shown}: {reason}; correct this, or name another in MLFLOW_TRACKING_URI (like "
            "sqlite:///mlflow.db), and run again; the results are kept, the next run of this step logs them"
        ) from None


def file_of(uri: str) -> Path | None:
    """The file of a SQLite store; None for other stores. A database that does not respond is an error."""
    if uri.partition(":")[0].partition("+")[0] not in DATABASE_ENGINES:
        return None
    try:
        url = make_url(uri)
    except (ArgumentError, ValueError):  # ValueError: a port that is not a number
        raise MlflowException("no database's address (@, : and / of a password are %40, %3A, %2F)") from None
    if url.get_backend_name() != "sqlite":
        create_engine(url).connect().close()  # MLflow would retry for minutes
        return None
    if "?" in uri or url.database in (None, "", ":memory:"):
        raise MlflowException("names no file (write three slashes before its path, which has no `?`)")
    return Path(url.database).resolve()


def address_of(file: Path) -> str:
    """The address of a SQLite file, relative if a parent has a `?`, which would end the path."""
    return f"sqlite:///{os.path.relpath(file) if '?' in str(file) else file}"


@contextmanager
def _sole_writer(file: Path, patience: float) -> Iterator[None]:
    """Lock a SQLite store, which is made if it does not exist.

    Programs that open a new store at the same time break each other's migrations. Each therefore locks a file
    next to the store, which the system unlocks if the program dies.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{file}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists() or not file.stat().st_size:
            # Files left by a killed program: SQLite would write their contents into the new store.
            for leftover in ("-journal", "-shm", "-wal"):
                Path(f"{file}{leftover}").unlink(missing_ok=True)
            # Created atomically: a store with an incomplete migration cannot be opened.
            with replacing(file) as temporary:
                SqlAlchemyStore(address_of(temporary), (file.parent / FOLDER).as_uri())
        check(file, patience)
        yield


def check(file: Path, patience: float) -> None:
    """Wait for a SQLite store, check that it can be written, and correct its artifact paths if it was moved.

    A file that MLflow would migrate in place, or to which it would add its tables, is an error.
    """
    wanted = ScriptDirectory(Path(mlflow.__file__).parent / "store/db_migrations").get_current_head()
    with closing(sqlite3.connect(file, timeout=patience, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        made = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone() if made else None
        connection.execute("ROLLBACK")
        if found != (wanted,):
            raise MlflowException(
                f"not the tables of MLflow {mlflow.__version__} (version {found and found[0]}, not {wanted}):"
                f" copy the file and try `mlflow db upgrade {address_of(file)}`, or move it aside"
            )
        connection.execute("PRAGMA journal_mode = WAL")  # with which readers do not wait
    follow_move(file)


def _reason(error: BaseException) -> str:
    """The first line of an error, or of the error of SQLite or of the system that caused it."""
    text, cause = str(error), error.__cause__ or error.__context__
    while cause is not None:
        if isinstance(cause, sqlite3.Error) or getattr(cause, "errno", None):
            text = str(cause)
        cause = cause.__cause__ or cause.__context__
    return text.strip().partition("\n")[0] or type(error).__name__
