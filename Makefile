# make demo and make test need only python3 (3.11 or later), pip and make; both set up .venv the first time.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
PIP := -m pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt
# Debian ships venv without ensurepip unless python3-venv is installed: then pip installs itself into the environment.
MAKE_VENV = $(PYTHON) -m venv $(1) 2>/dev/null || { $(PYTHON) -m venv --clear --without-pip $(1) && \
	$(PYTHON) -m pip --quiet --disable-pip-version-check --python $(1)/bin/python install pip; }

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-peers lint format bench clean

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.demo  ## Compare strategies on handwritten digits and write demo/report.html
	@mkdir -p demo && rm -f demo/runs.db*
	@$(BIN)/cusal bench demo --store demo/runs.db && $(BIN)/cusal report demo/runs.db --out demo --format html

test: $(VENV)/.test  ## All tests but the slow ones and those against other libraries
	$(BIN)/python -m pytest

test-slow: $(VENV)/.test  ## The slow tests
	$(BIN)/python -m pytest -m slow

test-peers: $(PEERS)/.peers  ## Compare with scikit-activeml and netcal, in an environment of its own
	$(PEERS)/bin/python -m pytest -m peer

lint: $(VENV)/.test  ## ruff and mypy
	$(BIN)/ruff format --check src tests benchmarks results
	$(BIN)/ruff check src tests benchmarks results
	$(BIN)/mypy

format: $(VENV)/.test  ## Put the code into shape
	$(BIN)/ruff check --fix src tests benchmarks results
	$(BIN)/ruff format src tests benchmarks results

bench: $(VENV)/.test $(PEERS)/.peers  ## Measure speed and memory against alternatives, into benchmarks/results
	$(BIN)/python benchmarks/estimator.py
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/networks.py
	$(PEERS)/bin/python benchmarks/strategies.py
	$(PEERS)/bin/python benchmarks/rounds.py

clean:  ## Remove the environments and the demo
	rm -rf $(VENV) $(PEERS) demo

$(VENV)/bin/python:
	@echo "Creating $(VENV) ..."
	@$(call MAKE_VENV,$(VENV))

$(VENV)/.demo: pyproject.toml requirements/constraints.txt | $(VENV)/bin/python
	@echo "Installing cusal; this happens once ..."
	@$(BIN)/python $(PIP) --editable '.[torch,bench]'
	@touch $@

$(VENV)/.test: pyproject.toml requirements/constraints.txt | $(VENV)/bin/python
	@echo "Installing cusal with everything that the tests need; this happens once ..."
	@$(BIN)/python $(PIP) --editable '.[torch,bench,images,parquet,postgres,ray,dev]'
	@touch $@ $(VENV)/.demo

$(PEERS)/.peers: pyproject.toml requirements/constraints.txt requirements/peers.txt
	@echo "Creating $(PEERS) ..."
	@$(call MAKE_VENV,$(PEERS))
	@$(PEERS)/bin/python $(PIP) --editable '.[torch,bench,images,parquet,dev]' --requirement requirements/peers.txt
	@touch $@
