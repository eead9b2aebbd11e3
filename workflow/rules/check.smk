# Before any job starts, the learners of the studies with jobs that fit are imported and checked, in a child process.
# This is no rule: Snakemake does not repeat jobs for reasons of their own in a run that makes again a file that they wait
# for, even one that is `ancient`.
FITS = {"fit", "refit", "measure", "figure"}


onstart:
    jobs = [job for job in workflow.dag.needrun_jobs() if job.rule.name in FITS]
    failed = []
    for study in sorted({job.wildcards.study for job in jobs}):
        output, asked = f"results/{study}/checked.json", learners_asked(
            STUDIES[study]
        )
        if is_checked(output, asked):
            continue
        params = SimpleNamespace(learners=asked, file=STUDIES[study]["file"])
        logs = [f"logs/{study}/check.log"]
        try:
            run_job(
                "check:check",
                [],
                [output],
                params,
                [study],
                SimpleNamespace(_cores=1),
                logs,
            )
        except JobFailed:
            failed.append(study)
    if failed:
        raise WorkflowError(f"nothing was run, for mistakes in {', '.join(failed)}")
