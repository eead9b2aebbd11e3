# A job fits a learner's whole grid on all training sets of a data set: what starting a job costs is paid once.


rule train:
    input:
        dataset="results/{paper}/scaled/{dataset}.npz",
        folds="results/{paper}/folds/{dataset}.npz",
    output:
        candidates="results/{paper}/candidates/{dataset}/{model}.parquet",
        record="results/{paper}/records/{dataset}/{model}.json",
    log:
        "logs/{paper}/train/{dataset}/{model}.log",
    benchmark:
        "results/{paper}/benchmarks/train/{dataset}/{model}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    # Limits are resources, not parameters: raising them does not make anew what is there.
    resources:
        **asked(cell_needs),
        limit_seconds=SETTINGS["limit_seconds"],
        limit_mebibytes=LIMIT_MEBIBYTES,
    params:
        cell=cell_of,
        code=code_of_cell,
    script:
        "../scripts/train.py"
