"""Write the experiment of a study, its runs and their models to an open store."""

import getpass
import json
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import mlflow
from mlflow.entities import Dataset, DatasetInput, InputTag, LoggedModelOutput, Metric, Param, Run, RunTag
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import (
    INVALID_PARAMETER_VALUE,
    RESOURCE_ALREADY_EXISTS,
    RESOURCE_DOES_NOT_EXIST,
    ErrorCode,
)
from mlflow.store.tracking import SEARCH_MAX_RESULTS_THRESHOLD
from mlflow.utils.mlflow_tags import (
    MLFLOW_MODEL_VERSIONS,
    MLFLOW_SOURCE_NAME,
    MLFLOW_SOURCE_TYPE,
    MLFLOW_USER,
)
from sklearn.base import BaseEstimator

from entrolab.io.records import write_json
from entrolab.jobs.job_logging import tell
from entrolab.study.study import Study
from entrolab.text import one_line
from entrolab.tracking.notes import (
    BEST,
    experiment_note,
    linked,
    registered_name,
    registered_note,
    study_note,
)
from entrolab.tracking.runs import WITHOUT_MODEL, RunContent
from entrolab.tracking.signatures import save_model
from entrolab.tracking.stores import Store, opened

STUDY_RUN = "study.run"  # tag of a run: the id of the run of its study's tables; not MLflow's parent
CLOSED_FOR = "failure.reason"  # tag of a run without a result: the reason
LONGEST_DATASET_DIGEST = 36  # characters, by MLflow's schema

logger = logging.getLogger(__name__)


@contextmanager
def open_ledger(store_uri: str | None, study: Study, patience: float, own: str) -> Iterator["Ledger"]:
    """Open the experiment of a study for one writer, and close the writer's runs if an error ends it.

    Runs that a killed writer left open are closed first: all of them in a file, which has only one writer; on
    a server, those that meet the condition `own`.
    """
    with opened(store_uri, patience) as store:
        ledger = Ledger(store)
        ledger.open_experiment(study, store.artifacts and (store.artifacts / study.name).as_uri())
        ledger.close_runs("its tracker was killed", own)
        try:
            yield ledger
        except BaseException as error:
            with suppress(Exception):  # the store may be gone: the next writer closes them
                ledger.close_runs(f"its tracker ended: {one_line(error) or type(error).__name__}", own)
            raise


@contextmanager
def _accepting(*codes: int) -> Iterator[None]:
    """Ignore MLflow's errors with these codes."""
    try:
        yield
    except MlflowException as error:
        if error.error_code not in map(ErrorCode.Name, codes):
            raise


