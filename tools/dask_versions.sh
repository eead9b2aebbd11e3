#!/bin/sh
# Runs the tests of Dask collections with the oldest and the newest Dask that pyproject.toml allows, each in a separate
# environment in .dask/. Run by `make dask-versions`. Needs a package index.
#
#   PYTHON   the Python to build with   (default: .venv/bin/python)
#   $@       arguments of pytest
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
export PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH PYTHONHOME

die() { printf 'dask-versions: %s\n' "$*" >&2; exit 1; }

extra=$(sed -n 's/^dask = \["\(dask.*\)>=\([0-9.]*\)"\]$/\1 \2/p' pyproject.toml)
package=${extra% *} oldest=${extra#* }
[ -n "$extra" ] || die "pyproject.toml has no line such as: dask = [\"dask[...]>=2025.1\"]"

for wanted in "$package==$oldest" "$package"; do
    venv=.dask/$(if [ "$wanted" = "$package" ]; then echo newest; else echo oldest; fi)
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --upgrade "$wanted" hypothesis polars pytest --editable ".[stream]" ||
        die "$wanted is not installed; the lines above say why"
    printf 'dask-versions: %s\n' "$("$venv/bin/python" -m pip list 2>/dev/null |
        awk '$1 ~ /^(dask|distributed|pandas|pyarrow)$/ { printf "%s %s  ", $1, $2 }')"
    "$venv/bin/python" -m pytest -q --import-mode=importlib "$@" \
        tests/streaming/test_blocks.py tests/streaming/test_dask_cluster.py tests/streaming/test_dask_frames.py \
        tests/streaming/test_distributed.py
done
