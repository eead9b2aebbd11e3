"""Take the screenshots in docs/images: a table, MLflow's pages, and the page of a study of one's own table.

The table and the runs are those of the working folder; the own study is made in a temporary folder.
`make screenshots` installs Playwright in .playwright and runs this. Needs Chromium or Chrome.
"""

import argparse
import contextlib
import io
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import mlflow
from PIL import Image
from sklearn.datasets import load_breast_cancer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
STORE = "mlflow.db"
# MLflow's page: the workflow type is chosen, the chat closed, the announcement read.
SETTINGS = {
    "mlflow.workflowType_v1": "machine_learning",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": True,
    "mlflow.assistant.panelOpen_v1": False,
}
# name, address, width and height of a window
Picture = tuple[str, str, int, int]


def run_pictures(server: str, study: str) -> list[Picture]:
    """The pages of a study: runs, those of a data set, a grid, a run, models; and the run of a clustering."""
    store = mlflow.MlflowClient(f"sqlite:///{STORE}")

    def experiment(name: str) -> str:
        found = store.get_experiment_by_name(name)
        if found is None:
            sys.exit(f"{STORE} holds no runs of {name}: `snakemake {name}` logs them")
        return found.experiment_id

    number, grids, essay = map(experiment, (study, f"{study} · candidates", "information_theory"))
    best = store.search_runs([number], "tags.best != '' and tags.model = 'eem_rbf'", max_results=1)[0]
    clustering = store.search_runs([essay], "tags.table = 'clustering'", max_results=1)[0]
    dataset = f"tags.dataset = '{best.data.tags['dataset']}'"
    one, same = quote(dataset), quote(f"{dataset} and tags.model = '{best.data.tags['model']}'")
    by_score = f"orderByKey={quote('metrics.`gmean`')}&orderByAsc=false"
    by_units = f"orderByKey={quote('params.`n_hidden`')}"
    pages = f"{server}/#/experiments"
    runs = f"{pages}/{number}/runs"
    return [
        ("mlflow_runs", f"{runs}?{by_score}", 1500, 800),
        ("mlflow_comparison", f"{runs}?searchFilter={one}&{by_score}&compareRunsMode=CHART", 1500, 800),
        (
            "mlflow_candidates",
            f"{pages}/{grids}/runs?searchFilter={same}&{by_units}&compareRunsMode=CHART",
            1500,
            800,
        ),
        ("mlflow_run", f"{runs}/{best.info.run_id}", 1280, 1000),
        ("mlflow_models", f"{pages}/{number}/models", 1500, 800),
        ("mlflow_clustering", f"{pages}/{essay}/runs/{clustering.info.run_id}", 1280, 900),
    ]


@contextlib.contextmanager
def own_study() -> Iterator[Path]:
    """Yield the page of a study of a table, in a new folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = load_breast_cancer(as_frame=True).frame
        table["malignant"] = table.pop("target").map({0: "yes", 1: "no"})
        table.to_csv(folder / "tumours.csv", index=False)
        entrolab = str(Path(sys.executable).with_name("entrolab"))
        for arguments in (["init", "tumours.csv", "--label", "malignant"], ["tumours.yaml"]):
            subprocess.run([entrolab, *arguments], cwd=folder, check=True)
        yield folder / "results/report/tumours.html"


@contextlib.contextmanager
def served_runs() -> Iterator[str]:
    """Serve MLflow's pages at a free port of this machine; yield their address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "entrolab.tracking.ui", STORE, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            while server.poll() is None:
                with contextlib.suppress(urllib.error.URLError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                    break
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def take(pictures: list[Picture], folder: Path) -> None:
    """Save the pages as PNG files with a palette, which takes a third of the bytes."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"no browser on the PATH: pictures need one of {', '.join(BROWSERS)}")
    keep = f"Object.entries({json.dumps(SETTINGS)}).forEach(([k, v]) => localStorage[k] = JSON.stringify(v))"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for name, address, width, height in pictures:
            page = browser.new_page(viewport={"width": width, "height": height})
            if address.startswith("http"):
                page.add_init_script(keep)
            page.goto(address, wait_until="networkidle", timeout=120_000)
            page.wait_for_timeout(2500)  # charts are drawn after the last answer
            with Image.open(io.BytesIO(page.screenshot())) as image:
                small = image.convert("RGB").quantize(192, dither=Image.Dither.NONE)
                small.save(folder / f"{name}.png", optimize=True)
            page.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", default=["table", "own", "runs"], help="of: table, own, runs")
    parser.add_argument("--study", default="demo", help="the study whose pages are shown")
    parser.add_argument("--table", default="demo_cv", help="its table that is shown")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"), help="folder of the screenshots")
    arguments = parser.parse_args()
    groups, study = arguments.groups, arguments.study
    if "table" in groups:
        table = Path("results", study, "tables", f"{arguments.table}.html")
        if not table.is_file():
            sys.exit(f"{table} is not there: `snakemake {table}` makes it")
        take([("table", table.resolve().as_uri(), 1280, 700)], arguments.folder)
    if "own" in groups:
        with own_study() as page:
            take([("own_study", page.as_uri(), 1280, 1400)], arguments.folder)
    if "runs" in groups:
        if not Path(STORE).is_file():
            sys.exit(f"{STORE} is not there: `snakemake {study}` makes it")
        with served_runs() as server:
            take(run_pictures(server, study), arguments.folder)


if __name__ == "__main__":
    main()
