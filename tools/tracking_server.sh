#!/bin/sh
# A team's tracking server on this machine: MLflow with its own PostgreSQL, both on the loopback address, with all their
# files in one folder. Run by `make server`; docs/tracking.md says what a server for more than one machine needs.
#
#   tracking_server.sh start | stop | status | import STORE
#
#   start    create both if needed, start them, and print the setting that sends runs there
#   stop     stop both; their data are kept
#   status   exit status 0 if they run, 3 if not
#   import   copy a SQLite store (mlflow.db) and its artifacts to the running server, which must have no runs
#
#   SERVER         the folder of all data            (default: tracking-server in the checkout)
#   PORT           MLflow's port                     (default: 5000)
#   DATABASE_PORT  PostgreSQL's port                 (default: 5440)
#   WORKERS        processes of MLflow's             (default: 4)
#   PYTHON         the Python that has mlflow        (default: the one of .venv)
set -u

checkout=$(cd "$(dirname "$0")/.." && pwd) || exit 1
python=${PYTHON:-$checkout/.venv/bin/python}
port=${PORT:-5000}
database_port=${DATABASE_PORT:-5440}
workers=${WORKERS:-4}
folder=${SERVER:-$checkout/tracking-server}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
postgres_user=postgres           # user that runs PostgreSQL if root starts it, since it refuses to run as root

cluster=$folder/postgresql       # PostgreSQL's files, log and socket
passwords=$folder/pgpass         # libpq's password file, so that no command, address or variable contains the password
artifacts=$folder/artifacts
running=$folder/running          # process, port and database port of what was started
log=$folder/mlflow.log
seconds=120                      # timeout for MLflow, whose first start creates its tables

say() { printf 'tracking server: %s\n' "$*"; }
die() { printf 'tracking server: %s\n' "$*" >&2; exit 1; }

is_root() { [ "$(id -u)" = 0 ]; }

# PostgreSQL's programs are run by a user other than root, from a folder that this user can enter.
as_postgres() (
    cd / || exit 1
    if is_root; then runuser -u "$postgres_user" -- "$@"; else "$@"; fi
)

# ---- the existing server ------------------------------------------------------------------------------------------

# Debian installs the programs of each version outside PATH; data need the version that created them.
find_postgresql() {
    wanted=
    if [ -f "$folder/version" ]; then wanted=$(cat "$folder/version"); fi
    for bin in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t / -k 5 -n -r) "$(dirname "$(command -v pg_ctl)")"; do
        [ -x "$bin/pg_ctl" ] && [ -x "$bin/initdb" ] || continue
        version=$("$bin/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
        if [ -z "$wanted" ] || [ "$wanted" = "$version" ]; then return; fi
    done
    [ -z "$wanted" ] ||
        die "$folder was made by PostgreSQL $wanted, which is not here: apt install postgresql-$wanted, or dump it" \
            "there and restore it here (pg_dump, pg_restore)"
    die "no PostgreSQL: apt install postgresql (Debian, Ubuntu)"
}

is_port() { case $1 in '' | *[!0-9]* | ??????*) false ;; *) [ "$1" -ge 1 ] && [ "$1" -le 65535 ] ;; esac; }

is_free() { "$python" -c 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1]))).close()' "$1" 2>/dev/null; }

# The process id in the file may belong to another program by now.
mlflow_runs() {
    [ -f "$running" ] && read -r process its_port its_database_port <"$running" &&
        ps -o args= -p "$process" 2>/dev/null | grep -q mlflow
}

database_runs() { [ -d "$cluster" ] && as_postgres "$bin/pg_ctl" status -s -D "$cluster" >/dev/null 2>&1; }