class Ledger:
    """One experiment of an open store."""

    def __init__(self, store: Store):
        self.client, self._address, self._one_writer = store.client, store.address, store.one_writer
        self.experiment_id = ""

    @property
    def place(self) -> dict:
        return {"store": self._address, "experiment": self.experiment_id}

    def open_experiment(self, study: Study, artifact_location: str | None) -> None:
        found = self.client.get_experiment_by_name(study.name)
        if found is None:
            # On a server, another writer may have created it in the meantime.
            with _accepting(RESOURCE_ALREADY_EXISTS):
                self.client.create_experiment(study.name, artifact_location)
            found = self.client.get_experiment_by_name(study.name)
        self.experiment_id, known = found.experiment_id, found.tags
        if found.lifecycle_stage == "deleted":  # the name stays in use
            self.client.restore_experiment(self.experiment_id)
        tags = {
            "mlflow.note.content": experiment_note(study),
            "mlflow.experimentKind": "custom_model_development",
        }
        self.tag_experiment({name: value for name, value in tags.items() if known.get(name) != value})

    def tag_experiment(self, tags: Mapping[str, str]) -> None:
        for name, value in tags.items():
            self.client.set_experiment_tag(self.experiment_id, name, value)

    def close_runs(self, reason: str, own: str) -> None:
        """Close open runs with the status KILLED: all in a file, else those that meet the condition `own`."""
        is_open = "attributes.status = 'RUNNING'"
        if self._one_writer:
            experiments = [one.experiment_id for one in self.client.search_experiments()]
            found = self.live_runs(is_open, experiments)
        else:
            found = self.live_runs(f"{is_open} AND {own}")
        for run in found:
            if "entrolearn.key" in run.data.tags:
                self.log(run.info.run_id, tags={CLOSED_FOR: reason})
                self.client.set_terminated(run.info.run_id, "KILLED")

    def live_runs(self, condition: str, experiments: Sequence[str] = ()) -> list[Run]:
        """The live runs of some experiments, by default of this one, that meet a condition, oldest first."""
        return self.client.search_runs(
            list(experiments) or [self.experiment_id],
            condition,
            max_results=SEARCH_MAX_RESULTS_THRESHOLD,
            order_by=["attributes.start_time ASC"],
        )

    def study_run(self, study: Study) -> str:
        """The id of the run of a study's tables; it is created if it does not exist, and closed if open."""
        own = f"tags.`entrolearn.key` = '{study.name}'"
        found = self.live_runs(own)
        if not found:
            tags = {
                **_made_by(study.name),
                "entrolearn.key": study.name,
                "study": study.name,
                "mlflow.note.content": study_note(study, {}, ""),
            }
            name = study_run_name(study.name)
            self.client.create_run(self.experiment_id, tags=tags, run_name=name)
            found = self.live_runs(own)  # on a server, another writer may have created it
        first, *others = sorted(found, key=lambda run: (run.info.start_time, run.info.run_id))
        for extra in others:
            self.discard(extra)
        if first.info.status != "FINISHED":
            self.client.set_terminated(first.info.run_id, "FINISHED")
        if CLOSED_FOR in first.data.tags:
            self.client.delete_tag(first.info.run_id, CLOSED_FOR)
        return first.info.run_id

    def artifacts_of(self, run_id: str) -> str:
        """The link to the artifacts of a run on MLflow's page."""
        return f"#/experiments/{self.experiment_id}/runs/{run_id}/artifacts"

    def has_artifacts(self, run: Run) -> bool:
        """Whether the artifacts of a run and of each model that it logged are in the store."""
        models = run.outputs.model_outputs if run.outputs else []
        with _accepting(RESOURCE_DOES_NOT_EXIST):  # a model deleted by a user
            return bool(self.client.list_artifacts(run.info.run_id)) and all(
                self.client.list_logged_model_artifacts(model.model_id) for model in models
            )
        return False

    def discard(self, run: Run) -> None:
        """Delete the models that a run logged, then the run: if interrupted, the next writer continues."""
        of_run = f"source_run_id = '{run.info.run_id}'"
        for model in self.client.search_logged_models([self.experiment_id], filter_string=of_run):
            self.client.delete_logged_model(model.model_id)
        self.client.delete_run(run.info.run_id)

    def write(self, content: RunContent, study_run: str, code: Mapping[str, str]) -> str:
        """Write one run and return its id."""
        files = content.files
        model, failure = _model_of(content)
        start = round(datetime.fromisoformat(files.record["started"]).timestamp() * 1000)
        end = start + round(1000 * files.record["seconds"])
        run = self.client.create_run(
            self.experiment_id, start_time=start, tags=_identity(content, study_run), run_name=content.name
        )
        run_id = run.info.run_id
        note = linked(content.tags["mlflow.note.content"], self.artifacts_of(study_run))
        self.log(
            run_id,
            metrics=[Metric(name, value, end, step) for (name, step), value in content.metrics.items()],
            params=content.params,
            tags=content.tags | code | failure | {"mlflow.note.content": note},
        )
        if files.record["data"]:
            self.client.log_inputs(run_id, [_dataset_input(content)])
        with tempfile.TemporaryDirectory() as folder:
            write_json(Path(folder, "record.json"), files.record)
            files.scores.to_csv(Path(folder, "scores.csv"), index=False)
            files.candidates.to_parquet(Path(folder, "candidates.parquet"), index=False)
            self.client.log_artifacts(run_id, folder)
        if model is not None:
            self._log_model(run_id, content, model)
        self.client.set_terminated(run_id, content.status, end)
        return run_id

    def log(
        self,
        run_id: str,
        *,
        metrics: Sequence[Metric] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self.client.log_batch(
            run_id,
            metrics=list(metrics),
            params=[Param(name, value) for name, value in (params or {}).items()],
            tags=[RunTag(name, value) for name, value in (tags or {}).items()],
            synchronous=True,
        )

    def _log_model(self, run_id: str, content: RunContent, model: BaseEstimator) -> None:
        """Log the refitted model like ``mlflow.sklearn.log_model``, but with this client.

        That function uses the process's active run and store.
        """
        run, files = content.run, content.files
        logged = self.client.create_logged_model(
            self.experiment_id,
            name=f"{run.model}-{run.dataset}",
            source_run_id=run_id,
            params={name: str(value) for name, value in files.facts["params"].items()},
            tags={"entrolearn.key": run.key, "chosen_by": files.facts["chosen_by"]},
        )
        with tempfile.TemporaryDirectory() as folder:
            saved = Path(folder, "model")
            save_model(
                model,
                saved,
                mlflow.models.Model(
                    artifact_path=logged.artifact_location,
                    run_id=run_id,
                    model_uuid=logged.model_id,
                    model_id=logged.model_id,
                ),
                trusted_types=files.trusted_types,
            )
            self.client.log_model_artifacts(logged.model_id, str(saved))
        self.client.finalize_logged_model(logged.model_id, "READY")
        self.client.log_outputs(run_id, [LoggedModelOutput(logged.model_id, step=0)])

    def register(
        self,
        study: Study,
        dataset: str,
        contents: Sequence[RunContent],
        run_ids: Mapping[str, str],
    ) -> None:
        """Register the model of each run as a version of the data set's model; the best has an alias.

        Models that are already versions are skipped. `run_ids` maps models to the ids of their runs. If the
        best run has no model, none has the alias, and one line says why.
        """
        name = registered_name(study.name, dataset)
        with_model = [content for content in contents if content.version_note]
        known = {one.run_id: one for one in self.client.search_model_versions(f"name = '{name}'")}
        if with_model and not known:
            with _accepting(RESOURCE_ALREADY_EXISTS):
                self.client.create_registered_model(name)
        if any(run_ids[content.run.model] not in known for content in with_model):
            self.client.update_registered_model(name, registered_note(study, dataset))
        at_alias = self._version_at(name, BEST)
        best = None
        for content in with_model:
            run_id = run_ids[content.run.model]
            version = known.get(run_id) or self._new_version(name, run_id, content)
            best = version if "best" in content.tags else best
        if best is not None and (at_alias is None or at_alias.version != best.version):
            self.client.set_registered_model_alias(name, BEST, best.version)
        if best is None and at_alias is not None:
            self.client.delete_registered_model_alias(name, BEST)
        for content in contents:
            if best is None and "best" in content.tags:
                tags = self.client.get_run(run_ids[content.run.model]).data.tags
                reason = tags.get(WITHOUT_MODEL, "no model was made")
                line = f"{name}@{BEST} is no model: the best run, {content.name}, has none: {reason}"
                logger.warning(line)
                tell(line)

    def _new_version(self, name: str, run_id: str, content: RunContent) -> ModelVersion | None:
        """A new version with the model that a run logged; None if the run logged none."""
        run = self.client.get_run(run_id)
        if not run.outputs.model_outputs:
            return None
        model = self.client.get_logged_model(run.outputs.model_outputs[0].model_id)
        verdict = {tag: content.tags[tag] for tag in ("verdict",) if tag in content.tags}
        version = self.client.create_model_version(
            name,
            model.artifact_location,  # `models:/<id>` would be resolved in the active store
            run_id,
            tags={"dataset": content.run.dataset, "model": content.run.model, **verdict},
            description=content.version_note,
            model_id=model.model_id,
        )
        # MLflow's pages of the run and the model show this tag as their registered model.
        registered = json.dumps([{"name": name, "version": version.version}])
        self.client.set_logged_model_tags(model.model_id, {MLFLOW_MODEL_VERSIONS: registered})
        return version

    def _version_at(self, name: str, alias: str) -> ModelVersion | None:
        # The model or its alias may not exist.
        with _accepting(RESOURCE_DOES_NOT_EXIST, INVALID_PARAMETER_VALUE):
            return self.client.get_model_version_by_alias(name, alias)
        return None


def _model_of(content: RunContent) -> tuple[BaseEstimator | None, dict[str, str]]:
    """The refitted model of a run; None if it has none, or does not load, which a tag says."""
    import skops.io

    if content.files.trusted_types is None:
        return None, {}
    try:
        return skops.io.load(content.files.fitted, trusted=content.files.trusted_types), {}
    except Exception as error:  # noqa: BLE001  of any class in the model
        return None, {WITHOUT_MODEL: f"the model does not load: {one_line(error) or type(error).__name__}"}


def study_run_name(study_name: str) -> str:
    return f"{study_name} · tables"


def says(run: Run, content: RunContent, study_run: str) -> bool:
    """Whether a run in the store has exactly this content."""
    tags = run.data.tags
    return (
        run.info.status == content.status
        and tags.get("entrolearn.digest") == content.digest
        and tags.get(STUDY_RUN) == study_run
    )


def _identity(content: RunContent, study_run: str) -> dict[str, str]:
    """The tags with which a run is created and by which it is found."""
    run = content.run
    return {
        **_made_by(run.study),
        "entrolearn.key": run.key,
        "entrolearn.digest": content.digest,
        "study": run.study,
        "dataset": run.dataset,
        "model": run.model,
        STUDY_RUN: study_run,
    }


def _made_by(study_name: str) -> dict[str, str]:
    """The tags that MLflow shows in its columns for user and source."""
    source = {MLFLOW_SOURCE_NAME: f"snakemake {study_name}", MLFLOW_SOURCE_TYPE: "LOCAL"}
    return {MLFLOW_USER: getpass.getuser(), **source}


def _dataset_input(content: RunContent) -> DatasetInput:
    """The data set as an input of a run: name, digest and size, without its values."""
    run, data = content.run, content.files.record["data"]
    dataset = Dataset(
        name=run.dataset,
        digest=data["digest"][:LONGEST_DATASET_DIGEST],
        source_type="local",
        source=json.dumps({"uri": f"results/data/{run.dataset}.npz"}),
        profile=json.dumps({name: value for name, value in data.items() if name != "digest"}),
    )
    context = "trials" if "protocol.trials" in content.params else "cross-validation"
    return DatasetInput(dataset, [InputTag("mlflow.data.context", context)])
