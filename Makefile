# `make help` lists the targets. Everything is installed into .venv; nothing outside this folder is touched.

VENV   := .venv
AUDIT  := .venv-audit
BIN    := $(VENV)/bin
QUARRY := $(BIN)/quarry
SAM    := SAM_CLI_TELEMETRY=0 $(BIN)/sam
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV     := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

# Tests of what is started, built, packaged, fitted, killed, spread over servers, judged or opened in a browser take as long as all others
SLOW_TESTS := $(addprefix tests/,api citus deployed faults fit functions linear local newcomer package page quality sql)
PYTEST     := $(BIN)/pytest --numprocesses=auto --maxprocesses=3

# Settings of the build and the deployment
ARCHITECTURE ?= arm64
ENVIRONMENT  ?= default
PROTECTION   ?= full
PORT         ?= 8080
RELEASE       = $(shell git describe --always --dirty 2>/dev/null || echo release)-$(shell date -u +%Y%m%dT%H%M%SZ)

# Otherwise, commands that the tests start would compile everything again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check audit check-release format bench load eval docs screenshots certificates lock package build rehearse local-api deploy smoke clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/local ## Start Quarry on http://127.0.0.1:8080, or PORT=8081, with the sample data (no keys, no database needed)
	@$(QUARRY) demo --port $(PORT) $(DEMO_ARGS)

test: $(VENV)/dev ## Run the tests, but for those of `make test-slow`
	@$(PYTEST) $(addprefix --ignore=,$(SLOW_TESTS))

test-slow: $(VENV)/dev ## Run the slow tests: a browser, commands, Lambda functions, the wheel, migrations, killed processes, several servers, judged answers
	@$(PYTEST) $(SLOW_TESTS)

check: $(VENV)/dev ## Lint, types, import contracts, generated files, size, template
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tools.generate --check
	@$(BIN)/python -m tools.translations --check
	@$(BIN)/python -m tools.size --check
	@printf '%s\n' template.yaml data.yaml queues.yaml monitoring.yaml rollback.yaml | xargs -P 2 -I {} env $(SAM) validate --lint --region us-east-1 --template {}

audit: $(AUDIT)/ready $(VENV)/dev ## Look for vulnerabilities: bandit, checkov, pip-audit
	@$(AUDIT)/bin/bandit --quiet --recursive --configfile pyproject.toml layers functions
	@$(BIN)/python -m tools.expanded_template
	@$(AUDIT)/bin/checkov --config-file .checkov.yaml
	@$(AUDIT)/bin/python -m tools.audit layers/*/requirements.txt requirements/local.txt

check-release: $(VENV)/dev ## Run the last release's SQL tests with its code on this schema (RELEASE_BEFORE=v0.1.0 for a specific one)
	@$(BIN)/python -m tools.release_before $(RELEASE_BEFORE)

format: $(VENV)/dev ## Format the code and fix what the linter can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

bench: $(VENV)/dev ## Benchmark search against the literal formulas, and the built functions (BENCH_ARGS="--rows 10000" for a short run)
	@$(BIN)/python -m tools.benchmarks $(BENCH_ARGS)

load: $(VENV)/dev ## Load-test one process at up to ten times its capacity, on loopback
	@$(BIN)/python -m tools.load $(LOAD_ARGS)

eval: $(VENV)/local ## Evaluate search on the judged queries of the sample data, or of the sets in FOREIGN=folder
ifdef FOREIGN
	@$(BIN)/python -m tools.evaluate_sets $(FOREIGN) --sets "$(FOREIGN_SETS)" $(EVAL_ARGS)
else
	@$(QUARRY) sample
	@$(QUARRY) eval sql/sample/*/judged.jsonl sql/sample/records/near_misses.jsonl
endif

docs: $(VENV)/dev ## Regenerate sql/schema.sql, docs/api, docs/settings.md and the sample vectors
	@$(BIN)/python -m tools.generate

screenshots: $(VENV)/dev ## Take the screenshot in docs/images (needs Chromium)
	@$(BIN)/python -m tools.screenshots

certificates: $(VENV)/dev ## Fetch the certificates of Amazon RDS again (needs the network)
	@$(BIN)/python -W ignore -m tools.database_certificates $(BUNDLES)

lock: ## Resolve the dependencies again (needs uv)
	$(UV) pyproject.toml --extra lambda --extra otel --extra sheets --group dev -o requirements/dev.txt
	$(UV) pyproject.toml --group build --group weights -c requirements/dev.txt -o requirements/local.txt
