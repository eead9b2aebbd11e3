# What each criterion takes from the trained grids, and the model that the first of them takes most often. A job
# chooses for all models of a data set: starting it takes longer than choosing does.


rule select:
    input:
        dataset="results/{paper}/scaled/{dataset}.npz",
        folds="results/{paper}/folds/{dataset}.npz",
        candidates=of_dataset("results/{paper}/candidates/{dataset}/{model}.parquet"),
        records=of_dataset("results/{paper}/records/{dataset}/{model}.json"),
    output:
        scores=directory("results/{paper}/scores/{dataset}"),
        models=directory("results/{paper}/models/{dataset}"),
    log:
        "logs/{paper}/select/{dataset}.log",
    benchmark:
        "results/{paper}/benchmarks/select/{dataset}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **asked(choice_needs),
    params:
        cells=choices_of,
        code=code_of_choice,
    script:
        "../scripts/select.py"
