# Measurements for single tables by the scripts that their study names, in addition to fitted runs. A failed measurement
# is a row with the reason, and so is a data set that is not available.


rule measure:
    input:
        unpack(rows_of_measurement),
    output:
        "results/{study}/seed{seed}/measured/{table}/{dataset}.parquet",
    log:
        "logs/{study}/seed{seed}/measure/{table}/{dataset}.log",
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes,
    params:
        measurement=measurement_of,
        code=code_of_measurement,
    run:
        run_job("fit:measure", input, output, params, wildcards, resources, log)
