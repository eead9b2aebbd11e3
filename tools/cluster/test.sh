#!/bin/sh
# The demonstration study twice: on this machine, and by Snakemake's executor through a Slurm that is started for it on the
# loopback address, one of whose nodes dies on the way. Run by `make cluster-test`, as root, on Debian or Ubuntu; ends with
# 0 if both came to the same tables, bit by bit. Installs Slurm and munge where they are absent, and leaves nothing else.
#
#   KEEP=1   keep the scratch folder, and say where it is; that of a test that fails is kept anyhow
set -u

cd "$(dirname "$0")/../.." || exit 1
root=$PWD
conf=/etc/slurm/slurm.conf       # where the steps of a job look: srun passes no SLURM_CONF on
cluster=entrolearn$$             # in the environment of all that our jobs start, and of nothing else
study=demo
timed=demo_times                 # the table of seconds
finished_before_kill=4           # runs that are trained when the node dies

say() { printf 'cluster-test: %s\n' "$*"; }
die() { printf 'cluster-test: %s\n' "$*" >&2; exit 1; }

export PATH="$root/.venv/bin:$PATH:/usr/sbin:/sbin"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MLFLOW_DISABLE_TELEMETRY=true
# What would send runs, settings or packages elsewhere.
unset MLFLOW_TRACKING_URI SNAKEMAKE_PROFILE SLURM_CONF PYTHONPATH

# ---- the machine --------------------------------------------------------------------------------------------------

[ "$(id -u)" = 0 ] || die "needs root, who starts Slurm's daemons"
[ -x .venv/bin/snakemake ] || die "there is no .venv: make cluster-test makes it"
if [ -e "$conf" ] || [ -L "$conf" ]; then
    die "$conf is there: this machine has a Slurm of its own, which is left alone"
fi

install_slurm() {
    for program in slurmctld slurmd munged sbatch squeue; do
        command -v $program >/dev/null || missing=$program
    done
    [ -n "${missing:-}" ] || return 0
    command -v apt-get >/dev/null || die "$missing is absent, and so is apt-get: install Slurm and munge"
    say "installing slurm-wlm and munge"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge; } \
        >"$scratch/apt.log" 2>&1 || die "apt-get failed: $(tail -n 1 "$scratch/apt.log")"
}

# ---- a Slurm of one node ------------------------------------------------------------------------------------------

free_ports() {
    python -c 'import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(one.getsockname()[1] for one in held))'
}

start_slurm() {
    slurm=$scratch/slurm
    mkdir -p "$slurm/state" "$slurm/spool" /etc/slurm
    node=$(hostname -s)
    # shellcheck disable=SC2046
    set -- $(free_ports)
    cpus=$(getconf _NPROCESSORS_ONLN)      # nproc would count OMP_NUM_THREADS
    [ "$cpus" -gt 1 ] || cpus=2             # which a group of jobs asks for
    mib=$(awk '/^MemTotal/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
    sed -e "s|@CLUSTER@|$cluster|; s|@HOST@|$node|; s|@FOLDER@|$slurm|; s|@CONTROLLER@|$1|; s|@DAEMON@|$2|" \
        -e "s|@CPUS@|$cpus|; s|@MEMORY@|$mib|" tools/cluster/slurm.conf >"$slurm/slurm.conf"
    (umask 077 && head -c 1024 /dev/urandom >"$slurm/munge.key")
    munged --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" \
        --log-file="$slurm/munged.log" --seed-file="$slurm/munged.seed" || die "munged did not start"
    ln -s "$slurm/slurm.conf" "$conf" && linked=1
    slurmctld || die "slurmctld did not start: $slurm/slurmctld.log"
    start_node
    waiting_for 60 "the node to be idle" node_is idle
}

start_node() { slurmd -N "$node" || die "slurmd did not start: $slurm/slurmd.log"; }
node_is() { case $(sinfo -h -o %t) in "$1"*) true ;; *) false ;; esac; }

