"""Take the screenshots in docs/images of a paper's study and of a user's own study.

For a paper's study, these are a table and MLflow's pages, from the results and the store in the working
folder; MLflow is served on the loopback address for the duration of the program. The own study, of which its
page is shown, is made in a temporary folder.
Run by `make screenshots`.
"""

import argparse
import asyncio
import base64
import contextlib
import io
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import aiohttp
import requests
from PIL import Image
from sklearn.datasets import load_breast_cancer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
STORE = Path("mlflow.db")
REPORT = Path("results/report")
PATIENCE = 120.0  # timeout in seconds for a program to start, and for a page to load
REST = 2.5  # seconds without a change after which a page counts as loaded
COLORS = 192
OWN = "tumours"
# Simulate a mouse pointer over the table: without a mouse, charts always show their toolbars.
MOUSE = (
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
)
# Settings of MLflow's page in the browser: type of workflow chosen, chat closed, announcement seen.
KEPT = {
    "mlflow.workflowType_v1": "machine_learning",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": True,
    "mlflow.assistant.panelOpen_v1": False,
}


class NotThere(RuntimeError):
    """Raised if something that the screenshots need is missing; the message says how to get it."""


@dataclass(frozen=True)
class Picture:
    """A page and the window size of its screenshot."""

    name: str
    url: str
    height: int = 800
    width: int = 1280


def main(paper: str, table: str, folder: Path, only: str | None) -> None:
    program = found_browser()
    if only != "own":
        pictures = [of_table(paper, table)]
        with served(STORE) as server:
            pictures += of_runs(server, paper)
            asyncio.run(take(program, pictures, folder))
    if only != "paper":
        with own_study() as page:
            asyncio.run(take(program, [Picture("own_study", page.as_uri(), height=1400)], folder))


