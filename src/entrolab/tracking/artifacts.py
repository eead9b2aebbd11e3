"""Update the absolute artifact paths in a SQLite tracking store after its folder was moved or copied."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

SECONDS = 20.0  # timeout while another process writes to the store
# Tables and columns with artifact paths. Every path is inside the artifact folder of its experiment.
COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)
FOLDER = "mlruns"  # artifact folder, next to the store


def follow_move(store: str | os.PathLike) -> int:
    """Set the artifact paths of a SQLite store to `FOLDER` next to it; return how many experiments moved.

    An experiment is skipped if its artifact folder is not inside a folder named `FOLDER`. It is also skipped
    if its artifact folder still exists and the `FOLDER` next to the store has no folder of the same name. A
    file that is no store, or cannot be updated, raises ``sqlite3.Error``.
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
