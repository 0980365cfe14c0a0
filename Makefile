# Two commands are enough to begin: `make run` and `make test`. Everything missing is set up by the first that needs it.
PYTHON ?= python3
BIN := .venv/bin
# A test waits for servers now and then: one more runs than there are cores.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
LOCK := $(BIN)/uv pip compile --system-certs --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q
# Where the machine has no Node the set-up puts one there.
export PATH := $(CURDIR)/.make/node:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help run operator reset-link dev check test fmt lock bench clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

run: ## set up what is missing, start everything, print the address
	@exec $(PYTHON) launcher/bootstrap.py run

operator: ## make an operator of the running installation: make operator EMAIL=you@example.org
	@$(BIN)/python -m launcher.manage createsuperuser --email $(EMAIL)

reset-link: ## a link by which somebody sets a new password: make reset-link EMAIL=them@example.org
	@$(BIN)/python -m launcher.manage reset_link $(EMAIL)

dev: ## set up what developing and testing need
	@$(PYTHON) launcher/bootstrap.py dev

check: dev ## all that is static: format, lint, types, the line of apps, migrations, generated files
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy .
	$(BIN)/lint-imports
	$(BIN)/python -m tests.servers $(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py export_schema --check
	$(BIN)/python manage.py texts --check
	npm --prefix frontend run --silent check

test: dev ## Python, TypeScript and browser tests, on servers of their own
	$(BIN)/python -m pytest -n $(WORKERS) -m "not stack and not browser"
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "stack or browser"
	npm --prefix frontend test

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
