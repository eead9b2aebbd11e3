#!/bin/bash
# Times the steps from a clone to the demo's report and to a table of a user's CSV file, as in docs/tutorials.
# Needs what `make env` needs. The folder is kept for inspection.
#
#   tools/clone.sh [folder]      (default: a new temporary folder)
set -eu -o pipefail
unset PYTHONPATH

source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}/entrolearn
page=$source/docs/tutorials/your-own-study.md
# For each step, wall-clock seconds, and processor seconds, which do not depend on other load.
TIMEFORMAT='%0R s, %0U s of computing'

timed() {
    printf '%-44s' "$1"
    shift
    time "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
}

# Prints the code block of the page below a line that ends with $1, so that the documented commands are timed.
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
timed "a table with your own csv file and learner" own_study
echo "see $folder/results/report/index.html"
