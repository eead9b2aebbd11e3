# A run (a data set and a model of a study) is one job: fit the grid on all training sets, select, and refit. A single
# job avoids the cost of starting one per fit.


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
    threads: 1
    # Limits are resources, not params, so that raising them does not repeat finished runs.
    resources:
        **PLAN.asked(PLAN.needs_of_run),
        **LIMITS,
    params:
        spec=PLAN.run_spec,
        code=PLAN.code_of_run,
    run:
        run_job("fit:train", input, output, params, wildcards, resources, log)
