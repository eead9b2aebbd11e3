"""A file server on 127.0.0.1 that fails as it is told."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Script:
    """What the server does on each request: `steps` in turn, the last one for ever after.

    A step is a function of the request handler, such as `answer` makes.
    """

    def __init__(self):
        self.steps = []
        self.requests = 0
        self.closing = threading.Event()
        self.url = ""

    def next_step(self):
        self.requests += 1
        return self.steps[min(self.requests, len(self.steps)) - 1]


@contextmanager
def serving(path: str, tls: ssl.SSLContext | None = None) -> Iterator[Script]:
    """Serve until the end of a with statement, over https with `tls`; `url` of the script leads to `path`."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            script.next_step()(self)

        def log_message(self, *arguments):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls:
        listening.socket = tls.wrap_socket(listening.socket, server_side=True)
    script.url = f"http{'s' if tls else ''}://127.0.0.1:{listening.server_port}/{path}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        script.closing.set()
        listening.shutdown()
        listening.server_close()
        thread.join()


def answer(body=b"", status=200, announced=None, content_type="text/plain", headers=()):
    """A step of the server's script: send `body`, having announced `announced` bytes (None: its length)."""

    def step(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        if announced != "nothing":
            handler.send_header("Content-Length", str(len(body) if announced is None else announced))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def redirect(location):
    """A step that sends the client elsewhere."""
    return answer(status=302, headers=[("Location", location)])
