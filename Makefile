# `make demo` and `make test` need Python 3.11+ and make; everything else goes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Python compiles what it imports; pip would compile all that it installs, which takes half a minute.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-script-location --no-compile
# Without cached bytecode, every process compiles all modules again.
export PYTHONDONTWRITEBYTECODE :=
# What marey needs, what the tests need, and what benchmarks compare with.
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.dev
# All kernels, compiled. kernels/build.py decides by their contents which ones to compile again.
KERNELS := $(VENV)/.kernels
# The Khronos validator referees our GLB files in the tests; without npm those tests say so and skip.
VALIDATOR := $(VENV)/.validator
# The studio's page is built by the install; here with the type checker, which the tests run.
PAGE := $(VENV)/.page

.PHONY: help demo test test-all test-jit test-lowest fuzz faults check pytest browser bench papers docs links page kernels wheel clean

demo: $(KERNELS)
	$(BIN)/marey demo

help:
	@echo 'make demo         run the main workflow on generated motion'
	@echo 'make test         ruff, mypy and the fast tests; run it before every commit'
	@echo 'make test-all     the same with the slow tests; the continuous integration runs it'
	@echo 'make test-jit     compare all operations with kernels compiled at first use'
	@echo 'make test-lowest  test the lowest versions that pyproject.toml allows'
	@echo 'make fuzz         read FUZZ=2000 damaged files of each format; SEED=... for others'
	@echo 'make faults       let every file operation of saves and builds fail, or be the last, in turn'
	@echo 'make check        ruff and mypy only'
	@echo 'make browser      the tests of the page only'
	@echo 'make bench        marey bench, with the libraries that it compares with'
	@echo 'make papers       results of the papers, computed again on recorded clips'
	@echo 'make docs         build the documentation site into build/docs'
	@echo 'make links        try the addresses of other sites in the documentation'
	@echo 'make page         build the page of the studio'
	@echo 'make kernels      compile the kernels that changed'
	@echo 'make wheel        build sdist and wheel into dist, and try the wheel in an empty environment'
	@echo 'make clean        remove everything that was built'

# Several at a time: packages are installed while kernels are compiled, and types are checked while tests run. Much of
# the time that the browser's tests take they wait, so they run beside the others. All must pass.
MAKEFLAGS += -j4
BROWSER := tests/studio/browser

test: TIER := -m 'not slow'
test: check pytest browser

test-all: check pytest browser

pytest: $(DEV) $(KERNELS) $(VALIDATOR) $(PAGE)
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore=$(BROWSER) $(TIER)

# Prints what it found when all is known, as does test-lowest: a second row of dots would mix with the first.
browser: $(DEV) $(KERNELS) $(PAGE)
	@$(BIN)/python -m pytest -p no:cacheprovider $(BROWSER) $(TIER) > $(VENV)/browser.log 2>&1; failed=$$?; \
	  echo "$(BROWSER):"; cat $(VENV)/browser.log; exit $$failed

check: $(DEV)
	$(BIN)/ruff check src tests examples kernels web blender_extension docs/*.py docs/gallery docs/pictures hatch_build.py
	$(BIN)/ruff format --check src tests examples kernels web blender_extension docs/*.py docs/gallery docs/pictures hatch_build.py
	$(BIN)/mypy

# Compares all operations with kernels compiled at first use, and calls each kernel 10,000 times, which takes minutes.
test-jit: $(DEV) $(KERNELS)
	MAREY_JIT_OPERATIONS=operations MAREY_REPEATING=600 $(BIN)/python -m pytest -n0 tests/compiled -k 'first_use or memory'

# Tests the lower bounds in pyproject.toml, in an environment that has exactly these versions.
test-lowest: $(KERNELS) $(PAGE)
	@$(BIN)/python tests/lowest_versions.py > $(VENV)/lowest.log 2>&1; failed=$$?; \
	  echo "$@:"; cat $(VENV)/lowest.log; exit $$failed

FUZZ ?= 2000
SEED ?=
fuzz: $(DEV) $(KERNELS)
	nice $(BIN)/python -m tests.io.fuzzing $(FUZZ) seed=$(SEED)

faults: $(DEV) $(KERNELS)
	MAREY_FAULT_STEP=1 $(BIN)/python -m pytest -n0 -q tests/test_faults.py

bench: $(VENV)/.bench $(KERNELS)
	$(BIN)/marey bench

papers: $(KERNELS)
	$(BIN)/python docs/measure_papers.py

docs: $(VENV)/.docs $(KERNELS)
	$(BIN)/python docs/pictures
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo build/docs/index.html

links: $(VENV)/.docs $(KERNELS)
	$(BIN)/python -m sphinx -q -b linkcheck docs build/links

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "marey needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	MAREY_NO_KERNELS=1 $(PIP) --editable '.[jit,plot,studio]'
	@touch $@

$(DEV): $(STAMP)
	MAREY_NO_KERNELS=1 MAREY_NO_PAGE=1 $(PIP) --editable '.[dev]'
	@touch $@

kernels: $(KERNELS)

$(KERNELS): $(STAMP) kernels/build.py kernels/module.c $(shell find src/marey -name '*_kernels.py') $(wildcard src/marey/compiled/*.py)
	$(BIN)/python kernels/build.py
	@touch $@

page: $(STAMP)
	$(BIN)/python web/build.py --dev

wheel: $(STAMP)
	rm -rf dist
	$(PIP) build
	$(BIN)/python -m build
	$(BIN)/python tests/wheel_environment.py dist

$(VENV)/.bench: $(DEV)
	MAREY_NO_KERNELS=1 MAREY_NO_PAGE=1 $(PIP) --editable '.[bench]'
	@touch $@

$(VENV)/.docs: $(STAMP)
	MAREY_NO_KERNELS=1 MAREY_NO_PAGE=1 $(PIP) --editable '.[docs]'
	@touch $@

$(VALIDATOR): $(STAMP)
	@if command -v npm >/dev/null 2>&1; then \
	  npm install --silent --no-audit --no-fund --no-package-lock --prefix $(VENV)/node gltf-validator@2.0.0-dev.3.10 \
	    || echo "gltf-validator could not be installed; its tests will skip"; \
	fi
	@touch $@

$(PAGE): $(STAMP) web/package.json web/build.py $(shell find web/src -type f 2>/dev/null)
	@$(BIN)/python web/build.py --dev || echo "the studio's browser tests will skip"
	@touch $@

clean:
	rm -rf $(VENV) build dist demo_out samples_out .hypothesis .pytest_cache .mypy_cache .ruff_cache \
	  docs/reference web/node_modules src/marey/studio/page src/marey/_kernels.*
