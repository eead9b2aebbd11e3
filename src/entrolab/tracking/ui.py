"""Serve MLflow's web page of the runs on this machine: ``python -m entrolab.tracking.ui``.

Every account of the machine reaches the loopback address, without a password. MLflow's server answers more
than its pages of runs ask for: an assistant that runs shell commands, traces whose files lie in a folder that
the client names, jobs, a gateway to other servers. Only the requests in `ANSWERED` are answered.
"""

import argparse
import os
import re
import socket
import sqlite3
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from entrolab.tracking.artifacts import FOLDER, follow_move
from entrolab.tracking.stores import NoStore, address_of, check_schema

HOST = "127.0.0.1"
RESOURCES = "experiments|runs|metrics|artifacts|logged-models|registered-models|model-versions"
#: The paths that are answered, decoded as MLflow sees them.
ANSWERED = re.compile(
    r"/|/health|/version|/graphql|/get-artifact|/model-versions/get-artifact|/static-files(/[\w.-]+)+"
    r"|/(ajax-)?api/3\.0/mlflow/(server-info|ui-telemetry)"
    # All of a resource, except what writes artifacts.
    rf"|/(ajax-)?api/\d\.0/mlflow/({RESOURCES})(/(?!create-promptlab-run)[^/]+)*"
)


class AnsweredOnly:
    """An ASGI application that answers 404 for each path that is not in `ANSWERED`."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan" or ANSWERED.fullmatch(scope["path"]):
            await self.app(scope, receive, send)
            return
        plain = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 404, "headers": plain})
        await send({"type": "http.response.body", "body": b"not part of the page of runs\n"})


def settings(store: Path, port: int) -> dict[str, str]:
    """The environment variables of MLflow's server."""
    from mlflow.server.constants import ARTIFACT_ROOT_ENV_VAR, BACKEND_STORE_URI_ENV_VAR

    return {
        BACKEND_STORE_URI_ENV_VAR: address_of(store),
        ARTIFACT_ROOT_ENV_VAR: (store.parent / FOLDER).as_uri(),
        "MLFLOW_SERVER_ALLOWED_HOSTS": f"{HOST}:{port},localhost:{port}",
        # A client that named the artifact folder of an experiment could read and write there through links.
        "MLFLOW_ARTIFACT_LOCATION_MAX_LENGTH": "0",
        # No buckets, which MLflow would read with the user's credentials.
        "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX": "^(models|runs|file):/",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }


def page() -> AnsweredOnly:
    """The page of the runs as an ASGI application, with the `settings` in the environment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts of Starlette that MLflow uses
        from mlflow.server.fastapi_app import app
    return AnsweredOnly(app)


def main() -> None:
    """Serve the page until Ctrl-C."""
    parser = argparse.ArgumentParser("python -m entrolab.tracking.ui", description="Show the logged runs.")
    parser.add_argument("store", nargs="?", default="mlflow.db", help="a SQLite store (default: mlflow.db)")
    parser.add_argument("--port", type=int, default=5000, help="default: 5000; 0 is any free port")
    chosen = parser.parse_args()
    store = Path(chosen.store).resolve()
    if not store.is_file():
        sys.exit(f"no runs yet: the workflow logs them to {chosen.store}")
    try:
        listening = socket.create_server((HOST, chosen.port))
    except (OSError, OverflowError) as error:
        sys.exit(f"port {chosen.port}: {error} (is the page open already?); name another with --port")
    port = listening.getsockname()[1]
    try:
        check_schema(store)
        follow_move(store)
        os.environ |= settings(store, port)
    except (NoStore, sqlite3.Error) as error:
        sys.exit(f"{chosen.store}: {error}")
    print(
        f"MLflow on http://{HOST}:{port}/#/experiments?workflowType=machine_learning until Ctrl-C", flush=True
    )
    with suppress(KeyboardInterrupt):
        import uvicorn

        # MLflow takes an address in `X-Forwarded-For` for the client's; no proxy stands before this server.
        config = uvicorn.Config(page(), log_level="warning", ws="none", proxy_headers=False)
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
