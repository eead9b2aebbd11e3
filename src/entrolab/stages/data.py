"""Download raw files, prepare data sets, scale and split them for a study."""

from pathlib import Path

from entrolab.data.dataset import load_dataset, recording_unavailability, save_dataset, save_folds
from entrolab.data.download import download as download_files
from entrolab.data.prepare import limits_of_reading, summary
from entrolab.data.prepare import prepare as prepare_dataset
from entrolab.data.preprocessing import preprocessed
from entrolab.data.scale import scale as scale_dataset
from entrolab.fit.protocols import protocol
from entrolab.io.limits import Limits, hold_to
from entrolab.io.records import read_json, write_json
from entrolab.jobs.job_logging import tell


def data(job) -> None:
    """Print which data sets are available, and why others are not."""
    outcomes = {outcome["dataset"]: outcome for outcome in map(read_json, job.input.receipts)}
    print(summary(job.params.catalog, outcomes), flush=True)


def download(job) -> None:
    """Download a data set's files and write the receipt, with the reason if they are not available."""
    receipt = Path(job.output.receipt)
    outcome = download_files(
        job.wildcards.dataset,
        {"files": job.params.files},
        receipt.parent,
        mirror=job.config["mirror"],
        attempt=job.params.attempt,
    )
    # The next run reads this file: see entrolab.data.receipts.
    write_json(receipt.with_name("attempt.json"), {name: outcome[name] for name in ("attempt", "available")})
    if not outcome["available"]:
        tell(f"no data: {outcome['reason']}")


def prepare(job) -> None:
    """Prepare a data set from its raw files, from scikit-learn or from a generator."""
    folder = Path(job.input.receipt[0]).parent if job.input.receipt else None
    expected = job.params.entry["expect"]
    hold_to(limits_of_reading(expected["rows"] * expected["features"], Limits.of(job.resources)))
    with recording_unavailability(job.output[0]):
        save_dataset(job.output[0], prepare_dataset(job.wildcards.dataset, job.params.entry, folder))


def scale(job) -> None:
    """Scale a data set by the study's scaling or preprocessing."""
    scaling = job.params.scaling
    with recording_unavailability(job.output[0]):
        rows = load_dataset(job.input.dataset)
        learnt = scaling.get("preprocessing")
        save_dataset(job.output[0], preprocessed(rows, learnt) if learnt else scale_dataset(rows, **scaling))


def split(job) -> None:
    """Draw the splits of a data set: folds or trials."""
    entry, seed = job.params.protocol, job.params.seed
    with recording_unavailability(job.output[0]):
        rows, scheme = load_dataset(job.input.dataset), protocol(entry)
        if entry.get("method") == "given":
            drawn = scheme.given(rows.splits, seed)
        else:
            drawn = scheme.draw(rows.y, seed, rows.groups if entry.get("method") == "group" else None)
        save_folds(job.output[0], drawn)
