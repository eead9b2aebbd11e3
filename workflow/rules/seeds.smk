# A table of a paper with several seeds: `make seeds` runs this rule and stores the values in config/seeds.


localrules:
    seeds,


rule seeds:
    input:
        results=lambda wildcards: [
            file
            for seed in range(int(wildcards.n))
            for file in job_specs.table_files(
                wildcards.study, study_of(wildcards) | {"seed": seed}, wildcards.table
            )
        ],
        published=file_beside("published"),
    output:
        "results/{study}/seeds/{table}-{n}.csv",
    log:
        "logs/{study}/seeds/{table}-{n}.log",
    wildcard_constraints:
        n=r"\d+",
    params:
        study=lambda wildcards: for_table(study_of(wildcards), wildcards.table),
        code=code("table"),
    run:
        run_job("tables:seeds", input, output, params, wildcards, resources, log)
