# Download raw files, prepare data sets, scale and split them for a study.


localrules:
    data,
    download,


rule data:
    input:
        receipts=PLAN.receipts(),
    log:
        "logs/data.log",
    params:
        catalog=PLAN.downloaded(),
    run:
        run_job("data:data", input, output, params, wildcards, resources, log)


rule download:
    output:
        receipt="resources/raw/{dataset}/receipt.json",
    log:
        "logs/download/{dataset}.log",
    resources:
        network=1,
    params:
        files=lambda wildcards: PLAN.entry(wildcards)["files"],
        attempt=PLAN.attempt,
    run:
        run_job("data:download", input, output, params, wildcards, resources, log)


rule prepare:
    input:
        receipt=PLAN.receipt,
        own=lambda wildcards: local(PLAN.entry(wildcards).get("paths", [])),
    output:
        FILES["data"],
    log:
        "logs/prepare/{dataset}.log",
    # The limits of a run, because reading a file may not end or may take all memory.
    resources:
        **PLAN.asked(PLAN.needs_of_data),
        **LIMITS,
    params:
        entry=PLAN.entry,
        code=PLAN.code_of_data,
    run:
        run_job("data:prepare", input, output, params, wildcards, resources, log)


rule scale:
    input:
        dataset=FILES["data"],
    output:
        FILES["scaled"],
    log:
        "logs/{study}/scale/{dataset}.log",
    resources:
        **PLAN.asked(PLAN.needs_of_data),
    params:
        scaling=PLAN.scaling,
        code=code("scale"),
    run:
        run_job("data:scale", input, output, params, wildcards, resources, log)


rule split:
    input:
        dataset=FILES["data"],
    output:
        FILES["folds"],
    log:
        "logs/{study}/split/{dataset}.log",
    resources:
        **PLAN.asked(PLAN.needs_of_data),
    params:
        protocol=PLAN.protocol,
        seed=PLAN.parts_seed,
        code=code("split"),
    run:
        run_job("data:split", input, output, params, wildcards, resources, log)
