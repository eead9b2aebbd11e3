# A table of a paper with several seeds: `make seeds` runs this rule and stores the values in config/seeds.


localrules:
    seeds,


rule seeds:
    input:
        results=of_study(
            lambda study, at: [
                file
                for seed in range(int(at.n))
                for file in study.model_copy(update={"seed": seed}).files_of_table(
                    at.table
                )
            ]
        ),
        published=file_beside("published"),
    output:
        "results/{study}/seeds/{table}-{n}.csv",
    log:
        "logs/{study}/seeds/{table}-{n}.log",
    wildcard_constraints:
        n=r"\d+",
    params:
        study=of_study(lambda study, at: [study.part_for(at.table)]),
        code=code("table"),
    run:
        run_job("tables:seeds", input, output, params, wildcards, resources, log)
