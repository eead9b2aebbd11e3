# Tests of a paper's claims on the results of its study.


localrules:
    claims,


rule claims:
    input:
        of_study(lambda study, at: study.files_of_claims()),
    output:
        "results/{study}/claims.csv",
    log:
        "logs/{study}/claims.log",
    params:
        study=of_study(lambda study, at: [study.part_for_claims()]),
        code=code("claims"),
    run:
        run_job("tables:claims", input, output, params, wildcards, resources, log)
