# Tests of a paper's claims on the results of its study.


localrules:
    claims,


rule claims:
    input:
        results=results_of_claims,
        templates=local(TEMPLATES),
    output:
        csv="results/{study}/claims.csv",
        html="results/{study}/claims.html",
    log:
        "logs/{study}/claims.log",
    params:
        study=lambda wildcards: for_claims(study_of(wildcards), wildcards.study, HOME),
        title=lambda wildcards: study_of(wildcards)["title"],
        code=code("claims"),
    run:
        run_job("tables:claims", input, output, params, wildcards, resources, log)
