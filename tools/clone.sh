#!/bin/bash
# The path from a clone, timed: the demo's report, a csv file of one's own in a table, as docs/tutorials say.
# Needs what `make env` needs. The folder is left behind, for a look at it.
#
#   tools/clone.sh [folder]      (default: a new one among the temporary files)
set -eu -o pipefail
unset PYTHONPATH

source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}/entrolearn
page=$source/docs/tutorials/your-own-study.md
# Of each step, seconds by the clock, and of computing: these are the same on a busy machine.
TIMEFORMAT='%0R s, %0U s of computing'

timed() {
    printf '%-44s' "$1"
    shift
    time "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
}

# The block of the page below a line that ends so: what is timed is what the page says.
block() {
    awk -v end="$1" 'shown && /^```$/ { exit } shown { print } found && /^```/ { shown = 1 }
        substr($0, length($0) - length(end) + 1) == end { found = 1 }' "$page"
}

own_study() {
    . .venv/bin/activate
    block "measurements each:" | python -
    block '`config/papers/my_learners.py`:' >config/papers/my_learners.py
    block '`config/papers/mine.yaml`:' >config/papers/mine.yaml
    snakemake mine
    test -s results/mine/tables/scores.html
}

mkdir -p "$(dirname "$folder")"
uname -m -s && nproc --all | sed 's/$/ cores/'
timed "git clone" git clone "$source" "$folder"
cd "$folder"
timed "make env: the locked packages" make env
timed "make demo: the report of the demo" make demo
timed "one's own csv file and learner in a table" own_study
echo "see $folder/results/report/index.html"
