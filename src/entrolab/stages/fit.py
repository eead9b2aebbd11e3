"""Fit the grid of a run, select from it, refit what was selected, and measure what a table shows."""

from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import Rows
from entrolab.experiments.measuring import measure as measure_table
from entrolab.fit.metrics import METRICS
from entrolab.fit.refit import refit_run
from entrolab.fit.run import Run
from entrolab.fit.selection import select as select_candidates
from entrolab.fit.training import fit_grid
from entrolab.io.files import EXPERIMENTS, script_file
from entrolab.io.limits import Limits
from entrolab.io.parquet import read_frame, write_frame
from entrolab.jobs.job_logging import Progress, tell
from entrolab.text import one_line


def fit(job) -> None:
    """Fit a model's whole grid on all training sets of a data set."""
    progress = Progress(" ".join(job.wildcards))
    files, outputs = job.input, dict(job.output.items())
    run, limits = Run.model_validate(job.params.run), Limits.of(job.resources)
    record = fit_grid(files.rows, files.folds, outputs, run, limits, progress)
    if not record["success"]:
        tell(one_line(f"{record['key']}: {record['status']}: {record['error']}"))


def select(job) -> None:
    """Select a candidate in each fold by each criterion."""
    candidates = read_frame(job.input.candidates)
    of_fits = [name for name, metric in METRICS.items() if metric.of_fit]
    write_frame(job.output[0], select_candidates(candidates, job.params.criteria, of_fits))


def refit(job) -> None:
    """Fit what each criterion selected in most folds on all training rows."""
    files = {name: job.input.get(name) for name in ("rows", "folds", "selection", "record")}
    run = Run.model_validate(job.params.run)
    limits, model_format = Limits.of(job.resources), job.params.model_format
    refit_run(files, job.output[0], run, job.params.criteria, limits, model_format)


def measure(job) -> None:
    """Run the measurement of one table on one data set, or on generated data, which are no input."""
    at = Measurement(**job.params.measurement)
    at.progress = Progress(f"{at.study} {at.table} {at.dataset}")
    rows = Rows(job.input.get("raw", ""), job.input.get("scaled", ""))
    measure_table(script_file(EXPERIMENTS, at.script), rows, at, job.output[0])
