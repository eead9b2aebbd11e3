# Tables, figures and pages. Some figures fit models themselves; all other jobs only read and write files.


localrules:
    table,
    page_to_hover,
    page,


rule table:
    input:
        results=PLAN.sources_of_table,
        published=lambda wildcards: local(PLAN.published(wildcards)),
        seeds=lambda wildcards: local(PLAN.seeds(wildcards)),
        templates=local(TEMPLATES),
    output:
        "results/{study}/tables/{table}.csv",
        report(
            "results/{study}/tables/{table}.html",
            caption="../report/table.rst",
            category=PLAN.title,
            subcategory="Tables",
            labels=PLAN.labels("tables", "table"),
        ),
        "results/{study}/tables/{table}.tex",
        "results/{study}/tables/{table}.md",
    log:
        "logs/{study}/table/{table}.log",
    params:
        study=PLAN.shown,
        code=code(
            "entrolab.tables.rendering",
            "entrolab.claims.winners",
            "entrolab.seeds.rendering",
        ),
    run:
        run_job("tables:table", input, output, params, wildcards, resources, log)


rule figure:
    input:
        sources=PLAN.sources_of_figure,
        records=PLAN.records_of_figure,
    output:
        report(
            "results/{study}/figures/{figure}.svg",
            caption="../report/figure.rst",
            category=PLAN.title,
            subcategory="Figures",
            labels=PLAN.labels("figures", "figure"),
        ),
        "results/{study}/figures/{figure}.png",
        "results/{study}/figures/{figure}.csv",
    log:
        "logs/{study}/figure/{figure}.log",
    threads: 1
    resources:
        **PLAN.asked(PLAN.needs_of_figure),
    params:
        spec=PLAN.figure,
        code=PLAN.code_of_figure,
    run:
        run_job("tables:figure", input, output, params, wildcards, resources, log)


# A figure of rows as an interactive page, with a tooltip per row.
rule page_to_hover:
    input:
        drawn="results/{study}/figures/{figure}.csv",
        sources=PLAN.rows_to_hover,
    output:
        "results/{study}/figures/{figure}.html",
    log:
        "logs/{study}/page_to_hover/{figure}.log",
    params:
        spec=PLAN.figure,
        code=PLAN.code_of_figure,
    run:
        run_job(
            "tables:page_to_hover", input, output, params, wildcards, resources, log
        )


# Writes a study's page, and the index, which lists every study whose page was ever written here (results/report/cards).
rule page:
    input:
        tables=PLAN.tables(["csv"]),
        figures=PLAN.figures(["csv", "html"]),
        claims=PLAN.claims(["csv"]),
        records=PLAN.of_study("record"),
        templates=local(TEMPLATES),
    output:
        page="results/report/{study}.html",
    log:
        "logs/{study}/page.log",
    resources:
        report=1,
    params:
        study=lambda wildcards: [PLAN.study(wildcards)],
        home=lambda wildcards: str(HOME),
        code=code("entrolab.report"),
    run:
        run_job("tables:page", input, output, params, wildcards, resources, log)


rule report:
    input:
        lambda wildcards: [
            f"results/report/{study}.html" for study in SETTINGS["papers"]
        ],
