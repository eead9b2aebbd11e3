"""The catalog, and a file server that fails as it is told."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from entrolearn.lab.config import load_catalog

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def catalog():
    return load_catalog([ROOT / "config/datasets.yaml"], ROOT / "workflow/schemas/dataset.yaml")


class Script:
    """What the server does on each request: `steps` in turn, the last one for ever after.

    A step is a function of the request handler, such as `answer` in `test_download.py` makes.
    """

    def __init__(self):
        self.steps = []
        self.requests = 0
        self.closing = threading.Event()

    def next_step(self):
        self.requests += 1
        return self.steps[min(self.requests, len(self.steps)) - 1]


@pytest.fixture
def server():
    """A scripted server on 127.0.0.1: set `server.steps`, read `server.requests`, fetch from `server.url`."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            script.next_step()(self)

        def log_message(self, *arguments):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{listening.server_port}/set/data.csv"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield script
    script.closing.set()
    listening.shutdown()
    listening.server_close()
    thread.join()
