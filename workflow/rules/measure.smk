# Numbers that a table measures for itself, beside the runs that are trained. A measurement that fails is a row with
# the reason, and so are data that could not be had.


rule measure:
    input:
        raw=FILES["data"],
        scaled=FILES["scaled"],
    output:
        FILES["measured"],
    log:
        "logs/{study}/measure/{table}/{dataset}.log",
    benchmark:
        "results/{study}/benchmarks/measure/{table}/{dataset}.tsv"
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
        f"results/{{study}}/measured/{{table}}/{GENERATED}.parquet",
    log:
        f"logs/{{study}}/measure/{{table}}/{GENERATED}.log",
    benchmark:
        f"results/{{study}}/benchmarks/measure/{{table}}/{GENERATED}.tsv"
