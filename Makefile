# Everything a fresh clone needs: `make demo` shows the main job, `make test` passes every check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

TRACKERS := .venv-trackers
TRACKERS_STAMP := $(TRACKERS)/.installed

.PHONY: demo test test-trackers lint clean
.DELETE_ON_ERROR:

demo: $(STAMP)
	$(BIN)/tried demo

test: lint
	$(BIN)/python -m pytest --ignore tests/trackers

# The trackers themselves write runs, which tried then reads. They live in an environment of their own.
test-trackers: $(STAMP) $(TRACKERS_STAMP)
	$(BIN)/python -m pytest tests/trackers

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.version_info >= (3, 11) or sys.exit("tried needs Python 3.11 or later, and $(PYTHON) is " + v + ". Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(TRACKERS_STAMP): tests/trackers/requirements.txt
	$(PYTHON) -m venv $(TRACKERS)
	$(TRACKERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

clean:
	rm -rf $(VENV) $(TRACKERS) .mypy_cache .pytest_cache .ruff_cache
