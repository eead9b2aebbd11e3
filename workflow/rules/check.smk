# Before any job starts: start what runs jobs, and import and check the learners of the studies with jobs that fit, in a
# child process. This is no rule: of jobs that wait for an output, even as `ancient`, Snakemake does not repeat those whose
# own params have changed in a run that makes the output again.
FITS = {"fit", "refit", "measure", "figure"}


onstart:
    jobs = [*workflow.dag.needrun_jobs()]
    if workflow.local_exec:
        start_servers(job.rule.name for job in jobs)
    fitted = {job.wildcards.study for job in jobs if job.rule.name in FITS}
    wrong = [
        one for one in sorted(fitted) if not passes(run_job, one, STUDIES[one])
    ]
    if wrong:
        raise WorkflowError(f"nothing was run for mistakes in {', '.join(wrong)}")
