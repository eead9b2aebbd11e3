#!/bin/sh
# Creates .venv from requirements.lock, with entrolearn and entrolab as editable installs. Run by `make env`; returns at
# once if .venv is up to date. Needs Python and the standard tools of Linux or macOS.
#
#   PYTHON                the Python to build with            (default: the first suitable candidate)
#   ENTROLEARN_INSTALLER  uv or pip                           (default: uv, then pip if uv fails; uv does not read pip's
#                                                              settings, so use pip on a site with its own index)
set -u

oldest=3.11
candidates="python3.11 python3 python3.12 python3.13 python3.14"
space_mib=1200          # size of a finished environment

cd "$(dirname "$0")/.." || exit 1
venv=$PWD/.venv
python=$venv/bin/python
stamp=$venv/.entrolearn          # checksums of the files that the finished environment was made from
unfinished=$venv/.unfinished     # id of the process that is creating it; left behind if interrupted
log=$venv/install.log
installer=${ENTROLEARN_INSTALLER:-uv}
# Only wheels, except for the one package without wheels, which is built with the tools pinned in tools/build.txt.
wheels="--only-binary :all: --no-binary connection-pool --no-build-isolation"

export UV_SYSTEM_CERTS=1 UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
# Settings that would install packages outside .venv, or add other packages.
unset PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_HASHES

say() { printf 'environment: %s\n' "$*"; }
die() { printf 'environment: %s\n' "$*" >&2; exit 1; }

version_of() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null; }
new_enough() { "$1" -c "import sys; sys.exit(sys.version_info[:2] < tuple(map(int, '$oldest'.split('.'))))" 2>/dev/null; }
machine_has_uv() { [ "$installer" = uv ] && uv --version >/dev/null 2>&1; }

# ---- the existing environment -------------------------------------------------------------------------------------

wanted() { printf '%s\n' "$venv"; cksum requirements.lock pyproject.toml src/entrolab/pyproject.toml; }

finished() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(wanted)" ]; }

