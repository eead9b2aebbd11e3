# From data sets to the papers' tables. `snakemake eem` makes one study, `snakemake papers` all of them,
# `snakemake` those that config/config.yaml names; `snakemake -n` says what would be done.
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


# One target for each study, of its name. Only the studies that a run needs are read.
for study_name in STUDY_NAMES:

    rule:
        name:
            study_name
        input:
            lambda wildcards, name=study_name: PLAN.study_files(name),


include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/tracking.smk"
include: "workflow/rules/report.smk"
