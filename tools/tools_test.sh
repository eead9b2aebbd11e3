#!/bin/sh
# Runs the tests of the learners in third-party tools, and of data from OpenML, with the newest packages compatible with
# requirements.lock, in a separate environment in .tools/. Run by `make tools-test`. Needs a package index.
#
#   $@   arguments of pytest
set -eu

cd "$(dirname "$0")/.."
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH PYTHONHOME
wanted="imbalanced-learn mapie mlflow optuna polars pyarrow river shap hypothesis matplotlib pytest"

die() { printf 'tools-test: %s\n' "$*" >&2; exit 1; }

uv=$(command -v uv || command -v .venv/bin/uv) || die "needs uv: .venv/bin/python -m pip install -r tools/uv.txt"
[ -x .tools/bin/python ] || "$uv" venv --quiet --python .venv/bin/python .tools
# shellcheck disable=SC2086  # the names are words
"$uv" pip install --quiet --python .tools/bin/python --constraint requirements.lock --editable . \
    --editable './src/entrolab[openml]' $wanted ||
    die "not installed; the lines above say why"
exec .tools/bin/python -m pytest -q --import-mode=importlib "$@" tests/interoperability
