"""Write runs with their models, and the run of a study, to the tracking store."""

import getpass
import json
import logging
import math
import posixpath
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import time
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_ALREADY_EXISTS, ErrorCode
from mlflow.utils.mlflow_tags import MLFLOW_MODEL_VERSIONS, MLFLOW_PARENT_RUN_ID

from entrolab.fit.metrics import METRICS
from entrolab.fit.run import BASELINE
from entrolab.io.records import machine, versions, write_json
from entrolab.jobs.checkout import code_tags
from entrolab.jobs.job_logging import tell
from entrolab.study.study import Study
from entrolab.text import one_line
from entrolab.tracking import signatures
from entrolab.tracking.contents import LONGEST, Content, Model, finite_and_not, plain
from entrolab.tracking.stores import open_store

KEY = "entrolearn.key"  # tag: the key of a content
BEST = "best"  # alias of the version with the best score, and tag of its run
LONGEST_DIGEST = 36  # characters, by MLflow's schema
LONGEST_NAME = 250  # characters of a metric's or a parameter's name, by MLflow
DIGITS = 6  # of the digest at the end of a name that MLflow refuses
MOST_COLUMNS = 1000  # of a data set, in its schema

logger = logging.getLogger(__name__)


@contextmanager
def open_ledger(store_uri: str | None, study: Study) -> Iterator["Ledger"]:
    """Open the store and the experiment of a study for one writer.

    `store_uri` is any MLflow tracking URI, by default ``MLFLOW_TRACKING_URI``, else ``mlflow.db`` in the
    working folder. Errors of the store are `StoreUnavailable`.
    """
    with open_store(store_uri) as store:
        yield Ledger(store.address, store.folder, study)


