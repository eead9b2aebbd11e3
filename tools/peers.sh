#!/bin/sh
# Installs peers of the learners, which are not in the lock file, in .peers/NAME. Run by `make peers`.
#
#   $1   learners (default): hpelm, python-picard, abess and river, in a folder that `make bench` adds to PYTHONPATH
#                            (0.3 GB)
#        information:        npeet-plus and bmi, in a separate environment, because bmi supports neither NumPy 2 nor Python
#                            3.13 (0.7 GB)
set -eu

cd "$(dirname "$0")/.."
name=${1:-learners}
folder=.peers/$name
stamp=$folder/.entrolearn
case $name in
learners)  # with those of their dependencies that .venv lacks
    wanted="hpelm==1.0.10 python-picard==0.8.2 abess==0.4.11 river==0.26.1 numexpr==2.14.2 tables==3.11.1 blosc2==4.14.1
        ndindex==1.10.1 py-cpuinfo==9.0.0 fasteners==0.20 nose==1.3.7"
    imported="hpelm, picard, abess, river" ;;
information)  # newer versions of jax are not compatible with bmi's equinox
    wanted="npeet-plus==0.2.0 benchmark-mi==0.1.3 jax==0.4.31 jaxlib==0.4.31"
    imported="bmi, npeet_plus" ;;
*)  echo "peers: no peers '$name'; accepted: learners, information" >&2; exit 1 ;;
esac

die() { printf 'peers: %s\n' "$*" >&2; rm -rf "$folder"; exit 1; }

[ -x .venv/bin/python ] || { echo "peers: there is no .venv: make env" >&2; exit 1; }
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi
rm -rf "$folder"
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
uv=$(command -v uv || command -v .venv/bin/uv || true)

install() {  # with arguments that uv and pip both accept
    { [ -n "$uv" ] && "$uv" pip install --quiet --python "$python" "$@" 2> /dev/null; } ||
        "$python" -m pip install --quiet "$@" || die "not installed; the lines above say why"
}

if [ "$name" = learners ]; then
    python=.venv/bin/python
    # shellcheck disable=SC2086  # the names are words
    install --target "$folder" --no-deps $wanted
    PYTHONPATH=$folder "$python" -W ignore -c "import $imported" || die "installed, but they cannot be imported"
else
    .venv/bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 13))' ||
        die "bmi needs Python 3.9 to 3.12, and .venv has a newer one: make env PYTHON=python3.12 in another clone"
    .venv/bin/python -m venv "$folder"
    python=$folder/bin/python
    # shellcheck disable=SC2086  # the names are words
    install $wanted
    "$python" -W ignore -c "import $imported" || die "installed, but they cannot be imported"
fi
printf '%s\n' "$wanted" > "$stamp"
