# The workflow from data sets to tables, figures and reports. `snakemake eem` makes one study, `snakemake papers`
# all studies, `snakemake` those named in config/config.yaml; `snakemake -n` lists the jobs without running them.
from snakemake.utils import min_version

min_version("9.13")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


rule all:
    default_target: True
    input:
        lambda wildcards: PLAN.files_of_studies(SETTINGS["papers"]),


rule papers:
    input:
        lambda wildcards: PLAN.files_of_studies(STUDIES),


# One target per study, with the study's name. Only the studies that a run needs are read.
for study_name in STUDY_NAMES:

    rule:
        name:
            study_name
        input:
            lambda wildcards, name=study_name: PLAN.study_files(name),


include: "workflow/rules/check.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/tracking.smk"
include: "workflow/rules/report.smk"
