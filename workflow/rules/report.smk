# Pages of the report.


localrules:
    page,


# Writes a study's page, and the index, which lists every study whose page was ever written here (results/report/cards).
rule page:
    input:
        tables=lambda wildcards: tables_of(wildcards, ["csv"]),
        figures=lambda wildcards: figures_of(wildcards, ["csv", "html"]),
        claims=lambda wildcards: claims_of(wildcards, ["csv"]),
        records=runs("record"),
        models=runs("models"),
        templates=local(TEMPLATES),
    output:
        page="results/report/{study}.html",
    log:
        "logs/{study}/page.log",
    resources:
        report=1,
    params:
        study=study_of,
        home=lambda wildcards: str(HOME),
        code=code("report"),
    run:
        run_job("tables:page", input, output, params, wildcards, resources, log)


rule report:
    input:
        [f"results/report/{study}.html" for study in SETTINGS["papers"]],
