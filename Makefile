# Two commands are enough to begin: `make run` and `make test`. Everything missing is set up by the first that needs it.
PYTHON ?= python3
BIN := .venv/bin
# A test waits for servers now and then: one more runs than there are cores.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
# The long forms: each fault so often, Hypothesis and the fuzz with new examples. What fails is printed with its seed.
N ?= 20
SEED ?= $(shell date +%s)
CHAOS := $(BIN)/python -m pytest -s -v --timeout 0
# Those that mostly wait run beside each other; those that time something, or fill the machine, one after the other.
SCENARIOS := tests/runs/test_crash.py tests/runs/test_redelivered_calls.py tests/runs/test_killed_writes.py \
	tests/runs/test_injected_instructions.py tests/runs/test_redis_connection_loss.py tests/runs/test_random_trees.py \
	tests/runs/test_postgres_restarts.py tests/agents/test_draft_rules.py tests/realtime/test_redis_restarts.py \
	tests/realtime/test_unreliable_connections.py tests/chats/test_double_posts.py tests/runs/test_silent_models.py \
	tests/waking/test_killed_workers.py tests/releases/test_upgrades.py tests/realtime/test_continuity.py \
	tests/boards/test_killed_workers.py
ALONE := tests/runs/test_stop_latency.py tests/runs/test_streaming.py tests/runs/test_connections.py
PROPERTIES := tests/api/test_schema_from_outside.py tests/api/test_fuzz.py tests/runs/test_loop_property.py tests/waking/test_waking_property.py \
	tests/boards/test_board_property.py tests/boards/test_controls.py tests/agents/test_draft_property.py \
	tests/agents/test_files.py tests/realtime/test_proof.py \
	tests/suggestions/test_merge_answer.py tests/memory/test_rights.py tests/admin/test_pages.py
# Named, because collecting all other files takes each process longer than a test. The order is that of tests/file_order.py.
SLOW_FILES = $(shell grep -rlE --include='test_*.py' 'pytest\.mark\.(stack|browser)\b' tests)
LOCK := $(BIN)/uv pip compile --system-certs --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q
# Where the machine has no Node the set-up puts one there.
export PATH := $(CURDIR)/.make/node:$(PATH)
# Compiled modules are kept, or each process of the tests compiles all of them again (ten seconds for the tests alone).
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: chaos help run operator reset-link dev check check-types check-web check-rest check-image test test-fast fmt lock bench clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

run: ## set up what is missing, start everything, print the address
	@exec $(PYTHON) launcher/bootstrap.py run

operator: ## make somebody an operator of the running installation: make operator EMAIL=you@example.org
	@$(BIN)/python -m launcher.manage make_operator $(if $(YES),--yes) "$(EMAIL)"

reset-link: ## a link by which somebody sets a new password: make reset-link EMAIL=them@example.org
	@$(BIN)/python -m launcher.manage reset_link $(EMAIL)

dev: ## set up what developing and testing need
	@$(PYTHON) launcher/bootstrap.py dev

check: dev ## all that is static: format, lint, types, the order of the apps, migrations, generated files, unused packages
	@$(MAKE) --no-print-directory --jobs 2 --output-sync check-types check-web check-rest

check-types:
	$(BIN)/python -m mypy .

check-web:
	npm --prefix frontend run --silent check

check-rest:
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/lint-imports
	$(BIN)/python -m tests.servers $(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py export_schema --check
	$(BIN)/python manage.py texts --check
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/test_dependencies.py
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml

check-image: dev ## run the steps of the Dockerfile as root without Docker, and try what they make (minutes)
	$(BIN)/python -m pytest -v --timeout 0 -m image tests/image

test: test-fast ## Python, TypeScript and browser tests, on servers of their own
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "stack or browser" $(SLOW_FILES)

test-fast: dev ## the tests that need neither the running product nor a browser, and are not part of `make check`
	$(BIN)/python -m pytest -n $(WORKERS) -m "not stack and not browser and not image" --ignore=tests/test_dependencies.py
	npm --prefix frontend test

chaos: dev ## the long forms of the fault tests: make chaos [SCENARIO=RUN2] [N=20] [SEED=1]
	@echo "seed $(SEED)"
	$(call chaos,CHAOS_REAL=1,-n 2 --dist loadfile,$(SCENARIOS))
	$(call chaos,CHAOS_REAL=1,,$(ALONE))
	$(call chaos,,,tests/runs/test_isolation.py)
	$(call chaos,,-m image,tests/image)
	$(call chaos,FUZZ_N=200,-n 2 --dist loadfile --hypothesis-profile=chaos --hypothesis-seed=$(SEED),$(PROPERTIES))

# Of a scenario that is named, not all of these have a test: then pytest says so by its status 5.
chaos = CHAOS_N=$(N) $(1) $(CHAOS) $(2) -k "$(or $(SCENARIO),test_)" $(3) || [ $$? = 5 -a -n "$(SCENARIO)" ]

fmt: dev ## put the sources into their form
	$(BIN)/python -m ruff check --fix-only --quiet .
	$(BIN)/python -m ruff format .
	npm --prefix frontend run --silent format

lock: dev ## lock the Python packages anew after a change of requirements/*.in
	$(LOCK) --no-deps requirements/programs.in -o requirements/programs.txt
	$(LOCK) requirements/run.in -o requirements/run.txt
	$(LOCK) requirements/dev.in -c requirements/run.txt -o requirements/dev.txt

bench: dev ## measure, and write bench/RESULTS.md
	$(BIN)/python -m bench

clean: ## forget everything that was made, except the data
	rm -rf .venv .make frontend/node_modules frontend/dist tests/chromium/node_modules
