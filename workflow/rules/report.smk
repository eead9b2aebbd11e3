# Tables, figures, and the pages that a reader opens. Some figures fit what they show; all else reads and writes.


localrules:
    table,
    page_to_hover,
    page,


rule table:
    input:
        results=files_of_table,
        published=published_of,
        templates=local(TEMPLATES),
    output:
        "results/{paper}/tables/{table}.csv",
        report(
            "results/{paper}/tables/{table}.html",
            caption="../report/table.rst",
            category=title_of,
            subcategory="Tables",
            labels=lambda wildcards: labels_of(
                "tables", wildcards.paper, wildcards.table
            ),
        ),
        "results/{paper}/tables/{table}.tex",
        "results/{paper}/tables/{table}.md",
    log:
        "logs/{paper}/table/{table}.log",
    conda:
        "../../environment.yml"
    params:
        study=shown_of,
        code=code("entrolab.rendering"),
    script:
        "../scripts/table.py"


rule figure:
    input:
        sources=sources_of_figure,
        records=of_figure(FILES["record"]),
    output:
        report(
            "results/{paper}/figures/{figure}.svg",
            caption="../report/figure.rst",
            category=title_of,
            subcategory="Figures",
            labels=lambda wildcards: labels_of(
                "figures", wildcards.paper, wildcards.figure
            ),
        ),
        "results/{paper}/figures/{figure}.png",
        "results/{paper}/figures/{figure}.csv",
    log:
        "logs/{paper}/figure/{figure}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **asked(figure_needs),
    params:
        spec=figure_of,
        code=code_of_figure,
    script:
        "../scripts/figure.py"


# What is drawn of rows, once more as a page on which each row tells what it is.
rule page_to_hover:
    input:
        drawn="results/{paper}/figures/{figure}.csv",
        sources=rows_of_figure,
    output:
        "results/{paper}/figures/{figure}.html",
    log:
        "logs/{paper}/page_to_hover/{figure}.log",
    conda:
        "../../environment.yml"
    params:
        spec=figure_of,
        code=code("entrolab.figures"),
    script:
        "../scripts/page_to_hover.py"


# Beside a study's page its job writes those of the study's data sets and learners, and the front page and the lists,
# which show every study whose tables are there.
rule page:
    input:
        tables=lambda wildcards: tables_of(wildcards.paper, ["csv"]),
        figures=lambda wildcards: figures_of(wildcards.paper, ["csv", "html"]),
        records=of_study(FILES["record"]),
        selection=of_study(FILES["selection"]),
        templates=local(TEMPLATES),
    output:
        page="results/report/{paper}.html",
    log:
        "logs/{paper}/page.log",
    conda:
        "../../environment.yml"
    resources:
        report=1,
    params:
        study=study_of,
        home=lambda wildcards: str(HOME),
        code=code("entrolab.report"),
    script:
        "../scripts/page.py"


rule report:
    input:
        [f"results/report/{paper}.html" for paper in SETTINGS["papers"]],
