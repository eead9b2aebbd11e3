#!/bin/sh
# Installs the peers that are not in the lock file (hpelm, python-picard and river, with those of their dependencies that
# .venv lacks; 0.3 GB) in .peers, a folder that `make bench` adds to PYTHONPATH. Run by `make peers`.
set -eu

cd "$(dirname "$0")/.."
folder=.peers
stamp=$folder/.entrolearn
wanted="hpelm==1.0.10 python-picard==0.8.2 river==0.26.1 numexpr==2.14.2 tables==3.11.1 blosc2==4.14.1 ndindex==1.10.1
    py-cpuinfo==9.0.0 fasteners==0.20 nose==1.3.7"
python=.venv/bin/python

die() { printf 'peers: %s\n' "$*" >&2; rm -rf "$folder"; exit 1; }

[ -x "$python" ] || { echo "peers: there is no .venv: make env" >&2; exit 1; }
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi
rm -rf "$folder"
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
uv=$(command -v uv || command -v .venv/bin/uv || true)

# shellcheck disable=SC2086  # the names are words
{ [ -n "$uv" ] && "$uv" pip install --quiet --python "$python" --target "$folder" --no-deps $wanted 2> /dev/null; } ||
    "$python" -m pip install --quiet --target "$folder" --no-deps $wanted || die "not installed; the lines above say why"
PYTHONPATH=$folder "$python" -W ignore -c "import hpelm, picard, river" || die "installed, but they cannot be imported"
printf '%s\n' "$wanted" > "$stamp"
