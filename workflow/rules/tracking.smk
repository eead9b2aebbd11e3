# Log records as runs in the tracking store, with one writer at a time; unchanged runs are kept. One job logs all runs of
# a study, because importing MLflow takes longer than logging them.


localrules:
    track,
    track_study,


rule track:
    input:
        records=PLAN.of_study("record"),
        candidates=PLAN.of_study("candidates"),
        selection=PLAN.of_study("selection"),
        predictions=PLAN.of_study("predictions"),
        models=PLAN.of_study("model"),
        facts=PLAN.of_study("facts"),
        rows=PLAN.rows_of_examples,
        tables=PLAN.score_tables,
    output:
        receipt="results/{study}/tracked/runs.json",
    log:
        "logs/{study}/track/runs.log",
    resources:
        tracking=1,
    params:
        study=lambda wildcards: [PLAN.study(wildcards)],
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        code=code("entrolab.tracking"),
    run:
        run_job("tracking:track", input, output, params, wildcards, resources, log)


rule track_study:
    input:
        tables=PLAN.tables(),
        figures=PLAN.figures(),
        study=lambda wildcards: local(PLAN.study(wildcards)["file"]),
    output:
        receipt="results/{study}/tracked.json",
    log:
        "logs/{study}/track.log",
    resources:
        tracking=1,
    params:
        study=lambda wildcards: [PLAN.study(wildcards)],
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        # The store contains absolute paths: if the folder was moved, this job corrects them.
        folder=os.getcwd(),
        code=code("entrolab.tracking"),
    run:
        run_job(
            "tracking:track_study", input, output, params, wildcards, resources, log
        )