check_settings() {
    "$python" -c '' 2>/dev/null || die "$python is no Python that runs: make env (or name one in PYTHON)"
    for name in mlflow psycopg2; do
        "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$name') is None)" ||
            die "$python has no $name: make env, or pip install 'entrolab[server]'"
    done
    is_port "$port" || die "PORT=$port: a port is a number from 1 to 65535"
    is_port "$database_port" || die "DATABASE_PORT=$database_port: a port is a number from 1 to 65535"
    case $workers in '' | *[!0-9]* | 0*) die "WORKERS=$workers: it is a whole number, at least 1" ;; esac
    [ "$port" != "$database_port" ] || die "PORT and DATABASE_PORT are both $port: they differ"
    case $folder in *[\'\ ]*) die "SERVER=$folder: a path without spaces and quotes" ;; esac
    socket=$cluster/.s.PGSQL.$database_port
    [ "${#socket}" -le 107 ] || die "SERVER=$folder is too long a path for PostgreSQL's socket: one of at most 80 letters"
    if is_root; then
        command -v runuser >/dev/null || die "PostgreSQL refuses to run as root, and there is no runuser: start it as another user"
        id "$postgres_user" >/dev/null 2>&1 || die "PostgreSQL refuses to run as root, and there is no user $postgres_user:" \
            "apt install postgresql, or start it as another user"
    fi
}

# ---- creating it --------------------------------------------------------------------------------------------------

make_folder() {
    mkdir -p "$folder" "$artifacts" && chmod 700 "$artifacts" || die "cannot write $folder"
    # PostgreSQL's user may enter the folder to reach its own files; all other files are closed to it.
    if is_root; then chmod 711 "$folder"; else chmod 700 "$folder"; fi
    as_postgres test -x "$folder" ||
        die "the user $postgres_user, who runs PostgreSQL for root, cannot enter $folder: name another folder in SERVER"
}

# Created in a temporary folder and renamed when complete, with MLflow's database and a role without rights outside it.
# TCP connections need a password; socket connections are authenticated by the system user.
make_cluster() {
    unfinished=$cluster.$$
    umask 077
    password=$("$python" -c 'import secrets; print(secrets.token_urlsafe(32))') || die "no password could be made"
    printf '127.0.0.1:*:mlflow:mlflow:%s\n' "$password" >"$passwords" || die "cannot write $passwords"
    mkdir "$unfinished" || die "cannot write $folder"
    if is_root; then chown "$postgres_user" "$unfinished" || die "cannot give $unfinished to $postgres_user"; fi
    {
        # No locale, so that texts are sorted as in SQLite.
        as_postgres "$bin/initdb" -D "$unfinished" --auth-local=peer --auth-host=scram-sha-256 --encoding=UTF8 --no-locale &&
            printf '%s\n' "CREATE ROLE mlflow LOGIN PASSWORD '$password'" 'CREATE DATABASE mlflow OWNER mlflow' |
                as_postgres "$bin/postgres" --single -D "$unfinished" postgres
    } >"$folder/initdb.log" 2>&1 && ! grep -q -E 'ERROR|FATAL|PANIC' "$folder/initdb.log" ||
        { rm -rf "$unfinished"; die "PostgreSQL could not make its files: $(last_line "$folder/initdb.log")"; }
    printf '%s\n' "$version" >"$folder/version" && mv "$unfinished" "$cluster" || die "cannot write $folder"
}

last_line() { grep . "$1" 2>/dev/null | tail -n 1; }

# ---- starting -----------------------------------------------------------------------------------------------------

start_database() {
    # Each process of MLflow uses up to 15 connections.
    as_postgres "$bin/pg_ctl" start -s -w -t "$seconds" -D "$cluster" -l "$cluster/server.log" -o "-p $database_port \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories=$cluster -c max_connections=$((15 * workers + 40))" ||
        die "PostgreSQL does not start: $(as_postgres tail -n 1 "$cluster/server.log")"
}