# the shared layer has what functions need, without the extras of an installation and the content of other layers
	@mkdir -p build && sed -e '/"quarry-search\[local\]",/d' -e '/"chardet>=/d' pyproject.toml > build/pyproject.toml
	$(UV) build/pyproject.toml --extra lambda --excludes layers/quarry/unused.txt -c requirements/dev.txt -o layers/quarry/requirements.txt
	$(UV) --group commands-layer --excludes layers/commands/unused.txt -c requirements/dev.txt -o layers/commands/requirements.txt
	$(UV) --group embedding-layer -c requirements/dev.txt -o layers/embedding/requirements.txt
	$(UV) --group audit -o requirements/audit.txt
	$(UV) --group otel-layer -c requirements/dev.txt -o layers/quarry/otel.txt

package: $(VENV)/dev ## Build the wheel and the source distribution into dist/
	@$(BIN)/python -m build --no-isolation && $(BIN)/twine check --strict dist/*

# `sam build` needs the runtime's exact Python version first on PATH; a version manager's shim is not enough.
build: $(VENV)/dev ## Build the deployment without a container (ARCHITECTURE=x86_64 for x86, OTEL=1 to send traces)
	@for python in python3.13 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13*/bin/python3.13; do \
	  found=$$("$$python" -c 'import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))' 2>/dev/null) && break; \
	done; test -n "$$found" || { echo "Lambda's python3.13 is not installed (pyenv install 3.13, or your system's package)" >&2; exit 1; }; \
	PATH="$$found:$$PATH" ARCHITECTURE=$(ARCHITECTURE) $(SAM) build --parameter-overrides Architecture=$(ARCHITECTURE)
	@sed -i.bak 's|QUARRY_RELEASE: unstamped|QUARRY_RELEASE: "$(RELEASE)"|' .aws-sam/build/template.yaml && rm .aws-sam/build/template.yaml.bak
	@$(BIN)/python -m tools.sbom .aws-sam/build/sbom.cdx.json .aws-sam/build/*Layer/python

# for this machine's processor; the compose file publishes this port
local-api: ARCHITECTURE := $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
local-api: export EMBEDDINGS := local
local-api: export DATABASE_URL := postgresql://quarry@127.0.0.1:54329/quarry
local-api: build ## Serve the built functions and the sample data on http://127.0.0.1:3000 with `sam local` (needs a container runtime)
	@docker compose --file events/sam-local.compose.yaml up --detach --wait
	@$(QUARRY) migrate && $(QUARRY) sample
	@$(SAM) local start-api --parameter-overrides Architecture=$(ARCHITECTURE)

rehearse: $(VENV)/dev ## Serve the built functions and the sample data on http://127.0.0.1:8090/prod/, streams included, without a container
	@$(BIN)/python -m tools.rehearsal $(REHEARSE_ARGS)

# without a terminal nobody is asked, and the changes are printed and made
deploy: OWN = $(SAM) deploy --config-file $(CURDIR)/samconfig.own.toml $(shell test -t 0 || echo --no-confirm-changeset) --config-env
deploy: $(VENV)/dev ## Ask for your settings, build and deploy (ENVIRONMENT=prod for that section of samconfig.toml)
	@$(BIN)/python -m tools.deploy ask $(ENVIRONMENT) $(ARCHITECTURE)
	@$(OWN) $(ENVIRONMENT)-data
	@$(BIN)/python -m tools.deploy take $(ENVIRONMENT)
	@$(MAKE) --no-print-directory build
	@$(OWN) $(ENVIRONMENT)
	@$(BIN)/python -m tools.deploy protect $(ENVIRONMENT) $(PROTECTION)
	@$(OWN) $(ENVIRONMENT)-data

smoke: $(VENV)/dev ## Check a deployed stack: URL=… TOKEN=…, and STACK=… for checks through AWS
	@$(BIN)/python -m tools.smoke "$(URL)" "$(TOKEN)" "$(STACK)"

clean: ## Remove the environment, build outputs and local data
	rm -rf $(VENV) $(AUDIT) build dist .aws-sam .quarry .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec $$python -m venv $(VENV); \
	  fi; \
	done; echo "Quarry needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv)" >&2; exit 1

# The full set contains the local one, so an environment made for the tests also serves the demo. Python compiles modules on import:
# compiling all of them first would take 50 % longer.
$(VENV)/local: requirements/local.txt pyproject.toml | $(BIN)/python
	@if [ ! -e $(VENV)/dev ]; then echo "Installing Quarry (once, about a minute) …"; $(PIP) install --no-compile --no-deps --require-hashes -r requirements/local.txt; \
	  $(PIP) install --no-deps --no-build-isolation --editable . ; fi
	@touch $@

$(VENV)/dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "Installing Quarry and its development tools (once, a minute or two) …"
	@$(PIP) install --no-deps --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/local

# Its packages need other versions than ours (checkov pins boto3), and `make test` does not need them.
$(AUDIT)/ready: requirements/audit.txt | $(BIN)/python
	@echo "Installing what make audit runs (once, a minute or two) …"
	@$(BIN)/python -m venv $(AUDIT)
	@$(AUDIT)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes -r requirements/audit.txt
	@touch $@
