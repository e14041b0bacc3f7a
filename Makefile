# Needs Python 3.11+ and make; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

CHECKED := tests/geometry tests/formats tests/contact tests/contact_dynamics tests/simulation tests/dynamics tests/kinematics

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test soak checked lint bench peers docs packages native clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-7s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/ready-demo ## run the demonstration and report
	$(BIN)/linkwork demo

test: $(VENV)/ready-test ## run every test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

soak: $(VENV)/ready-test ## run what only repeats many more times: kills, damaged files
	$(BIN)/python -m pytest -n 2 --dist worksteal -m soak
	$(BIN)/python tests/native/damage.py --flips 1000 --cuts 200
	$(BIN)/python benchmarks/seeded_bugs.py
	$(MAKE) checked

# Loops that check their indices, over arrays in which nothing is as it was: compiled at first use, which takes long.
checked: $(VENV)/ready-test ## run tests of native loops with every index checked
	LINKWORK_CHECKED=1 MALLOC_PERTURB_=128 FUZZ_SECONDS=60 $(BIN)/python -m pytest -n 2 --dist worksteal $(CHECKED)

lint: $(VENV)/ready-lint ## check style, format, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: peers ## measure against the peers, on this machine
	$(BIN)/linkwork bench
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/edits.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/stepping.py
	$(BIN)/python benchmarks/loops.py
	$(BIN)/python benchmarks/kinematics.py
	$(BIN)/python benchmarks/collision.py
	$(BIN)/python benchmarks/contact.py
	$(BIN)/python benchmarks/viewer.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/corpus.py

docs: $(VENV)/ready-docs ## build the documentation into docs/_build
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build
	@echo "open docs/_build/index.html"

clean: ## remove all that the other targets made, .venv too
	rm -rf $(VENV) docs/_build build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What a target needs is installed once, and again when pyproject.toml changes; and native code is compiled for
# this machine where the target runs any. What changes later is compiled at first use.
peers: $(VENV)/ready-peers ; @:

$(VENV)/ready-demo: WANTED := .[view]
$(VENV)/ready-test: WANTED := .[test]
$(VENV)/ready-lint: WANTED := .[lint]
$(VENV)/ready-peers: WANTED := .[peers,view]
$(VENV)/ready-docs: WANTED := .[docs]
$(VENV)/ready-packages: WANTED := .[test,peers,lint,docs]

$(VENV)/ready-%: pyproject.toml | $(VENV)/made
	@echo "installing $(WANTED) into $(VENV)"
	@if command -v uv >/dev/null && uv pip install --quiet --python $(BIN)/python --editable "$(WANTED)"; then :; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable "$(WANTED)"; fi
	@case $@ in *-lint|*-docs|*-packages) ;; *) $(BIN)/python -m linkwork.ahead ;; esac
	@touch $@

# All of it at once, for who runs all targets, as CI does: the packages in one go, then native code.
packages: $(VENV)/ready-packages
	@touch $(VENV)/ready-lint $(VENV)/ready-docs

native: packages
	$(BIN)/python -m linkwork.ahead
	@touch $(VENV)/ready-demo $(VENV)/ready-test $(VENV)/ready-peers

# uv where present, else the standard library's venv; where Debian has split that off, virtualenv or a bare
# environment that the system's pip fills.
$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit("Linkwork needs Python 3.11 or later, and $(PYTHON) is " \
	  + sys.version.split()[0] + ": make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@if command -v uv >/dev/null && uv venv --quiet --seed --clear --python "$(PYTHON)" $(VENV); then :; \
	elif $(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1; then :; \
	elif $(PYTHON) -m virtualenv --quiet --clear $(VENV) 2>/dev/null; then :; \
	elif $(PYTHON) -m venv --clear --without-pip $(VENV) \
	  && $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; then :; \
	else echo "cannot make $(VENV): install python3-venv, virtualenv or uv" >&2; rm -rf $(VENV); exit 1; fi
	@touch $@
