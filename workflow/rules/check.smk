# Import and check the learners of a study before any job fits them: jobs that fit wait for the output, but are not
# repeated when it is written again.
CHECKED = "results/{study}/checked.json"


localrules:
    check,


rule check:
    output:
        # `update` keeps the file until the job succeeds: without it, all fits would be repeated.
        update(CHECKED),
    log:
        "logs/{study}/check.log",
    priority: 100
    params:
        learners=PLAN.learners_asked,
        file=lambda wildcards: PLAN.study(wildcards)["file"],
        code=PLAN.code_of_check,
    run:
        run_job("check:check", input, output, params, wildcards, resources, log)
