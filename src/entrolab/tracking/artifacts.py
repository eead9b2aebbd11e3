"""Artifacts stay with their store when the folder that holds both is moved or copied.

MLflow keeps absolute paths: it would look for them, and put new ones, where the folder was.
"""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

__all__ = ["FOLDER", "follow_move"]

SECONDS = 20.0  # that a store which another program writes to is waited for
# Where MLflow keeps them, by the table of a store: each below its experiment's.
COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)


FOLDER = "mlruns"  # beside the store


def follow_move(store: str | os.PathLike) -> int:
    """Let a SQLite store look for its artifacts beside it, in `FOLDER`, if it was moved there with them.

    An experiment whose artifacts are elsewhere of somebody's own will is left alone: one whose folder is not
    named as the workflow names it, or that is still there while there is nothing of it beside the store.

    Parameters
    ----------
    store : path
        The file.

    Returns
    -------
    int
        How many experiments had been moved.

    Raises
    ------
    sqlite3.Error
        The file cannot be read as a store or, if something has moved, not be written.
    """
    store = Path(store).absolute()
    root = store.parent / FOLDER
    here = root.resolve().as_uri()
    with closing(sqlite3.connect(store, timeout=SECONDS)) as connection, connection:
        experiments = connection.execute("SELECT artifact_location FROM experiments")
        moved = [location for (location,) in experiments.fetchall() if _has_moved(location, root)]
        for location in moved:
            folder = location.rstrip("/")
            there = folder.rpartition("/")[0]
            for table, column in COLUMNS:
                connection.execute(
                    f"UPDATE {table} SET {column} = ? || substr({column}, ?) "
                    f"WHERE rtrim({column}, '/') = ? OR substr({column}, 1, ?) = ?",
                    (here, len(there) + 1, folder, len(folder) + 1, f"{folder}/"),
                )
    return len(moved)


def _has_moved(location: str | None, root: Path) -> bool:
    parts = urlsplit(location or "")
    if parts.scheme not in ("", "file") or not parts.path:
        return False
    folder = Path(url2pathname(parts.path))
    elsewhere = folder.parent.name == root.name and folder.parent.resolve() != root.resolve()
    return elsewhere and ((root / folder.name).exists() or not folder.exists())


if __name__ == "__main__":
    try:
        follow_move(sys.argv[1])
    except sqlite3.Error as error:
        sys.exit(f"{sys.argv[1]}: {error}")
