"""All that a tracking store says of a study, read through MLflow's client, for two stores to be compared."""

import hashlib
import os
import re
from pathlib import Path

from entrolab.tracking import ledger

mlflow = ledger.mlflow
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")

# What differs between two stores that were told the same: ids, and who told them when.
IDS = re.compile(r"\bm-[0-9a-f]{32}\b|\b[0-9a-f]{32}\b|#/experiments/\d+")
OF_ONE_TIME = {"dirty", "commit", "mlflow.source.git.commit", "mlflow.modelVersions"}
# A file that names the store it lies in, or that has other bytes each time the same is written.
OF_ONE_STORE = {"MLmodel", "model.skops"}


def client_of(uri: str):
    return mlflow.MlflowClient(uri, uri)


def study_in(client, experiment: str, downloads: Path) -> dict:
    """Everything of an experiment, runs by the key of their run, without what another store cannot share.

    Runs with their tags, parameters, every value of every metric with its step and time, inputs, and the
    sha256 of each artifact; logged models likewise; registered versions by alias; the experiment's own tags.
    """
    found = client.get_experiment_by_name(experiment)
    runs = client.search_runs([found.experiment_id], max_results=1000)
    models = {model.model_id: model for model in client.search_logged_models([found.experiment_id])}
    keys = {run.info.run_id: run.data.tags["entrolearn.key"] for run in runs}
    assert len(set(keys.values())) == len(runs)
    return {
        "tags": _tags(found.tags),
        "runs": {keys[run.info.run_id]: _run(client, run, downloads) for run in runs},
        "models": {
            keys[model.source_run_id]: {
                "name": model.name,
                "status": str(model.status),
                "params": model.params,
                "tags": _tags(model.tags),
                "artifacts": _digests(_download(client, model.artifact_location, downloads)),
            }
            for model in models.values()
        },
        "outputs": {
            keys[run.info.run_id]: [models[output.model_id].name for output in run.outputs.model_outputs]
            for run in runs
        },
        "registered": {
            alias: _version(client.get_model_version_by_alias(one.name, alias), keys)
            for one in client.search_registered_models(f"name LIKE '{experiment}.%'")
            for alias in one.aliases
        },
    }


def _download(client, place: str, downloads: Path) -> Path:
    folder = downloads / hashlib.sha256(f"{client.tracking_uri} {place}".encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return Path(
        mlflow.artifacts.download_artifacts(place, dst_path=str(folder), tracking_uri=client.tracking_uri)
    )


def _run(client, run, downloads: Path) -> dict:
    of_paper = ledger.STUDY_RUN not in run.data.tags  # which was made when the study was tracked
    values = {
        name: sorted(
            (point.step, 0 if of_paper else point.timestamp, point.value)
            for point in client.get_metric_history(run.info.run_id, name)
        )
        for name in run.data.metrics
    }
    return {
        "name": run.info.run_name,
        "status": run.info.status,
        "tags": _tags(run.data.tags),
        "params": run.data.params,
        "metrics": values,
        "inputs": [(one.dataset.name, one.dataset.digest) for one in run.inputs.dataset_inputs],
        "artifacts": _digests(_download(client, run.info.artifact_uri, downloads)),
    }


def _version(version, runs) -> dict:
    return {
        "run": runs[version.run_id],
        "description": IDS.sub("", version.description),
        "tags": version.tags,
        "status": version.status,
    }


def _tags(tags) -> dict[str, str]:
    return {name: IDS.sub("", value) for name, value in tags.items() if name not in OF_ONE_TIME}


def _digests(folder: Path) -> dict[str, str]:
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: "" if name in OF_ONE_STORE else hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in sorted(files.items())
    }