# MLflow runs in a new session, so that it outlives the terminal and can be stopped with all its processes. By default,
# uvicorn kills a worker that is busy for 5 s, which happens with 64 writers. Clients may not set a folder of the server's
# machine for artifacts.
start_mlflow() {
    : >"$log"
    PGPASSFILE=$passwords MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false MLFLOW_ARTIFACT_LOCATION_MAX_LENGTH=0 \
        MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true \
        "$python" -c 'import os, sys; os.setsid(); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])' \
        -m mlflow server --backend-store-uri "$database" --artifacts-destination "$artifacts" \
        --host 127.0.0.1 --port "$port" --allowed-hosts "127.0.0.1:$port,localhost:$port" --workers "$workers" \
        --uvicorn-opts "--log-level warning --timeout-worker-healthcheck 600 --timeout-keep-alive 60" \
        </dev/null >>"$log" 2>&1 &
    process=$!
    printf '%s %s %s\n' "$process" "$port" "$database_port" >"$running"
    waited=0
    until answers; do
        waited=$((waited + 1))
        if ! kill -0 "$process" 2>/dev/null || [ "$waited" -gt "$seconds" ]; then
            why=$(grep -E 'Error|Exception|error' "$log" | tail -n 1)
            stop_all
            die "MLflow does not start: ${why:-$(last_line "$log")} (the whole story: $log)"
        fi
        sleep 1
    done
}

answers() {
    "$python" -c 'import sys, urllib.request as web
open = web.build_opener(web.ProxyHandler({})).open
sys.exit(open(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=5).status != 200)' "$port" 2>/dev/null
}

start() {
    check_settings
    find_postgresql
    if mlflow_runs && database_runs; then
        port=$its_port
        say "runs already: http://127.0.0.1:$port, its data in $folder"
    else
        stop_all                # stop the remains of a killed server
        is_free "$port" || die "port $port, for MLflow, is taken; another: PORT=5001"
        is_free "$database_port" || die "port $database_port, for PostgreSQL, is taken; another: DATABASE_PORT=5441"
        make_folder
        [ -d "$cluster" ] || make_cluster
        start_database
        database=postgresql://mlflow@127.0.0.1:$database_port/mlflow
        start_mlflow
        say "runs: http://127.0.0.1:$port, its data in $folder"
    fi
    say "to log there, and to read:"
    printf 'export MLFLOW_TRACKING_URI=http://127.0.0.1:%s\n' "$port"
}

# ---- stopping -----------------------------------------------------------------------------------------------------

stop_all() {
    if mlflow_runs; then
        kill -s TERM -- "-$process" 2>/dev/null
        waited=0
        while kill -s 0 -- "-$process" 2>/dev/null; do
            waited=$((waited + 1))
            [ "$waited" -le 20 ] || kill -s KILL -- "-$process" 2>/dev/null
            sleep 1
        done
    fi
    rm -f "$running"
    if database_runs; then
        as_postgres "$bin/pg_ctl" stop -s -m fast -w -t "$seconds" -D "$cluster" || die "PostgreSQL does not stop: $cluster"
    fi
}

# ---- main ---------------------------------------------------------------------------------------------------------

case ${1:-}:$# in
start:1)
    start
    ;;
stop:1)
    [ -d "$cluster" ] || die "there is none in $folder"
    find_postgresql
    stop_all
    say "stopped; what it keeps stays in $folder"
    ;;
status:1)
    [ -d "$cluster" ] || { say "there is none in $folder"; exit 3; }
    find_postgresql
    mlflow_runs && mlflow=yes || mlflow=no
    database_runs && postgresql=yes || postgresql=no
    say "MLflow runs: $mlflow, PostgreSQL runs: $postgresql; data in $folder"
    [ "$mlflow$postgresql" = yesyes ] || exit 3
    printf 'export MLFLOW_TRACKING_URI=http://127.0.0.1:%s\n' "$its_port"
    ;;
import:2)
    find_postgresql
    mlflow_runs && database_runs || die "not running in $folder: start it first"
    PGPASSFILE=$passwords exec "$python" -m entrolab.tracking.moving "$2" \
        "postgresql://mlflow@127.0.0.1:$its_database_port/mlflow" "$artifacts"
    ;;
*)
    die "usage: $0 start | stop | status | import STORE"
    ;;
esac
