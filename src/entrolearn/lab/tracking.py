"""The ledger: what the record of each cell says becomes one MLflow run.

The files under ``results`` are the truth; the store repeats them where runs can be compared. One experiment
is one paper. It holds one parent run, which carries the rendered tables, and under it one run per cell
(data set × model). A cell is known by its key, ``<paper>/<dataset>/<model>``, and has exactly one live run:
tracking a cell that says nothing new writes nothing, and a cell that changed replaces its run.

This is the only module that imports mlflow.
"""

import fcntl
import hashlib
import json
import logging
import os
import sqlite3
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from time import time
from typing import Any

import pandas as pd
import tenacity
from alembic.script import ScriptDirectory
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from entrolearn.lab.artifacts import follow_move
from entrolearn.lab.atomic import replacing
from entrolearn.lab.checkout import git
from entrolearn.lab.records import machine, versions, write_json
from entrolearn.lab.runs import Cell, RunContent, cell_content, paper_note
from entrolearn.lab.tables import counts, read_table

# MLflow reads these while it is imported. It would otherwise report its use, leave an installation id in the
# home folder, and announce every run and every step of making a store. A tracking server that does not answer
# is given up after about half a minute instead of four.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["DO_NOT_TRACK"] = "true"
os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "4")

import mlflow
from mlflow import MlflowClient
from mlflow.entities import (
    Dataset,
    DatasetInput,
    InputTag,
    LoggedModelOutput,
    Metric,
    Param,
    Run,
    RunTag,
    ViewType,
)
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_DOES_NOT_EXIST, ErrorCode
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.tracking.registry import UnsupportedModelRegistryStoreURIException

__all__ = ["Cell", "StoreUnavailable", "track_dataset", "track_paper"]

DEFAULT_STORE = "sqlite:///mlflow.db"
PATIENCE = 60.0  # seconds that a locked store is waited for
MODEL_REQUIREMENTS = ("entrolearn", "numpy", "scikit-learn", "scipy", "skops")
LONGEST_DATASET_DIGEST = 36  # what MLflow's schema holds
LONGEST_REASON = 400  # a server may answer with a whole page

logger = logging.getLogger(__name__)
# A lock that is being waited for is not worth a traceback at each attempt: the last one is reported.
logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


class StoreUnavailable(RuntimeError):
    """The tracking store cannot be written: it is locked, read-only, out of reach or not a store."""


