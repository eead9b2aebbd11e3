#!/bin/sh
# Installs the peers of `python -m benchmarks.board` in a separate environment that also sees the packages of .venv. The
# CPU build of torch is installed first: pip would choose the build for GPUs, which has gigabytes. Run by `make board-env`.
#
#   $1   the folder   (default: .board)
set -eu

cd "$(dirname "$0")/.."
folder=${1:-.board}
torch="torch==2.13.0"
wanted="lightgbm==4.7.0 catboost==1.2.10 xgboost-cpu==3.2.0 skglm==0.5 numba==0.68.1 xrfm==0.4.5"
stamp=$folder/.entrolearn

die() { printf 'board: %s\n' "$*" >&2; rm -rf "$folder"; exit 1; }

[ -x .venv/bin/python ] || { echo "board: there is no .venv: make env" >&2; exit 1; }
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$torch $wanted" ]; then exit 0; fi
rm -rf "$folder"
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m venv "$folder"
python=$folder/bin/python
of_venv=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf 'import site; site.addsitedir("%s")\n' "$of_venv" > "$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth"
# Packages of .venv, such as scikit-learn and numpy, must not be replaced.
.venv/bin/python -c 'from importlib.metadata import distributions as d
print(*(f"{one.name}=={one.version}" for one in d() if not one.name.startswith("entrol")), sep="\n")' > "$folder/present.txt"
uv=$(command -v uv || command -v .venv/bin/uv || true)
# uv knows the index of CPU builds; pip finds them only if its settings name a folder or an index with them.
{ [ -n "$uv" ] && "$uv" pip install --quiet --python "$python" --torch-backend cpu -c "$folder/present.txt" "$torch" \
    2> /dev/null; } ||
    "$python" -m pip install --quiet -c "$folder/present.txt" "$torch+cpu" || die "no torch for processors; the lines above say why"
# shellcheck disable=SC2086  # the names are words
"$python" -m pip install --quiet -c "$folder/present.txt" $wanted || die "not installed; the lines above say why"
"$python" -c 'import catboost, lightgbm, skglm, torch, xgboost, xrfm; assert torch.version.cuda is None' ||
    die "installed, but not all can be imported, or not for a processor"
printf '%s\n' "$torch $wanted" > "$stamp"
