# Start with `make demo` and `make test`; `make` lists all targets. The workflow itself is run by Snakemake; these targets
# set up the environment and run common commands. ARGS="..." adds arguments to the program that demo, report, test, bench,
# stranger, screenshots and lock run.

PORT ?= 5000
# Duration, seed and number of processes of `make fuzz`; CASE='{...}' checks one case only.
SECONDS ?= 3600
SEED ?= 0
JOBS ?= 2
# The table that `make faults` writes.
FAULTS ?= results/faults.md
# The number of seeds, from 0, with which `make seeds` makes tables.
SEEDS ?= 5
STORE := mlflow.db
PLAYWRIGHT := playwright==1.65.2

# Jobs find python and tools of .venv first, whether it is activated or not.
IN_ENV := PATH="$$PWD/.venv/bin:$$PATH"
# Tests run in parallel, with one thread per process.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Disable MLflow's usage reports.
export MLFLOW_DISABLE_TELEMETRY := true
# Where the variable is set, each process of the tests would compile every module anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help env demo test faults fuzz fuzz-models tools-test packages release bench peers board-env stranger ui screenshots report seeds outcomes docs lint format lock executors cluster-test unlock clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

env:  ## create or update .venv from requirements.lock (PYTHON=... names the Python to use)
	@tools/environment.sh

demo: env  ## run the whole workflow on embedded data, offline, in minutes
	@$(IN_ENV) snakemake demo $(ARGS)

test: env  ## run the tests (ARGS="-k eem" is passed to pytest)
	@$(IN_ENV) $(ONE_THREAD) pytest -n 2 --dist loadfile $(ARGS)

faults: env  ## run the tests of faults in a quarter of an hour, and print a table of their outcomes (FAULTS=its file)
	@$(IN_ENV) $(ONE_THREAD) pytest -n 2 --dist worksteal -m fault --fault-table=$(FAULTS) $(ARGS)

fuzz: env  ## property-based tests on random settings and data, findings in results/fuzz.jsonl (SECONDS=3600 SEED=0 JOBS=2)
	@$(IN_ENV) $(ONE_THREAD) PYTHONPATH="tests:$$PYTHONPATH" python -m fuzz --seconds $(SECONDS) --seed $(SEED) \
	    --jobs $(JOBS) $(if $(CASE),--case '$(CASE)')

fuzz-models: env  ## load crafted model files: every class that the loader accepts, in nine forms, in half a minute
	@$(IN_ENV) $(ONE_THREAD) PYTHONPATH="tests/entrolab/support:$$PYTHONPATH" python -W ignore -m model_file_fuzz

tools-test: env  ## test the learners in third-party tools, installed in .tools/, in minutes (needs a package index)
	@$(ONE_THREAD) tools/tools_test.sh $(ARGS)

packages: env  ## build wheels and sdists in dist/, test them with the oldest and newest requirements (needs a package index)
	@$(ONE_THREAD) tools/packages.sh $(ARGS)

release: env  ## set VERSION in all files, test the packages, commit and tag; uploads nothing
	@$(ONE_THREAD) tools/release.sh $(VERSION)

bench: env  ## benchmark the learners and their peers into docs/benchmarks.csv, in hours (ARGS=--help lists the parts)
	@$(IN_ENV) $(ONE_THREAD) PYTHONPATH=".peers:$$PYTHONPATH" python -m benchmarks $(ARGS)

peers: env  ## install the peers for make bench in .peers (0.3 GB)
	@tools/peers.sh

board-env: env  ## install LightGBM, CatBoost, XGBoost, xRFM, skglm and a CPU build of torch in .board (1.4 GB)
	@tools/board.sh

stranger: env  ## run a new user's commands with only the wheels installed, in minutes (ENTROLEARN_MIRROR=tables)
	@PATH="$$PATH:$$PWD/.venv/bin" .venv/bin/python tools/stranger.py $(ARGS)