def track_dataset(
    study: Mapping[str, Any],
    paper: str,
    dataset: str,
    cells: Sequence[Cell],
    *,
    store_uri: str | None = None,
    artifact_root: str | os.PathLike = "mlruns",
    published: str | os.PathLike | None = None,
    receipt: str | os.PathLike | None = None,
    patience: float = PATIENCE,
) -> dict:
    """Write the cells of one data set to the store, one finished run each.

    A cell that is in the store already, finished, with the same digest and with its artifacts, is left alone.
    Any other live run with its key is deleted, one that a killed job left running too, together with the
    models it logged, and a new run is written. Runs that are left running of models which the study has no
    more are closed as killed. The digest covers everything that the run says and the tables behind it, except
    seconds, dates, the machine and the commit: the same numbers from a later commit are the same cell.

    A cell whose training failed is a run with the status FAILED that gives the reason.

    Parameters
    ----------
    study : mapping
        The paper's file as parsed (title, metrics, criteria, protocol, scaling, models, tables).
    paper, dataset : str
        Keys of the paper and of the data set.
    cells : sequence of Cell
    store_uri : str, optional
        Any MLflow tracking URI. By default ``MLFLOW_TRACKING_URI``, else ``mlflow.db`` in the working folder.
    artifact_root : path
        Folder of the artifacts of a new experiment; a tracking server has its own.
    published : path, optional
        CSV of the printed numbers: table, dataset, model, metric, value, std.
    receipt : path, optional
        Where to write what is returned, as JSON.
    patience : float
        Seconds that a locked store is waited for.

    Returns
    -------
    dict
        The store, the experiment, the parent run, the run of every model, and which of them were written.

    Raises
    ------
    StoreUnavailable
        The store cannot be written. What the workflow computed stands; the next call logs it.
    ValueError
        A file of a cell cannot be read, or its model holds types that nobody vouched for.
    """
    printed = None if published is None else pd.read_csv(published)
    code = _code()
    contents = [cell_content(study, cell, printed) for cell in cells]
    with _opened(store_uri, paper, study, artifact_root, patience) as ledger:
        parent = ledger.parent(paper, study)
        live = ledger.live_runs(f"tags.dataset = '{dataset}'")
        runs, written = {}, []
        for cell, content in zip(cells, contents, strict=True):
            own = [run for run in live if run.data.tags.get("entrolearn.key") == cell.key]
            if len(own) == 1 and _says(own[0], content, parent) and ledger.has_artifacts(own[0]):
                runs[cell.model] = own[0].info.run_id
                continue
            for run in own:
                ledger.discard(run)
            runs[cell.model] = ledger.write(content, parent, code)
            written.append(cell.model)
        keys = {cell.key for cell in cells}
        for run in live:
            if run.info.status == "RUNNING" and run.data.tags.get("entrolearn.key") not in keys:
                ledger.call(ledger.client.set_terminated, run.info.run_id, "KILLED")
    logger.info(
        "%s/%s: %d runs written, %d as they were", paper, dataset, len(written), len(cells) - len(written)
    )
    done = ledger.place | {
        "paper": paper,
        "dataset": dataset,
        "parent": parent,
        "runs": runs,
        "written": written,
    }
    if receipt is not None:
        write_json(receipt, done)
    return done


def track_paper(
    study: Mapping[str, Any],
    paper: str,
    tables: Sequence[str | os.PathLike],
    figures: Sequence[str | os.PathLike] = (),
    *,
    config: str | os.PathLike,
    store_uri: str | None = None,
    artifact_root: str | os.PathLike = "mlruns",
    receipt: str | os.PathLike | None = None,
    patience: float = PATIENCE,
) -> dict:
    """Bring the paper's parent run up to date with its rendered tables and its figures.

    The run is made when the paper has none and reopened when one of these or the study's file changed, or
    when its artifacts are gone; otherwise nothing is written. Its metrics count the verdicts of every table,
    such as ``table4/reproduced``.

    Parameters
    ----------
    study, paper, store_uri, artifact_root, receipt, patience
        As for :func:`track_dataset`.
    tables : sequence of paths
        The rendered tables; the verdicts are counted in those that end in ``.csv``.
    figures : sequence of paths
        The figures, and the csv files of what they show.
    config : path
        The study's YAML file.

    Returns
    -------
    dict
        The store, the experiment, the run, and whether it was written.

    Raises
    ------
    StoreUnavailable
        The store cannot be written.
    """
    tables, figures = sorted(map(Path, tables)), sorted(map(Path, figures))
    judged = [path for path in tables if path.suffix == ".csv" and "verdict" in pd.read_csv(path, nrows=0)]
    verdicts = {path.stem: counts(read_table(path)) for path in judged}
    digest = hashlib.sha256()
    for path in [Path(config), *tables, *figures]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    with _opened(store_uri, paper, study, artifact_root, patience) as ledger:
        run_id = ledger.parent(paper, study)
        run = ledger.call(ledger.client.get_run, run_id)
        known = run.data.tags.get("entrolearn.digest")
        changed = known != digest.hexdigest() or not ledger.has_artifacts(run)
        if changed:
            ledger.call(ledger.client.update_run, run_id, status="RUNNING")
            for path in tables:
                ledger.call(ledger.client.log_artifact, run_id, str(path), "tables")
            for path in figures:
                ledger.call(ledger.client.log_artifact, run_id, str(path), "figures")
            ledger.call(ledger.client.log_artifact, run_id, str(config), "config")
            now = round(time() * 1000)
            ledger.log(
                run_id,
                metrics=[
                    # A verdict that no cell got is a zero, which overwrites an earlier count.
                    Metric(f"{table}/{name}", count, now, 0)
                    for table, found in verdicts.items()
                    for name, count in found.items()
                ],
                tags=_code() | _machine() | {"mlflow.note.content": paper_note(study, paper, verdicts)},
            )
            # Last: a run whose job died before this line says by itself that it is to be written again.
            ledger.log(run_id, tags={"entrolearn.digest": digest.hexdigest()})
            ledger.call(ledger.client.set_terminated, run_id, "FINISHED")
    done = ledger.place | {"paper": paper, "parent": run_id, "written": changed}
    if receipt is not None:
        write_json(receipt, done)
    return done


