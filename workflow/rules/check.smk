# Before any job starts, the learners of the studies with jobs that fit are imported and checked, in a child process.
# This is no rule: of jobs that wait for an output, even as `ancient`, Snakemake does not repeat those whose own params
# have changed in a run that makes the output again.
FITS = {"fit", "refit", "measure", "figure"}


onstart:
    fitted = {
        job.wildcards.study
        for job in workflow.dag.needrun_jobs()
        if job.rule.name in FITS
    }
    wrong = [
        name for name in sorted(fitted) if not passes(run_job, name, STUDIES[name])
    ]
    if wrong:
        raise WorkflowError(
            f"nothing was run for the mistakes in {', '.join(wrong)}"
        )
