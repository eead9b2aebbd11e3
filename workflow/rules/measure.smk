# Numbers that a table measures for itself, beside the cells that are trained. A measurement that fails is a row with
# the reason, and so are data that could not be had.

MEASURED = {
    table
    for study in STUDIES.values()
    for table, entry in study["tables"].items()
    if KINDS[entry["kind"]].measured_by
}


rule measure:
    input:
        raw="results/data/{dataset}.npz",
        scaled="results/{paper}/scaled/{dataset}.npz",
    output:
        "results/{paper}/measured/{table}/{dataset}.parquet",
    log:
        "logs/{paper}/measure/{table}/{dataset}.log",
    benchmark:
        "results/{paper}/benchmarks/measure/{table}/{dataset}.tsv"
    wildcard_constraints:
        table="|".join(MEASURED),
    conda:
        "../../environment.yml"
    threads: 1
    # What is measured grows until it meets a limit of its own.
    resources:
        mem_mb=CEILING.mem_mb,
        runtime=CEILING.runtime,
    params:
        measurement=measurement_of,
        code=code_of_measurement,
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
