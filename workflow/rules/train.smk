# A run, which is a data set and a model of a study, is one job: the grid on all training sets, the selection among it
# and the refit of what was selected. What starting a job costs is paid once.


rule train:
    input:
        dataset=PLAN.rows_of_run,
        folds=FILES["folds"],
    output:
        candidates=FILES["candidates"],
        selection=FILES["selection"],
        predictions=FILES["predictions"],
        record=FILES["record"],
        model=FILES["model"],
        facts=FILES["facts"],
    log:
        "logs/{study}/train/{dataset}/{model}.log",
    benchmark:
        "results/{study}/benchmarks/train/{dataset}/{model}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    # Limits are resources, not parameters: raising them does not make anew what is there.
    resources:
        **asked(PLAN.needs_of_run, SETTINGS),
        **LIMITS,
    params:
        spec=PLAN.run_spec,
        code=PLAN.code_of_run,
    script:
        "../scripts/train.py"
