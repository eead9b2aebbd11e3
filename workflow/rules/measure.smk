# Measurements for single tables, in addition to trained runs. A failed measurement is a row with the reason, and so is
# a data set that is not available.


rule measure:
    input:
        raw=FILES["data"],
        scaled=FILES["scaled"],
    output:
        FILES["measured"],
    log:
        "logs/{study}/measure/{table}/{dataset}.log",
    wildcard_constraints:
        table=PLAN.measured_tables(),
    threads: 1
    # Measurements may grow up to limits of their own, so the maximum is requested.
    resources:
        **PLAN.asked(lambda wildcards: UNKNOWN),
    params:
        measurement=PLAN.measurement,
        code=PLAN.code_of_measurement,
    run:
        run_job("fit:measure", input, output, params, wildcards, resources, log)


# Measurements on data generated for the table: no input files.
use rule measure as measure_generated with:
    input:
        [],
    output:
        f"results/{{study}}/measured/{{table}}/{GENERATED}.parquet",
    log:
        f"logs/{{study}}/measure/{{table}}/{GENERATED}.log",
