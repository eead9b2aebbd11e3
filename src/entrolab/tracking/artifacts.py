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
            uri = urlsplit(location or "")
            old = Path(url2pathname(uri.path))
            new = root / old.name
            if uri.scheme not in ("", "file") or old.parent.name != FOLDER or old.resolve() == new.resolve():
                continue
            if old.exists() and not new.exists():
                continue
            there = location.rstrip("/") + "/"
            for table, column in COLUMNS:
                connection.execute(
                    f"UPDATE {table} SET {column} = ?1 || substr({column}, length(?2)) "
                    f"WHERE substr({column} || '/', 1, length(?2)) = ?2",
                    (new.as_uri(), there),
                )
