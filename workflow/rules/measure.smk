# Numbers that a table measures for itself, beside the cells that are trained. A measurement that fails is a row with
# the reason, and so are data that could not be had.


rule measure:
    input:
        raw=FILES["data"],
        scaled=FILES["scaled"],
    output:
        FILES["measured"],
    log:
        "logs/{paper}/measure/{table}/{dataset}.log",
    benchmark:
        "results/{paper}/benchmarks/measure/{table}/{dataset}.tsv"
    wildcard_constraints:
        table=PLAN.measured_tables(),
    conda:
        "../../environment.yml"
    threads: 1
    # What is measured grows until it meets a limit of its own.
    resources:
        mem_mb=CEILING.mem_mb,
        runtime=CEILING.runtime,
    params:
        measurement=PLAN.measurement,
        code=PLAN.code_of_measurement,
    script:
        "../scripts/measure.py"


# Data that are made for a table are nowhere else.
use rule measure as measure_generated with:
    input:
        [],
    output:
        f"results/{{paper}}/measured/{{table}}/{GENERATED}.parquet",
    log:
        f"logs/{{paper}}/measure/{{table}}/{GENERATED}.log",
    benchmark:
        f"results/{{paper}}/benchmarks/measure/{{table}}/{GENERATED}.tsv"
