# Before any job starts, the learners of the studies with jobs that fit are imported and checked, in a child process.
# This is no rule: jobs that wait for the output of one, even as `ancient`, are not repeated for reasons of their own
# in a run that makes it again.
FITS = {"train", "measure", "measure_generated", "figure"}


onstart:
    jobs = [job for job in workflow.dag.needrun_jobs() if job.rule.name in FITS]
    failed = []
    for study in sorted({job.wildcards.study for job in jobs}):
        output, asked = f"results/{study}/checked.json", PLAN.learners_asked(study)
        if is_checked(output, asked):
            continue
        params = SimpleNamespace(learners=asked, file=STUDIES[study]["file"])
        try:
            run_job(
                "check:check",
                input=[],
                output=[output],
                params=params,
                wildcards=[study],
                resources=SimpleNamespace(_cores=1),
                log=[f"logs/{study}/check.log"],
            )
        except JobFailed:
            failed.append(study)
    if failed:
        raise WorkflowError(f"nothing was run for the mistakes in {', '.join(failed)}")
