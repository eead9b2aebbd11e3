"""Serve MLflow's web page of the runs on this machine: ``python -m entrolab.tracking.ui``.

Every account of the machine reaches the loopback address, without a password. MLflow's server answers more
than its pages of runs ask for: an assistant that runs shell commands, traces whose files lie in a folder that
the client names, jobs, a gateway to other servers. Only the paths in `ANSWERED` are answered.
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

import uvicorn
from mlflow.exceptions import MlflowException
from mlflow.server.constants import ARTIFACT_ROOT_ENV_VAR, BACKEND_STORE_URI_ENV_VAR
from starlette.responses import JSONResponse, PlainTextResponse

from entrolab.tracking.artifacts import FOLDER
from entrolab.tracking.stores import address_of, check, file_of

HOST = "127.0.0.1"
RESOURCES = "experiments|runs|metrics|artifacts|logged-models|registered-models|model-versions"
#: The paths that are answered, decoded as MLflow sees them.
ANSWERED = re.compile(
    r"/|/health|/version|/graphql|/get-artifact|/model-versions/get-artifact|/static-files(/[\w.-]+)+"
    r"|/(ajax-)?api/3\.0/mlflow/(server-info|ui-telemetry)"
    # All of a resource, except what writes artifacts.
    rf"|/(ajax-)?api/\d\.0/mlflow/({RESOURCES})(/(?!create-promptlab-run|presigned-upload-url)[^/]+)*"
)
REFUSAL = PlainTextResponse("not part of the page of runs\n", 404)
NO_GATEWAY = JSONResponse({"endpoints": []})  # without this answer the page of runs shows an error


def page(store: Path, port: int):
    """The page of the runs in a SQLite store, as an ASGI application."""
    os.environ |= {
        BACKEND_STORE_URI_ENV_VAR: address_of(store),
        ARTIFACT_ROOT_ENV_VAR: (store.parent / FOLDER).as_uri(),
        "MLFLOW_SERVER_ALLOWED_HOSTS": f"{HOST}:{port},localhost:{port}",
        # A client that named the artifact folder of an experiment could read and write there through links.
        "MLFLOW_ARTIFACT_LOCATION_MAX_LENGTH": "0",
        # No buckets, which MLflow would read with the user's credentials.
        "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX": "^(models|runs|file):/",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    with warnings.catch_warnings(action="ignore"):  # of parts of Starlette that MLflow uses
        from mlflow.server.fastapi_app import app

    async def answer(scope, receive, send) -> None:
        answered = scope["type"] == "lifespan" or ANSWERED.fullmatch(scope["path"])
        instead = NO_GATEWAY if scope.get("path") == "/ajax-api/2.0/mlflow/gateway-proxy" else REFUSAL
        await (app if answered else instead)(scope, receive, send)

    return answer


def main() -> None:
    """Serve the page until Ctrl-C."""
    parser = argparse.ArgumentParser("python -m entrolab.tracking.ui", description="Show the logged runs.")
    parser.add_argument("store", nargs="?", default="mlflow.db", help="a SQLite store (default: mlflow.db)")
    parser.add_argument("--port", type=int, default=5000, help="default: 5000; 0 is any free port")
    chosen = parser.parse_args()
    try:
        store = file_of(f"sqlite:///{chosen.store}")
        if not store.is_file():
            sys.exit(f"no runs yet: the workflow logs them to {chosen.store}")
        check(store, patience=20)
        listening = socket.create_server((HOST, chosen.port))
    except (MlflowException, sqlite3.Error, OSError, OverflowError) as error:
        sys.exit(f"{chosen.store} on port {chosen.port}: {error}")
    port = listening.getsockname()[1]
    config = uvicorn.Config(page(store, port), log_level="warning", ws="none", proxy_headers=False)
    url = f"http://{HOST}:{port}/#/experiments?workflowType=machine_learning"
    print(f"MLflow on {url} until Ctrl-C", flush=True)
    with suppress(KeyboardInterrupt):
        # MLflow takes an address in `X-Forwarded-For` for the client's; no proxy stands before this server.
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
