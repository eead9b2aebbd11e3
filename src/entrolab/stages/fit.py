"""Train a run, and measure what a table shows."""

from entrolab.experiments.measuring import measure as measure_table
from entrolab.fit.limits import Limits
from entrolab.fit.training import train as train_run
from entrolab.jobs.job_logging import Progress, tell
from entrolab.text import one_line


def train(job) -> None:
    """Fit a model's whole grid on all training sets of a data set, select, and refit the selected point."""
    progress = Progress(" ".join(job.wildcards))
    files, outputs = job.input, dict(job.output.items())
    record = train_run(
        files.dataset, files.folds, outputs, job.params.spec, Limits.of(job.resources), progress
    )
    if not record["success"]:
        tell(one_line(f"{record['key']}: {record['status']}: {record['error']}"))


def measure(job) -> None:
    """Run the measurement of one table on one data set, or on generated data, which are no input."""
    measurement = job.params.measurement
    progress = Progress("{study} {table} {dataset}".format(**measurement))
    raw, scaled = job.input.get("raw", ""), job.input.get("scaled", "")
    measure_table(raw, scaled, job.output[0], measurement, progress)
