"""The page of runs answers what it asks for itself, and nothing else of MLflow's server."""

import asyncio
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlencode

import psutil
import pytest
from mlflow_addresses import restore_addresses
from sklearn.svm import SVC

from entrolab.tracking.stores import open_store
from entrolab.tracking.ui import main, page

SITE = "127.0.0.1:5000"
API, AJAX, API3, AJAX3 = "/api/2.0/mlflow", "/ajax-api/2.0/mlflow", "/api/3.0/mlflow", "/ajax-api/3.0/mlflow"


@pytest.fixture(scope="module")
def served(tmp_path_factory, empty_store):
    """MLflow's own application and the page made of it, which show a run with a registered model."""
    import mlflow
    from mlflow.server import handlers

    folder = tmp_path_factory.mktemp("page")
    mask = os.umask(0o077)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", os.environ.copy())
        restore_addresses(patch)
        (folder / "mlflow.db").write_bytes(empty_store.read_bytes())
        with open_store(f"sqlite:///{folder}/mlflow.db") as store:
            place = (store.folder / "small").as_uri()
            experiment = mlflow.create_experiment("small", place)
            with mlflow.start_run(experiment_id=experiment) as run:
                mlflow.log_metric("gmean", 80)
                mlflow.log_dict({"key": "small/moons/svm_rbf"}, "record.json")
                logged = mlflow.sklearn.log_model(
                    SVC().fit([[0.0], [1.0]], [0, 1]),
                    name="svm_rbf-moons",
                    serialization_format="skops",
                    pip_requirements=[],
                    registered_model_name="small.moons",
                )
            mlflow.MlflowClient().set_registered_model_alias("small.moons", "best", "1")
        os.umask(mask)
        # MLflow keeps the first stores that its server is given.
        patch.setattr(handlers, "_tracking_store", None)
        patch.setattr(handlers, "_model_registry_store", None)
        whole = page(folder / "mlflow.db", 5000)
        from mlflow.server.fastapi_app import app

        yield SimpleNamespace(
            page=whole,
            mlflow=app,
            folder=folder,
            run=run.info.run_id,
            experiment=experiment,
            model=logged.model_id,
        )