ui: env  ## show the logged runs in MLflow's web UI on this machine (PORT=5000)
	@$(IN_ENV) python -m entrolab.tracking.ui --port $(PORT)

screenshots: env  ## take the screenshots in docs/images of a table and the logged runs (needs Chromium)
	@test -d .playwright || $(IN_ENV) UV_SYSTEM_CERTS=1 uv pip install --quiet --target .playwright $(PLAYWRIGHT) || \
	    .venv/bin/python -m pip install --quiet --target .playwright $(PLAYWRIGHT)
	@$(IN_ENV) PYTHONPATH=.playwright python tools/screenshots.py $(ARGS)

report: env  ## update the studies named in config/config.yaml, and print the address of the report
	@$(IN_ENV) snakemake report $(ARGS)

seeds: env  ## make the tables of PAPER with several seeds and store their values (TABLE="table2 ...", SEEDS=5, ARGS=...)
	@test -n "$(PAPER)" || { echo "which study? make seeds PAPER=melm" >&2; exit 1; }
	@$(IN_ENV) python -m entrolab.seeds $(PAPER) $(TABLE) --seeds $(SEEDS) $(ARGS)

outcomes: env  ## store in docs/ the outcomes of claims and the counts of verdicts for the tables made here
	@.venv/bin/python -m entrolab.outcomes

docs: env  ## build the documentation from docs/, docstrings and examples/, in a minute, and print its address
	@rm -rf docs/api/generated docs/auto_examples
	@$(IN_ENV) $(ONE_THREAD) sphinx-build -q -W --keep-going docs docs/_build $(ARGS)
	@.venv/bin/python -c 'import pathlib; print("site:", pathlib.Path("docs/_build/index.html").resolve().as_uri())'

lint: env  ## check style and types: ruff, mypy, snakefmt, snakemake --lint
	@$(IN_ENV) ruff check
	@$(IN_ENV) ruff format --check
	@$(IN_ENV) mypy
	@$(IN_ENV) snakefmt --check Snakefile workflow
	@$(IN_ENV) snakemake --lint

format: env  ## format the code with ruff and snakefmt
	@$(IN_ENV) ruff check --fix
	@$(IN_ENV) ruff format
	@$(IN_ENV) snakefmt Snakefile workflow

# tools/executors.txt has only the packages that the executors need in addition to requirements.lock.
lock:  ## update requirements.lock and tools/executors.txt from both pyproject.toml (ARGS=--upgrade takes the newest versions)
	@PATH="$$PATH:$$PWD/.venv/bin"; \
	command -v uv >/dev/null || { echo "make lock needs uv: .venv/bin/python -m pip install -r tools/uv.txt" >&2; exit 1; }; \
	UV_SYSTEM_CERTS=1 uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
	    --extra stream --extra dask --extra docs --extra dev --no-emit-package entrolearn \
	    --custom-compile-command "make lock" $(ARGS) pyproject.toml src/entrolab/pyproject.toml -o requirements.lock && \
	UV_SYSTEM_CERTS=1 uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
	    --extra slurm --extra kubernetes --constraint requirements.lock --no-emit-package entrolearn \
	    $$(sed -n 's/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' requirements.lock) \
	    --custom-compile-command "make lock" $(ARGS) src/entrolab/pyproject.toml -o tools/executors.txt

executors: env  ## install Snakemake's executors for Slurm and Kubernetes in .executors (docs/cluster.md)
	@tools/executors.sh

cluster-test: env  ## run the demonstration on a Slurm on this machine and compare it with a plain run (root; installs slurm-wlm)
	@tools/cluster/test.sh

unlock:  ## unlock the working folder after a run was killed
	@$(IN_ENV) snakemake --unlock

clean:  ## remove results, downloads and logs; keep .venv and the logged runs
	rm -rf results resources logs .snakemake docs/_build docs/api/generated docs/auto_examples
	@echo "kept: .venv, $(STORE) and its artifacts (remove those by hand to forget every run)"
