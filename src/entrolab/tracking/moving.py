"""Copy a SQLite store into the PostgreSQL database of a server, and its artifacts into the server's folder.

``python -m entrolab.tracking.moving STORE DATABASE FOLDER``; ``tools/tracking_server.sh import`` calls it.

No maintained tool does this. MLflow's own tool only moves folders to SQLite. pgloader copies rows into
existing empty tables, in many transactions, but not artifacts. Tools that copy through MLflow's API give
every run a new id.
"""

import argparse
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from sqlalchemy import JSON, URL, Connection, MetaData, Table, Text, create_engine, event, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from entrolab.text import hide_secrets, without_secrets
from entrolab.tracking.artifacts import COLUMNS, follow_move
from entrolab.tracking.stores import NoStore, check_schema, url_of

SERVED = "mlflow-artifacts:/"  # MLflow's name for the folder behind a server
# The rows that a new MLflow database contains: table -> key, value.
OF_A_NEW_DATABASE = {"experiments": ("name", "Default"), "workspaces": ("name", "default")}
ROWS_AT_ONCE = 2000
LOCK_SECONDS = 20  # timeout for the server's own transactions
# The artifact location of a trace is a tag.
TRACE_TAGS, TRACE_LOCATION = "trace_tags", "mlflow.artifactLocation"
SHOWN = ("experiments", "runs", "metrics", "params", "tags", "logged_models", "model_versions")


class NotMoved(RuntimeError):
    """Raised if a store was not moved; the database is unchanged."""


@dataclass(frozen=True)
class Moved:
    """The number of rows moved per table, and artifact locations on this machine outside all experiments.

    Artifacts at these locations stay where they are, and are not available from the server.
    """

    rows: Mapping[str, int]
    elsewhere: Iterable[str]


def move(store: str | os.PathLike, database: str, folder: str | os.PathLike) -> Moved:
    """Copy a SQLite store into the empty database of a server, and its artifacts into the server's folder.

    Ids, times, aliases and deleted runs are preserved, so the workflow finds its runs on the server.
    Artifacts of experiments on this machine get the location ``mlflow-artifacts:/<experiment>``; other
    locations, such as a bucket, are preserved. The store is not changed, except for paths broken by a move of
    its folder (see `entrolab.tracking.artifacts.follow_move`). All rows are copied in one transaction.

    `database` is ``postgresql://user@host:port/name``, with a password in libpq's password file rather than
    in the address; missing tables are created. `folder` is the server's ``--artifacts-destination``.

    Raises
    ------
    NotMoved
        If the store cannot be read or is of another version of MLflow; if the database cannot be reached, is
        not PostgreSQL or is in use; if the folder of an experiment's artifacts exists already. The message is
        one line.
    """
    store, folder = Path(store).resolve(), Path(folder).resolve()
    url = url_of(database)
    backend = "no address" if url is None else url.get_backend_name()
    if backend != "postgresql":
        raise NotMoved(f"the database is {backend}; accepted: postgresql://user@host:port/name")
    with _in_one_line(f"store {store}"):
        if not store.is_file():
            raise NoStore("the file does not exist", "name the SQLite file of a store, such as mlflow.db")
        check_schema(store)
        follow_move(store)
    source = create_engine(URL.create("sqlite", database=str(store)))
    # Read one snapshot while others may write: SQLite begins a transaction only on request.
    event.listen(source, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    target = create_engine(database, connect_args={"options": f"-c lock_timeout={LOCK_SECONDS}s"})
    with _in_one_line(f"database {without_secrets(database)}", database):
        try:
            target.connect().close()  # MLflow would retry for minutes
            SqlAlchemyStore(database, SERVED)  # creates the tables, raises an error for another version
            with source.connect() as old, target.begin() as new:
                return _moved(old, new, folder)
        finally:
            source.dispose()
            target.dispose()


@contextmanager
def _in_one_line(what: str, address: str = "") -> Iterator[None]:
    try:
        yield
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError, ImportError, ValueError) as error:
        cause = getattr(error, "orig", None) or error
        line = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
        remedy = f"; {error.remedy}" if isinstance(error, NoStore) else ""
        # The chained error may contain the password.
        raise NotMoved(f"{what}: {hide_secrets(line, address)}{remedy}; nothing was moved") from None


def _moved(old: Connection, new: Connection, folder: Path) -> Moved:
    tables = _tables(new)
    sources = {table.name: table for table in _tables(old)}
    # No run can start while these locks are held.
    new.exec_driver_sql("LOCK TABLE experiments, workspaces IN ACCESS EXCLUSIVE MODE")
    for table in tables:
        _check_empty(new, table)
    experiments = sources["experiments"].c
    found = old.execute(select(experiments.artifact_location, experiments.experiment_id))
    locations = _Locations({place.rstrip("/"): number for place, number in found if _is_local(place)})
    with locations.copied_to(folder):
        for table in tables:
            if table.name in OF_A_NEW_DATABASE:
                new.execute(table.delete())
        rows = {table.name: _copy(old, new, sources[table.name], table, locations) for table in tables}
        for table in tables:
            _continue_sequences(new, table)
    return Moved(rows, sorted(locations.elsewhere))


def _tables(connection: Connection) -> list[Table]:
    """The tables of a store in the order of their foreign keys; JSON columns are text."""
    found = MetaData()
    found.reflect(connection)
    for table in found.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = Text()
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def _check_empty(new: Connection, table: Table) -> None:
    rows = select(func.count()).select_from(table)
    if table.name in OF_A_NEW_DATABASE:
        column, value = OF_A_NEW_DATABASE[table.name]
        rows = rows.where(table.c[column] != value)
    if there := new.execute(rows).scalar_one():
        raise NoStore(
            f"it is in use: its table {table.name} has {there} row{'s'[: there != 1]}",
            "a store is moved to a server before anything else is logged there",
        )


def _copy(old: Connection, new: Connection, source: Table, target: Table, locations: "_Locations") -> int:
    """Copy all rows of a table, with artifact locations on the server; return the number of rows."""
    columns = [column for table, column in COLUMNS if table == target.name]
    copied = 0
    found = old.execution_options(yield_per=ROWS_AT_ONCE).execute(select(source)).mappings()
    for partition in found.partitions():
        rows = [dict(row) for row in partition]
        for row in rows:
            for column in columns:
                row[column] = locations.served(row[column])
            if target.name == TRACE_TAGS and row["key"] == TRACE_LOCATION:
                row["value"] = locations.served(row["value"])
        new.execute(target.insert(), rows)
        copied += len(rows)
    return copied


def _continue_sequences(new: Connection, table: Table) -> None:
    """Set the database's sequences to continue after the copied rows."""
    for column in table.columns:
        sequence = new.execute(
            text("SELECT pg_get_serial_sequence(:table, :column)"),
            {"table": table.name, "column": column.name},
        ).scalar_one()
        if sequence is not None:
            highest = new.execute(select(func.max(column))).scalar_one()
            new.execute(select(func.setval(sequence, (highest or 0) + 1, False)))


class _Locations:
    """The old and the new locations of the experiments' artifacts."""

    def __init__(self, experiments: Mapping[str, int]):
        # The longest first: an experiment's folder may be inside another's.
        self._experiments = dict(sorted(experiments.items(), key=lambda item: -len(item[0])))
        self.elsewhere: set[str] = set()

    def served(self, location: str | None) -> str | None:
        """The location on the server for a location on this machine; other locations are unchanged."""
        if not _is_local(location):
            return location
        for folder, number in self._experiments.items():
            if f"{location}/".startswith(f"{folder}/"):
                return f"{SERVED}{number}{location[len(folder) :]}"
        self.elsewhere.add(location)
        return location

    @contextmanager
    def copied_to(self, root: Path) -> Iterator[None]:
        """Copy the experiments' folders below `root`; they are renamed into place if the block succeeds."""
        for number in self._experiments.values():
            if (root / str(number)).exists():
                raise NoStore(f"{root / str(number)} exists already", "move it to another place")
        unfinished = root / f".moving-{os.getpid()}"
        try:
            unfinished.mkdir(parents=True)
            for location, number in self._experiments.items():
                folder = Path(url2pathname(urlsplit(location).path))
                if folder.is_dir():
                    shutil.copytree(folder, unfinished / str(number))
            yield
            for folder in unfinished.iterdir():
                folder.rename(root / folder.name)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _is_local(location: str | None) -> bool:
    return bool(location) and urlsplit(location).scheme in ("", "file")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m entrolab.tracking.moving", description=move.__doc__.splitlines()[0]
    )
    parser.add_argument("store", metavar="STORE", help="the SQLite file, such as mlflow.db")
    parser.add_argument("database", metavar="DATABASE", help="the server's: postgresql://user@host:port/name")
    parser.add_argument("folder", metavar="FOLDER", help="the server's --artifacts-destination")
    options = parser.parse_args(arguments)
    try:
        moved = move(options.store, options.database, options.folder)
    except NotMoved as error:
        sys.exit(str(error))
    print("moved:", ", ".join(f"{moved.rows[name]:,} {name.replace('_', ' ')}" for name in SHOWN))
    for location in moved.elsewhere:
        print(f"not moved, and not available from the server: {location}")


if __name__ == "__main__":
    main()
