# `make help` lists the targets. Everything is installed into .venv; nothing outside this folder is touched.

VENV   := .venv
BIN    := $(VENV)/bin
QUARRY := $(BIN)/quarry
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV     := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench docs lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/local ## Start Quarry on http://127.0.0.1:8080 with the sample data (no keys, no database needed)
	@$(QUARRY) demo

test: $(VENV)/dev ## Run all tests
	@$(BIN)/pytest

check: $(VENV)/dev ## Lint, types, import contracts, generated files, template
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tools.generate --check
	@SAM_CLI_TELEMETRY=0 $(BIN)/sam validate --lint --region us-east-1

format: $(VENV)/dev ## Format the code and mend what the linter can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

bench: $(VENV)/dev ## Measure search speed and recall beside the literal formulas (BENCH_ARGS="--rows 10000" for a short run)
	@$(BIN)/python -m tests.benchmarks.records $(BENCH_ARGS)

docs: $(VENV)/dev ## Regenerate sql/schema.sql, docs/api, docs/settings.md and the sample vectors
	@$(BIN)/python -m tools.generate

lock: ## Resolve the dependencies anew (needs uv)
	$(UV) --extra lambda --extra local --group dev -o requirements/dev.txt
	$(UV) --extra local --group build -c requirements/dev.txt -o requirements/local.txt
	$(UV) --extra lambda -c requirements/dev.txt -o layers/quarry/requirements.txt

clean: ## Remove the environment and the local data
	rm -rf $(VENV) .quarry .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec $$python -m venv $(VENV); \
	  fi; \
	done; echo "Quarry needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv)" >&2; exit 1

# The full set contains the local one, so an environment made for the tests also serves the demo.
$(VENV)/local: requirements/local.txt pyproject.toml | $(BIN)/python
	@if [ ! -e $(VENV)/dev ]; then echo "Installing Quarry (once, about a minute) …"; $(PIP) install --no-deps --require-hashes -r requirements/local.txt; \
	  $(PIP) install --no-deps --no-build-isolation --editable . ; fi
	@touch $@

$(VENV)/dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "Installing Quarry and its development tools (once, a minute or two) …"
	@$(PIP) install --no-deps --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/local
