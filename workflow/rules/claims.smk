# Tests of a paper's claims on the results of its study.


localrules:
    claims,


rule claims:
    input:
        results=of_study(lambda study, at: study.files_of_claims()),
        templates=local(TEMPLATES),
    output:
        csv="results/{study}/claims.csv",
        html="results/{study}/claims.html",
    log:
        "logs/{study}/claims.log",
    params:
        study=of_study(
            lambda study, at: [
                study.part_for_claims(),
                stored_outcomes(study.name, study.claims, HOME),
            ]
        ),
        title=of_study(lambda study, at: study.title),
        code=code("claims"),
    run:
        run_job("tables:claims", input, output, params, wildcards, resources, log)
