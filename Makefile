# `make` alone shows what there is. Every target sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types bench figures docs clean

help:  ## show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY)  ## make the virtual environment with everything for development

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@

demo: $(READY)  ## crawl a real site, kill the crawler in the middle, go on, show what is known
	$(BIN)/python examples/demo.py

test: $(READY)  ## run the tests
	$(BIN)/pytest --quiet

lint: $(READY) types  ## check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)  ## check types
	$(BIN)/mypy

bench: $(READY)  ## measure all beside a floor written by hand (an hour; BENCH=--quick: minutes; LARGE=10M: 3 hours)
	$(BIN)/python benchmarks/urls.py
	$(BIN)/python -m benchmarks $(BENCH)
	$(if $(LARGE),$(BIN)/python -m benchmarks.large --links $(LARGE))

figures: $(READY)  ## write what was measured into docs/performance.md
	$(BIN)/python docs/make_performance.py .bench

docs: $(READY)  ## write the generated pages of docs/ anew
	$(BIN)/python docs/make_cli.py

clean:  ## remove what the targets made
	rm -rf $(VENV) .demo .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info
