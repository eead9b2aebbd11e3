"""The one table of the paths of results; the rules of the workflow have the same patterns."""

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
}


# Folders of a study that had results before their paths had the seed.
EARLIER = ("folds", "candidates", "predictions", "selection", "models", "records", "measured", "tracked")


def leftovers(folder: Path | str = "results") -> list[Path]:
    """The folders that an earlier version of the workflow left among results; nothing reads them any more."""
    found = [path for name in EARLIER for path in Path(folder).glob(f"*/{name}")]
    return sorted(path for path in [*found, *Path(folder).glob("seeds/*/[0-9]*")] if path.is_dir())