def ask(app, method: str, address: str, content: object = None, **headers: str) -> tuple[int, bytes]:
    """The status and the content of the answer to a request, whose path is decoded as uvicorn decodes it."""
    path, _, query = address.partition("?")
    body = b"" if content is None else json.dumps(content).encode()
    headers = {"host": SITE, "content-type": "application/json", "content-length": str(len(body)), **headers}
    scope = {
        "type": "http",
        "method": method,
        "scheme": "http",
        "http_version": "1.1",
        "server": ("127.0.0.1", 5000),
        "client": ("127.0.0.1", 1),
        "root_path": "",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    sent = []

    async def receive() -> dict:
        return {"type": "http.request", "body": body}

    async def send(message: dict) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


#: Parts of MLflow's routes by which a client names a folder, runs a program, or reaches another server.
FOREIGN = (
    "traces|trace-artifact|/assistant/|/jobs|/gateway/|/scorers/|mlflow/datasets|/mcp-servers|/webhooks|"
    "/prompt-optimization/|upload-artifact|presigned-upload-url|create-promptlab-run|mlflow-artifacts/"
)


@pytest.mark.fault("Trust", "the rest of MLflow behind the page of `make ui`", "not answered")
def test_nothing_but_the_page_of_runs_is_answered(served):
    flask = import_module("mlflow.server").app
    routes = {rule.rule for rule in flask.url_map.iter_rules()} | served.mlflow.openapi()["paths"].keys()
    parts = {route: part[0] for route in routes if (part := re.search(FOREIGN, route))}
    assert set(parts.values()) == set(FOREIGN.split("|"))  # MLflow has routes with each of them
    for route in parts:
        for method in ("GET", "POST"):
            assert ask(served.page, method, re.sub("[<{].*?[>}]", "x", route))[0] == 404


SPELLINGS = """/api/3.0/mlflow%2Ftraces /api/3.0/mlflow/%74races /api/3.0/mlflow/%2574races
/api/3.0/mlflow/traces/ /api/3.0/mlflow//traces //api/3.0/mlflow/traces /api//3.0/mlflow/traces
/api/3.0/mlflow/./traces /api/3.0/mlflow/runs/../traces /api/3.0/mlflow/runs/%2e%2e/traces
/api/3.0/mlflow/runs/..%2ftraces /api/3.0/mlflow/runs\\..\\traces /api/3.0/mlflow/traces;x
/api/3.0/mlflow/traces%00 /api/3.0/mlflow/runs%0a/../traces /API/3.0/mlflow/traces
/api/3.0/MLflow/Traces /static-files/../api/3.0/mlflow/traces
/static-files/%2e%2e/%2e%2e/__init__.py http://127.0.0.1:5000/api/3.0/mlflow/traces"""


@pytest.mark.parametrize("path", SPELLINGS.split())
def test_no_other_spelling_of_a_path_is_answered(served, path):
    for method in ("GET", "POST"):
        assert ask(served.page, method, path, {})[0] in (404, 405)


def test_the_page_shows_experiments_runs_artifacts_and_models(served):
    def answer(method: str, address: str, content: object = None):
        status, said = ask(served.page, method, address, content)
        assert status == 200, said
        return said

    assert b"<title>MLflow</title>" in answer("GET", "/")
    assert answer("GET", "/health") == b"OK"
    assert answer("GET", "/static-files/favicon.ico")
    for api in (API, AJAX):
        found = json.loads(answer("POST", f"{api}/experiments/search", {"max_results": 9}))["experiments"]
        assert "small" in [one["name"] for one in found]
        searched = json.loads(answer("POST", f"{api}/runs/search", {"experiment_ids": [served.experiment]}))
        assert [one["info"]["run_id"] for one in searched["runs"]] == [served.run]
        assert b"record.json" in answer("GET", f"{api}/artifacts/list?run_id={served.run}")
        assert b"80" in answer("GET", f"{api}/metrics/get-history?run_id={served.run}&metric_key=gmean")
        assert b"svm_rbf-moons" in answer("GET", f"{api}/logged-models/{served.model}")
        asked = {"experiment_ids": [served.experiment]}
        assert served.model.encode() in answer("POST", f"{api}/logged-models/search", asked)
        assert b"small.moons" in answer("GET", f"{api}/registered-models/search")
        assert b'"1"' in answer("GET", f"{api}/registered-models/alias?name=small.moons&alias=best")
        answer("POST", f"{api}/runs/set-tag", {"run_id": served.run, "key": "seen", "value": "yes"})
    assert b"small/moons/svm_rbf" in answer("GET", f"/get-artifact?run_id={served.run}&path=record.json")
    file = urlencode({"name": "small.moons", "version": 1, "path": "MLmodel"})
    assert b"artifact_path" in answer("GET", f"/model-versions/get-artifact?{file}")
    query = f'query {{mlflowGetRun(input: {{runId: "{served.run}"}}) {{run {{info {{runId}}}}}}}}'
    assert served.run.encode() in answer("POST", "/graphql", {"query": query})
    assert json.loads(answer("GET", f"{AJAX3}/server-info"))["store_type"] == "SqlStore"
    # Asked for with the list of runs, which shows an error instead; MLflow itself would ask another server.
    assert answer("GET", f"{AJAX}/gateway-proxy?gateway_path=api") == b'{"endpoints":[]}'


@pytest.mark.fault("Trust", "the telemetry of MLflow's page", "switched off")
def test_the_page_reports_nothing(served):
    assert json.loads(ask(served.page, "GET", f"{AJAX3}/ui-telemetry")[1])["disable_ui_telemetry"] is True


def test_a_umask_keeps_the_store_to_its_owner(served):
    made = list(served.folder.rglob("*"))
    assert [path for path in made if path.stat().st_mode & 0o077] == []
    assert {"MLmodel", "record.json"} <= {path.name for path in made}


@pytest.mark.fault("Trust", "an experiment of the page of `make ui` that names its folder", "refused")
@pytest.mark.parametrize("place", ["file:///tmp/mine", "/tmp/mine", "mlflow-artifacts:/x", "s3://bucket/x"])
def test_no_experiment_or_model_of_the_page_names_its_folder(served, place):
    named = {"name": f"in {place}", "artifact_location": place}
    assert ask(served.page, "POST", f"{API}/experiments/create", named)[0] == 400
    for of in ({}, {"run_id": served.run}, {"model_id": served.model}):
        version = {"name": "small.moons", "source": place, **of}
        assert ask(served.page, "POST", f"{API}/model-versions/create", version)[0] == 400


@pytest.mark.parametrize(
    "path", ["../../../mlflow.db", "/etc/passwd", "a/../../../../x", "%2e%2e/x", "file:///x"]
)
def test_no_artifact_is_read_outside_its_folder(served, path):
    for address, name, of in (
        ("/get-artifact", "path", {"run_id": served.run}),
        ("/model-versions/get-artifact", "path", {"name": "small.moons", "version": 1}),
        (f"{AJAX}/logged-models/{served.model}/artifacts/files", "artifact_file_path", {}),
        (f"{API}/artifacts/list", "path", {"run_id": served.run}),
    ):
        assert ask(served.page, "GET", f"{address}?{urlencode({name: path, **of})}")[0] == 400


@pytest.mark.fault("Trust", "the page of `make ui`, from a hostile site in the browser", "refused")
def test_the_page_answers_its_own_name_and_no_other_sites_requests(served):
    search, create = f"{API}/experiments/search?max_results=1", f"{API}/experiments/create"
    assert ask(served.page, "GET", search)[0] == 200
    assert ask(served.page, "GET", search, host="localhost:5000")[0] == 200
    # Names that begin as private addresses do may lead to this machine too: DNS rebinding.
    for host in ("hostile.example", "10.hostile.example", "192.168.hostile.example", "10.0.0.1"):
        for name in (host, f"{host}:5000"):
            assert ask(served.page, "GET", search, host=name)[0] == 403
    assert ask(served.page, "POST", create, {"name": "a"}, origin="http://hostile.example")[0] == 403
    assert ask(served.page, "POST", create, {"name": "b"}, origin=f"http://{SITE}")[0] == 200


def test_a_store_or_a_port_that_is_not_to_be_had_is_told_in_one_line(tmp_path, empty_store, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(empty_store, "mlflow.db")
    Path("other.db").write_bytes(b"no store")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, named in (
            (["none.db"], "none.db"),
            (["other.db", "--port=0"], "other.db"),
            ([f"--port={port}"], str(port)),
            (["--port=70000"], "70000"),
        ):
            monkeypatch.setattr(sys, "argv", ["ui", *arguments])
            with pytest.raises(SystemExit, match=named) as told:
                main()
            assert "\n" not in str(told.value)


@pytest.mark.slow
@pytest.mark.fault("Trust", "the page of `make ui`, from another machine", "it listens on 127.0.0.1 alone")
def test_the_page_listens_on_this_machine_alone(tmp_path, empty_store, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(empty_store, "mlflow.db")
    checkout = Path(__file__).parents[2]
    told = ["make", "--dry-run", "ui", "PORT=0"]
    command = subprocess.run(told, cwd=checkout, capture_output=True, text=True, check=True).stdout
    arguments = re.search(r"python (-m entrolab\.tracking\.ui --port 0)$", command, re.MULTILINE)[1].split()
    running = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = re.search(r"http://(127\.0\.0\.1):(\d+)/", running.stdout.readline())
        connection = http.client.HTTPConnection(address[1], int(address[2]))
        for path, status in (("/health", 200), (f"{API3}/traces", 404), ("/api/3.0/mlflow%2Ftraces", 404)):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (status, True)
        connections = psutil.Process(running.pid).net_connections("inet")
        listening = {one.laddr for one in connections if one.status == psutil.CONN_LISTEN}
        assert listening == {(address[1], int(address[2]))}
    finally:
        running.send_signal(signal.SIGINT)
        assert running.communicate()[1] == ""  # no warning
        assert running.returncode == 0
