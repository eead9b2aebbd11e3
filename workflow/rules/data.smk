# Download raw files, prepare data sets, scale and split them for a study.


localrules:
    data,
    download,


rule data:
    input:
        receipts=PLAN.receipts(),
    log:
        "logs/data.log",
    conda:
        "../../environment.yml"
    params:
        catalog=PLAN.downloaded(),
    script:
        "../scripts/data.py"


rule download:
    output:
        receipt="resources/raw/{dataset}/receipt.json",
    log:
        "logs/download/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        network=1,
    params:
        files=lambda wildcards: PLAN.entry(wildcards)["files"],
        attempt=PLAN.attempt,
    script:
        "../scripts/download.py"


rule prepare:
    input:
        receipt=PLAN.receipt,
        own=lambda wildcards: local(PLAN.own_file(wildcards)),
    output:
        FILES["data"],
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../../environment.yml"
    # The limits of a run, because reading a file may not end or may take all memory.
    resources:
        **PLAN.asked(PLAN.needs_of_data),
        **LIMITS,
    params:
        entry=PLAN.entry,
        code=PLAN.code_of_data,
    script:
        "../scripts/prepare.py"


rule scale:
    input:
        dataset=FILES["data"],
    output:
        FILES["scaled"],
    log:
        "logs/{study}/scale/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        **PLAN.asked(PLAN.needs_of_data),
    params:
        scaling=PLAN.scaling,
        code=code("entrolab.data.scale", "entrolab.data.preprocessing"),
    script:
        "../scripts/scale.py"


rule split:
    input:
        dataset=FILES["data"],
    output:
        FILES["folds"],
    log:
        "logs/{study}/split/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        **PLAN.asked(PLAN.needs_of_data),
    params:
        protocol=PLAN.protocol,
        seed=PLAN.parts_seed,
        code=code("entrolab.fit.protocols"),
    script:
        "../scripts/split.py"
