# abut: `make` lists the commands. Each one sets up .venv by itself, from python3 (3.11 to 3.14), pip and make alone.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/pytest -q
# The tests of kernels that index arrays; geometry has no arrays, packets are read through pointers, which nothing checks.
INDEXED := tests/core/test_arrays.py tests/mesh tests/trees/volumes tests/trees/binary tests/papers

FIRST_HALF := tests/app tests/ccd tests/cells tests/world

.PHONY: help demo test test-part test-cuda passes lint format bench docs soak wheel clean
.DEFAULT_GOAL := help

help: ## list the commands
	@sed -nE 's/^([a-z-]+):.*## */make \1|/p' Makefile | while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || \
	  { echo "abut needs Python 3.11 to 3.14; $(PYTHON) is `$(PYTHON) --version`. Try: make PYTHON=python3.12"; exit 1; }
	@echo "making .venv"
	@$(PYTHON) -m venv .venv

# One stamp for each set of extras, renewed when pyproject.toml changes.
.venv/installed: $(BIN)/python pyproject.toml
	@echo "installing abut into .venv"
	@$(PIP) --editable .
	@touch $@

.venv/installed-%: .venv/installed
	@echo "installing the extra '$*' into .venv"
	@$(PIP) --editable '.[$*]'
	@touch $@

demo: .venv/installed ## run the main job on a scene of our own; tells where the result page lies
	@$(BIN)/abut demo

# Compiling needs no tool of the extra 'dev', whose installation and lint leave a core idle: they go side by side.
test: .venv/installed ## everything that must pass: lint, tests, interpreted pass, bounds-checked pass
	@$(BIN)/python tests/compile_first.py & compiling=$$!; \
	  failed=0; $(MAKE) --no-print-directory lint || failed=1; wait $$compiling || failed=1; exit $$failed
	$(PYTEST) -n 2 --dist loadfile
	@$(MAKE) --no-print-directory passes

# What was not touched since it last ran is loaded from the cache of compiled code.
test-part: .venv/installed-dev ## the tests of one part: make test-part PART=convex, or PART=world/test_laws.py
	@test -n "$(PART)" || { echo "say which: make test-part PART=convex"; exit 2; }
	$(PYTEST) tests/$(PART)

# The interpreted pass with coverage, in two halves, and the bounds-checked one behind the second: a core for each half.
INTERPRETED := NUMBA_DISABLE_JIT=1 $(BIN)/coverage run --parallel-mode -m pytest -q -m "not large"
passes: .venv/installed-dev
	@rm -f .coverage .coverage.*
	@{ $(INTERPRETED) $(addprefix --ignore=,$(FIRST_HALF)) && NUMBA_BOUNDSCHECK=1 $(PYTEST) -m "not large" $(INDEXED); } > .venv/second-half.log 2>&1 & \
	  second=$$!; failed=0; echo "interpreted:"; $(INTERPRETED) $(FIRST_HALF) || failed=1; \
	  wait $$second || failed=1; echo "interpreted, the second half, and bounds-checked:"; cat .venv/second-half.log; exit $$failed
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --fail-under=90

lint: .venv/installed-dev ## ruff, basedpyright, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache

format: .venv/installed-dev ## let ruff rewrite the sources
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Needs an NVIDIA device and its driver, or, for PTX alone, nothing but wheels: pip install nvidia-cuda-nvcc.
test-cuda: .venv/installed-dev .venv/installed-cuda ## the tests of CUDA devices, on a device
	$(PYTEST) tests/cuda

bench: .venv/installed ## all benchmarks: times, ratios, counts of work
	$(BIN)/abut bench

soak: .venv/installed-dev ## long randomised runs that do not fit into `make test`
	ABUT_SOAK=1 $(PYTEST) -n 2

docs: .venv/installed-docs ## build the documentation into site/
	$(BIN)/mkdocs build --strict

# Compiles on all cores, minutes from an empty cache; for this platform and this Python.
wheel: .venv/installed-dev ## a wheel that carries compiled code: dist/abut-…-cp3XX-….whl
	ABUT_PRECOMPILE=1 $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@ls -l dist/*.whl

clean: ## remove .venv and everything that was built
	rm -rf .venv site out dist .pytest_cache .ruff_cache .hypothesis .coverage
	find src -name __pycache__ -prune -exec rm -rf {} +
