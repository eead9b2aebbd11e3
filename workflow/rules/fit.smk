# A run is a model of a study on a data set: fit its grid, select from it by each criterion, refit what was selected.


# Every grid point on every training set: the values of all criteria that the study computes, scores, predictions.
rule fit:
    input:
        rows=rows_of_run,
        folds="results/{study}/seed{seed}/folds/{dataset}.npz",
    output:
        candidates="results/{study}/seed{seed}/candidates/{dataset}/{model}.parquet",
        predictions="results/{study}/seed{seed}/predictions/{dataset}/{model}.parquet",
        record="results/{study}/seed{seed}/records/{dataset}/{model}.json",
    log:
        "logs/{study}/seed{seed}/fit/{dataset}/{model}.log",
    threads: 1
    # Limits are resources, not params, so that raising them does not repeat finished runs.
    resources:
        **LIMITS,
        mem_mb=memory,
        runtime=minutes,
    params:
        run=run_of,
        code=code_of_run("fit"),
    run:
        run_job("fit:fit", input, output, params, wildcards, resources, log)


# The choice of each criterion in each fold: inner cross-validation, or the Cauchy-Schwarz divergence of the classes.
rule select:
    input:
        candidates="results/{study}/seed{seed}/candidates/{dataset}/{model}.parquet",
    output:
        "results/{study}/seed{seed}/selection/{dataset}/{model}.parquet",
    log:
        "logs/{study}/seed{seed}/select/{dataset}/{model}.log",
    params:
        criteria=criteria_of,
        code=code("select"),
    run:
        run_job("fit:select", input, output, params, wildcards, resources, log)


# What each criterion chose in most folds, fitted on all training rows: a model with its seconds and size.
rule refit:
    input:
        rows=rows_of_run,
        folds="results/{study}/seed{seed}/folds/{dataset}.npz",
        record="results/{study}/seed{seed}/records/{dataset}/{model}.json",
        selection="results/{study}/seed{seed}/selection/{dataset}/{model}.parquet",
    output:
        directory("results/{study}/seed{seed}/models/{dataset}/{model}"),
    log:
        "logs/{study}/seed{seed}/refit/{dataset}/{model}.log",
    threads: 1
    resources:
        **LIMITS,
        mem_mb=memory,
        runtime=minutes,
    params:
        run=run_of,
        criteria=criteria_of,
        model_format=of_study(lambda study, at: study.model_format),
        code=code_of_run("refit"),
    run:
        run_job("fit:refit", input, output, params, wildcards, resources, log)
