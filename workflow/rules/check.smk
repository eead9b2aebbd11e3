# Import and check the learners of a study before any job fits them: jobs that fit wait for the output, but are not
# repeated when it is written again.


localrules:
    check,


rule check:
    output:
        # `update` keeps the file until the job succeeds: without it, all fits would be repeated.
        update("results/{study}/checked.json"),
    log:
        "logs/{study}/check.log",
    priority: 100
    params:
        learners=learners_of_study,
        file=lambda wildcards: study_of(wildcards)["file"],
        code=code_of_check,
    run:
        run_job("check:check", input, output, params, wildcards, resources, log)
