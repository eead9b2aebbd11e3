# Tests of a paper's claims on the results of its study.


localrules:
    claims,


rule claims:
    input:
        results=PLAN.sources_of_claims,
        templates=local(TEMPLATES),
    output:
        csv="results/{study}/claims.csv",
        html="results/{study}/claims.html",
    log:
        "logs/{study}/claims.log",
    params:
        study=PLAN.claimed,
        title=PLAN.title,
        code=code("claims"),
    run:
        run_job("tables:claims", input, output, params, wildcards, resources, log)