# ---------------------------------------------------------------------------------------------------------
# Where the code was


def _code() -> dict[str, str]:
    """The commit, whether the checkout differs from it, and the hash of the lock, as tags."""
    commit = git("rev-parse", "HEAD")
    lock = Path("requirements.lock")
    tags = {
        "commit": commit or "unknown",
        "dirty": "unknown" if commit is None else str(bool(git("status", "--porcelain", "-uno"))).lower(),
        "lock": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else "unknown",
    }
    # MLflow's own name for the commit: the UI shows it in the list of runs.
    return tags | ({} if commit is None else {"mlflow.source.git.commit": commit})


def _machine() -> dict[str, str]:
    """The machine and the versions that the tables were made with, as tags."""
    groups = {"machine": machine(), "version": versions()}
    return {
        f"{group}.{name}": str(value) for group, values in groups.items() for name, value in values.items()
    }


# ---------------------------------------------------------------------------------------------------------
# The store


class _Ledger:
    """One experiment of an open store."""

    def __init__(self, client: MlflowClient, retrying: tenacity.Retrying, shown_uri: str):
        self.client = client
        self._retrying = retrying
        self._shown_uri = shown_uri
        self.experiment_id = ""

    @property
    def place(self) -> dict:
        return {"store": self._shown_uri, "experiment": self.experiment_id}

    def call(self, method: Callable, *arguments, **keywords):
        """Call the client; while another program holds the store, again."""
        return self._retrying(method, *arguments, **keywords)

    def open_experiment(self, name: str, study: Mapping, artifact_location: str | None) -> None:
        description = "\n\n".join(filter(None, [study["title"], study["reference"], study["url"]]))
        found = self.call(self.client.get_experiment_by_name, name)
        if found is None:
            tags = {"mlflow.note.content": description, "mlflow.experimentKind": "custom_model_development"}
            self.experiment_id = self.call(self.client.create_experiment, name, artifact_location, tags)
            return
        self.experiment_id = found.experiment_id
        if found.lifecycle_stage == "deleted":  # its name stays taken
            self.call(self.client.restore_experiment, self.experiment_id)
        if found.tags.get("mlflow.note.content") != description:
            self.call(self.client.set_experiment_tag, self.experiment_id, "mlflow.note.content", description)

    def live_runs(self, condition: str) -> list[Run]:
        """The runs that meet the condition and are not deleted, oldest first."""
        runs, token = [], None
        while True:
            page = self.call(
                self.client.search_runs,
                [self.experiment_id],
                condition,
                ViewType.ACTIVE_ONLY,
                order_by=["attributes.start_time ASC"],
                page_token=token,
            )
            runs += page
            token = page.token
            if not token:
                return runs

    def parent(self, paper: str, study: Mapping) -> str:
        """The id of the paper's own run; made, or closed if a killed job left it open, where necessary."""
        found = self.live_runs(f"tags.`entrolearn.key` = '{paper}'")
        for extra in found[1:]:
            self.discard(extra)
        if found:
            run_id, status = found[0].info.run_id, found[0].info.status
        else:
            tags = {
                "entrolearn.key": paper,
                "paper": paper,
                "mlflow.note.content": paper_note(study, paper, {}),
            }
            run = self.call(self.client.create_run, self.experiment_id, tags=tags, run_name=paper)
            run_id, status = run.info.run_id, run.info.status
        if status != "FINISHED":
            self.call(self.client.set_terminated, run_id, "FINISHED")
        return run_id

    def has_artifacts(self, run: Run) -> bool:
        """Whether there are artifacts of a run and of each model that it logged, where the store says."""
        models = run.outputs.model_outputs if run.outputs else []
        return bool(self.call(self.client.list_artifacts, run.info.run_id)) and all(
            self._model_is_there(model.model_id) for model in models
        )

    def _model_is_there(self, model_id: str) -> bool:
        try:
            return bool(self.call(self.client.list_logged_model_artifacts, model_id))
        except MlflowException as error:
            if error.error_code == ErrorCode.Name(RESOURCE_DOES_NOT_EXIST):  # deleted by hand
                return False
            raise

    def discard(self, run: Run) -> None:
        """Delete a run and the models it logged; the run last, so that an interruption is made good."""
        models = self.call(
            self.client.search_logged_models,
            [self.experiment_id],
            filter_string=f"source_run_id = '{run.info.run_id}'",
        )
        for model in models:
            self.call(self.client.delete_logged_model, model.model_id)
        self.call(self.client.delete_run, run.info.run_id)

    def write(self, content: RunContent, parent: str, code: Mapping[str, str]) -> str:
        """Write the run of one cell and return its id."""
        files = content.files
        start = round(datetime.fromisoformat(files.record["started"]).timestamp() * 1000)
        end = start + round(1000 * files.record["seconds"])
        run = self.call(
            self.client.create_run,
            self.experiment_id,
            start_time=start,
            tags=_identity(content, parent),
            run_name=content.name,
        )
        run_id = run.info.run_id
        self.log(
            run_id,
            metrics=[Metric(name, value, end, step) for (name, step), value in content.metrics.items()],
            params=content.params,
            tags=content.tags | code,
        )
        if files.record["data"]:
            self.call(self.client.log_inputs, run_id, [_dataset_input(content)])
        with tempfile.TemporaryDirectory() as folder:
            write_json(Path(folder, "record.json"), files.record)
            files.scores.to_csv(Path(folder, "scores.csv"), index=False)
            files.candidates.to_parquet(Path(folder, "candidates.parquet"), index=False)
            self.call(self.client.log_artifacts, run_id, folder)
        if files.trusted_types is not None:
            self._log_model(run_id, content)
        self.call(self.client.set_terminated, run_id, content.status, end)
        return run_id

    def log(
        self,
        run_id: str,
        *,
        metrics: Sequence[Metric] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self.call(
            self.client.log_batch,
            run_id,
            metrics=list(metrics),
            params=[Param(name, value) for name, value in (params or {}).items()],
            tags=[RunTag(name, value) for name, value in (tags or {}).items()],
            synchronous=True,
        )

    def _log_model(self, run_id: str, content: RunContent) -> None:
        """Log the refitted model as ``mlflow.sklearn.log_model`` does.

        That function works on the process's active run and store; this goes through the client that is open.
        """
        import skops.io

        cell, files = content.cell, content.files
        estimator = skops.io.load(cell.fitted, trusted=files.trusted_types)
        logged = self.call(
            self.client.create_logged_model,
            self.experiment_id,
            name=f"{cell.model}-{cell.dataset}",
            source_run_id=run_id,
            params={name: str(value) for name, value in files.facts["params"].items()},
            tags={"entrolearn.key": cell.key, "chosen_by": files.facts["chosen_by"]},
        )
        with tempfile.TemporaryDirectory() as folder:
            saved = Path(folder, "model")
            mlflow.sklearn.save_model(
                estimator,
                saved,
                mlflow_model=mlflow.models.Model(
                    artifact_path=logged.artifact_location,
                    run_id=run_id,
                    model_uuid=logged.model_id,
                    model_id=logged.model_id,
                ),
                serialization_format=mlflow.sklearn.SERIALIZATION_FORMAT_SKOPS,
                skops_trusted_types=files.trusted_types,
                signature=False,
                # Named, because guessing them takes seconds.
                pip_requirements=[f"{name}=={version(name)}" for name in MODEL_REQUIREMENTS],
            )
            self.call(self.client.log_model_artifacts, logged.model_id, str(saved))
        self.call(self.client.finalize_logged_model, logged.model_id, "READY")
        self.call(self.client.log_outputs, run_id, [LoggedModelOutput(logged.model_id, step=0)])


def _says(run: Run, content: RunContent, parent: str) -> bool:
    """Whether a live run is this content's, and whole."""
    tags = run.data.tags
    return (
        run.info.status == content.status
        and tags.get("entrolearn.digest") == content.digest
        and tags.get("mlflow.parentRunId") == parent
    )


def _identity(content: RunContent, parent: str) -> dict[str, str]:
    """The tags that a run has from its first moment, so that it is found again whatever happens next."""
    cell = content.cell
    return {
        "entrolearn.key": cell.key,
        "entrolearn.digest": content.digest,
        "paper": cell.paper,
        "dataset": cell.dataset,
        "model": cell.model,
        "mlflow.parentRunId": parent,
    }


def _dataset_input(content: RunContent) -> DatasetInput:
    """The data set by name, digest and size; its values stay where they are."""
    cell, data = content.cell, content.files.record["data"]
    dataset = Dataset(
        name=cell.dataset,
        digest=data["digest"][:LONGEST_DATASET_DIGEST],
        source_type="local",
        source=json.dumps({"uri": f"results/data/{cell.dataset}.npz"}),
        profile=json.dumps({name: value for name, value in data.items() if name != "digest"}),
    )
    context = "trials" if "protocol.trials" in content.params else "cross-validation"
    return DatasetInput(dataset, [InputTag("mlflow.data.context", context)])


@contextmanager
def _opened(
    store_uri: str | None,
    paper: str,
    study: Mapping,
    artifact_root: str | os.PathLike,
    patience: float,
) -> Iterator[_Ledger]:
    """Open the paper's experiment for one writer, or say in one line why that cannot be done."""
    uri = store_uri or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_STORE
    shown = _without_password(uri)
    remote = uri.startswith(("http://", "https://"))
    location = None if remote else Path(artifact_root, paper).resolve().as_uri()
    retrying = _retrying(patience)
    try:
        file = _sqlite_file(uri)
        with nullcontext(uri) if file is None else _sole_writer(file, patience) as opened_uri:
            if file is not None:
                follow_move(file, artifact_root)
            ledger = _Ledger(MlflowClient(opened_uri, registry_uri=opened_uri), retrying, shown)
            ledger.open_experiment(paper, study, location)
            yield ledger
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError, ImportError, _NoStore) as error:
        # What is behind an error may name the password, and a log would keep it.
        raise StoreUnavailable(_reason(uri, error)) from (error if shown == uri else None)


