"""The one table of the paths of results, which the rules of the workflow repeat, and the files of scripts."""

import os
from pathlib import Path

# Prepared and scaled data do not depend on the seed; tables, figures and pages are of the configured one.
FILES = {
    "data": "results/data/{dataset}.npz",
    "scaled": "results/{study}/scaled/{dataset}.npz",
    "folds": "results/{study}/seed{seed}/folds/{dataset}.npz",
    "candidates": "results/{study}/seed{seed}/candidates/{dataset}/{model}.parquet",
    "predictions": "results/{study}/seed{seed}/predictions/{dataset}/{model}.parquet",
    "record": "results/{study}/seed{seed}/records/{dataset}/{model}.json",
    "selection": "results/{study}/seed{seed}/selection/{dataset}/{model}.parquet",
    "models": "results/{study}/seed{seed}/models/{dataset}/{model}",
    "measured": "results/{study}/seed{seed}/measured/{table}/{dataset}.parquet",
    "tracked": "results/{study}/seed{seed}/tracked/{dataset}/{model}.json",
    "tracked_measured": "results/{study}/seed{seed}/tracked/measured/{table}/{dataset}.json",
    "tables": "results/{study}/tables/{table}.csv",
    "figures": "results/{study}/figures/{figure}.csv",
    "claims": "results/{study}/claims.csv",
    "findings": "results/{study}/findings.csv",
}


_PACKAGE = Path(__file__).resolve().parents[1]
# The folder of the workflow: an installed package has it in a folder of its own, else both are in a checkout.
HOME = next(folder for folder in (_PACKAGE / "project", _PACKAGE.parents[1]) if folder.is_dir())
SCRIPTS = HOME / "workflow" / "scripts"
EXPERIMENTS, FIGURES = "experiments", "figures"  # its folders


def script_file(folder: str, script: str, study_file: str = "") -> Path:
    """The file of a script: a name in a folder of `SCRIPTS`, or a path with .py from the study's folder."""
    if script.endswith(".py"):
        return Path(os.path.normpath(Path(study_file).parent / script))
    # Relative to the working directory, so that results stay up to date if the checkout is moved.
    return Path(os.path.relpath(SCRIPTS / folder / f"{script}.py"))
