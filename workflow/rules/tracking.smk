# Records become runs in the tracking store. One writer at a time; what is there already is left alone.


localrules:
    track,
    track_paper,


rule track:
    input:
        records=of_dataset(FILES["record"]),
        candidates=of_dataset(FILES["candidates"]),
        selection=of_dataset(FILES["selection"]),
        predictions=of_dataset(FILES["predictions"]),
        models=of_dataset(FILES["model"]),
        facts=of_dataset(FILES["facts"]),
        scaled=FILES["scaled"],
        tables=score_tables_of,
    output:
        receipt="results/{paper}/tracked/{dataset}.json",
    log:
        "logs/{paper}/track/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        tracking=1,
    params:
        study=study_of,
        models=models_of,
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        code=code("entrolab.tracking"),
    script:
        "../scripts/track.py"


rule track_paper:
    input:
        tables=lambda wildcards: tables_of(wildcards.paper),
        figures=lambda wildcards: figures_of(wildcards.paper),
        study=lambda wildcards: local(study_of(wildcards)["file"]),
    output:
        receipt="results/{paper}/tracked.json",
    log:
        "logs/{paper}/track.log",
    conda:
        "../../environment.yml"
    resources:
        tracking=1,
    params:
        study=study_of,
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        # The store keeps absolute paths: in a folder that was moved, this job mends them.
        folder=os.getcwd(),
        code=code("entrolab.tracking"),
    script:
        "../scripts/track_paper.py"
