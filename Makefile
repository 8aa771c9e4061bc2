# Everything a person types. Works from any folder with `make -C`, as root and as an ordinary user.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
override ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
PYTHON ?= python3
BIN := $(ROOT)/.venv/bin

.PHONY: help set-up set-up-dev test check

help: ## what there is to type
	@grep -hE '^[a-z-]+:.*##' $(ROOT)/Makefile | sed 's/:.*##/:/'

set-up: ## .venv with what is needed to run
	@cd "$(ROOT)" && sh ./set-up.sh "$(PYTHON)" requirements.lock

set-up-dev: ## .venv with what is needed to test
	@cd "$(ROOT)" && sh ./set-up.sh "$(PYTHON)" requirements-dev.lock

test: set-up-dev ## the whole suite; PYTEST_ARGS= narrows it
	@cd "$(ROOT)" && $(BIN)/python -m pytest $(PYTEST_ARGS)

check: set-up-dev ## format, lint, types, import contracts
	@cd "$(ROOT)" && $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports
