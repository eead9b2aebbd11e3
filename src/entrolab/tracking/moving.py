"""An embedded store moves to a server: its rows to the PostgreSQL there, its artifacts to the folder there.

``python -m entrolab.tracking.moving STORE DATABASE FOLDER``; ``tools/tracking_server.sh import`` calls
it.

No kept tool does all of it. MLflow's own moves from folders to SQLite alone. pgloader copies the rows, into
tables that were made and emptied before, in many transactions, and knows nothing of artifacts. The copies
that go through MLflow's interface give every run another id.
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
from sqlalchemy import (
    JSON,
    URL,
    Connection,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from entrolab.text import hide_secrets, without_secrets
from entrolab.tracking.artifacts import COLUMNS, follow_move
from entrolab.tracking.stores import NoStore, check_schema, url_of

__all__ = ["Moved", "NotMoved", "move"]

SERVED = "mlflow-artifacts:/"  # MLflow's name for the folder behind a server
VERSION_TABLE = "alembic_version"
# What MLflow puts into a database that it makes: table, key, value.
OF_A_NEW_DATABASE = {"experiments": ("name", "Default"), "workspaces": ("name", "default")}
ROWS_AT_ONCE = 2000
LOCK_SECONDS = 20  # that a server's own transactions are waited for
# A trace keeps the place of its artifacts as a tag.
TRACE_TAGS, TRACE_PLACE = "trace_tags", "mlflow.artifactLocation"


class NotMoved(RuntimeError):
    """The store was not moved; the database is as it was."""


@dataclass(frozen=True)
class Moved:
    """What was moved.

    Attributes
    ----------
    rows : mapping of str to int
        How many rows of each table.
    files, size : int
        How many artifacts, and their bytes.
    elsewhere : sequence of str
        Places on this machine that are in no experiment's folder. They stay as they were, and no server gives
        them.
    """

    rows: Mapping[str, int]
    files: int
    size: int
    elsewhere: Iterable[str]

    def __str__(self) -> str:
        counts = ", ".join(f"{self.rows[name]:,} {name.replace('_', ' ')}" for name in SHOWN)
        return f"{counts}; {self.files:,} artifacts ({self.size / 2**20:,.1f} MiB)"


SHOWN = ("experiments", "runs", "metrics", "params", "tags", "logged_models", "model_versions")


def move(store: str | os.PathLike, database: str, folder: str | os.PathLike) -> Moved:
    """Copy a SQLite store into the database of a server without runs, and its artifacts to the folder of it.

    Ids, times, aliases and deleted runs stay what they were, so that the workflow finds its runs on the
    server. What lay in an experiment's folder on this machine is from now on
    ``mlflow-artifacts:/<experiment>``; other places, as a bucket's, stay. The store itself stays as it was,
    but for paths that a move of its folder had broken, which are mended (see
    `entrolab.tracking.artifacts.follow_move`).

    All rows arrive or none: they are counted before the one transaction that copies them ends.

    Parameters
    ----------
    store : path
        The SQLite file, such as ``mlflow.db``.
    database : str
        Address of the server's database, ``postgresql://user@host:port/name``. Tables are made where it has
        none. A password is better kept in libpq's password file than in the address.
    folder : path
        What the server has as ``--artifacts-destination``.

    Returns
    -------
    Moved

    Raises
    ------
    NotMoved
        The store cannot be read or is another version's; the database cannot be reached, is not PostgreSQL or
        is in use; there is something in the artifacts' place. One line.

    References
    ----------
    MLflow, "Backend Stores" and "Artifact Stores" (self-hosting/architecture), version 3.17.
    """
    store, folder = Path(store).resolve(), Path(folder).resolve()
    _check_database(database)
    with _in_one_line(f"store {store}"):
        if not store.is_file():
            raise NoStore("there is no such file", "name the SQLite file of a store, such as mlflow.db")
        check_schema(store)
        follow_move(store)
    with _in_one_line(f"database {without_secrets(database)}", database):
        source = create_engine(URL.create("sqlite", database=str(store)))
        # All of one moment, whoever goes on writing: a transaction of SQLite's begins when it is told to.
        event.listen(source, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        target = create_engine(database, connect_args={"options": f"-c lock_timeout={LOCK_SECONDS}s"})
        try:
            target.connect().close()  # MLflow would try for minutes
            SqlAlchemyStore(database, SERVED)  # makes the tables, refuses those of another version
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
        # What is behind an error may name the password.
        raise NotMoved(f"{what}: {hide_secrets(line, address)}{remedy}; nothing was moved") from None


def _check_database(database: str) -> None:
    url = url_of(database)
    kind = "no address" if url is None else url.get_backend_name()
    if kind != "postgresql":
        raise NotMoved(f"the database is {kind}; accepted: postgresql://user@host:port/name")


def _moved(old: Connection, new: Connection, folder: Path) -> Moved:
    tables = _tables(new)
    sources = {table.name: table for table in _tables(old)}
    # No run can be begun while these are held.
    new.exec_driver_sql("LOCK TABLE experiments, workspaces IN ACCESS EXCLUSIVE MODE")
    _check_empty(new, tables)
    _check_references(old)
    places = _Places.of(old, sources["experiments"])
    with places.copied_to(folder) as (files, size):
        for name in OF_A_NEW_DATABASE:
            new.execute(next(table for table in tables if table.name == name).delete())
        rows = {table.name: _copy(old, new, sources[table.name], table, places) for table in tables}
        for table in tables:
            _go_on_counting(new, table)
        arrived = {table.name: _count(new, table) for table in tables}
        if arrived != rows or rows != {name: _count(old, sources[name]) for name in rows}:
            raise NoStore(
                "not all rows arrived: " + ", ".join(n for n in rows if rows[n] != arrived[n]), "try again"
            )
    return Moved(rows, files, size, sorted(places.elsewhere))


def _tables(connection: Connection) -> list[Table]:
    """The tables of a store, those first that others refer to; JSON as the text that it is kept as."""
    found = MetaData()
    found.reflect(connection)
    for table in found.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = Text()
    return [table for table in found.sorted_tables if table.name != VERSION_TABLE]


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _check_empty(new: Connection, tables: Iterable[Table]) -> None:
    for table in tables:
        rows = select(func.count()).select_from(table)
        if table.name in OF_A_NEW_DATABASE:
            column, value = OF_A_NEW_DATABASE[table.name]
            rows = rows.where(table.c[column] != value)
        if there := new.execute(rows).scalar_one():
            raise NoStore(
                f"it is in use: its table {table.name} has {there} row{'s'[: there != 1]}",
                "a store is moved to a server before anything else is logged there",
            )


def _check_references(old: Connection) -> None:
    """Refuse rows whose owner is gone, which SQLite kept and PostgreSQL would not."""
    for table, _, parent, _ in old.exec_driver_sql("PRAGMA foreign_key_check"):
        raise NoStore(
            f"the table {table} of the store has rows whose {parent} are gone",
            "delete those rows from a copy of it",
        )


def _copy(old: Connection, new: Connection, source: Table, target: Table, places: "_Places") -> int:
    """Copy all rows of a table, their artifacts' places rewritten; how many."""
    columns = [column for table, column in COLUMNS if table == target.name]
    copied = 0
    rows = old.execution_options(yield_per=ROWS_AT_ONCE).execute(select(source)).mappings()
    for some in rows.partitions():
        rewritten = [dict(row) for row in some]
        for row in rewritten:
            for column in columns:
                row[column] = places.served(row[column])
            if target.name == TRACE_TAGS and row["key"] == TRACE_PLACE:
                row["value"] = places.served(row["value"])
        new.execute(target.insert(), rewritten)
        copied += len(rewritten)
    return copied


def _go_on_counting(new: Connection, table: Table) -> None:
    """Let the numbers that the database gives go on after those that were copied."""
    for column in table.columns:
        sequence = new.execute(
            text("SELECT pg_get_serial_sequence(:table, :column)"),
            {"table": table.name, "column": column.name},
        ).scalar_one()
        if sequence is not None:
            highest = new.execute(select(func.max(column))).scalar_one()
            new.execute(select(func.setval(sequence, (highest or 0) + 1, False)))


class _Places:
    """Where artifacts are, and where they will be."""

    def __init__(self, experiments: Mapping[str, int]):
        # The longest first: an experiment's folder may lie in another's.
        self._experiments = dict(sorted(experiments.items(), key=lambda item: -len(item[0])))
        self.elsewhere: set[str] = set()

    @classmethod
    def of(cls, old: Connection, experiments: Table) -> "_Places":
        rows = old.execute(select(experiments.c.artifact_location, experiments.c.experiment_id))
        return cls({place.rstrip("/"): number for place, number in rows if _local(place)})

    def served(self, place: str | None) -> str | None:
        """The place on the server, of one on this machine."""
        for folder, number in self._experiments.items():
            if place is not None and (place == folder or place.startswith(f"{folder}/")):
                return f"{SERVED}{number}{place[len(folder) :]}"
        if _local(place):
            self.elsewhere.add(place)
        return place

    @contextmanager
    def copied_to(self, root: Path) -> Iterator[tuple[int, int]]:
        """Copy the experiments' folders below `root`, in place at the end; give how many files, and bytes."""
        for number in self._experiments.values():
            if (root / str(number)).exists():
                raise NoStore(f"{root / str(number)} is there already", "move it aside")
        unfinished = root / f".moving-{os.getpid()}"
        try:
            unfinished.mkdir(parents=True)
            for place, number in self._experiments.items():
                folder = Path(url2pathname(urlsplit(place).path))
                if folder.is_dir():
                    shutil.copytree(folder, unfinished / str(number))
            files = [path for path in unfinished.rglob("*") if path.is_file()]
            yield len(files), sum(path.stat().st_size for path in files)
            for folder in unfinished.iterdir():
                folder.rename(root / folder.name)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _local(place: str | None) -> bool:
    return bool(place) and urlsplit(place).scheme in ("", "file")


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
    print(f"moved: {moved}")
    for place in moved.elsewhere:
        print(f"left where it is, where a server does not see it: {place}")


if __name__ == "__main__":
    main()