@contextlib.contextmanager
def own_study() -> Iterator[Path]:
    """Yield the page of a study of a table, in a new folder."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        table = load_breast_cancer(as_frame=True).frame
        table["malignant"] = table.pop("target").map({0: "yes", 1: "no"})
        table.to_csv(place / f"{OWN}.csv", index=False)
        command = [str(Path(sys.executable).with_name("entrolab"))]
        subprocess.run([*command, "init", f"{OWN}.csv", "--label", "malignant"], cwd=place, check=True)
        subprocess.run([*command, f"{OWN}.yaml"], cwd=place, check=True)
        yield place / REPORT / f"{OWN}.html"


def found_browser() -> str:
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    raise NotThere(f"no browser on the PATH: pictures need one of {', '.join(BROWSERS)}")


def of_table(paper: str, table: str) -> Picture:
    page = Path("results", paper, "tables", f"{table}.html")
    if not page.exists():
        raise NotThere(f"{page} is not there: `snakemake {page}` makes it")
    return Picture("table", page.resolve().as_uri(), height=680)


def of_runs(server: str, paper: str) -> list[Picture]:
    """Pages of a study: runs, those of a data set, a grid, a run, models; and the run of a clustering."""
    ask = f"{server}/api/2.0/mlflow"

    def experiment(name: str) -> str:
        asked = {"experiment_name": name}
        answer = requests.get(f"{ask}/experiments/get-by-name", params=asked, timeout=PATIENCE)
        if not answer.ok:
            raise NotThere(f"{STORE} holds no runs of {name}: `snakemake {name}` logs them")
        return answer.json()["experiment"]["experiment_id"]

    def first_run(number: str, condition: str) -> dict:
        search = {"experiment_ids": [number], "filter": condition, "max_results": 1}
        found = requests.post(f"{ask}/runs/search", json=search, timeout=PATIENCE).json()
        if "runs" not in found:
            raise NotThere(f"{STORE} holds no run with {condition}")
        return found["runs"][0]

    number, grids, essay = map(experiment, (paper, f"{paper} · candidates", "information_theory"))
    best = first_run(number, "tags.best != '' and tags.model = 'eem_rbf'")
    clustering = first_run(essay, "tags.table = 'clustering'")
    tags = {tag["key"]: tag["value"] for tag in best["data"]["tags"]}
    one = quote(f"tags.dataset = '{tags['dataset']}'")
    same = quote(f"tags.dataset = '{tags['dataset']}' and tags.model = '{tags['model']}'")
    by_score = f"orderByKey={quote('metrics.`gmean`')}&orderByAsc=false"
    units = quote("params.`n_hidden`")
    runs = f"{server}/#/experiments/{number}/runs"
    return [
        Picture("mlflow_runs", f"{runs}?{by_score}", width=1500),
        Picture(
            "mlflow_comparison", f"{runs}?searchFilter={one}&{by_score}&compareRunsMode=CHART", width=1500
        ),
        Picture(
            "mlflow_candidates",
            f"{server}/#/experiments/{grids}/runs?searchFilter={same}&orderByKey={units}&compareRunsMode=CHART",
            width=1500,
        ),
        Picture("mlflow_run", f"{runs}/{best['info']['run_id']}", height=1000),
        Picture("mlflow_models", f"{server}/#/experiments/{number}/models", width=1500),
        Picture(
            "mlflow_clustering",
            f"{server}/#/experiments/{essay}/runs/{clustering['info']['run_id']}",
            height=900,
        ),
    ]


@contextlib.contextmanager
def served(store: Path) -> Iterator[str]:
    """Serve MLflow's pages of a store at a free port of this machine; yield their address."""
    if not store.exists():
        raise NotThere(f"no runs yet: the workflow logs them to {store}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "entrolab.tracking.ui", store, "--port", str(port)],
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            yield _answering(f"http://127.0.0.1:{port}", server)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()


def _answering(address: str, server: subprocess.Popen) -> str:
    until = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < until:
        with contextlib.suppress(requests.ConnectionError):
            requests.get(f"{address}/health", timeout=PATIENCE).raise_for_status()
            return address
        time.sleep(0.2)
    raise RuntimeError("MLflow's page does not start")


async def take(program: str, pictures: list[Picture], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    async with Browser.started(program) as browser:
        for picture in pictures:
            file = folder / f"{picture.name}.png"
            file.write_bytes(smaller(await browser.seen(picture)))
            print(f"{file}  {file.stat().st_size / 1000:.0f} kB")


def smaller(png: bytes) -> bytes:
    """The same picture with a colour palette, which takes a third of the bytes."""
    with Image.open(io.BytesIO(png)) as image:
        reduced = image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    kept = io.BytesIO()
    reduced.save(kept, "png", optimize=True)
    return kept.getvalue()


def is_blank(png: bytes) -> bool:
    """Whether a picture has a single colour, like a page that is still loading."""
    with Image.open(io.BytesIO(png)) as image:
        return image.convert("RGB").getcolors(1) is not None


class Browser:
    """A headless browser, controlled by the DevTools protocol."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse):
        self._connection = connection
        self._numbers = itertools.count(1)

    @classmethod
    @contextlib.asynccontextmanager
    async def started(cls, program: str) -> AsyncIterator["Browser"]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            options = ["--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", MOUSE]
            # The browser's sandbox does not run as root, as in a container; all pages are this project's own.
            options += ["--no-sandbox"] if os.geteuid() == 0 else []
            process = await asyncio.create_subprocess_exec(
                program, *options, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank",
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            try:
                address = await asyncio.wait_for(_devtools(process.stderr), PATIENCE)
                async with (
                    aiohttp.ClientSession() as session,
                    session.ws_connect(address, max_msg_size=0) as connection,
                ):
                    yield cls(connection)
            finally:
                process.terminate()
                await process.wait()

    async def seen(self, picture: Picture) -> bytes:
        """A screenshot of a loaded page as PNG."""
        page = (await self._ask("Target.createTarget", url="about:blank"))["targetId"]
        tab = (await self._ask("Target.attachToTarget", targetId=page, flatten=True))["sessionId"]
        size = {"width": picture.width, "height": picture.height, "deviceScaleFactor": 1, "mobile": False}
        await self._ask("Emulation.setDeviceMetricsOverride", tab, **size)
        await self._ask("Page.enable", tab)
        if picture.url.startswith("http"):
            keep = (
                f"Object.entries({json.dumps(KEPT)}).forEach(([k, v]) => localStorage[k] = JSON.stringify(v))"
            )
            await self._ask("Page.addScriptToEvaluateOnNewDocument", tab, source=keep)
        await self._ask("Page.navigate", tab, url=picture.url)
        last, since = b"", time.monotonic()
        until = since + PATIENCE
        while time.monotonic() < min(since + REST, until):
            await asyncio.sleep(REST / 10)
            png = base64.b64decode((await self._ask("Page.captureScreenshot", tab, format="png"))["data"])
            if png != last or is_blank(png):
                last, since = png, time.monotonic()
        await self._ask("Target.closeTarget", targetId=page)
        return last

    async def _ask(self, method: str, tab: str | None = None, **parameters) -> dict:
        number = next(self._numbers)
        asked = {"id": number, "method": method, "params": parameters}
        await self._connection.send_json(asked if tab is None else asked | {"sessionId": tab})
        async for message in self._connection:
            answer = message.json()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
        raise RuntimeError(f"the browser closed the connection during {method}")


async def _devtools(stream: asyncio.StreamReader) -> str:
    """The DevTools address that a browser prints."""
    async for line in stream:
        if line.startswith(b"DevTools listening on "):
            return line.split()[-1].decode()
    raise RuntimeError("the browser does not start")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", default="demo", help="the study whose pages are shown")
    parser.add_argument("--table", default="demo_cv", help="its table that is shown")
    parser.add_argument("--only", choices=["paper", "own"], help="take only one half of the screenshots")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"), help="folder of the screenshots")
    try:
        main(**vars(parser.parse_args()))
    except NotThere as absence:
        sys.exit(str(absence))
