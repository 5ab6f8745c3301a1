# make demo and make test need only python3 (3.11 or later), pip and make; both set up .venv the first time.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
OLDEST := .venv-oldest
DOCS := .venv-docs
LABELSTUDIO := .venv-labelstudio
BIN := $(VENV)/bin
# Tests of libraries that need older versions than the others: requirements/peers-older.txt.
WITH_OLDER := tests/adapters/test_skactiveml_conformance.py tests/adapters/test_modal_adapter.py \
	'tests/adapters/test_adapters_page.py::test_examples_run[modAL]'
CODE := src tests benchmarks results requirements docs
# Two processes, each of which gets whole files: fixtures are made once, and compiled kernels loaded once.
JOBS ?= 2
PYTEST = -m pytest -n $(JOBS) --dist loadfile $(PYTEST_OPTIONS)
# This version of torch installs as a CPU build; others pull gigabytes of CUDA.
TORCH := torch==2.13.0
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
PIP := $(PIP_INSTALL) --constraint requirements/constraints.txt
EXTRAS = $$($(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"], sep=",")')
# Debian ships venv without ensurepip unless python3-venv is installed: then pip installs itself into the environment.
MAKE_VENV = $(PYTHON) -m venv $(1) 2>/dev/null || { $(PYTHON) -m venv --clear --without-pip $(1) && \
	$(PYTHON) -m pip --quiet --disable-pip-version-check --python $(1)/bin/python install pip; }
# An environment whose Python is gone or too old, or that was made in another folder, is removed, to be made again.
STALE = [ -e $(1) ] && ! { $(1)/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	{ ! grep -q '^command = ' $(1)/pyvenv.cfg || grep '^command = ' $(1)/pyvenv.cfg | grep -qF " $$PWD/$(1)"; }; }
$(foreach made,$(VENV) $(PEERS) $(OLDEST) $(DOCS) $(LABELSTUDIO),$(shell $(call STALE,$(made)) && rm -rf $(made)))

.DEFAULT_GOAL := help
.PHONY: help lint-js demo label-demo docs check test test-slow test-peers test-oldest test-labelstudio coverage durations \
	fuzz explore lint format hooks constraints bench measure clean

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.demo  ## Compare strategies on handwritten digits and write demo/report.html
	@mkdir -p demo && rm -f demo/runs.db*
	@$(BIN)/cusal bench demo --store demo/runs.db && $(BIN)/cusal report demo/runs.db --out demo --format html

label-demo: $(VENV)/.label  ## Label 2,000 handwritten digits in the browser; starting again continues
	@mkdir -p demo && $(BIN)/python -m cusal.apps.label.demo demo/digits
	@$(BIN)/cusal label demo/digits --classes 0,1,2,3,4,5,6,7,8,9 $(LABEL_OPTIONS)

docs: $(DOCS)/.docs  ## Build the site into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	$(DOCS)/bin/python docs/check_site.py build/site

check: lint $(VENV)/.compiled  ## Before every commit: lint, types, and the tests that take a fraction of a second each
	$(BIN)/python $(PYTEST) --quick

test: $(VENV)/.compiled  ## All tests but the slow ones and those against other libraries
	$(BIN)/python $(PYTEST)

test-slow: $(VENV)/.compiled  ## The slow tests
	$(BIN)/python $(PYTEST) -m slow

test-peers: $(PEERS)/.peers  ## Compare with other libraries and let them drive ours, in an environment of its own
	$(PEERS)/bin/python $(PYTEST) -m peer
	PYTHONPATH="$(CURDIR)/$(PEERS)/older" $(PEERS)/bin/python $(PYTEST) -m peer $(WITH_OLDER)

test-oldest: $(OLDEST)/.oldest  ## The quick tests with the oldest versions that pyproject.toml allows, without torch and the app
	NUMBA_CACHE_DIR=$(OLDEST)/numba $(OLDEST)/bin/python $(PYTEST) --quick --ignore tests/apps/label

test-labelstudio: $(VENV)/.compiled $(LABELSTUDIO)/.labelstudio  ## Drive a real Label Studio server; no part of CI
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) -m labelstudio tests/adapters

coverage: $(VENV)/.compiled  ## The same tests as make test, and which lines they miss
	$(BIN)/python $(PYTEST) --cov --cov-report=term:skip-covered

durations: $(VENV)/.compiled  ## Time the tests again, to know which are left out of make check
	$(BIN)/python $(PYTEST) --write-durations

fuzz: $(VENV)/.compiled  ## Call everything with odd values and damage files of every kind: minutes
	$(BIN)/python -m pytest -q --fuzz 300 tests/fuzz

explore: $(VENV)/.compiled  ## Try other examples than the tests do, different each time; a find becomes an @example
	$(BIN)/python $(PYTEST) --hypothesis-profile=explore --fuzz 100 $$(grep -rl --include='test_*.py' 'from hypothesis' tests)

lint: $(VENV)/.test  ## ruff and mypy, and what checks the JavaScript of the pages
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-js; \
	else echo "npm is missing: the JavaScript of the pages is not checked (apt install nodejs npm)"; test -z "$$CI"; fi

lint-js: node_modules/.installed
	node_modules/.bin/tsc
	node_modules/.bin/biome lint --error-on-warnings

node_modules/.installed: package.json package-lock.json
	npm install --no-save --no-audit --no-fund --loglevel=error
	touch $@

format: $(VENV)/.test  ## Put the code into shape
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)
	$(BIN)/python -m cusal.strategies

hooks: $(VENV)/.test  ## Let git run ruff and mypy before each commit, and make check before each push
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