# waiting_for SECONDS WHAT COMMAND...: until the command succeeds.
waiting_for() {
    left=$1 what=$2
    shift 2
    until "$@"; do
        left=$((left - 1))
        [ $left -gt 0 ] || die "waited in vain for $what; logs in $scratch"
        sleep 1
    done
}

# Processes of jobs, and those of Slurm above them.
of_jobs() { grep -lzx "SLURM_CLUSTER_NAME=$cluster" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3; }
steps() {
    for process in $(of_jobs); do
        parent=$(ps -o ppid= -p "$process" | tr -d ' ')
        case $(cat "/proc/$parent/comm" 2>/dev/null) in slurmstepd*) echo "$parent" ;; esac
    done | sort -u
}

# As when its power fails: the daemon first, then all that it has started.
kill_node() {
    kill -9 "$(cat "$slurm/slurmd.pid")"
    # shellcheck disable=SC2046
    kill -9 $(steps) $(of_jobs) 2>/dev/null
}

# ---- in order -----------------------------------------------------------------------------------------------------

finish() {
    status=$?
    trap - EXIT INT TERM
    [ -z "${running:-}" ] || kill -9 "$running" 2>/dev/null
    if [ -n "${linked:-}" ]; then
        scancel --quiet --user root 2>/dev/null
        kill_node 2>/dev/null
        for daemon in slurmctld munged; do
            kill "$(cat "$slurm/$daemon.pid")" 2>/dev/null
        done
        rm -f "$conf"
    fi
    if [ -n "${KEEP:-}" ] || [ $status -ne 0 ]; then say "kept: $scratch"; else rm -rf "$scratch"; fi
    exit $status
}

scratch=$(mktemp -d) && chmod 711 "$scratch" || exit 1      # munge asks that its socket can be reached
trap finish EXIT
trap 'exit 130' INT TERM
install_slurm
tools/executors.sh "$scratch/executors" || exit 1
mkdir "$scratch/local" "$scratch/slurm.run"

say "the study on this machine"
begun=$(date +%s)
snakemake --directory "$scratch/local" $study >"$scratch/local.log" 2>&1 ||
    die "the run on this machine failed: $scratch/local.log"
local_seconds=$(($(date +%s) - begun))

say "the study through Slurm"
start_slurm
begun=$(date +%s)
# No accounting here, so Slurm's own list of jobs is asked, and soon: jobs are short.
PYTHONPATH=$scratch/executors snakemake --profile workflow/profiles/slurm --slurm-status-command squeue \
    --slurm-init-seconds-before-status-checks 5 --directory "$scratch/slurm.run" $study >"$scratch/slurm.log" 2>&1 &
running=$!

trained() { find "$scratch/slurm.run/results/$study/seed0/records" -name '*.json' 2>/dev/null | wc -l; }
training() { kill -0 $running && [ "$(trained)" -ge $finished_before_kill ] && squeue -h -t R -o %j | grep -q . && [ -n "$(steps)" ]; }
waiting_for 1800 "$finished_before_kill trained runs" training
hit=$(squeue -h -t R -o %i | tr '\n' ' ')
kill_node
say "$(trained) runs are trained; killed the node with its jobs ${hit% }"
waiting_for 300 "Slurm to miss the node" node_is down
requeued=$(for job in $hit; do scontrol show job "$job" | grep -c 'Restarts=[1-9]'; done | awk '{ n += $1 } END { print n + 0 }')
[ "$requeued" -gt 0 ] || die "no job was queued again: the kill has shown nothing"
say "Slurm has queued $requeued of them again; starting the node"
start_node
wait $running
status=$?
running=
[ $status -eq 0 ] || die "the run through Slurm failed: $scratch/slurm.log"
slurm_seconds=$(($(date +%s) - begun))
jobs=$(grep -c 'has been submitted with SLURM jobid' "$scratch/slurm.log")

say "comparing"
python tools/cluster/compare.py "$scratch/local" "$scratch/slurm.run" --seconds $timed || die "FAILED: the runs differ"
say "PASSED: tables, figures and scores are equal to the bit ($local_seconds s on this machine;" \
    "$slurm_seconds s as $jobs jobs of Slurm, a dead node among them)"
