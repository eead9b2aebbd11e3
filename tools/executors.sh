#!/bin/sh
# Installs Snakemake's executors for Slurm and Kubernetes, pinned by tools/executors.txt, in a folder next to .venv. Run by
# `make executors`. They are not in .venv, because every start of Snakemake imports all plugins that it finds there.
#
#   $1   the folder   (default: .executors); add it to PYTHONPATH
set -eu

cd "$(dirname "$0")/.."
folder=${1:-.executors}
lock=tools/executors.txt
stamp=$folder/.entrolearn

die() { printf 'executors: %s\n' "$*" >&2; exit 1; }

[ -x .venv/bin/python ] || die "there is no .venv: make env"
if [ -f "$stamp" ] && cmp -s "$stamp" "$lock"; then exit 0; fi
rm -rf "$folder"
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
uv=$(command -v uv || command -v .venv/bin/uv || true)
# Dependencies that the plugins share with the workflow are in .venv already.
if [ -z "$uv" ] || ! "$uv" pip install --quiet --python .venv/bin/python --target "$folder" --no-deps --require-hashes \
    --compile-bytecode -r "$lock"; then
    .venv/bin/python -m pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip >/dev/null
    .venv/bin/python -m pip install --quiet --target "$folder" --no-deps --require-hashes -r "$lock" ||
        die "not installed; the lines above say why"
fi
cp "$lock" "$stamp"
