#!/bin/sh
# A stranger's path, timed: a clone, the demo's report, a csv file of one's own in a table, as docs/tutorials say.
# Needs what `make env` needs. The folder is left behind, for a look at it.
#
#   tools/stranger.sh [folder]      (default: a new one under $TMPDIR)
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}/entrolearn
pages=$source/docs/tutorials

lap() {    # what was done since the last one
    now=$(date +%s)
    printf '%5d s  %s\n' $((now - begun)) "$1"
    begun=$now
}

# The blocks of a page that stand under a name: `stranger.sh` does what the page says, and cannot drift from it.
block() { awk -v name="$2" 'found && /^```$/ { exit } found && inside { print } /^```/ && found { inside = 1 }
    index($0, name) { found = 1 }' "$1"; }

start=$(date +%s)
begun=$start
git clone --quiet "$source" "$folder"
cd "$folder"
lap "git clone"
make env >/dev/null
lap "make env: the locked packages"
make demo >/dev/null 2>&1
lap "make demo: $(ls results/report/demo.html)"
. .venv/bin/activate
block "$pages/your-own-study.md" "this writes one" | python -
block "$pages/your-own-study.md" '`config/papers/my_learners.py`:' >config/papers/my_learners.py
block "$pages/your-own-study.md" '`config/papers/mine.yaml`:' >config/papers/mine.yaml
snakemake mine >/dev/null 2>&1
lap "a csv file of one's own: $(ls results/mine/tables/scores.html)"
printf '%5d s  together, in %s\n' $(($(date +%s) - start)) "$folder"
