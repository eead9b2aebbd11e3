# Log records as runs in the tracking store, with one writer at a time; unchanged runs are kept. One job logs all runs of
# a study, because importing MLflow takes longer than logging them.


localrules:
    track,
    track_study,


rule track:
    input:
        records=files_of_runs("record"),
        candidates=files_of_runs("candidates"),
        selection=files_of_runs("selection"),
        predictions=files_of_runs("predictions"),
        models=files_of_runs("models"),
        tables=of_study(
            lambda study, at: [
                FILES["tables"].format(study=study.name, table=table)
                for table in study.score_tables()
            ]
        ),
    output:
        receipt="results/{study}/tracked/runs.json",
    log:
        "logs/{study}/track/runs.log",
    resources:
        tracking=1,
    params:
        study=of_study(lambda study, at: [study]),
        store=SETTINGS.store,
        which_store=store_digest(SETTINGS),
        code=code("tracking"),
    run:
        run_job("tracking:track", input, output, params, wildcards, resources, log)


rule track_study:
    input:
        tables=of_study(lambda study, at: study.tables_as(TABLE_FORMATS)),
        figures=of_study(lambda study, at: study.figures_as(FIGURE_FORMATS)),
        study=of_study(lambda study, at: local(study.file)),
    output:
        receipt="results/{study}/tracked.json",
    log:
        "logs/{study}/track.log",
    resources:
        tracking=1,
    params:
        study=of_study(lambda study, at: [study]),
        store=SETTINGS.store,
        which_store=store_digest(SETTINGS),
        # The store contains absolute paths: if the folder was moved, this job corrects them.
        folder=os.getcwd(),
        code=code("tracking"),
    run:
        run_job(
            "tracking:track_study", input, output, params, wildcards, resources, log
        )
