# edgewise: every target sets itself up; only git, make and Python 3.11 or newer are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export EDGEWISE_DATA ?= $(wildcard ../shared/data)
export MPLBACKEND ?= Agg

.PHONY: help race test test-all test-lowest lint docs bench wheel clean

help:
	@echo "make race      compare the boosters on the bundled Car data: table and picture"
	@echo "make test      lint, then the whole test suite"
	@echo "make test-all  the suite with its slow tests and those of the networks (installs torch), bounds checks, plain njit"
	@echo "make neural    install torch, so that make test runs the tests of the networks too"
	@echo "make test-lowest  a part of the suite with the oldest dependencies allowed (Python 3.11)"
	@echo "make wheel     build the wheel and the source archive into dist/"
	@echo "make lint      ruff, mypy, import-linter"
	@echo "make docs      build the pages into docs/_build/html; warnings are errors"
	@echo "make bench     speed against CapyMOA and river (makes .venv-peers; needs Java)"
	@echo "make clean     remove the virtual environments and what the targets made"

$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

race: $(VENV)/.base
	$(BIN)/edgewise race car

lint: $(VENV)/.test
	$(BIN)/ruff check src tests benchmarks examples docs/*.py
	$(BIN)/ruff format --check src tests benchmarks examples docs/*.py
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Compiled as always; not compiled; as plain `njit`; and with bounds checks: the last two on a small part.
test: lint
	$(BIN)/pytest -n 2 -m "not slow"
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m plain
	EDGEWISE_PLAIN_NUMBA=1 $(BIN)/pytest -n 2 $(SMALL_KERNELS)
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 $(SMALL_KERNELS) tests/test_golden.py -k "not golden or Oza or MBBM or Ridge"
	@$(BIN)/python tests/left_out.py

SMALL_KERNELS := tests/test_states.py tests/test_simd.py tests/test_elementary.py tests/test_twin_losses.py

test-all: lint $(VENV)/.neural
	$(BIN)/pytest -n 2
	EDGEWISE_PLAIN_NUMBA=1 $(BIN)/pytest -n 2 tests/test_golden.py
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 -m "not slow" $(BOUNDS_TESTS:%=tests/test_%.py)

# Twins, golden cells and reliability.
BOUNDS_TESTS := golden twin_tree twin_boosters twin_ranking twin_recipe bandit_twins sgb_twins cost_tree chunks promises

$(VENV)/.neural: $(VENV)/.test
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[test,neural]"
	touch $@

.PHONY: neural
neural: $(VENV)/.neural

# The lower bounds of pyproject.toml, with the oldest Python, and the tests that touch each dependency.
LOWEST_PYTHON ?= python3.11
LOWEST := .venv-lowest
LOWEST_TESTS := table files datasets measures plot cli conditions frames twin_tree golden

test-lowest:
	test -x $(LOWEST)/bin/python || $(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check $$($(LOWEST_PYTHON) tests/lowest.py)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --no-deps -e .
	$(LOWEST)/bin/pip check
	# Numba keeps one version's kernels in a folder: another one would push out those of the everyday environment.
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels $(LOWEST)/bin/pytest -m "not slow" $(LOWEST_TESTS:%=tests/test_%.py)

$(VENV)/.docs: $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

wheel: $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build

bench: $(VENV)/.base
	$(MAKE) -C benchmarks bench

clean:
	rm -rf $(VENV) .venv-peers $(LOWEST) dist race-results docs/_build docs/gallery docs/results docs/api/generated
