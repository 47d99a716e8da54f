# `make demo` and `make test` need Python 3.11+ and make; everything else goes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The Khronos validator referees our GLB files in the tests; without npm those tests say so and skip.
VALIDATOR := $(VENV)/.validator

# The studio's page is built by the install; here with the type checker, which the tests run.
PAGE := $(VENV)/.page

.PHONY: demo test check pytest bench page clean

demo: $(STAMP)
	$(BIN)/marey demo

# With `make -j2 test` the tests begin as soon as they can, while types are still checked; both must pass.
test: check pytest

pytest: $(VALIDATOR) $(PAGE)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: $(STAMP)
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples
	$(BIN)/mypy

bench: $(STAMP) $(VENV)/.bench
	$(BIN)/marey bench

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "marey needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q src  # the command line starts faster, also where Python may not write bytecode
	@touch $@

page: $(STAMP)
	$(BIN)/python hatch_build.py --dev

$(VENV)/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(VALIDATOR): $(STAMP)
	@if command -v npm >/dev/null 2>&1; then \
	  npm install --silent --no-audit --no-fund --no-package-lock --prefix $(VENV)/node gltf-validator@2.0.0-dev.3.10 \
	    || echo "gltf-validator could not be installed; its tests will skip"; \
	fi
	@touch $@

$(PAGE): $(STAMP) web/package.json hatch_build.py $(shell find web/src -type f 2>/dev/null)
	@$(BIN)/python hatch_build.py --dev || echo "the studio's browser tests will skip"
	@touch $@

clean:
	rm -rf $(VENV) build dist demo_out samples_out .hypothesis .pytest_cache .mypy_cache .ruff_cache \
	  web/node_modules src/marey/studio/page
