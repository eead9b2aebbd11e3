# What the checks of a study find in its data and results.


localrules:
    findings,


rule findings:
    input:
        data=of_study(lambda study, at: study.files_of_data()),
        candidates=files_of_runs("candidates"),
        selection=files_of_runs("selection"),
        predictions=files_of_runs("predictions"),
        records=files_of_runs("record"),
        tables=of_study(lambda study, at: study.tables_as(["csv"])),
    output:
        "results/{study}/findings.csv",
    log:
        "logs/{study}/findings.log",
    params:
        study=of_study(lambda study, at: [study]),
        code=code("findings"),
    run:
        run_job("tables:findings", input, output, params, wildcards, resources, log)
