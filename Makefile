# Two commands to start: `make try` answers a question, `make test` runs everything that CI runs.
# Needed: Python >= 3.11 with its venv module, and make. uv is used where it is present.

export QUESTION ?= How do I set a timeout for a single request in httpx?

SHELL := /bin/sh
BIN := .venv/bin
TRY := .venv-try
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

# The first Python that really runs and can make environments: a name on the PATH may be an empty shim, and
# Debian's python3 may lack ensurepip.
FIND_PYTHON = for name in python3.14 python3.13 python3.12 python3.11 python3; do \
		if "$$name" -c '$(SUITABLE)' >/dev/null 2>&1; then python=$$name; break; fi; \
	done; \
	if test -z "$${python:-}"; then \
		echo "no Python >= 3.11 with venv was found; install one (Debian: apt-get install python3-venv)" >&2; \
		exit 1; \
	fi

.PHONY: help try test format check unit faults bench bench-table reference docs quality-env peers-env clean

help:
	@echo "make try           answer a question in a scratch folder, with what a user installs; QUESTION=... for another"
	@echo "make test          formatting, lint, types, layers, prose, tests and the docs' code blocks"
	@echo "make faults        the long fault drivers"
	@echo "make bench         the measurements, into bench-results.json; make bench-table: into the docs"
	@echo "make format        format the code and sort its imports"
	@echo "make reference     write the generated pages of docs/reference"
	@echo "make docs          build the docs as HTML, into build/docs"
	@echo "make clean         remove the environments"

# -- what a person runs ------------------------------------------------------------------------------------

try: $(TRY)/.ready
	@set -e; \
	folder=$$(mktemp -d "$${TMPDIR:-/tmp}/kr-try.XXXXXX"); \
	trap 'rm -rf "$$folder"' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM; \
	mkdir "$$folder/project"; cd "$$folder/project"; \
	export KR_CACHE_DIR="$$folder/cache" XDG_STATE_HOME="$$folder/state"; \
	printf '\nkr research "%s"\n\n' "$$QUESTION"; \
	"$(CURDIR)/$(TRY)/bin/kr" research "$$QUESTION"; \
	printf '\nThat ran in a scratch folder, which is gone again. Next:\n\n'; \
	printf '  %s\n' 'make try QUESTION="How do I follow redirects in httpx?"' \
		'cd path/to/your/project' \
		'"$(CURDIR)/$(TRY)/bin/kr" doctor' \
		'"$(CURDIR)/$(TRY)/bin/kr" research "How do I ... in a library that your project uses?"'

test: check unit

check: .venv/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy tools tests/docs tests/bench examples
	$(BIN)/lint-imports
	$(BIN)/python tools/prose.py

unit: .venv/.ready quality-env
	$(BIN)/pytest -q -n 4 --dist worksteal -m "not faults"

faults: .venv/.ready
	$(BIN)/pytest -q -n 2 --dist worksteal -m faults

bench: .venv/.ready quality-env peers-env
	$(BIN)/python tests/bench/bench.py

bench-table: .venv/.ready
	$(BIN)/python tests/bench/table.py

format: .venv/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reference: .venv/.ready
	$(BIN)/python -m tools.reference

docs: .venv/.ready
	$(BIN)/sphinx-build -W --keep-going -n -q docs build/docs

clean:
	rm -rf .venv $(TRY) .quality

# -- environments ------------------------------------------------------------------------------------------

.venv/.ready: pyproject.toml uv.lock tools/constraints.py
	@set -e; \
	if command -v uv >/dev/null 2>&1; then \
		echo "setting up .venv with uv"; \
		UV_PROJECT_ENVIRONMENT=.venv uv sync --frozen --quiet --extra all; \
	else \
		$(FIND_PYTHON); \
		echo "setting up .venv with $$python and pip; this takes a minute"; \
		"$(BIN)/python" -c 'import pip; $(SUITABLE)' >/dev/null 2>&1 || "$$python" -m venv --clear .venv; \
		"$(BIN)/python" -m pip install --quiet --upgrade "pip>=25.1"; \
		"$(BIN)/python" tools/constraints.py > .venv/constraints.txt; \
		"$(BIN)/python" -m pip install --quiet --constraint .venv/constraints.txt --group dev --editable ".[all]"; \
	fi; \
	touch $@

# What a user installs, and nothing else.
$(TRY)/.ready: pyproject.toml uv.lock tools/constraints.py
	@set -e; \
	if command -v uv >/dev/null 2>&1; then \
		echo "setting up $(TRY) with uv"; \
		UV_PROJECT_ENVIRONMENT=$(TRY) uv sync --frozen --quiet --no-dev; \
	else \
		$(FIND_PYTHON); \
		echo "setting up $(TRY) with $$python and pip; this takes some seconds"; \
		"$$python" -m venv --clear $(TRY); \
		"$(TRY)/bin/python" tools/constraints.py > $(TRY)/constraints.txt; \
		"$(TRY)/bin/python" -m pip install --quiet --disable-pip-version-check --constraint $(TRY)/constraints.txt --editable .; \
	fi; \
	touch $@

peers-env: .quality/peers/.ready

.quality/peers/.ready: tests/bench/peers/requirements.txt .venv/.ready
	@echo "setting up .quality/peers/.venv: what the bench compares with"
	@$(BIN)/uv venv --quiet --clear --python ">=3.11" .quality/peers/.venv
	@VIRTUAL_ENV="$(CURDIR)/.quality/peers/.venv" $(BIN)/uv pip install --quiet --requirement $<
	@touch $@

quality-env: .quality/.ready

.quality/.ready: tests/quality/requirements.txt
	@set -e; \
	mkdir -p .quality; \
	if command -v uv >/dev/null 2>&1; then \
		echo "setting up .quality/.venv with uv"; \
		uv venv --quiet --clear --python ">=3.11" .quality/.venv; \
		VIRTUAL_ENV="$(CURDIR)/.quality/.venv" uv pip install --quiet --requirement $<; \
	else \
		$(FIND_PYTHON); \
		echo "setting up .quality/.venv with $$python and pip"; \
		"$$python" -m venv --clear .quality/.venv; \
		.quality/.venv/bin/python -m pip install --quiet --requirement $<; \
	fi; \
	touch $@