# Prints why the existing .venv cannot be updated; nothing if it can.
flaw() {
    if [ -f "$unfinished" ]; then
        echo "an earlier attempt was interrupted"
    elif ! [ -x "$python" ] || ! new_enough "$python"; then
        echo "its Python is gone, broken or older than $oldest"
    elif [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" != "$venv" ]; then
        echo "the folder was moved"
    elif [ -n "${PYTHON:-}" ] && [ "$(version_of "$PYTHON")" != "$(version_of "$python")" ]; then
        echo "it has Python $(version_of "$python"), PYTHON=$PYTHON is $(version_of "$PYTHON")"
    fi
}

# ---- the Python to use --------------------------------------------------------------------------------------------

find_python() {
    found=
    without_venv=
    for candidate in ${PYTHON:-$candidates}; do
        version=$(version_of "$candidate") || continue
        if ! new_enough "$candidate"; then
            found="$found $candidate is $version,"
            continue
        fi
        # The base interpreter of an activated environment, which may be the one that is being replaced.
        base=$("$candidate" -c 'import sys; print(sys._base_executable)')
        machine_has_uv && return
        "$base" -c 'import venv, ensurepip' 2>/dev/null && return
        without_venv=$base
    done
    [ -z "$without_venv" ] ||
        die "$without_venv has no venv or no ensurepip module. On Debian or Ubuntu: apt install python3-venv"
    machine_has_uv && base=$(uv python find ">=$oldest" 2>/dev/null) && return
    die "entrolearn needs Python $oldest or newer;${found:- no Python was found,} looked for: ${PYTHON:-$candidates}." \
        "Install one, or name it: make env PYTHON=/path/to/python$oldest"
}

free_mib() { df -Pk . | awk 'NR == 2 { print int($4 / 1024) }'; }

need_space() {
    [ "$(free_mib)" -ge "$space_mib" ] ||
        die "$PWD has $(free_mib) MiB free and .venv takes up to $space_mib: make room, then run this again"
}

# ---- creating it --------------------------------------------------------------------------------------------------

start_venv() {
    rm -rf "$venv" && mkdir "$venv" && echo $$ >"$unfinished" || die "cannot write $venv"
    machine_has_uv && uv venv --allow-existing --python "$base" "$venv" >"$log" 2>&1 && return
    "$base" -m venv "$venv" >"$log" 2>&1 || die "$base -m venv failed: $(reason)"
}

# An environment created by uv has no pip.
has_pip() { "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip; }

with_uv() {
    if machine_has_uv; then
        uv=uv
    else
        uv=$venv/bin/uv
        [ -x "$uv" ] ||
            { has_pip && "$python" -m pip install --only-binary :all: --require-hashes -r tools/uv.txt; } || return 1
    fi
    "$uv" pip install --python "$python" --only-binary :all: --require-hashes -r tools/build.txt || return 1
    # Compile now: jobs then import in a third of the time, also if .venv is read-only for them.
    "$uv" pip install --compile-bytecode --python "$python" $wheels --require-hashes -r requirements.lock &&
        "$uv" pip install --python "$python" --no-deps --no-build-isolation -e . -e src/entrolab
}

with_pip() {
    has_pip &&
        "$python" -m pip install --only-binary :all: --require-hashes -r tools/build.txt &&
        "$python" -m pip install --use-pep517 $wheels --require-hashes -r requirements.lock &&
        "$python" -m pip install --no-deps --no-build-isolation -e . -e src/entrolab
}

install() {
    if [ "$installer" = uv ]; then
        with_uv >"$log" 2>&1 && return
        say "uv failed ($(reason)); trying pip, which takes a minute or two"
        mv "$log" "$log.uv"
    fi
    with_pip >"$log" 2>&1
}

# Prints the reason of a failed installation, from its log, in one line.
reason() {
    says() { grep -q -i -E "$1" "$log"; }
    if says 'no space left|disk quota' || [ "$(free_mib)" -lt 10 ]; then    # the log itself may be truncated
        echo "the disk is full (.venv takes up to $space_mib MiB; downloads are kept under your home folder)"
    elif says 'certificate'; then
        echo "the package index's certificate is not trusted: name your site's in SSL_CERT_FILE and PIP_CERT"
    elif says 'name resolution|resolve host|dns error|connection refused|unreachable|timed out|NewConnectionError|error sending request'; then
        echo "the package index cannot be reached: check the network, and your proxy and pip settings"
    elif says 'do not match the hashes|hash mismatch'; then
        echo "a downloaded package is not the one that requirements.lock pins: try again, or use another mirror"
    else
        grep -i 'error' "$log" | tail -n 1 | grep . || tail -n 1 "$log"
    fi
}

# ---- main ---------------------------------------------------------------------------------------------------------

case $installer in uv | pip) ;; *) die "ENTROLEARN_INSTALLER=$installer: it is uv or pip" ;; esac
[ -z "${PYTHON:-}" ] || new_enough "$PYTHON" ||
    die "PYTHON=$PYTHON is $(version_of "$PYTHON" || echo 'no Python that runs'); entrolearn needs $oldest or newer"
maker=$(cat "$unfinished" 2>/dev/null) && kill -0 "$maker" 2>/dev/null &&
    die "process $maker is making .venv: wait for it (or, if that is something else, remove .venv)"

begun=$(date +%s)
if [ -e "$venv" ] && [ -z "$(flaw)" ]; then
    finished && exit 0
    say "bringing .venv up to requirements.lock"
    echo $$ >"$unfinished" || die "cannot write $venv"
else
    find_python
    need_space
    if [ -e "$venv" ]; then say "making .venv anew: $(flaw)"; fi
    say "installing the locked packages into .venv with $base ($(version_of "$base")) and $installer, in a minute or two"
    start_venv
fi
if ! install; then
    why=$(reason)
    # Both installers download everything before they change .venv, so without a network it is unchanged.
    case $why in *"cannot be reached"*) [ -f "$stamp" ] && rm -f "$unfinished" ;; esac
    die "not installed: $why. The whole story: $log"
fi
wanted >"$stamp" && rm -f "$unfinished" || die "cannot write $stamp"
say "ready after $(($(date +%s) - begun)) s ('. .venv/bin/activate' puts snakemake and the rest on your PATH)"
