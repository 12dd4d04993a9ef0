# Everything a fresh clone needs: `make demo` shows the main job, `make test` passes every check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

TRACKERS := .venv-trackers
TRACKERS_STAMP := $(TRACKERS)/.installed
CLIENT := vscode-client
CLIENT_STAMP := $(CLIENT)/node_modules/.installed

.PHONY: demo test gate test-trackers test-vscode lint lint-vscode vsix vsix-bundled clean
.DELETE_ON_ERROR:

demo: $(STAMP)
	$(BIN)/tried demo

test: lint lint-vscode gate
	$(BIN)/python -m pytest --ignore tests/trackers --numprocesses auto --maxprocesses 4 --dist worksteal
	$(MAKE) test-vscode

# What lists and findings come to on judged configs: less than this, or more noise, and a change has made them worse.
gate: $(STAMP)
	$(BIN)/tried evaluate fixtures/judgements/judgements.jsonl --min recall@10=0.95 --min ndcg@10=0.55 \
		--min finding_precision=1 --min coverage=0.75 --min whole_pool.recall@10=0.85 \
		--max false_alarms=0 --max too_loud=0 --max whole_pool.false_alarms=0 --max whole_pool.too_loud=0

# Packages the extension, installs it into a real VS Code and uses it there. The workbench is kept between runs.
test-vscode: vsix
	cd $(CLIENT) && npm test
	cd $(CLIENT) && TRIED_TEST_VSIX=dist/tried.vsix node test/workbench/run.mjs

# With the server as a wheel, to be installed from when somebody asks for it.
vsix: $(STAMP) $(CLIENT_STAMP)
	rm -rf $(CLIENT)/bundled
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(CLIENT)/bundled .
	cd $(CLIENT) && npm run package

# With the server inside, for this platform.
vsix-bundled: $(STAMP) $(CLIENT_STAMP)
	cd $(CLIENT) && npm run package-bundled

# The trackers themselves write runs, which tried then reads. They live in an environment of their own.
test-trackers: $(STAMP) $(TRACKERS_STAMP)
	$(BIN)/python -m pytest tests/trackers

lint-vscode: $(CLIENT_STAMP)
	cd $(CLIENT) && npm run check

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

$(CLIENT_STAMP): $(CLIENT)/package-lock.json
	node -e 'const v = process.versions.node; if (parseInt(v) < 20) { console.error("the VS Code client needs Node 20 or later, and this is " + v); process.exit(1); }'
	cd $(CLIENT) && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

clean:
	rm -rf $(VENV) $(TRACKERS) $(CLIENT)/node_modules $(CLIENT)/dist $(CLIENT)/bundled .mypy_cache .pytest_cache .ruff_cache