def _retrying(patience: float) -> tenacity.Retrying:
    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_locked),
        wait=tenacity.wait_exponential(multiplier=0.05, max=1),
        stop=tenacity.stop_after_delay(patience),
        reraise=True,
    )


@contextmanager
def _sole_writer(file: Path, patience: float) -> Iterator[str]:
    """Hold a SQLite store alone, made if it is not there, and give its address.

    Programs that open a new store together break each other's migrations, so they take turns at a lock file
    beside it, which the system frees when its holder dies. Who has the turn is at work: it is waited for ten
    times longer than a store that some other program keeps locked.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    retrying = _retrying(patience)
    with open(f"{file}.lock", "a") as lock:
        _retrying(10 * patience)(fcntl.flock, lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not file.exists() or retrying(_schema, file) is None:
            # A killed program leaves these. SQLite would write what they hold of a store that is gone into
            # the new one.
            for leftover in ("-journal", "-shm", "-wal"):
                Path(f"{file}{leftover}").unlink(missing_ok=True)
            # Made aside and moved into place whole: half a migration could never be opened again.
            with replacing(file) as temporary:
                # Where SQLite opens no file, as below a path of 512 letters, MLflow would try for minutes.
                sqlite3.connect(temporary).close()
                # MLflow writes this folder into SQL as it stands: as a URI it has neither quotes nor colons.
                SqlAlchemyStore(f"sqlite:///{temporary}", Path("mlruns").resolve().as_uri())
        retrying(_check_schema, file)
        retrying(_check_writable, file)
        yield f"sqlite:///{file}"


def _sqlite_file(uri: str) -> Path | None:
    """The file of a SQLite store; None for any other store."""
    try:
        url = make_url(uri)
    except ArgumentError:
        return None
    if url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise _NoStore(
            "names no file (a file has three slashes, or four and its whole path: sqlite:///mlflow.db)",
            "name one",
        )
    return Path(url.database).resolve()


def _schema(file: Path) -> str | None:
    """The version of MLflow's tables in a file, or that they have none; None if there are no tables."""
    with closing(sqlite3.connect(file, timeout=0.1)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "alembic_version" in tables:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return found[0] if found else "none"
        return "none" if tables else None


def _check_schema(file: Path) -> None:
    """Refuse what MLflow would begin to migrate in place, without a copy, or add its own tables to."""
    migrations = ScriptDirectory(Path(mlflow.__file__).parent / "store" / "db_migrations")
    found, wanted = _schema(file), migrations.get_current_head()
    if found != wanted:
        raise _NoStore(
            f"its tables are not those of MLflow {mlflow.__version__} (version {found}, not {wanted}): "
            "another version or another program made them, or a migration was cut short",
            f"copy the file, then `mlflow db upgrade sqlite:///{file}` brings an older version up to date; "
            "if that fails, move it aside",
        )


def _check_writable(file: Path) -> None:
    """Raise at once what MLflow would raise after 20 s. WAL: readers do not wait for the writer."""
    with closing(sqlite3.connect(file, timeout=0.1, isolation_level=None)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("PRAGMA user_version = 0")  # a read-only file lets a transaction begin
        connection.execute("ROLLBACK")


class _NoStore(ValueError):
    """What an address leads to is no store, and what can be done about it."""

    def __init__(self, reason: str, remedy: str):
        super().__init__(reason)
        self.remedy = remedy


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, BlockingIOError) or "is locked" in str(error)


def _reason(uri: str, error: Exception) -> str:
    """What is wrong with a store, and what to do, in one line without its password."""
    stands = "the results stand, and the next run of this step logs them"
    text = next(iter(str(error).strip().splitlines()), type(error).__name__)
    remedy = "make it reachable and writable"
    if _is_locked(error):
        text = "another program keeps it locked"
        remedy = "close that program (a database browser, a backup, another workflow)"
    elif isinstance(error, _NoStore):
        remedy = error.remedy
    elif isinstance(error, UnsupportedModelRegistryStoreURIException):
        known = ", ".join(filter(None, error.supported_uri_schemes))
        text = f"no such kind of store; its address begins with one of {known}"
        remedy = "mend the address, as in sqlite:///mlflow.db or http://127.0.0.1:5000"
    elif isinstance(error, ImportError):
        remedy = "install what this kind of store needs"
    elif isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        remedy = "move it aside"  # not a database, or a damaged one
    shown = _without_password(uri)
    text = textwrap.shorten(text.replace(uri, shown), LONGEST_REASON, placeholder=" ...")
    return (
        f"tracking store {shown}: {text}; {remedy}, or name another in MLFLOW_TRACKING_URI, and run again; "
        f"{stands}"
    )


def _without_password(uri: str) -> str:
    try:
        return make_url(uri).render_as_string(hide_password=True)
    except ArgumentError:
        return uri
