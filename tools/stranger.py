"""Run a new user's commands: wheels only, an empty folder, own tables, the tutorial's commands, and mistakes.

    ENTROLEARN_MIRROR=folder python tools/stranger.py [--folder F] [--only slips]

The mirror is the folder with titanic/titanic.csv and so on. The wheels are built from this checkout and
installed, with the packages pinned in requirements.lock, in a new environment without access to the checkout.
Each command is printed with its wall-clock and processor seconds, exit code, number of lines and most
informative line; models predict the rows that they were trained on. This script fails if a command has an
unexpected exit code, if an error message has more than three lines or a traceback, or if a model scores below
its minimum. The folder is kept for inspection.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorials" / "your-own-study.md"
LABELS = {"titanic": "survived", "penguins": "species", "diamonds": "price"}
DIAMONDS = 2000  # rows, evenly spaced among the 53,940, so that the study takes seconds
FLOOR = {"titanic": 0.75, "penguins": 0.95, "diamonds": 0.9, "mine.tumours": 0.95}
MOST_LINES = 3  # maximum number of lines of an error message
WIDEST = 170  # maximum width of a printed message
WHEELS = ["--only-binary", ":all:", "--no-binary", "connection-pool", "--no-build-isolation"]
TRIAL = """models:
  tree: {{estimator: sklearn.tree.DecisionTree{}, params: {{random_state: 0}}, grid: {{max_depth: [2, 5]}}}}
"""
ANSWERS = """
import sys, mlflow, pandas as pd
from sklearn.metrics import accuracy_score, r2_score
name, file, label = sys.argv[1:]
mlflow.set_tracking_uri("sqlite:///mlflow.db")
table = pd.read_csv(file)
answers = mlflow.sklearn.load_model(f"models:/{name}@best").predict(table.drop(columns=label))
score = r2_score if label == "price" else accuracy_score
print(f"{name}@best on {file}: {score.__name__} {score(table[label], answers):.3f}")
"""
# Serve a model with the tutorial's command at a free port, and request predictions of all rows at once.
SERVED = """
import json, os, signal, socket, subprocess, sys, time, urllib.error, urllib.request
import mlflow, numpy as np, pandas as pd
name, file, label = sys.argv[1:]
mlflow.set_tracking_uri("sqlite:///mlflow.db")
rows = pd.read_csv(file).drop(columns=label)
wanted = mlflow.sklearn.load_model(f"models:/{name}@best").predict(rows)
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
command = ["mlflow", "models", "serve", "-m", f"models:/{name}@best", "--env-manager", "local"]
body = {"dataframe_split": json.loads(rows.to_json(orient="split", index=False, double_precision=15))}
with open("served.log", "w") as log:
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=log, stderr=log, start_new_session=True
    )
try:
    address, until = f"http://127.0.0.1:{port}", time.monotonic() + 180
    while server.poll() is None and time.monotonic() < until:
        try:
            urllib.request.urlopen(address + "/ping").close()
            break
        except urllib.error.URLError:
            time.sleep(0.5)
    asked = urllib.request.Request(
        address + "/invocations", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked) as answer:
        found = np.array(json.load(answer)["predictions"])
finally:
    os.killpg(server.pid, signal.SIGTERM)
    server.wait()
