# Tables in the style of the papers, with the published values beside ours.


localrules:
    table,


rule table:
    input:
        results=of_study(lambda study, at: study.files_of_table(at.table)),
        published=file_beside("published"),
        seeds=file_beside("seeds"),
        templates=local(TEMPLATES),
    output:
        "results/{study}/tables/{table}.csv",
        report(
            "results/{study}/tables/{table}.html",
            caption="../report/table.rst",
            category="{study}",
            subcategory="Tables",
            labels={"table": "{table}"},
        ),
        "results/{study}/tables/{table}.tex",
        "results/{study}/tables/{table}.md",
    log:
        "logs/{study}/table/{table}.log",
    params:
        study=of_study(lambda study, at: [study.part_for(at.table)]),
        code=code("table"),
    run:
        run_job("tables:table", input, output, params, wildcards, resources, log)
