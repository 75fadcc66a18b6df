# Every target sets up what it needs first; see CONTRIBUTING.md.
# Another interpreter: make PYTHON=/path/to/python3.12 ... (3.11 or newer).

SUITABLE := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c '$(SUITABLE)' >/dev/null 2>&1 && echo $$p && exit; done; echo python3)
PY := .venv/bin/python

PARTS := reference simulator conformance loadtest tools
EVERYTHING := reference,simulator,conformance,loadtest,bench,dev
SETUP_INPUTS := pyproject.toml constraints.txt $(wildcard tools/setup_kit/*.py tools/setup_kit/*.cmake)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup check sim demo bench load soak real-clients test lint format clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: .venv/.ready-all ## Set up .venv with every part and the tools to work on them

# Enough to run the server, the demo and the benchmark.
.venv/.ready: $(SETUP_INPUTS)
	@PYTHONPATH=tools $(PYTHON) -m setup_kit --extras reference,bench
	@touch $@

.venv/.ready-all: $(SETUP_INPUTS)
	@PYTHONPATH=tools $(PYTHON) -m setup_kit --extras $(EVERYTHING)
	@touch $@ .venv/.ready

# The server to check: TARGET=http://... one that runs, CMD="my-server --port {port}" one to start.
ifeq ($(TARGET)$(CMD),)
# Ours, several times sooner with a model computed quickly. Its servers have a thread each, and three
# are tested at once: while one waits for a clock or a start, two keep two cores busy.
CHECKED := .venv/quick-model.gguf
check: export HALOGEN_CHECKPOINT ?= $(CHECKED)
check: export HALOGEN_THREADS ?= 1
check: OPTIONS ?= --deterministic -n 3
endif
WHAT = $(if $(TARGET),$(TARGET),-- $(or $(CMD),.venv/bin/halogen-reference --port {port}))

.venv/quick-model.gguf: .venv/.ready-all tools/quick_model.py
	@$(PY) tools/quick_model.py $@

check: .venv/.ready-all $(CHECKED) ## Check the reference server, TARGET=http://... or CMD="server --port {port}"
	@.venv/bin/halogen-conformance check $(OPTIONS) $(WHAT)

sim: .venv/.ready-all ## Start the simulator on port 8731, sessions on
	@HALOGEN_FORK=1 .venv/bin/halogen-simulator serve --test-controls

demo: .venv/.ready ## Play the sessions example against a real server and show what it saved
	@$(PY) reference/demo/run.py

bench: .venv/.ready-all ## Measure the fan-out from a kept conversation, and the simulator's requests a second
	@$(PY) reference/bench/run.py --plot bench-report/fan-out.svg
	@$(PY) simulator/bench/run.py

# Half a minute with sessions and half a minute without, on each of the two servers.
LOAD = .venv/bin/halogen-loadtest run --compare --run-time 60 --deterministic

load: .venv/.ready-all ## Load the simulator and the reference, one minute each; reports in ./load-report
	@HALOGEN_FORK_HANDLES=32 HALOGEN_KV_POOL_POSITIONS=100000 \
	  $(LOAD) --users 8 --report load-report/simulator -- \
	  .venv/bin/halogen-simulator serve --port {port} --profile example-accelerator
	@$(LOAD) --users 1 --report load-report/reference -- \
	  .venv/bin/halogen-reference --port {port}

test: lint ## Lint, type-check and run all tests but the long ones and real-clients
	$(PY) -m pytest

soak: .venv/.ready-all ## Run the long tests
	$(PY) -m pytest -m soak --timeout=1200

real-clients: .venv/.ready-all ## Run Claude Code and Codex CLI, fetched with npm, against the simulator
	$(PY) -m pytest simulator/tests/real_clients -m real_clients

lint: .venv/.ready-all ## Check style, format and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	@set -e; for part in $(PARTS); do echo "$(PY) -m mypy $$part"; $(PY) -m mypy $$part; done

format: .venv/.ready-all ## Format the code and mend what ruff can mend
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean: ## Remove what tests and tools leave behind, but not .venv
	rm -rf .ruff_cache .halogen-sessions build dist bench-report load-report conformance-report out
	find . -path ./.venv -prune -o -type d \( -name __pycache__ -o -name .mypy_cache \
	  -o -name .pytest_cache -o -name .hypothesis \) -prune -exec rm -rf {} +
