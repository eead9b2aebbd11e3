"""Download a data set's files and write the receipt, which contains the reason if files are not available."""

from pathlib import Path

from entrolab.data.download import download
from entrolab.io.records import write_json
from entrolab.jobs.job_logging import job_log, tell


def main(dataset: str, files: list, receipt: str, mirror: str | None, attempt: int) -> None:
    folder = Path(receipt).parent
    outcome = download(dataset, {"files": files}, folder, mirror=mirror, attempt=attempt)
    # The next run reads this file: see Plan.attempt in entrolab.jobs.plan.
    write_json(folder / "attempt.json", {name: outcome[name] for name in ("attempt", "available")})
    if not outcome["available"]:
        tell(f"no data: {outcome['reason']}")


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"download {snakemake.wildcards.dataset}"):
        main(
            snakemake.wildcards.dataset,
            snakemake.params.files,
            snakemake.output.receipt,
            snakemake.config["mirror"],
            snakemake.params.attempt,
        )
