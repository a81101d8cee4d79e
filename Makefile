PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.headgate-setup
N ?= 10000
SECONDS ?= 60
DATA ?= ../shared/data
CLIENTS ?= .clients

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench bench-tokens bench-histories bench-retention bench-peers bench-gateway fuzz soak test-clients docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv with the package, editable, and all that tests need

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	if command -v uv >/dev/null; then \
		uv pip install --quiet --python $(BIN)/python --editable . --group dev; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev; \
	fi
	touch $@

demo: setup ## pass a long log through the gate, then read back what was left out
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

test: setup ## run every test, in parallel
	$(BIN)/python -m pytest -n auto --dist loadgroup

test-clients: setup $(CLIENTS)/.installed $(CLIENTS)/.frameworks ## run real agent CLIs, MCP servers and frameworks, installed from npm and PyPI
	HEADGATE_CLIENTS=$(abspath $(CLIENTS)) $(BIN)/python -m pytest tests/clients

# Their own install scripts only pick the program for this machine; npm does not run them unasked.
$(CLIENTS)/.installed: tests/clients/package.json
	mkdir -p $(CLIENTS)
	cp $< $(CLIENTS)/package.json
	npm install --prefix $(CLIENTS) --no-fund --no-audit --ignore-scripts
	cd $(CLIENTS)/node_modules/@anthropic-ai/claude-code && node install.cjs
	cd $(CLIENTS)/node_modules/opencode-ai && node postinstall.mjs
	$(PYTHON) -m venv $(CLIENTS)/py
	$(CLIENTS)/py/bin/pip install --quiet mcp-server-git mcp-server-fetch mcp-server-time
	$(PYTHON) -m venv $(CLIENTS)/py1
	$(CLIENTS)/py1/bin/pip install --quiet mcp-server-sqlite 'mcp<2'
	touch $@

# One environment for each: they do not agree on the versions of what they share.
$(CLIENTS)/.frameworks: $(wildcard tests/clients/frameworks/*.txt)
	mkdir -p $(CLIENTS)
	for file in $^; do \
		folder=$(CLIENTS)/$$(basename $$file .txt); \
		$(PYTHON) -m venv $$folder && \
		$$folder/bin/pip install --quiet --requirement $$file --editable . || exit 1; \
	done
	touch $@

check: setup ## formatting, lint, types, and the order of the layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py

format: setup ## rewrite the files as `check` wants them
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: setup ## measure; ratios inside one run
	$(BIN)/python bench/run.py

bench-tokens: setup ## measure the estimates of tokens alone
	$(BIN)/python bench/estimates.py $(DATA)
	$(BIN)/python bench/tokens.py $(DATA)

bench-histories: setup ## measure histories on real data: make bench-histories DATA=../shared/data
	$(BIN)/python bench/histories_check.py $(DATA)
	$(BIN)/python bench/histories.py $(DATA)
	$(BIN)/python bench/histories_replay.py $(DATA)
	$(BIN)/python bench/histories_cost.py $(DATA)
	$(BIN)/python bench/bench_prepare.py

bench-retention: setup ## measure what budgets keep: make bench-retention DATA=../shared/data
	$(BIN)/python bench/retention.py $(DATA) --out

bench-peers: setup ## make the environments of the peers that bench-retention measures beside us
	$(BIN)/python bench/retention_peers.py

bench-gateway: setup build/litellm/bin/litellm ## measure the gateway beside a bare proxy and litellm
	$(BIN)/python bench/gateway.py --litellm build/litellm/bin/litellm

build/litellm/bin/litellm:
	-$(PYTHON) -m venv build/litellm && build/litellm/bin/pip install --quiet 'litellm[proxy]'

fuzz: setup ## try bytes nobody would send: make fuzz SECONDS=600
	$(BIN)/python -m tests.gateway.fuzz $(SECONDS)

soak: setup ## try the promises with N examples each: make soak N=100000
	HEADGATE_EXAMPLES=$(N) $(BIN)/python -m pytest -n auto --dist loadgroup tests/promises

docs: setup ## write the pages that are generated
	$(BIN)/python -m tests.requirements docs/requirements.md
	$(BIN)/python scripts/cli_docs.py docs/cli.md
	$(BIN)/python scripts/presets_docs.py docs/presets.md
	$(BIN)/python scripts/comparison.py docs/comparison.md
	$(BIN)/python scripts/gallery.py docs/gallery.md

clean: ## remove everything that was made
	rm -rf .venv build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
