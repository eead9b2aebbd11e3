# Runs in the tracking store, with one writer at a time (`tracking: 1` in the profiles). A run is written when its refit ends; verdicts, tables and figures are
# added when they are made. A receipt names the runs that were written; one whose runs are not in the store is removed before
# Snakemake builds the DAG (`study_of` in common.smk).


localrules:
    track,
    track_table,
    track_study,


# One run for a data set and a model: parameters, scores by fold, values of the criteria, curves, models; its grid as runs of the
# experiment `<study> · candidates`, or as a table.
rule track:
    input:
        rows=rows_of_run,
        record="results/{study}/seed{seed}/records/{dataset}/{model}.json",
        candidates="results/{study}/seed{seed}/candidates/{dataset}/{model}.parquet",
        predictions="results/{study}/seed{seed}/predictions/{dataset}/{model}.parquet",
        selection="results/{study}/seed{seed}/selection/{dataset}/{model}.parquet",
        models=models_of_run,
    output:
        receipt="results/{study}/seed{seed}/tracked/{dataset}/{model}.json",
    log:
        "logs/{study}/seed{seed}/track/{dataset}/{model}.log",
    resources:
        tracking=1,
    params:
        study=of_study(lambda study, at: [study.part_for_run(at.dataset, at.model)]),
        store=SETTINGS.store,
        code=code("tracking"),
    run:
        run_job("tracking:track", input, output, params, wildcards, resources, log)


# A run for each method that was measured for a table on a data set.
rule track_table:
    input:
        unpack(rows_of_measurement),
        measured="results/{study}/seed{seed}/measured/{table}/{dataset}.parquet",
    output:
        receipt="results/{study}/seed{seed}/tracked/measured/{table}/{dataset}.json",
    log:
        "logs/{study}/seed{seed}/track/measured/{table}/{dataset}.log",
    resources:
        tracking=1,
    params:
        study=of_study(lambda study, at: [study.part_for_measurement(at.table)]),
        measurement=measurement_of,
        store=SETTINGS.store,
        code=code("tracking"),
    run:
        run_job(
            "tracking:track_table", input, output, params, wildcards, resources, log
        )


# The run of a study, the parent of all others: tables, figures, the study's file. Its job adds verdicts to all other runs.
rule track_study:
    input:
        receipts=of_study(lambda study, at: study.receipts()),
        tables=of_study(lambda study, at: study.tables_as(TABLE_FORMATS)),
        figures=of_study(lambda study, at: study.figures_as(FIGURE_FORMATS)),
        findings=of_study(lambda study, at: study.findings()),
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
        # The store contains absolute paths: if the folder was moved, this job corrects them.
        folder=os.getcwd(),
        code=code("tracking"),
    run:
        run_job(
            "tracking:track_study", input, output, params, wildcards, resources, log
        )
