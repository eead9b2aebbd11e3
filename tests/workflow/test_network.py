"""The network fails, or is not there: what needs none is made, the rest is a footnote and a later run's."""

import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from scripted_server import answer, redirect

from entrolab.data.prepare import prepare
from entrolab.results.frames import read_table

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"

# Imported by every Python before anything else: notes which addresses a program asks for.
WITNESS = """
import os, sys

def note(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]  # the others are sockets of this machine's own
    else:
        return
    with open(os.environ["ASKED"], "a") as asked:
        print(host, file=asked)

sys.addaudithook(note)
"""


@pytest.fixture(scope="module")
def generated(undisturbed) -> dict:
    """The catalog's entry of the two moons of the undisturbed study."""
    return yaml.safe_load((undisturbed.folder / "data.yaml").read_text())["my-moons"]


@pytest.fixture(scope="module")
def moons(generated) -> bytes:
    """Their rows as the bytes of a file."""
    dataset = prepare("my-moons", generated)
    buffer = io.BytesIO()
    np.savez(buffer, data=dataset.X, label=dataset.y)
    return buffer.getvalue()


def entry_of(entry, content: bytes, url: str) -> dict:
    """An entry of a catalog like another, whose rows are downloaded."""
    kept = {name: value for name, value in entry.items() if name != "generator"}
    pinned = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    file = {"path": "moons/moons.npz", "url": url, **pinned}
    return {**kept, "source": "files", "files": [file], "format": {"name": "npz"}}


@pytest.mark.fault(
    "Network",
    "429, 500, a hang-up, a cut body, a login page, in a whole run",
    "a footnote; a plain rerun completes it",
)
def test_a_server_that_fails_in_turn_is_survived_and_a_rerun_equals_an_undisturbed_run(
    undisturbed, new_project, small, server, generated, moons, record_property
):
    project = new_project(small, {"my-moons": entry_of(generated, moons, server.url)})
    server.steps = [
        answer(status=429, headers=[("Retry-After", "1")]),
        answer(status=500),
        lambda handler: None,
        answer(moons[:500], announced=len(moons)),
        redirect("/login"),
        answer(b"<!doctype html><title>Sign in</title>", content_type="text/html"),
    ]
    result = project.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    assert "no data: my-moons: moons/moons.npz: an HTML page instead of data" in result.stdout
    assert server.requests == 6
    table = read_table(project.folder / TABLE)
    assert set(table.loc[table["dataset"] == "my-moons", "verdict"]) == {"no data"}
    finished = {name: digest for name, digest in project.finished_files().items() if "wine" in name}
    assert any("records" in name for name in finished)

    server.steps, server.requests = [answer(status=503), answer(moons)], 0
    result = project.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]

    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    for name, content in project.tables().items():
        assert content == undisturbed.tables()[name]


@pytest.fixture(scope="module")
def cut_off(undisturbed, new_project, generated, moons, tmp_path_factory):
    """A study with a table, a page and its runs, made without a network; one data set lacks."""
    study = yaml.safe_load((undisturbed.folder / "studies" / "tiny.yaml").read_text())
    study["models"] = {"lda": study["models"]["lda"]}
    study["datasets"] = {"all": ["my-moons", "elsewhere"], "moons": ["my-moons"]}
    study["tables"] = {"table1": {**study["tables"]["table1"], "models": ["lda"], "datasets": "all"}}
    # RFC 2606 keeps this domain for names that are none.
    elsewhere = entry_of(generated, moons, "http://data.invalid/moons.npz")
    project = new_project(study, {"my-moons": generated, "elsewhere": elsewhere})
    witness = tmp_path_factory.mktemp("witness")
    (witness / "sitecustomize.py").write_text(WITNESS)
    searched = os.pathsep.join(filter(None, [str(witness), os.environ.get("PYTHONPATH")]))
    project.asked = witness / "asked"
    seen = {"PYTHONPATH": searched, "ASKED": str(project.asked)}
    project.result = project.run("tiny", before=["unshare", "--net"], environment=seen)
    if project.result.stdout.startswith("unshare: "):
        pytest.skip("needs root on Linux, to take the network away")
    assert project.result.returncode == 0, project.result.stdout[-5000:]
    return project


@pytest.mark.fault("Network", "no network at all", "embedded data are used, the rest is footnotes")
def test_without_a_network_all_that_needs_none_is_made(undisturbed, cut_off):
    table = read_table(cut_off.folder / TABLE).set_index("dataset")
    assert table["verdict"].to_dict() == {"my-moons": "ours only", "elsewhere": "no data"}
    assert "connection failed (" in table.loc["elsewhere", "reason"]
    assert row_of(cut_off, "my-moons", "lda") == row_of(undisturbed, "my-moons", "lda")


@pytest.mark.fault("Trust", "telemetry and phoning home", "no other machine is asked for anything")
def test_nobody_is_asked_but_for_the_data_of_the_catalog(cut_off):
    made = cut_off.folder / "results" / "tiny"
    # All that could report its use has been at work: snakemake, MLflow, skops.
    assert (made / "tracked.json").exists()
    assert list(made.glob("seed0/models/*/*/*.skops"))
    hosts = set(cut_off.asked.read_text().splitlines())
    assert hosts - {"127.0.0.1", "::1", "localhost", "None"} == {"data.invalid"}


def row_of(project, dataset: str, model: str) -> str:
    """A row of the first table as its file has it."""
    lines = Path(project.folder, TABLE).read_text().splitlines()
    (row,) = [line for line in lines if line.startswith(f"{dataset},{model},")]
    return row
