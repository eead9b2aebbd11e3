"""The one table of the paths of results; the rules of the workflow have the same patterns."""

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
    "tables": "results/{study}/tables/{table}.csv",
}
