# Download raw files, prepare data sets, scale and split them for a study.


localrules:
    data,
    download,


rule data:
    input:
        receipts=[
            f"resources/raw/{dataset}/receipt.json" for dataset in STUDIES.downloads
        ],
    log:
        "logs/data.log",
    params:
        catalog=STUDIES.downloads,
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
        files=lambda wildcards: entry_of(wildcards)["files"],
        attempt=lambda wildcards: attempt_of(wildcards.dataset),
    run:
        run_job("data:download", input, output, params, wildcards, resources, log)


rule prepare:
    input:
        receipt=receipt,
        own=lambda wildcards: local(entry_of(wildcards).get("paths", [])),
    output:
        "results/data/{dataset}.npz",
    log:
        "logs/prepare/{dataset}.log",
    # The limits of a run, because reading a file may not end or may take all memory.
    resources:
        **LIMITS,
        mem_mb=memory,
        runtime=minutes,
    params:
        entry=entry_of,
        code=code_of_data,
    run:
        run_job("data:prepare", input, output, params, wildcards, resources, log)


rule scale:
    input:
        dataset="results/data/{dataset}.npz",
    output:
        "results/{study}/scaled/{dataset}.npz",
    log:
        "logs/{study}/scale/{dataset}.log",
    resources:
        mem_mb=memory,
        runtime=minutes,
    params:
        scaling=of_study(lambda study, at: study.scaling_spec(at.dataset)),
        code=code("scale"),
    run:
        run_job("data:scale", input, output, params, wildcards, resources, log)


rule split:
    input:
        dataset="results/data/{dataset}.npz",
    output:
        "results/{study}/seed{seed}/folds/{dataset}.npz",
    log:
        "logs/{study}/seed{seed}/split/{dataset}.log",
    resources:
        mem_mb=memory,
        runtime=minutes,
    params:
        protocol=of_study(lambda study, at: study.split_spec(at.dataset)),
        seed=of_study(lambda study, at: study.seed_of_parts(at.dataset, int(at.seed))),
        code=code("split"),
    run:
        run_job("data:split", input, output, params, wildcards, resources, log)
