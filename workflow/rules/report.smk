# Pages of the report.


localrules:
    page,


# Writes a study's page, and the index, which lists every study whose page was ever written here (results/report/cards).
rule page:
    input:
        tables=of_study(lambda study, at: study.tables_as(["csv"])),
        figures=of_study(lambda study, at: study.figures_as(["csv"])),
        claims=of_study(lambda study, at: study.outcomes_of_claims()),
        findings=of_study(lambda study, at: study.findings()),
        records=files_of_runs("record"),
        models=files_of_runs("models"),
        templates=local(TEMPLATES),
    output:
        page="results/report/{study}.html",
    log:
        "logs/{study}/page.log",
    resources:
        report=1,
    params:
        study=of_study(lambda study, at: [study]),
        home=lambda wildcards: str(HOME),
        code=code("report"),
    run:
        run_job("tables:page", input, output, params, wildcards, resources, log)


rule report:
    input:
        [f"results/report/{study}.html" for study in SETTINGS.papers],