class Ledger:
    """The experiment of a study in an open store."""

    def __init__(self, address: str, folder: Path | None, study: Study):
        self.client, self.address, self._folder, self._study = MlflowClient(), address, folder, study
        self.experiment = self._experiment(study.name)
        mlflow.set_experiment(experiment_id=self.experiment)  # where models are logged
        self.parent = self._parent()

    def _experiment(self, name: str) -> str:
        """The id of an experiment, which is made or restored."""
        found = self.client.get_experiment_by_name(name)
        if found is None:
            location = self._folder and (self._folder / name.replace(" · ", "-")).as_uri()
            try:
                # The kind opens the page of model training, without that of traces.
                tags = {"mlflow.experimentKind": "custom_model_development"}
                tags["mlflow.note.content"] = plain(self._study.title)
                return self.client.create_experiment(name, location, tags)
            except MlflowException as error:  # on a server, another writer may have made it
                if error.error_code != ErrorCode.Name(RESOURCE_ALREADY_EXISTS):
                    raise
                found = self.client.get_experiment_by_name(name)
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(found.experiment_id)
        return found.experiment_id

    def _parent(self) -> str:
        """The id of the study's run, the parent of all others; it is made if it does not exist."""
        if found := self.runs(self._study.name):
            return found[0].info.run_id
        run = self.client.create_run(
            self.experiment, tags=self._source() | {KEY: self._study.name}, run_name=self._study.name
        )
        self.client.set_terminated(run.info.run_id)
        return run.info.run_id

    @property
    def artifacts(self) -> str:
        """The address, on MLflow's page, of the artifacts of the study's run."""
        return f"#/experiments/{self.experiment}/runs/{self.parent}/artifacts"

    def runs(self, key: str | None = None, experiment: str = "") -> list[Run]:
        """The live runs of an experiment, all or those with a key, oldest first."""
        return _all_pages(
            self.client.search_runs,
            experiment_ids=[experiment or self.experiment],
            filter_string=f"tags.`{KEY}` = '{key}'" if key else "",
            order_by=["attributes.start_time ASC"],
        )

    def live(self) -> set[str]:
        """The ids of the live runs of the study, those of its grids included."""
        grids = self.client.get_experiment_by_name(candidates_of(self._study.name))
        found = self.runs() + (self.runs(experiment=grids.experiment_id) if grids else [])
        return {run.info.run_id for run in found}

    def _source(self) -> dict[str, str]:
        """The tags that MLflow's page shows as user, source and commit."""
        code = code_tags()
        commit = {} if code["commit"] == "unknown" else {"mlflow.source.git.commit": code["commit"]}
        source = {"mlflow.source.name": f"snakemake {self._study.name}", "mlflow.source.type": "LOCAL"}
        return {"mlflow.user": getpass.getuser(), **source, **code, **commit}

    # -------------------------------------------------------------------------------------------- runs

    def write(self, content: Content) -> str:
        """Write a run in place of those with the same key, and return its id."""
        for earlier in self.runs(content.key):
            self._delete(earlier)
        tags = self._source() | {MLFLOW_PARENT_RUN_ID: self.parent}
        with self._run(self.experiment, content, tags) as run_id:
            data = _dataset_input(content) if content.data is not None else None
            if data:
                self.client.log_inputs(run_id, [data])
            with tempfile.TemporaryDirectory() as folder:
                for name, frame in content.frames.items():
                    path = Path(folder, name)
                    write = frame.to_csv if path.suffix == ".csv" else frame.to_parquet
                    write(path, index=False)
                if content.record:
                    write_json(Path(folder, "record.json"), content.record)
                self.client.log_artifacts(run_id, folder)
            if content.grid is not None:
                self.client.log_table(run_id, content.grid, "candidates.json")  # which MLflow's page shows
            for number in range(len(content.models)):
                self._log_model(run_id, content, number, data and data.dataset)
        return run_id

    def write_candidates(self, key: str, run_id: str, candidates: Sequence[Content]) -> list[str]:
        """Write the grid of a run as runs of the experiment of candidates, in place of earlier ones."""
        name, written = candidates_of(self._study.name), []
        if not candidates and self.client.get_experiment_by_name(name) is None:
            return []
        experiment = self._experiment(name)
        for earlier in self.runs(key, experiment):
            self.client.delete_run(earlier.info.run_id)
        for content in candidates:
            with self._run(experiment, content, {"run": run_id}) as one:
                written.append(one)
        return written

    @contextmanager
    def _run(self, experiment: str, content: Content, tags: Mapping[str, str]) -> Iterator[str]:
        """Make a run; then log its parameters and metrics and close it, as KILLED after an error."""
        failure = {"failure.reason": content.failure[:LONGEST]} if content.failure else {}
        tags = {KEY: content.key, **tags, **content.tags, **failure}
        run_id = self.client.create_run(experiment, _start(content), tags, content.name).info.run_id
        try:
            yield run_id
            self._log_rest(run_id, content)
            self.client.set_terminated(run_id, "FAILED" if content.failure else "FINISHED", _end(content))
        except BaseException:
            with suppress(Exception):  # the store may be gone
                self.client.set_terminated(run_id, "KILLED")
            raise

    def _log_rest(self, run_id: str, content: Content) -> None:
        """Log the parameters of a content, and its metrics except those that were logged with a model."""
        metrics, not_finite = finite_and_not(content.metrics)
        first = content.tags.get("criterion")
        logged = {name for model in content.models if first in model.criteria for name in model.scores}
        at = _end(content)
        numbers = [
            Metric(_accepted(name), value, at, step) for name, step, value in metrics if name not in logged
        ]
        self._log(run_id, numbers, {name: _text(value) for name, value in content.params.items()}, not_finite)

    def _log(
        self,
        run_id: str,
        metrics: Sequence[Metric] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        given = [Param(_accepted(name), value) for name, value in (params or {}).items()]
        marks = [RunTag(_accepted(name), value) for name, value in (tags or {}).items()]
        self.client.log_batch(run_id, list(metrics), given, marks)

    def _delete(self, run: Run) -> None:
        """Delete the models of a run, their versions with the aliases, then the run.

        If a writer is killed before the last step, the next one finds the run and continues.
        """
        run_id = run.info.run_id
        # Both lists before the first deletion, which moves the pages.
        models = _all_pages(
            self.client.search_logged_models,
            experiment_ids=[self.experiment],
            filter_string=f"source_run_id = '{run_id}'",
        )
        versions = _all_pages(self.client.search_model_versions, filter_string=f"run_id = '{run_id}'")
        for model in models:
            self.client.delete_logged_model(model.model_id)
        for version in versions:
            self.client.delete_model_version(version.name, version.version)
        self.client.delete_run(run_id)

    # ------------------------------------------------------------------------------------------ models

    def _log_model(self, run_id: str, content: Content, number: int, data: Dataset | None) -> None:
        """Log a refitted model with its scores, and register it with an alias for each of its criteria."""
        model = content.models[number]
        name, dataset = content.tags["model"], content.tags["dataset"]
        tags = {KEY: content.key, "criteria": ", ".join(model.criteria)}
        logged = mlflow.models.Model.log(
            None,
            signatures,
            name=f"{name}-{dataset}-{model.criteria[0]}",
            run_id=run_id,
            fitted=model.fitted,
            model_format=model.format,
            trusted_types=model.types,
            params={key: _text(value) for key, value in model.facts["params"].items()},
            tags=tags,
        )
        place = {"dataset_name": data.name, "dataset_digest": data.digest} if data else {}
        # Scores of models are metrics of the run too. MLflow keeps one value per time, and shows the one with
        # the latest time: the first criterion's is after the run's end, those of others before its start.
        first = content.tags["criterion"] in model.criteria
        own = {name for name, _, value in content.metrics if math.isfinite(value)}
        at = _end(content) + 1 if first else _start(content) - number
        linked = [
            Metric(metric, value, at, 0, model_id=logged.model_id, run_id=run_id, **place)
            for metric, value in model.scores.items()
            # Else the score of another criterion would stand for that of the run.
            if math.isfinite(value) and (first or metric in own)
        ]
        self._log(run_id, linked)
        registered = f"{self._study.name}.{dataset}"
        if not self.client.search_registered_models(f"name = '{registered}'"):
            self.client.create_registered_model(registered, description=self._about(dataset))
        versioned = self.client.create_model_version(
            registered,
            f"models:/{logged.model_id}",
            run_id,
            tags={"dataset": dataset, "model": name, "format": model.format, **tags, **code_tags()},
            description=_about_version(content, model),
            model_id=logged.model_id,
        ).version
        # MLflow's pages of the run and the model show this tag as their registered model.
        shown = json.dumps([{"name": registered, "version": versioned}])
        self.client.set_logged_model_tags(logged.model_id, {MLFLOW_MODEL_VERSIONS: shown})
        for criterion in model.criteria:
            self.client.set_registered_model_alias(registered, f"{name}-{criterion}", versioned)

    def _about(self, dataset: str) -> str:
        """The description of the registered model of a data set."""
        scaling = self._study.scaling_of(dataset)
        rows = f"rows scaled by {scaling}" if scaling else "rows as prepared"
        rows = "the columns of the table" if dataset in self._study.own_data else rows
        return (
            f"Models of the study {self._study.name} on {dataset}; they take {rows}. The best one:\n\n"
            f'    mlflow.sklearn.load_model("models:/{self._study.name}.{dataset}@{BEST}")'
        )

    # ------------------------------------------------------------------------------------------- study

    def begin_study(self, params: Mapping[str, Any]) -> None:
        """Log the parameters of the study, which are written once: other ones are of a new run."""
        texts = {name: _text(value) for name, value in params.items()}
        known = self.client.get_run(self.parent).data.params
        if known and known != texts:
            self.client.delete_run(self.parent)
            self.parent = self._parent()
        self._log(self.parent, params=texts)

    def update_study(self, files: Mapping[str, Sequence[Path]], counts: Mapping[str, int], note: str) -> None:
        """Log the files of a study by folder, its counts of verdicts and its description."""
        for folder, paths in files.items():
            for path in paths:
                self.client.log_artifact(self.parent, str(path), folder)
        now = round(time() * 1000)
        groups = {"machine": machine(), "version": versions()}
        made = {
            f"{group}.{name}": str(value)
            for group, values in groups.items()
            for name, value in values.items()
        }
        # Zeros are only logged to overwrite an earlier count.
        known = self.client.get_run(self.parent).data.metrics
        metrics = [Metric(name, n, now, 0) for name, n in counts.items() if n or name in known]
        self._log(self.parent, metrics, tags=self._source() | made | {"mlflow.note.content": note})

    def compare(self, comparisons: Mapping[tuple[str, str], tuple[dict[str, float], dict[str, str]]]) -> None:
        """Add metrics and tags to the runs of the configured seed, by (data set, model); mark the best runs.

        All runs become children of the study's run.
        """
        study, now = self._study, round(time() * 1000)
        found = {run.data.tags[KEY]: run for run in self.runs() if KEY in run.data.tags}
        found.pop(study.name)
        at = {
            key: one
            for one in study.runs()
            if (key := f"{study.name}/seed{study.seed}/{'/'.join(one)}") in found
        }
        for key, run in found.items():
            known, (metrics, tags) = run.data, comparisons.get(at.get(key), ({}, {}))
            for name in known.tags if key in at else ():
                if name.partition(".")[0] in ("verdict", "table", "check") and name not in tags:
                    self.client.delete_tag(run.info.run_id, name)  # of a table that has gone
            numbers = [Metric(name, x, now, 0) for name, x in metrics.items() if known.metrics.get(name) != x]
            tags = {**tags, MLFLOW_PARENT_RUN_ID: self.parent}.items() - known.tags.items()
            self._log(run.info.run_id, numbers, tags=dict(tags))
        for dataset in study.datasets_of_runs():
            runs = [found[key] for key, one in at.items() if one[0] == dataset]
            self._mark_best(f"{study.name}.{dataset}", [run for run in runs if "criterion" in run.data.tags])

    def _mark_best(self, name: str, runs: Sequence[Run]) -> None:
        """Set the aliases of a registered model: the best by each criterion, and by each model's first one.

        If the best run has no model, no version has the alias. The best run has the tag `BEST`.
        """
        found = _all_pages(self.client.search_model_versions, filter_string=f"name = '{name}'")
        versions = {
            (one.run_id, criterion): one.version
            for one in found
            for criterion in one.tags.get("criteria", "").split(", ")
        }
        aliases = self.client.get_registered_model(name).aliases if found else {}
        for alias in (BEST, *self._study.criteria):
            best, criterion = _best(runs, alias)
            version = best and versions.get((best.info.run_id, criterion))
            if version:
                self.client.set_registered_model_alias(name, alias, version)
            elif alias in aliases:
                self.client.delete_registered_model_alias(name, alias)
            if alias == BEST and best and not version:
                reason = best.data.tags.get("model.error", "no model was made")
                line = f"{name}@{BEST} is no model: the best run, {best.info.run_name}, has none: {reason}"
                logger.warning(line)
                tell(line)
        best, _ = _best(runs, BEST)
        for run in runs:
            if run is best:
                self.client.set_tag(run.info.run_id, BEST, run.data.tags["metric"])
            elif BEST in run.data.tags:
                self.client.delete_tag(run.info.run_id, BEST)


def _best(runs: Sequence[Run], alias: str) -> tuple[Run | None, str]:
    """The run with the best score of what a criterion selected, and the criterion.

    With `BEST`, the criterion of each run is its model's first one, whose scores have the metric's own name.
    """
    best, most, chosen = None, -math.inf, ""
    for run in runs:
        if run.data.tags["model"] == BASELINE:
            continue
        metric, first = run.data.tags["metric"], run.data.tags["criterion"]
        criterion = first if alias == BEST else alias
        score = run.data.metrics.get(metric if criterion == first else f"{criterion}/{metric}", math.nan)
        score *= 1 if METRICS[metric].greater_is_better else -1
        if score > most:
            best, most, chosen = run, score, criterion
    return best, chosen


def _about_version(content: Content, model: Model) -> str:
    """The description of a version, which begins with its score."""
    metric = METRICS[content.tags["metric"]]
    score = model.scores[content.tags["metric"]]
    unit, digits = (" %", 2) if metric.percent else ("", metric.digits)
    values = ", ".join(f"{name} = {value}" for name, value in model.facts["params"].items())
    return one_line(
        f"{metric.label} {score:.{digits}f}{unit}: {content.name}, {values or 'the only parameters'}, "
        f"selected by {', '.join(model.criteria)}"
    )


def _accepted(name: str) -> str:
    """A name that a script or a learner gave, as MLflow accepts it: no brackets, commas or parent folders.

    A name that changes ends in a digest of the given one, so that different names stay different.

    Examples
    --------
    >>> _accepted("dcs_kde/gmean"), _accepted("error (5 %)"), _accepted("error [5 %]")
    ('dcs_kde/gmean', 'error _5 __ c598d3', 'error _5 __ f44850')
    """
    accepted = posixpath.normpath("/" + re.sub(r"[^\w.:/ -]", "_", name)).lstrip("/")
    if accepted == name and 0 < len(name) <= LONGEST_NAME:
        return name
    digest = sha256(name.encode(errors="backslashreplace")).hexdigest()[:DIGITS]
    return f"{accepted[: LONGEST_NAME - DIGITS - 1]} {digest}".strip()


def _all_pages(search: Callable, **asked: Any) -> list:
    """The results of a search of MLflow's client, of all its pages."""
    page = search(**asked)
    found = list(page)
    while page.token:
        page = search(**asked, page_token=page.token)
        found += page
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _start(content: Content) -> int:
    moment = datetime.fromisoformat(content.started).timestamp() if content.started else time()
    return round(1000 * moment)


def _end(content: Content) -> int:
    return _start(content) + round(1000 * content.seconds)


def candidates_of(study: str) -> str:
    """The name of the experiment of a study's grids."""
    return f"{study} · candidates"


def _dataset_input(content: Content) -> DatasetInput:
    """The data set of a run: its source, the digest of its file, the schema of its columns and its size."""
    data = content.data
    origin = data.provenance
    first = next(iter(origin.get("files", [])), None)
    if first is None:
        made_by = {name: origin[name] for name in ("loader", "generator") if name in origin}
        source_type, source = "code", {"tags": made_by}
    elif "url" in first:
        source_type, source = "http", {"url": first["url"]}
    else:
        source_type, source = "local", {"uri": first.get("path", "")}
    digest = (first or {}).get("sha256") or data.digest()
    if data.columns:
        types = {name: "string" if kind else "double" for name, kind in data.columns["encoded"].items()}
    else:
        types = dict.fromkeys(data.feature_names, "double")
    schema = [
        {"name": name, "type": one, "required": not data.columns}
        for name, one in islice(types.items(), MOST_COLUMNS)
    ]
    described = Dataset(
        content.tags["dataset"],
        digest[:LONGEST_DIGEST],
        source_type,
        json.dumps(source),
        json.dumps({"mlflow_colspec": schema}),
        json.dumps({"num_rows": data.n_samples, "num_columns": data.n_features}),
    )
    return DatasetInput(described, [InputTag("mlflow.data.context", "cross-validation")])
