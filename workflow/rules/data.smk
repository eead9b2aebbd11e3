# Raw bytes, then data sets, then what a study makes of them.


localrules:
    data,
    download,


rule data:
    input:
        receipts=[
            f"resources/raw/{dataset}/receipt.json"
            for dataset, entry in CATALOG.items()
            if "files" in entry
        ],
    log:
        "logs/data.log",
    conda:
        "../../environment.yml"
    params:
        catalog={
            dataset: entry for dataset, entry in CATALOG.items() if "files" in entry
        },
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
        files=lambda wildcards: CATALOG[wildcards.dataset]["files"],
        attempt=attempt_of,
    script:
        "../scripts/download.py"


rule prepare:
    input:
        receipt=receipt_of,
        own=own_file_of,
    output:
        "results/data/{dataset}.npz",
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../../environment.yml"
    # The limits of a cell: reading a file is work that may not end, or take all memory, just as well.
    resources:
        **asked(data_needs),
        limit_seconds=SETTINGS["limit_seconds"],
        limit_mebibytes=LIMIT_MEBIBYTES,
    params:
        entry=lambda wildcards: CATALOG[wildcards.dataset],
        code=code_of_data,
    script:
        "../scripts/prepare.py"


rule scale:
    input:
        dataset="results/data/{dataset}.npz",
    output:
        "results/{paper}/scaled/{dataset}.npz",
    log:
        "logs/{paper}/scale/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        **asked(data_needs),
    params:
        scaling=lambda wildcards: scaling_of(study_of(wildcards), wildcards.dataset),
        code=code("entrolab.scale"),
    script:
        "../scripts/scale.py"


rule split:
    input:
        dataset="results/data/{dataset}.npz",
    output:
        "results/{paper}/folds/{dataset}.npz",
    log:
        "logs/{paper}/split/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        **asked(data_needs),
    params:
        protocol=lambda wildcards: protocol_of(study_of(wildcards), wildcards.dataset),
        seed=lambda wildcards: parts_seed(
            SETTINGS["seed"], wildcards.paper, wildcards.dataset
        ),
        code=code("entrolab.protocols"),
    script:
        "../scripts/split.py"
