"""A team's tracking server for the tests: on free ports of this machine, where there is a PostgreSQL."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools/tracking_server.sh"


def need_postgresql() -> None:
    """Skip the test where the server's script finds no PostgreSQL that it can run."""
    if not (shutil.which("pg_ctl") or list(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))):
        pytest.skip("no PostgreSQL: apt install postgresql")
    if importlib.util.find_spec("psycopg2") is None:
        pytest.skip("no psycopg2: pip install 'entrolearn[server]'")
    if os.getuid() == 0 and not shutil.which("runuser"):
        pytest.skip("PostgreSQL refuses to run as root, and there is no runuser")


@contextmanager
def team_server() -> Iterator[tuple[str, Path]]:
    """The address and the folder of a server, until the end of a with statement."""
    need_postgresql()
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = one.getsockname()[1], other.getsockname()[1]
    # Not in pytest's own folder, which nobody else may enter: root's PostgreSQL runs as another user.
    with tempfile.TemporaryDirectory(prefix="team-") as parent:
        os.chmod(parent, 0o755)
        folder = Path(parent, "server")
        settings = {"SERVER": str(folder), "PORT": str(ports[0]), "DATABASE_PORT": str(ports[1])}
        started = script("start", **settings, WORKERS="2")
        assert started.returncode == 0, started.stderr
        try:
            yield f"http://127.0.0.1:{ports[0]}", folder
        finally:
            stopped = script("stop", **settings)
        assert stopped.returncode == 0, stopped.stderr
        assert not any(map(listens, ports)), "the server listens after it was stopped"


def listens(port: int) -> bool:
    """Whether some program takes connections at a port of this machine."""
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def script(verb: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess:
    """Call the server's script; what it says, and how it ends."""
    return subprocess.run(
        ["sh", SCRIPT, verb, *arguments],
        env={**os.environ, "PYTHON": sys.executable, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )


def as_postgres(folder: Path, *command: str) -> subprocess.CompletedProcess:
    """Run a program as the user who runs PostgreSQL."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    return subprocess.run([*prefix, *command], cwd="/", capture_output=True, text=True, timeout=120)


def database_of(folder: Path) -> str:
    """The address of a server's database, whose password is in the file ``pgpass`` beside it."""
    _, _, port = (folder / "running").read_text().split()
    return f"postgresql://mlflow@127.0.0.1:{port}/mlflow"
