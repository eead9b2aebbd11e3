# Figures, of results or of models that a figure fits itself.


rule figure:
    input:
        of_study(lambda study, at: study.files_of_figure(at.figure)),
    output:
        report(
            "results/{study}/figures/{figure}.svg",
            caption="../report/figure.rst",
            category="{study}",
            subcategory="Figures",
            labels={"figure": "{figure}"},
        ),
        "results/{study}/figures/{figure}.png",
        "results/{study}/figures/{figure}.csv",
    log:
        "logs/{study}/figure/{figure}.log",
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes,
    params:
        spec=figure_of,
        code=code_of_figure,
    run:
        run_job("tables:figure", input, output, params, wildcards, resources, log)