same = np.isclose(found, wanted, rtol=1e-9) if label == "price" else found == np.asarray(wanted)
print(f"{name}@best, served: {same.sum()} of {len(rows)} answers are those of {file}")
sys.exit(not same.all())
"""


@dataclass
class Step:
    """A command and its outcome; `what` names it in the list of failures."""

    what: str
    command: str
    expected: int
    code: int
    lines: list[str]

    def message(self) -> str:
        """The most informative line: the last line of an error, the line with the result of a success."""
        lines = [line.strip() for line in self.lines if line.strip()]
        best = [line for line in lines if ": best " in line or "jobs done" in line or "Wrote" in line]
        text = (best or lines or [""])[-1]
        return text if len(text) <= WIDEST else text[:WIDEST] + "…"

    def flaw(self) -> str | None:
        """The deviation from the expected outcome, or None."""
        if (self.code == 0) != (self.expected == 0):
            return f"exit code {self.code}"
        if any(line.startswith("Traceback") for line in self.lines):
            return "a traceback"
        if self.expected and len(self.lines) > MOST_LINES:
            return f"{len(self.lines)} lines"
        return None


class Walk:
    """Commands run one after the other in one folder, in the new environment."""

    def __init__(self, folder: Path, binaries: Path):
        self.folder, self.steps = folder, []
        unwanted = ("PYTHON", "VIRTUAL_ENV", "ENTRO", "MLFLOW")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
        self.environment |= {"PATH": f"{binaries}:{os.defpath}", "COLUMNS": "80"}
        self.environment |= {"MLFLOW_DISABLE_TELEMETRY": "true"}
        self.environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def do(self, what: str, command: str, *, expected: int = 0, stdin: str = "") -> Step:
        """Run a shell command, print its outcome, and store it for the table."""
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        lines = done.stdout.replace(str(self.folder), "…").splitlines()
        seconds = time.perf_counter() - begun
        step = Step(what, command, expected, done.returncode, lines)
        self.steps.append(step)
        print(f"{seconds:6.1f} s {computed:6.1f} s {step.code:3} {len(lines):4} {command}")
        print(f"    {step.message()}", flush=True)
        if step.flaw():
            print(f"    NOT AS EXPECTED: {step.flaw()}\n", "\n".join(lines[-40:]), sep="")
        return step

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")


def install(folder: Path) -> Path:
    """Create an environment with the two wheels and the locked packages; return its folder of programs."""
    settings = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "UV_NO_PROGRESS": "1"}
    settings.pop("PYTHONPATH", None)

    def call(*command: str | Path, cwd: Path = ROOT) -> None:
        done = subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"stranger: {' '.join(map(str, command[:4]))} failed: {done.stderr[-2000:]}")

    for place in (ROOT, ROOT / "src" / "entrolab"):
        call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "wheels", cwd=place)
    python = folder / "venv" / "bin" / "python"
    pip = ["uv", "pip", "install", "--compile-bytecode", "--python", python]
    call("uv", "venv", "--python", sys.executable, folder / "venv")
    call(*pip, "--only-binary", ":all:", "--require-hashes", "-r", "tools/build.txt")
    call(*pip, *WHEELS, "--require-hashes", "-r", "requirements.lock")
    call(*pip, "--no-deps", *sorted((folder / "wheels").glob("*.whl")))
    return python.parent


def tables(mirror: Path, folder: Path) -> None:
    """Copy the three tables, with only some rows of diamonds."""
    for name in LABELS:
        file = mirror / name / f"{name}.csv"
        if not file.is_file():
            sys.exit(f"stranger: found no {name}/{name}.csv in the folder that ENTROLEARN_MIRROR names")
        head, *rows = file.read_text(encoding="utf-8").splitlines(keepends=True)
        if name == "diamonds":
            rows = [rows[place * len(rows) // DIAMONDS] for place in range(DIAMONDS)]
        (folder / file.name).write_text("".join([head, *rows]), encoding="utf-8")


def own_tables(walk: Walk) -> None:
    """Run `entrolab init`, the study and the loaded model for each table."""
    for name, label in LABELS.items():
        walk.do(f"{name}: a study", f"entrolab init {name}.csv --label {label}")
        walk.do(f"{name}: its tables", f"entrolab {name}.yaml")
        answers(walk, f"{name}.{name}", f"{name}.csv", label)


def answers(walk: Walk, name: str, file: str, label: str) -> None:
    """Predictions of the registered model for the user's file, in a separate process and over HTTP."""
    step = walk.do(f"{file}: the model's answers", f"python -W ignore - {name} {file} {label}", stdin=ANSWERS)
    walk.do(f"{file}: the served answers", f"python -W ignore - {name} {file} {label}", stdin=SERVED)
    score = float((re.findall(r"[\d.]+$", step.message()) or ["0"])[0])
    if not step.code and score < FLOOR.get(name, FLOOR.get(name.partition(".")[0], 1)):
        step.code = 99


def tutorial(walk: Walk) -> None:
    """Run the blocks of the tutorial in order, without the folders of a clone; restore the edited files."""
    text = PAGE.read_text(encoding="utf-8").replace("config/papers/", "")
    text = re.sub(r"snakemake( -n)? (\w+)$", r"entrolab\1 \2.yaml", text, flags=re.MULTILINE)
    text = text.replace("-m models:", "-m 'models:'")
    kinds = re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    pythons = [block for kind, block in kinds if kind == "python"]
    study = next(block for kind, block in kinds if kind == "yaml")
    data, learner, load = pythons
    walk.do("the tutorial: its data", "python -", stdin=data)
    walk.write("my_learners.py", learner)
    walk.write("new.csv", (walk.folder / "tumours.csv").read_text(encoding="utf-8"))
    walk.write("mine.yaml", study)
    for kind, block in kinds:
        refused = "did you mean" in block
        if kind == "python" and block is load:
            walk.do("the tutorial: its model", "python -W ignore -", stdin=block)
        if kind not in ("console", "sh"):
            continue
        commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE) if kind == "console" else block.splitlines()
        for command in commands:
            starts = command.startswith("entrolab")
            walk.do("the tutorial", command, expected=1 if refused and starts else 0)
        if refused:
            walk.write("mine.yaml", study)
    answers(walk, "mine.tumours", "tumours.csv", "malignant")


