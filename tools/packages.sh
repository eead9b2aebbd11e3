#!/bin/sh
# Builds wheels and sdists of both distributions in dist/, checks them, and tests them in new environments with the oldest
# and the newest versions of their requirements: the tests of the learners, and the demonstration in an empty folder. Run
# by `make packages`. Needs a package index.
#
#   PYTHON   the Python to build with   (default: .venv/bin/python)
#   $@       arguments of pytest
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH PYTHONHOME
folder=$PWD/.packages

die() { printf 'packages: %s\n' "$*" >&2; exit 1; }

uv=$(command -v uv || command -v .venv/bin/uv) || die "needs uv: .venv/bin/python -m pip install -r tools/uv.txt"
[ -x "$folder/tools/bin/python" ] || "$uv" venv --quiet --python "$python" "$folder/tools"
"$uv" pip install --quiet --python "$folder/tools/bin/python" build check-wheel-contents hatchling twine ||
    die "not installed; the lines above say why"

rm -rf dist
for project in . src/entrolab; do  # the wheel is built from the sdist
    "$folder/tools/bin/python" -m build --no-isolation --outdir dist "$project" > "$folder/build.log" 2>&1 ||
        { cat "$folder/build.log" >&2; die "$project is not built"; }
done
"$folder/tools/bin/twine" check --strict dist/*
"$folder/tools/bin/check-wheel-contents" dist/*.whl
ls -l dist | awk 'NR > 1 { printf "packages: %s, %d kB\n", $NF, $5 / 1000 }'

for resolution in lowest-direct highest; do
    venv=$folder/$resolution
    rm -rf "$venv"
    "$uv" venv --quiet --python "$python" "$venv"
    "$uv" pip compile --quiet --resolution "$resolution" --python "$venv/bin/python" --no-emit-package entrolearn \
        --extra stream --extra dask pyproject.toml src/entrolab/pyproject.toml -o "$venv/versions.txt"
    "$uv" pip install --quiet --python "$venv/bin/python" --requirement "$venv/versions.txt" \
        array-api-strict hypothesis polars psutil pytest ||
        die "$resolution: not installed; the lines above say why"
    "$uv" pip install --quiet --python "$venv/bin/python" --no-deps dist/*.whl
    printf 'packages: %s: %s\n' "$resolution" \
        "$(grep -E '^(numpy|pandas|scikit-learn|scipy|mlflow|snakemake)==' "$venv/versions.txt" | tr '\n' ' ')"
    # The tests on devices need scikit-learn 1.8 or newer.
    "$venv/bin/python" -m pytest -q --import-mode=importlib "$@" --ignore tests/machines/test_device_fits.py \
        tests/test_sklearn_api.py tests/test_import.py tests/machines tests/sparse_svm tests/manifold tests/cluster \
        tests/networks tests/maxent tests/measures tests/metrics tests/streaming
    empty=$(mktemp -d)
    (cd "$empty" && "$venv/bin/entrolab" demo --cores 2) || die "$resolution: the demonstration failed in $empty"
    rm -rf "$empty"
done
