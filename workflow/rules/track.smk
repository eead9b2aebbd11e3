# Log records as runs in the tracking store, with one writer at a time; unchanged runs are kept. One job logs all runs of
# a study, because importing MLflow takes longer than logging them.


localrules:
    track,
    track_study,


rule track:
    input:
        records=runs("record"),
        candidates=runs("candidates"),
        selection=runs("selection"),
        predictions=runs("predictions"),
        models=runs("models"),
        tables=score_tables_of,
    output:
        receipt="results/{study}/tracked/runs.json",
    log:
        "logs/{study}/track/runs.log",
    resources:
        tracking=1,
    params:
        study=study_of,
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        code=code("tracking"),
    run:
        run_job("tracking:track", input, output, params, wildcards, resources, log)


rule track_study:
    input:
        tables=tables_of,
        figures=figures_of,
        study=lambda wildcards: local(study_of(wildcards)["file"]),
    output:
        receipt="results/{study}/tracked.json",
    log:
        "logs/{study}/track.log",
    resources:
        tracking=1,
    params:
        study=study_of,
        store=SETTINGS["store"],
        which_store=store_digest(SETTINGS),
        # The store contains absolute paths: if the folder was moved, this job corrects them.
        folder=os.getcwd(),
        code=code("tracking"),
    run:
        run_job(
            "tracking:track_study", input, output, params, wildcards, resources, log
        )
