"""Address of the tracking store, and runs in a SQLite file, without MLflow, whose import takes seconds."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

FILE = "sqlite:///"


def address(store: str | None) -> str:
    """The address of a store, by default `MLFLOW_TRACKING_URI`, else ``mlflow.db`` in the working folder."""
    return store or os.environ.get("MLFLOW_TRACKING_URI") or f"{FILE}mlflow.db"


def runs_in(store: str | None) -> set[str] | None:
    """The ids of the live runs in a SQLite store; None for a server, or if the file cannot be read."""
    uri = address(store)
    if not uri.startswith(FILE):
        return None
    file = Path(uri.removeprefix(FILE)).absolute()
    if not file.exists() or not file.stat().st_size:
        return set()
    # SQLite makes files beside one with a write-ahead log, unless nobody can write there.
    for mode in ("mode=ro", "immutable=1"):
        try:
            with closing(sqlite3.connect(f"{file.as_uri()}?{mode}", uri=True)) as connection:
                runs = connection.execute("SELECT run_uuid FROM runs WHERE lifecycle_stage = 'active'")
                return {run for (run,) in runs}
        except sqlite3.Error as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CANTOPEN:
                break
    return None
