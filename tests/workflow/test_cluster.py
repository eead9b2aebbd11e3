"""The profiles of clusters: what jobs ask for and, by a Kubernetes that only takes notes, what is sent."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from entrolab.data.dataset import load_dataset

ROOT = Path(__file__).parents[2]
PROFILES = ROOT / "workflow" / "profiles"
EXECUTORS = ROOT / ".executors"  # where `make executors` puts them

pytestmark = pytest.mark.workflow


def has(plugin: str) -> bool:
    name = f"snakemake_executor_plugin_{plugin}"
    return (EXECUTORS / name).is_dir() or importlib.util.find_spec(name) is not None


def needs(plugin: str):
    return pytest.mark.skipif(not has(plugin), reason=f"no executor for {plugin} here: make executors")


def snakemake(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join(filter(None, [str(EXECUTORS), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--directory", str(folder)]
        + list(arguments),
        env={**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache"), **variables},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def resources_of(said: str) -> dict[str, list[dict]]:
    """What the jobs of each rule ask for, as a dry run says it."""
    found: dict[str, list[dict]] = {}
    for line in said.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word in ("rule", "localrule"):
            rule = rest.rstrip(":")
        elif word == "resources:":
            asked = dict(part.split("=", 1) for part in rest.split(", "))
            found.setdefault(rule, []).append(asked)
    return found


def test_each_job_requests_memory_and_time_and_has_limits(tmp_path):
    limits = ("--config", "limit_gib=1", "limit_seconds=600")
    said = snakemake(tmp_path, "--workflow-profile", "none", "--cores", "1", "-n", *limits, "--", "demo")
    assert said.returncode == 0, said.stdout[-3000:]
    asked = resources_of(said.stdout)
    for rule in ("prepare", "scale", "split", "fit", "refit", "figure"):
        assert {(job["mem_mb"], job["runtime"]) for job in asked[rule]} == {("2000", "50")}
    for rule in ("prepare", "fit", "refit"):
        assert {job["limit_mebibytes"] for job in asked[rule]} == {"1024"}


def test_local_jobs_are_not_held_up_by_what_a_cluster_would_be_asked_for(tmp_path):
    profile = yaml.safe_load((PROFILES / "default" / "config.yaml").read_text(encoding="utf-8"))
    assert set(profile["resources"]) == {"tracking", "network", "report"}


@needs("slurm")
def test_the_profile_of_slurm_plans_the_demonstration(tmp_path):
    said = snakemake(tmp_path, "--profile", "workflow/profiles/slurm", "-np", "demo")
    assert said.returncode == 0, said.stdout[-3000:]
    # A data set is prepared, scaled and divided by one job of Slurm.
    assert said.stdout.count("Group job data") == 5
    # A grid is fitted, selected from and refitted by another.
    assert said.stdout.count("Group job run") == 25


# Slurm's commands: a job is run when it is submitted, its one step is, and it has then completed.
SLURM = {
    "sbatch": """for last; do :; done
case $last in --wrap=*) sh -c "${last#--wrap=}" > "$0.said" 2>&1; echo 1;; esac""",
    "srun": """while case $1 in -*) true;; *) false;; esac; do shift; done
exec "$@\"""",
    "sacct": "case $* in *Account*) echo mine;; *) echo '1|COMPLETED';; esac",
    "sacctmgr": "echo mine",
    "sinfo": "echo PARTITION",
    "scontrol": "echo MinJobAge = 300 sec",
}


@needs("slurm")
def test_a_job_of_slurm_runs_its_function_in_a_process_of_that_job(tmp_path):
    """As the executor starts it: a Snakemake by sbatch, which starts another by srun."""
    for command, content in SLURM.items():
        (tmp_path / command).write_text(f"#!/bin/sh\n{content}\n")
        (tmp_path / command).chmod(0o755)
    said = snakemake(
        tmp_path,
        *("--profile", "workflow/profiles/slurm", "--slurm-init-seconds-before-status-checks", "1"),
        *("--latency-wait", "1", "--", "results/data/gaussians.npz"),
        PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
    )
    assert said.returncode == 0, said.stdout[-3000:]
    assert load_dataset(tmp_path / "results/data/gaussians.npz").n_samples > 0
    assert "prepare gaussians: done" in (tmp_path / "logs/prepare/gaussians.log").read_text()


@needs("kubernetes")
def test_the_profile_of_kubernetes_plans_the_demonstration(tmp_path, kubernetes):
    said = snakemake(
        tmp_path,
        *("--profile", "workflow/profiles/kubernetes", "--default-storage-prefix", str(tmp_path / "volume")),
        *("-np", "demo"),
        KUBECONFIG=str(kubernetes.configuration),
    )
    assert said.returncode == 0, said.stdout[-3000:]
    assert len(resources_of(said.stdout)["fit"]) == 25
    assert not kubernetes.jobs


@pytest.fixture
def kubernetes(tmp_path):
    """An interface that takes jobs, notes them and says that each has failed."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/jobs"):
                server.jobs.append(body)
            self.answer(body)

        def do_GET(self):
            self.answer({"items": []} if "/pods" in self.path else {"status": {"failed": 1}})

        def do_DELETE(self):
            self.answer({"status": "Success"})

        def answer(self, body: dict):
            content = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.jobs = []
        server.configuration = tmp_path / "kubernetes.yaml"
        address = f"http://127.0.0.1:{server.server_address[1]}"
        server.configuration.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "test", "cluster": {"server": address}}],
                    "users": [{"name": "test", "user": {}}],
                    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                    "current-context": "test",
                }
            )
        )
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@needs("kubernetes")
@pytest.mark.skipif(not shutil.which("rsync"), reason="no rsync here, by which the storage plugin copies")
def test_a_pod_gets_its_image_volume_command_and_resources(tmp_path, kubernetes):
    volume = tmp_path / "volume"
    said = snakemake(
        tmp_path,
        *("--profile", "workflow/profiles/kubernetes", "--default-storage-prefix", str(volume)),
        *("--container-image", "registry.example.org/entrolearn:1", "--seconds-between-status-checks", "1"),
        "results/data/gaussians.npz",
        KUBECONFIG=str(kubernetes.configuration),
    )
    assert said.returncode == 1  # the cluster says that each of its jobs has failed
    assert len(kubernetes.jobs) == 3, said.stdout[-3000:]  # and each is tried again, twice
    specs = [job["spec"]["template"]["spec"] for job in kubernetes.jobs]
    for spec in specs:
        (container,) = spec["containers"]
        assert container["image"] == "registry.example.org/entrolearn:1"
        assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]} == {
            "workdir": "/workdir",
            "entrolearn": "/volume",
        }
        assert {"name": "entrolearn", "persistentVolumeClaim": {"claimName": "entrolearn"}} in spec["volumes"]
        (flag, command) = container["args"]
        assert flag == "-c"
        assert "python -m snakemake" in command
        assert "--target-jobs" in command
        assert "--default-storage-provider" in command
        assert str(volume) in command
        assert container["resources"]["requests"]["cpu"] == "950m"
        assert container["resources"]["requests"]["ephemeral-storage"] == "1000M"
    memory = [spec["containers"][0]["resources"]["requests"]["memory"] for spec in specs]
    # Small data need what a job's start takes; four times as much; the limit of 8 GiB beside the start.
    assert memory == ["2000M", "8000M", "10092M"]