constraints: $(VENV)/bin/python  ## Take the newest version of every dependency, and write it to requirements/constraints.txt
	$(BIN)/python $(PIP_INSTALL) --dry-run --ignore-installed --report $(VENV)/newest.json \
		$(TORCH) --requirement requirements/peers.txt --requirement requirements/docs.txt --editable ".[$(EXTRAS)]"
	$(BIN)/python requirements/write_constraints.py $(VENV)/newest.json requirements/constraints.txt

# Each line is a part of docs/speed.md; together some twenty-five minutes of processor time.
bench: $(VENV)/.test $(PEERS)/.peers  ## Measure speed and memory against alternatives, and write docs/speed.md: half an hour
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/estimator.py
	$(BIN)/python benchmarks/score.py --out benchmarks/results/score_quick.json
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/image_features.py
	$(BIN)/python benchmarks/sentences.py
	$(BIN)/python benchmarks/large_pools.py --sizes 20000,100000,300000 --keep
	$(BIN)/python benchmarks/neighbour_libraries.py --sizes 100000
	$(BIN)/python benchmarks/label_start.py
	$(BIN)/python benchmarks/report.py
	$(PEERS)/bin/python benchmarks/strategies.py --out benchmarks/results/strategies_quick.json
	$(PEERS)/bin/python benchmarks/rounds.py
	$(BIN)/python benchmarks/seeds_together.py
	$(BIN)/python benchmarks/speed_page.py

measure: $(VENV)/.test $(PEERS)/.peers  ## Measure accuracy, calibration and the labelling server into benchmarks/results: hours
	$(BIN)/python benchmarks/heads.py
	$(BIN)/python benchmarks/unlearnable.py
	$(BIN)/python benchmarks/texts.py
	$(BIN)/python benchmarks/herding.py
	$(BIN)/python benchmarks/stopping.py
	$(BIN)/python benchmarks/features.py
	$(BIN)/python benchmarks/large_pools.py
	$(BIN)/python benchmarks/honest.py
	$(BIN)/python benchmarks/network_intervals.py
	$(BIN)/python benchmarks/light_heads.py
	$(BIN)/python benchmarks/label_store.py
	$(BIN)/python benchmarks/label_predict.py
	$(BIN)/python benchmarks/label_load.py
	$(BIN)/python benchmarks/label_browser.py digits --seeds 0,1,2
	$(BIN)/python benchmarks/label_browser.py questions
	$(BIN)/python benchmarks/label_browser.py many --fresh
	$(BIN)/python benchmarks/score.py --full
	$(PEERS)/bin/python benchmarks/strategies.py --full
	$(PEERS)/bin/python benchmarks/audit.py

clean:  ## Remove the environments, the site and the demo
	rm -rf $(VENV) $(PEERS) $(OLDEST) $(DOCS) $(LABELSTUDIO) build demo .coverage

$(VENV)/bin/python:
	@echo "Creating $(VENV) ..."
	@$(call MAKE_VENV,$(VENV))

# An environment that an older version of these files filled is brought up to date.
INSTALLED := Makefile pyproject.toml requirements/constraints.txt

$(VENV)/.demo: $(INSTALLED) | $(VENV)/bin/python
	@echo "Installing cusal; this happens once ..."
	@$(BIN)/python $(PIP) --editable '.[torch,bench,fast]'
	@touch $@

$(VENV)/.label: $(INSTALLED) | $(VENV)/bin/python
	@echo "Installing cusal with what labelling needs; this happens once ..."
	@$(BIN)/python $(PIP) --editable '.[label,images,torch]'
	@touch $@

$(VENV)/.test: $(INSTALLED) | $(VENV)/bin/python
	@echo "Installing cusal with everything that the tests need; this happens once ..."
	@$(BIN)/python $(PIP) --editable ".[$(EXTRAS)]"
	@touch $@ $(VENV)/.demo $(VENV)/.label

# Processes that test at once would each compile what is not in numba's cache.
$(VENV)/.compiled: $(wildcard src/cusal/calibration/*.py) $(VENV)/.test
	@echo "Compiling the kernels; this happens once ..."
	@$(BIN)/python tests/compile_kernels.py
	@touch $@

# Some libraries are installed without what they ask for, or in older versions beside the others: the files say why.
$(PEERS)/.peers: pyproject.toml requirements/constraints.txt $(wildcard requirements/peers*.txt)
	@echo "Creating $(PEERS) ..."
	@$(call MAKE_VENV,$(PEERS))
	@$(PEERS)/bin/python $(PIP) --editable ".[$(EXTRAS)]" --requirement requirements/peers.txt
	@$(PEERS)/bin/python $(PIP_INSTALL) --no-deps --requirement requirements/peers-alone.txt
	@$(PEERS)/bin/python $(PIP_INSTALL) --no-deps --upgrade --target $(PEERS)/older --requirement requirements/peers-older.txt
	@touch $@

$(OLDEST)/.oldest: pyproject.toml requirements/oldest.txt
	@echo "Creating $(OLDEST) ..."
	@$(call MAKE_VENV,$(OLDEST))
	@$(OLDEST)/bin/python $(PIP_INSTALL) --requirement requirements/oldest.txt --editable '.[bench,fast,parquet,postgres]'
	@touch $@

$(LABELSTUDIO)/.labelstudio: requirements/labelstudio.txt
	@echo "Creating $(LABELSTUDIO) ..."
	@$(call MAKE_VENV,$(LABELSTUDIO))
	@$(LABELSTUDIO)/bin/python $(PIP_INSTALL) --requirement requirements/labelstudio.txt
	@touch $@

$(DOCS)/.docs: requirements/constraints.txt requirements/docs.txt
	@echo "Creating $(DOCS) ..."
	@$(call MAKE_VENV,$(DOCS))
	@$(DOCS)/bin/python $(PIP) --requirement requirements/docs.txt
	@touch $@
