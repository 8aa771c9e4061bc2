# Everything a person types. Works from any folder with `make -C`, as root and as an ordinary user.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# By the shell: make's own functions take a path with a space in it for several.
override ROOT := $(shell file='$(subst ','\'',$(MAKEFILE_LIST))'; cd -- "$$(dirname -- "$${file# }")" && pwd)
PYTHON ?= python3
override RUN := cd "$(ROOT)" && exec .venv/bin/python
override DO := cd "$(ROOT)" && .venv/bin/python
override TEMPLATES := find templates -name '*.html' -not -path 'templates/inline/*'
# What `check --deploy` looks at: a deployment's settings, not this folder's.
override DEPLOYED := PUBLIC_URL=https://vermilion.example SECRET_KEY=0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ

.PHONY: help set-up set-up-dev demo up test check bench faults python

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' "$(ROOT)/Makefile"

demo: set-up ## a running product with two organisations; RESET=1 starts anew
	@$(RUN) manage.py up --log-files --end-with-parent $(if $(RESET),--reset) --with examples.refund_desk.processes

up: set-up ## all processes, without the demo
	@$(RUN) manage.py up --end-with-parent

test: set-up-dev ## the whole suite; PYTEST_ARGS= narrows it
	@$(DO) -m tests.harness.chromium
	@$(RUN) -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

check: set-up-dev ## format, lint, types, floors, templates, migrations, translations, deployment
	@$(DO) -m ruff format --check .
	@$(DO) -m ruff check .
	@$(DO) -m mypy
	@cd "$(ROOT)" && .venv/bin/lint-imports --no-logo
	@cd "$(ROOT)" && $(TEMPLATES) -exec .venv/bin/djade --check --target-version 5.2 {} +
	@$(DO) -m djlint --lint --quiet templates
	@$(DO) -W "ignore:Got an error checking a consistent migration history" manage.py makemigrations --check --dry-run
	@$(DO) locale/update.py --check
	@cd "$(ROOT)" && $(DEPLOYED) .venv/bin/python manage.py check --deploy --fail-level WARNING

bench: set-up-dev ## what it costs, one JSON line a measurement; ONLY=W1 narrows it
	@$(RUN) -m bench $(ONLY)

faults: set-up-dev ## the randomized crash test; ROUNDS=, SEED=
	@$(RUN) -m bench.faults $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED))

set-up: python ## .venv with what is needed to run
	@cd "$(ROOT)" && $(PYTHON) config/set_up.py requirements.lock

set-up-dev: python ## .venv with what is needed to test
	@cd "$(ROOT)" && $(PYTHON) config/set_up.py requirements-dev.lock

python:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || \
	{ echo "There is no $(PYTHON) on this machine. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
