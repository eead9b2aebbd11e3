# Records become runs in the tracking store. One writer at a time; what is there already is left alone.


localrules:
    track,
    track_study,


rule track:
    input:
        records=PLAN.of_dataset("record"),
        candidates=PLAN.of_dataset("candidates"),
        selection=PLAN.of_dataset("selection"),
        predictions=PLAN.of_dataset("predictions"),
        models=PLAN.of_dataset("model"),
        facts=PLAN.of_dataset("facts"),
        rows=PLAN.rows_of_example,
        tables=PLAN.score_tables,
    output:
        receipt="results/{study}/tracked/{dataset}.json",
    log:
        "logs/{study}/track/{dataset}.log",
    conda:
        "../../environment.yml"
    resources:
        tracking=1,
    params:
        study=PLAN.study,
        models=PLAN.models,
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        code=code("entrolab.tracking"),
    script:
        "../scripts/track.py"


rule track_study:
    input:
        tables=PLAN.tables(),
        figures=PLAN.figures(),
        study=lambda wildcards: local(PLAN.study(wildcards)["file"]),
    output:
        receipt="results/{study}/tracked.json",
    log:
        "logs/{study}/track.log",
    conda:
        "../../environment.yml"
    resources:
        tracking=1,
    params:
        study=PLAN.study,
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        # The store keeps absolute paths: in a folder that was moved, this job mends them.
        folder=os.getcwd(),
        code=code("entrolab.tracking"),
    script:
        "../scripts/track_study.py"