def slips(walk: Walk) -> None:
    """Run commands with typical mistakes, each with its own files."""
    head = (walk.folder / "titanic.csv").read_text(encoding="utf-8").splitlines()
    base = "datasets:\n  {}: {{file: {}, label: {}{}}}\n"
    sound = base.format("sea", "titanic.csv", "survived", ", drop: [alive]") + TRIAL.format("Classifier")
    walk.write("slip.yaml", sound)
    walk.write("double.csv", "a,b,a,y\n" + "".join(f"{i},{i * 2},{i * 3},{i % 2}\n" for i in range(40)))
    walk.write("header.csv", head[0] + "\n")
    walk.write("empty.csv", "")
    walk.write("one_class.csv", "a,y\n" + "".join(f"{i},same\n" for i in range(40)))
    walk.write("few.csv", "a,y\n1,yes\n2,no\n3,no\n4,no\n5,no\n6,no\n")
    walk.write("page.csv", "<!DOCTYPE html>\n<html><body>Not, found</body></html>\n")
    (walk.folder / "table.parquet").write_bytes(b"PK\x03\x04 not a Parquet file at all")
    (walk.folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe\x80\x81" * 20)

    def refused(what: str, command: str) -> None:
        walk.do(what, command, expected=1)

    refused("a study that is not there", "entrolab slipp.yaml")
    refused("a study's name misspelt", "entrolab slipp")
    refused("a table for a study", "entrolab titanic.csv")
    refused("the ending .yml", "cp slip.yaml slip.yml; entrolab slip.yml")
    refused("init of a file that is not there", "entrolab init titanik.csv --label survived")
    refused("init without a label", "entrolab init titanic.csv")
    refused("init with a label misspelt", "entrolab init titanic.csv --label survivd --output new.yaml")
    refused("init over a study", "touch titanic.yaml; entrolab init titanic.csv --label survived")
    for name, what in {
        "double": "two columns of one name",
        "empty": "an empty file",
        "header": "a header without rows",
        "one_class": "a label of one class",
        "page": "a page of the web named .csv",
        "picture": "a picture named .csv",
    }.items():
        label = "survived" if name == "header" else "y"
        refused(what, f"entrolab init {name}.csv --label {label} --output new.yaml")
    refused("a file that is no Parquet", "entrolab init table.parquet --label y --output new.yaml")
    edits = {
        "the table's file misspelt": ("titanic.csv", "titanc.csv"),
        "the label misspelt": ("survived", "surviced"),
        "a key misspelt": ("models:", "modles:"),
        "a key of a data set misspelt": ("drop:", "dropp:"),
        "a dropped column misspelt": ("[alive]", "[alife]"),
        "a learner misspelt": ("DecisionTreeClassifier", "DecisionTreClassifier"),
        "a learner's package that is absent": ("sklearn.tree.DecisionTree", "catboost.CatBoost"),
        "a parameter misspelt": ("max_depth", "max_dept"),
        "a regressor for classes": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
        "a negative value in a grid": ("[2, 5]", "[-2, 5]"),
        "an empty grid": ("[2, 5]", "[]"),
        "YAML that does not parse": ("[2, 5]", "[2, 5"),
        "a metric misspelt": ("models:", "metrics: [acuracy]\nmodels:"),
        "a regression's metric": ("models:", "metrics: [rmse]\nmodels:"),
        "two folds for a grid": ("models:", "protocol: {folds: 2}\nmodels:"),
        "one fold": ("models:", "protocol: {folds: 1}\nmodels:"),
        "an unknown protocol": ("models:", "protocol: {method: bootstrp}\nmodels:"),
        "a positive class that is none": ("label: survived", "label: survived, positive: yes"),
        "a task misspelt": ("label: survived", "label: survived, task: regresion"),
        "words for a regression's label": ("label: survived", "label: sex, task: regression"),
    }
    for what, (old, new) in edits.items():
        assert old in sound
        walk.write("slip.yaml", sound.replace(old, new))
        refused(what, "entrolab slip.yaml")
    few = base.format("few", "few.csv", "y", "") + TRIAL.format("Classifier")
    walk.write("slip.yaml", few)
    refused("a class of one row", "entrolab slip.yaml")
    walk.write("slip.yaml", "- titanic\n- penguins\n")
    refused("a list for a study", "entrolab slip.yaml")


def main() -> None:
    """Run all commands, write the page, and fail if an outcome was not as expected."""
    parser = argparse.ArgumentParser("stranger")
    parser.add_argument("--folder", type=Path, help="folder to run in (default: a new temporary folder)")
    parser.add_argument("--only", choices=["commands", "slips"], help="run only one half of the commands")
    given = parser.parse_args()
    mirror = os.environ.get("ENTROLEARN_MIRROR")
    if not mirror:
        sys.exit("stranger: name in ENTROLEARN_MIRROR the folder with titanic/titanic.csv and so on")
    place = (given.folder or Path(tempfile.mkdtemp(prefix="stranger-"))).resolve()
    folder = place / "walk"
    folder.mkdir(parents=True)
    walk = Walk(folder, install(place))
    tables(Path(mirror), folder)
    if given.only != "slips":
        own_tables(walk)
        tutorial(walk)
    if given.only != "commands":
        slips(walk)
    flaws = [f"{step.what}: {step.flaw()}" for step in walk.steps if step.flaw()]
    print(f"{len(walk.steps)} commands, {len(flaws)} not as expected; see {folder}")
    sys.exit("\n".join(flaws) or None)


if __name__ == "__main__":
    main()
