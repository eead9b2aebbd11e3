"""Update the absolute artifact paths in a SQLite tracking store after its folder was moved or copied."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

FOLDER = "mlruns"  # artifact folder, next to the store
# Tables and columns with artifact paths. Every path is inside the artifact folder of its experiment.
COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)


def follow_move(store: str | os.PathLike) -> None:
    """Set the artifact paths of a SQLite store to `FOLDER` next to it.

    Experiments whose artifacts are still elsewhere, with no copy here, or were in no `FOLDER` are skipped.
    """
    root = Path(store).resolve().parent / FOLDER
    with closing(sqlite3.connect(store, timeout=20)) as connection, connection:
        for (location,) in connection.execute("SELECT artifact_location FROM experiments").fetchall():
            parts = urlsplit((location or "").rstrip("/"))
            old = Path(url2pathname(parts.path))
            new = root / old.name
            if parts.scheme in ("", "file") and old.parent.name == FOLDER and old.resolve() != new.resolve():
                if new.exists() or not old.exists():
                    for table, column in COLUMNS:
                        connection.execute(
                            f"UPDATE {table} SET {column} = ? || substr({column}, ?) "
                            f"WHERE substr({column} || '/', 1, ?) = ?",
                            (new.as_uri(), (n := len(parts.geturl())) + 1, n + 1, f"{parts.geturl()}/"),
                        )
