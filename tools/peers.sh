#!/bin/sh
# Puts npeet-plus and bmi, peers of the estimators of mutual information, into an environment of their own, because bmi
# takes neither NumPy 2 nor Python 3.13. Run by `make peers`.
#
#   $1   the folder   (default: .peers)
set -eu

cd "$(dirname "$0")/.."
folder=${1:-.peers}
# Newer versions of jax lack what bmi's equinox asks for.
wanted="npeet-plus==0.2.0 benchmark-mi==0.1.3 jax==0.4.31 jaxlib==0.4.31"
stamp=$folder/.entrolearn

die() { printf 'peers: %s\n' "$*" >&2; exit 1; }

[ -x .venv/bin/python ] || die "there is no .venv: make env"
.venv/bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 13))' ||
    die "bmi needs Python 3.9 to 3.12, and .venv has a newer one: make env PYTHON=python3.12 in another clone"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi
rm -rf "$folder"
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
uv=$(command -v uv || command -v .venv/bin/uv || true)
# shellcheck disable=SC2086  # the names are words
if [ -z "$uv" ] || ! { "$uv" venv --quiet --python .venv/bin/python "$folder" &&
    "$uv" pip install --quiet --python "$folder/bin/python" $wanted; }; then
    rm -rf "$folder"
    .venv/bin/python -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet $wanted || { rm -rf "$folder"; die "not installed; the lines above say why"; }
fi
"$folder/bin/python" -c 'import bmi, npeet_plus' || die "installed, but they cannot be imported"
printf '%s\n' "$wanted" > "$stamp"
