#!/bin/sh
# Puts xRFM, a peer of recursive feature machines, into an environment of its own, on a processor's build of torch,
# which comes first: by itself pip would take the one for GPUs, of gigabytes. Run by `make xrfm`.
#
#   $1   the folder   (default: .xrfm)
set -eu

cd "$(dirname "$0")/.."
folder=${1:-.xrfm}
torch="torch==2.13.0"
wanted="xrfm==0.4.5"
stamp=$folder/.entrolearn

die() { printf 'xrfm: %s\n' "$*" >&2; rm -rf "$folder"; exit 1; }

[ -x .venv/bin/python ] || { echo "xrfm: there is no .venv: make env" >&2; exit 1; }
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$torch $wanted" ]; then exit 0; fi
rm -rf "$folder"
export UV_SYSTEM_CERTS=1 UV_NO_PROGRESS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m venv "$folder"
python=$folder/bin/python
uv=$(command -v uv || command -v .venv/bin/uv || true)
# uv knows where processors' builds are; pip finds them where its settings name a folder or an index of them.
{ [ -n "$uv" ] && "$uv" pip install --quiet --python "$python" --torch-backend cpu "$torch" 2> /dev/null; } ||
    "$python" -m pip install --quiet "$torch+cpu" || die "no torch for processors; the lines above say why"
"$python" -m pip install --quiet "$wanted" || die "not installed; the lines above say why"
"$python" -c 'import torch, xrfm; assert torch.version.cuda is None' || die "installed, but not for a processor"
printf '%s\n' "$torch $wanted" > "$stamp"
